#include "formats/tflite/family.h"
#include "ops/control/loop.h"
#include "ops/control/region.h"

// IF, WHILE and STABLEHLO_CASE are imported by import_control.cc.

namespace nn::tflite {
namespace {

// The ports with new names.
std::vector<Port> NamedPorts(ExportContext& ctx, std::span<const Port> ports) {
  std::vector<Port> named;
  for (const Port& p : ports)
    named.push_back({ctx.NewName(p.name.empty() ? p.value->name() : p.name), p.value});
  return named;
}

std::vector<TensorIndex> TensorsOf(ExportContext& ctx, std::span<const Port> ports) {
  std::vector<TensorIndex> tensors;
  for (const Port& p : ports) tensors.push_back(ctx.TensorOf(p.value));
  return tensors;
}

Result<int32_t> WriteBranchPart(ExportContext& ctx, const Graph& region, std::string_view name) {
  ctx.BeginSubgraph(name);
  const std::vector<Port> inputs = NamedPorts(ctx, region.inputs());
  const std::vector<Port> outputs = NamedPorts(ctx, region.outputs());
  std::vector<TensorIndex> results = ctx.ClaimPorts(region, inputs, outputs);
  for (size_t i = 0; i < results.size(); ++i)
    if (outputs[i].value->is_input()) results[i] = ctx.TensorOf(outputs[i].value);
  NN_RETURN_IF_ERROR(ctx.WriteContents(region, outputs, results));
  return ctx.EndSubgraph(TensorsOf(ctx, inputs), std::move(results));
}

Status WriteBranch(ExportContext& ctx, const Node& node) {
  NN_ASSIGN(const int32_t yes, WriteBranchPart(ctx, *node.regions()[0], "then"));
  NN_ASSIGN(const int32_t no, WriteBranchPart(ctx, *node.regions()[1], "else"));
  ctx.AddOperator(Op::IF, {ctx.ResultsOf(node), ctx.InputsOf(node)},
                  fb::CreateIfOptions(ctx.builder(), yes, no));
  return {};
}

// The state of a WHILE begins with what decides about its end.
struct LoopState {
  explicit LoopState(const Node& loop)
      : counts(loop.input(0) != nullptr ||
               loop.regions()[0]->HasUses(loop.regions()[0]->inputs()[0].value)),
        has_trips(loop.input(0) != nullptr && !loop.input(0)->is_constant()),
        has_condition(loop.input(1) != nullptr) {}

  size_t size() const { return size_t{counts} + size_t{has_trips} + size_t{has_condition}; }

  bool counts;         // the number of the iteration
  bool has_trips;      // the trip count, unless it is a constant
  bool has_condition;  // the condition
};

const Type& Counter() {
  static const Type type(DType::kI64, Dims());
  return type;
}
const Type& Flag() {
  static const Type type(DType::kBool, Dims());
  return type;
}

// The tensors of the state in a new subgraph, in the order of LoopState.
struct StateTensors {
  StateTensors(ExportContext& ctx, const LoopState& state) {
    if (state.counts) all.push_back(number = ctx.AddTensor(Counter(), "iteration"));
    if (state.has_trips) all.push_back(trips = ctx.AddTensor(Counter(), "trips"));
    if (state.has_condition) all.push_back(condition = ctx.AddTensor(Flag(), "condition"));
  }

