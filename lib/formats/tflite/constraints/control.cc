// Preparation of operators that call subgraphs or share resources.
#include <algorithm>

#include "formats/tflite/constraints/operation.h"

namespace nn::tflite::constraints {
namespace {

using Op = fb::BuiltinOperator;

const fb::SubGraph* Called(Operation& o, int64_t index, std::string_view role) {
  const fb::SubGraph* graph = At(o.model().root.subgraphs(), index);
  if (graph == nullptr)
    o.Fail(Check::kCalledGraph, "{} is subgraph {}, out of range [0, {})", role, index,
           SizeOf(o.model().root.subgraphs()));
  else if (index == o.at().graph)
    o.Fail(Check::kCallRecursion, "{} is subgraph {}, which contains this operator", role, index);
  return o.failed() ? nullptr : graph;
}

void CheckPorts(Operation& o, const fb::SubGraph& graph, std::string_view role, int64_t inputs,
                int64_t outputs) {
  if (SizeOf(graph.inputs()) != inputs || SizeOf(graph.outputs()) != outputs)
    o.Fail(Check::kCalledPorts, "{} has {} inputs and {} outputs; expected {} and {}", role,
           SizeOf(graph.inputs()), SizeOf(graph.outputs()), inputs, outputs);
}

// The type of output i of a called subgraph; nullopt if it is unknown. An input that is passed
// through has the type of the caller's value, because inputs take the types that they are given.
std::optional<fb::TensorType> OutputType(const Operation& o, const fb::SubGraph& graph, int64_t i) {
  if (i >= SizeOf(graph.outputs())) return std::nullopt;
  const int32_t t = graph.outputs()->Get(static_cast<flatbuffers::uoffset_t>(i));
  const auto inputs = ListOf<int32_t>(graph.inputs());
  const auto input = std::find(inputs.begin(), inputs.end(), t);
  if (input != inputs.end()) {
    const Value* given = o.in(static_cast<int>(input - inputs.begin()));
    return given == nullptr ? std::nullopt : std::optional(given->type);
  }
  const fb::Tensor* tensor = At(graph.tensors(), t);
  return tensor == nullptr ? std::nullopt : std::optional(tensor->type());
}

void If(Operation& o) {
  const auto* options = o.at().op->builtin_options_as_IfOptions();
  if (options == nullptr) return;
  const fb::SubGraph* branches[] = {Called(o, options->then_subgraph_index(), "the then branch"),
                                    Called(o, options->else_subgraph_index(), "the else branch")};
  if (o.failed()) return;
  for (int i = 0; i < 2; ++i)
    CheckPorts(o, *branches[i], i == 0 ? "the then branch" : "the else branch", o.inputs() - 1,
               o.outputs());
}

void While(Operation& o) {
  const auto* options = o.at().op->builtin_options_as_WhileOptions();
  if (options == nullptr) return;
  const int64_t n = o.inputs();
  if (o.outputs() != n)
    return o.Fail(Check::kCalledPorts, "it has {} inputs but {} outputs; expected equal numbers", n,
                  o.outputs());
  const fb::SubGraph* condition = Called(o, options->cond_subgraph_index(), "the condition");
  const fb::SubGraph* body = Called(o, options->body_subgraph_index(), "the body");
  if (o.failed()) return;
  if (condition == body)
    return o.Fail(Check::kCalledGraph, "the condition and the body are both subgraph {}",
                  options->body_subgraph_index());
  CheckPorts(o, *condition, "the condition", n, 1);
  CheckPorts(o, *body, "the body", n, n);
  if (o.failed()) return;
  const auto goes_on = OutputType(o, *condition, 0);
  if (goes_on && *goes_on != fb::TensorType::BOOL)
    o.Fail(Check::kCalledPorts, "the condition returns {}; expected BOOL",
           fb::EnumNameTensorType(*goes_on));
  for (int i = 0; i < n; ++i) {
    const Value* x = o.in(i);
    const auto y = OutputType(o, *body, i);
    if (x != nullptr && y && x->type != *y)
      return o.Fail(Check::kCalledPorts, "the body takes {} for value {} but returns {}",
                    fb::EnumNameTensorType(x->type), i, fb::EnumNameTensorType(*y));
  }
}

void CallOnce(Operation& o) {
  const auto* options = o.at().op->builtin_options_as_CallOnceOptions();
  if (options == nullptr) return;
  const fb::SubGraph* graph = Called(o, options->init_subgraph_index(), "the initialization");
  if (graph != nullptr) CheckPorts(o, *graph, "the initialization", 0, 0);
}

void Case(Operation& o) {
  const auto* options = o.at().op->builtin_options_2_as_StablehloCaseOptions();
  if (options == nullptr) return;
  if (SizeOf(options->branch_subgraph_indices()) == 0)
    return o.Fail(Check::kCalledGraph, "branch_subgraph_indices is empty");
  for (const int32_t index : ListOf<int32_t>(options->branch_subgraph_indices())) {
    const fb::SubGraph* branch = Called(o, index, "a branch");
    if (branch == nullptr) return;
    CheckPorts(o, *branch, fmt::format("branch {}", index), o.inputs() - 1, o.outputs());
  }
}

void Composite(Operation& o) {
  const auto* options = o.at().op->builtin_options_2_as_StableHLOCompositeOptions();
  if (options == nullptr) return;
  const fb::SubGraph* graph =
      Called(o, options->decomposition_subgraph_index(), "the decomposition");
  if (graph != nullptr) CheckPorts(o, *graph, "the decomposition", o.inputs(), o.outputs());
}

// Tables map integers to strings or strings to integers.
void CheckTable(Operation& o, fb::TensorType keys, fb::TensorType values) {
  const bool fits = (keys == fb::TensorType::INT64 && values == fb::TensorType::STRING) ||
                    (keys == fb::TensorType::STRING && values == fb::TensorType::INT64);
  if (!fits)
    o.Fail(Check::kTables,
           "keys are {} and values are {}; expected INT64 and STRING in either order",
           fb::EnumNameTensorType(keys), fb::EnumNameTensorType(values));
}

void Hashtable(Operation& o) {
  const auto* options = o.at().op->builtin_options_as_HashtableOptions();
  if (options != nullptr) CheckTable(o, options->key_dtype(), options->value_dtype());
  o.Give(0, Dims{1});
}

void HashtableFind(Operation& o) {
  if (!o.AllPresent(3)) return;
  CheckTable(o, o.in(1)->type, o.in(2)->type);
  o.Give(0, o.in(1)->dims);
}

void HashtableImport(Operation& o) {
  if (!o.AllPresent(3)) return;
  CheckTable(o, o.in(1)->type, o.in(2)->type);
  const Value& keys = *o.in(1);
  const Value& values = *o.in(2);
  bool same = !Differ(keys.rank(), values.rank());
  for (int64_t i = 0; same && i < keys.rank(); ++i) same = !Differ(keys.dim(i), values.dim(i));
  if (!same)
    o.Fail(Check::kTables, "keys have shape {} but values have shape {}", ShapeText(keys.dims),
           ShapeText(values.dims));
}

void HashtableSize(Operation& o) {
  o.Give(0, Dims{1});
}

constexpr Preparation kControlPreparations[] = {
    {Op::IF, If},
    {Op::WHILE, While},
    {Op::CALL_ONCE, CallOnce},
    {Op::STABLEHLO_CASE, Case},
    {Op::STABLEHLO_COMPOSITE, Composite},
    {Op::HASHTABLE, Hashtable},
    {Op::HASHTABLE_FIND, HashtableFind},
    {Op::HASHTABLE_IMPORT, HashtableImport},
    {Op::HASHTABLE_SIZE, HashtableSize},
};

}  // namespace

std::span<const Preparation> ControlPreparations() {
  return kControlPreparations;
}

}  // namespace nn::tflite::constraints
