#include "ops/control/loop.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "ir/eval.h"
#include "ir/op_def.h"
#include "ops/control/region.h"
#include "ops/families.h"
#include "ops/support/types.h"

namespace nn {
namespace {

Type ScalarOf(DType dtype) {
  return Type(dtype, Dims());
}

bool IsOneElement(const Type& type) {
  return !type.ranked() || type.rank() == 0 || (type.rank() == 1 && type.dim(0) == 1);
}

Status CheckScalar(const InferContext& ctx, size_t i, DType dtype, std::string_view name) {
  const Type& type = ctx.in(i);
  if (type.dtype == dtype && IsOneElement(type)) return {};
  return ModelError("the {} is {}; expected {}", name, type.ToString(), ScalarOf(dtype).ToString());
}

bool NumberIsVector(const Graph& body) {
  const Type& number = body.inputs()[0].value->type();
  return number.ranked() && number.rank() == 1;
}

Status InferLoop(InferContext& ctx) {
  constexpr size_t kFirst = 2;
  const auto& a = ctx.attrs<LoopAttrs>();
  if (ctx.node().regions().size() != 1) return ModelError("a loop has one region");
  Graph& body = *ctx.node().regions()[0];
  const auto carried = static_cast<size_t>(a.carried);
  if (a.carried < 0 || kFirst + carried > std::max(ctx.input_count(), kFirst) ||
      body.inputs().empty() || body.outputs().size() != 1 + ctx.output_count() ||
      carried > ctx.output_count())
    return ModelError("the loop does not fit its region");
  if (ctx.has(0)) NN_RETURN_IF_ERROR(CheckScalar(ctx, 0, DType::kI64, "trip count"));
  if (ctx.has(1)) NN_RETURN_IF_ERROR(CheckScalar(ctx, 1, DType::kBool, "condition"));
  std::vector<Type> types = {Type(DType::kI64, NumberIsVector(body) ? Dims{1} : Dims())};
  for (size_t i = kFirst; i < ctx.input_count(); ++i) {
    if (!ctx.has(i)) return ModelError("a loop requires its values");
    types.push_back(ctx.in(i));
  }
  const auto new_symbol = [&] { return ctx.NewSymbol(); };
  // Each round leaves fewer sizes that are the same in all iterations.
  bool changed = true;
  for (int round = 0; changed; ++round) {
    if (round == kMaxWidenings) WidenAll(std::span(types).subspan(1, carried), new_symbol);
    NN_RETURN_IF_ERROR(InferRegion(body, types));
    changed = false;
    for (size_t k = 0; k < carried; ++k) {
      NN_ASSIGN(const bool wider,
                Widen(types[1 + k], body.outputs()[1 + k].value->type(), new_symbol));
      changed = changed || wider;
    }
  }
  const Type& condition = body.outputs()[0].value->type();
  if (condition.dtype != DType::kBool || !IsOneElement(condition))
    return ModelError("the condition of the body is {}", condition.ToString());
  for (size_t k = 0; k < carried; ++k) ctx.set_out(k, OutsideType(types[1 + k], ctx));
  for (size_t k = carried; k < ctx.output_count(); ++k) {
    Type type = OutsideType(body.outputs()[1 + k].value->type(), ctx);
    if (type.ranked()) {
      Dims dims = *type.dims;
      dims.insert(dims.begin(), ctx.NewSymbol());
      type = type.WithDims(std::move(dims));
    }
    ctx.set_out(k, std::move(type));
  }
  return {};
}

// The elements along a new first axis; without elements, of the inferred shape.
Result<Tensor> Stacked(const std::vector<Tensor>& elements, const Type& type) {
  std::vector<int64_t> dims = {static_cast<int64_t>(elements.size())};
  if (elements.empty()) {
    if (!type.ranked())
      return UnsupportedError("there are no iterations, and the rank of a stack is unknown");
    for (size_t k = 1; k < type.dims->size(); ++k)
      dims.push_back((*type.dims)[k].is_const() ? (*type.dims)[k].value() : 0);
  } else {
    dims.insert(dims.end(), elements[0].dims().begin(), elements[0].dims().end());
  }
  NN_ASSIGN(TensorBuilder stack, TensorBuilder::Create(type.dtype, std::move(dims)));
  int64_t at = 0;
  for (const Tensor& t : elements) {
    if (t.dims() != elements[0].dims())
      return ModelError("the elements of a stack are {} and {}",
                        ToString(ToDims(elements[0].dims())), ToString(ToDims(t.dims())));
    stack.Copy(at, t, 0, t.elements());
    at += t.elements();
  }
  return stack.Finish();
}

uint64_t BytesOf(const std::vector<Tensor>& tensors) {
  uint64_t bytes = 0;
  for (const Tensor& t : tensors) bytes += t.memory_size();
  return bytes;
}

Status EvalLoop(EvalContext& ctx) {
  const Graph& body = *ctx.node().regions()[0];
  const auto carried = static_cast<size_t>(ctx.attrs<LoopAttrs>().carried);
  const int64_t trips = ctx.has(0) ? ctx.in(0).GetInt(0) : std::numeric_limits<int64_t>::max();
  bool go_on = !ctx.has(1) || ctx.in(1).GetInt(0) != 0;
  std::vector<Tensor> values;
  for (size_t k = 0; k < carried; ++k) values.push_back(ctx.in(2 + k));
  std::vector<std::vector<Tensor>> stacks(ctx.output_count() - carried);
  uint64_t stacked = 0;
  const bool is_vector = NumberIsVector(body);
  EvalBudget& budget = ctx.budget();
  for (int64_t i = 0; go_on && i < trips; ++i) {
    NN_RETURN_IF_ERROR(budget.TakeIteration());
    Tensor number = Tensor::Scalar(i);
    if (is_vector) {
      NN_ASSIGN(number, number.Reshaped({1}));
    }
    std::vector<const Tensor*> inputs = {&number};
    for (const Tensor& t : values) inputs.push_back(&t);
    for (size_t k = 2 + carried; k < ctx.input_count(); ++k) inputs.push_back(&ctx.in(k));
    EvalBudget left = budget;
    left.bytes -= std::min(left.bytes, stacked + BytesOf(values));
    NN_ASSIGN(std::vector<Tensor> results, EvalGraph(body, inputs, left, true));
    budget.Spend(left);
    if (ctx.has(1)) go_on = results[0].GetInt(0) != 0;
    for (size_t k = 0; k < carried; ++k) values[k] = std::move(results[1 + k]);
    for (size_t k = 0; k < stacks.size(); ++k) {
      stacked += results[1 + carried + k].memory_size();
      stacks[k].push_back(std::move(results[1 + carried + k]));
    }
  }
  for (size_t k = 0; k < carried; ++k) ctx.set_out(k, std::move(values[k]));
  for (size_t k = 0; k < stacks.size(); ++k) {
    NN_ASSIGN(Tensor stack, Stacked(stacks[k], ctx.out_type(carried + k)));
    ctx.set_out(carried + k, std::move(stack));
  }
  return {};
}

Status InferBranch(InferContext& ctx) {
  if (ctx.node().regions().size() != 2) return ModelError("a branch has two regions");
  NN_RETURN_IF_ERROR(CheckScalar(ctx, 0, DType::kBool, "condition"));
  std::vector<Type> types;
  for (size_t i = 1; i < ctx.input_count(); ++i) types.push_back(ctx.in(i));
  for (const auto& region : ctx.node().regions()) {
    if (region->outputs().size() != ctx.output_count())
      return ModelError("the branch does not fit its regions");
    NN_RETURN_IF_ERROR(InferRegion(*region, types));
  }
  for (size_t k = 0; k < ctx.output_count(); ++k) {
    Type type = ctx.node().regions()[0]->outputs()[k].value->type();
    NN_RETURN_IF_ERROR(Widen(type, ctx.node().regions()[1]->outputs()[k].value->type(),
                             [&] { return ctx.NewSymbol(); }));
    ctx.set_out(k, OutsideType(type, ctx));
  }
  return {};
}

Status EvalBranch(EvalContext& ctx) {
  const Graph& taken = *ctx.node().regions()[ctx.in(0).GetInt(0) != 0 ? 0 : 1];
  std::vector<const Tensor*> inputs;
  for (size_t i = 1; i < ctx.input_count(); ++i) inputs.push_back(&ctx.in(i));
  NN_ASSIGN(std::vector<Tensor> results, EvalGraph(taken, inputs, ctx.budget(), true));
  for (size_t k = 0; k < results.size(); ++k) ctx.set_out(k, std::move(results[k]));
  return {};
}

OpDef ControlOp(std::string_view name, std::string_view summary) {
  OpDef op;
  op.name = name;
  op.summary = summary;
  op.category = Category::kOther;
  op.quant_rule = QuantRule::kStored;
  op.decided_by_runs = true;
  op.outputs = {{"y", Arity::kVariadic}};
  return op;
}

}  // namespace

std::span<const AttrField> LoopAttrs::Fields() {
  static const AttrField fields[] = {Field<&LoopAttrs::carried>("carried"),
                                     Field<&LoopAttrs::why>("why")};
  return fields;
}

std::span<const AttrField> BranchAttrs::Fields() {
  static const AttrField fields[] = {Field<&BranchAttrs::why>("why")};
  return fields;
}

void RegisterControlOps(OpRegistry& ops) {
  OpDef loop = ControlOp("loop", "repeats a subgraph as long as a run decides");
  loop.attrs = AttrsInfoOf<LoopAttrs>();
  loop.inputs = {{"trips", Arity::kOptional},
                 {"condition", Arity::kOptional},
                 {"x", Arity::kVariadic, Elements::kAny}};
  loop.infer = InferLoop;
  loop.eval = EvalLoop;
  ops.Add(std::move(loop));

  OpDef branch = ControlOp("branch", "one of two subgraphs, which a run chooses");
  branch.attrs = AttrsInfoOf<BranchAttrs>();
  branch.inputs = {{"condition"}, {"x", Arity::kVariadic, Elements::kAny}};
  branch.infer = InferBranch;
  branch.eval = EvalBranch;
  ops.Add(std::move(branch));
}

}  // namespace nn