  TensorIndex number = kNoTensor, trips = kNoTensor, condition = kNoTensor;
  std::vector<TensorIndex> all;
};

// The subgraph that decides about the next iteration. `values`: the inputs of the region that are
// carried or captured.
int32_t WriteCondition(ExportContext& ctx, const Node& loop, const LoopState& state,
                       std::span<const Port> values) {
  ctx.BeginSubgraph("condition");
  StateTensors tensors(ctx, state);
  for (const Port& p : values) tensors.all.push_back(ctx.AddTensor(p.value->type(), p.name));
  TensorIndex result = tensors.condition;
  if (loop.input(0) != nullptr) {
    const TensorIndex trips =
        state.has_trips ? tensors.trips : ctx.AddConstant(loop.input(0)->constant(), "trips");
    result = ctx.AddTensor(Flag(), "is_left");
    ctx.AddOperator(Op::LESS, {{result}, {tensors.number, trips}},
                    fb::CreateLessOptions(ctx.builder()));
  }
  // A result of the subgraph is computed by it.
  if (state.has_condition) {
    const TensorIndex both = ctx.AddTensor(Flag(), "goes_on");
    ctx.AddOperator(Op::LOGICAL_AND, {{both}, {result, tensors.condition}},
                    fb::CreateLogicalAndOptions(ctx.builder()));
    result = both;
  }
  return ctx.EndSubgraph(std::move(tensors.all), {result});
}

// A scalar by an operator whose result has no known shape when LiteRT prepares it: the shape
// without axes is an empty tensor, which is no constant there. LiteRT's WHILE fails where a carried
// value changes its shape and the body has no such operator.
Result<TensorIndex> WithUnknownShape(ExportContext& ctx, TensorIndex scalar, const Type& type) {
  NN_ASSIGN(const TensorIndex shape, ctx.AddInts({}, "shape"));
  const TensorIndex y = ctx.AddTensor(type, "scalar");
  ctx.AddOperator(Op::RESHAPE, {{y}, {scalar, shape}}, fb::CreateReshapeOptions(ctx.builder()));
  return y;
}

// An iteration. Captured values are carried unchanged.
Result<int32_t> WriteIteration(ExportContext& ctx, const Node& loop, const LoopState& state) {
  const Graph& region = *loop.regions()[0];
  const size_t carried = RegionPorts(loop).carried();
  ctx.BeginSubgraph("body");
  StateTensors tensors(ctx, state);
  if (state.counts) ctx.SetTensor(region.inputs()[0].value, tensors.number);
  const std::vector<Port> values = NamedPorts(ctx, std::span(region.inputs()).subspan(1));
  std::vector<Port> outputs = NamedPorts(ctx, region.outputs());
  if (!state.has_condition) outputs.erase(outputs.begin());
  std::vector<TensorIndex> results = ctx.ClaimPorts(region, values, outputs);
  // A value that stays what it is needs no copy. One that takes another's place does: the values
  // are assigned in turn.
  const size_t first = outputs.size() - carried;
  bool reshapes = false;
  for (size_t k = 0; k < carried; ++k) {
    const Value *const from = values[k].value, *const to = outputs[first + k].value;
    if (from == to) results[first + k] = ctx.TensorOf(from);
    reshapes |= from->type().dims != to->type().dims;
  }
  NN_RETURN_IF_ERROR(ctx.WriteContents(region, outputs, results));
  std::vector<TensorIndex> next;
  if (state.counts) {
    next.push_back(ctx.AddTensor(Counter(), "next"));
    TensorIndex one = ctx.AddConstant(Tensor::Scalar(int64_t{1}), "one");
    if (reshapes) {
      NN_ASSIGN(one, WithUnknownShape(ctx, one, Counter()));
    }
    ctx.AddOperator(Op::ADD, {{next[0]}, {tensors.number, one}},
                    fb::CreateAddOptions(ctx.builder()));
  } else if (reshapes) {
    NN_ASSIGN(results[0], WithUnknownShape(ctx, results[0], Flag()));
  }
  if (state.has_trips) next.push_back(tensors.trips);
  next.insert(next.end(), results.begin(), results.end());
  for (const Port& p : values) tensors.all.push_back(ctx.TensorOf(p.value));
  next.insert(next.end(), tensors.all.begin() + static_cast<ptrdiff_t>(next.size()),
              tensors.all.end());
  return ctx.EndSubgraph(std::move(tensors.all), std::move(next));
}

Status WriteLoop(ExportContext& ctx, const Node& node) {
  const LoopState state(node);
  const auto values = std::span(node.regions()[0]->inputs()).subspan(1);
  const int32_t condition = WriteCondition(ctx, node, state, values);
  NN_ASSIGN(const int32_t body, WriteIteration(ctx, node, state));
  std::vector<TensorIndex> inputs, outputs;
  const auto add = [&](TensorIndex input, const Type& type, std::string_view name) {
    inputs.push_back(input);
    outputs.push_back(ctx.AddTensor(type, name));
  };
  if (state.counts)
    add(ctx.AddConstant(Tensor::Scalar(int64_t{0}), "zero"), Counter(), "iterations");
  if (state.has_trips) add(ctx.TensorOf(node.input(0)), Counter(), "trips");
  if (state.has_condition) add(ctx.TensorOf(node.input(1)), Flag(), "condition");
  const size_t first = RegionPorts(node).first_carried();
  for (size_t i = first; i < node.inputs().size(); ++i) {
    const Value* const v = node.input(i);
    if (i - first < node.outputs().size()) {
      inputs.push_back(ctx.TensorOf(v));
      outputs.push_back(ctx.ResultOf(node, i - first));
    } else {
      add(ctx.TensorOf(v), v->type(), v->name());
    }
  }
  ctx.AddOperator(Op::WHILE, {outputs, inputs},
                  fb::CreateWhileOptions(ctx.builder(), condition, body));
  return {};
}

std::optional<std::string> WhyNotLoop(const Node& node) {
  if (node.input(0) == nullptr && node.input(1) == nullptr)
    return "it has neither a trip count nor a condition";
  if (RegionPorts(node).carried() < node.outputs().size())
    return "TensorFlow Lite has no lists of the results of iterations, and their shape is not "
           "known before the run; set input shapes with --input-shape";
  return std::nullopt;
}

constexpr ExportRow kControlExports[] = {
    {.op = "branch", .write = WriteBranch, .any_type = true},
    {.op = "loop", .write = WriteLoop, .why_not = WhyNotLoop, .any_type = true},
};

}  // namespace

Family ControlFamily() {
  return {.exports = kControlExports};
}

}  // namespace nn::tflite
