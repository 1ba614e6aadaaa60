// The legalization targets of ML Programs, one for each operation set.
#include <fmt/core.h>

#include <array>
#include <limits>
#include <utility>

#include "formats/common/suppression.h"
#include "formats/coreml/export/narrow_integers.h"
#include "formats/coreml/export/rewrite.h"
#include "formats/coreml/program/export/export.h"
#include "ir/op_def.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/nn/conv.h"
#include "passes/qdq/qdq.h"
#include "rewrite/apply_rule.h"
#include "rewrite/expand.h"
#include "rewrite/expand/tflite_integers.h"
#include "rewrite/forms/forms.h"
#include "rewrite/functions.h"
#include "rewrite/rewrite.h"
#include "rewrite/target.h"
#include "rewrite/weights.h"

namespace nn::coreml::program {
namespace {

// coremltools writes no results of more axes.
constexpr int kMaxAxes = 5;

std::optional<std::string> WhyNotValue(const Value& v) {
  const Type& type = v.type();
  if (!type.ranked()) return "the ranks of its values must be known";
  if (type.rank() > kMaxAxes && !v.is_constant())
    return fmt::format("Core ML has no arrays of {} axes", type.rank());
  for (const Dim& d : *type.dims)
    if (d.is_const() && d.value() > std::numeric_limits<int32_t>::max())
      return fmt::format("Core ML has no axes of size {}", d.value());
  if (DataTypeOf(type.dtype) == pb::mil::UNUSED_TYPE || type.dtype == DType::kU64 ||
      type.dtype == DType::kString)
    return fmt::format("ML Programs have no {} values", DTypeName(type.dtype));
  for (const Dim& d : *type.dims)
    if (d == Dim(0)) return "Core ML has no empty arrays";
  return std::nullopt;
}

std::optional<std::string> WhyNotValues(const Node& node) {
  for (const auto values : {node.inputs(), node.outputs()})
    for (const Value* v : values)
      if (v != nullptr)
        if (auto reason = WhyNotValue(*v)) return reason;
  return std::nullopt;
}

template <Opset kOpset>
std::optional<std::string> WhyIllegal(const Node& node) {
  if (auto reason = WhyNotValues(node)) return reason;
  if (!HasOperation(node.op()))
    return fmt::format("ML Programs have no {} operation", node.op_name());
  const ExportRow* const row = FindExport(node.op_name());
  if (row != nullptr && row->why_not != nullptr)
    if (auto reason = row->why_not(node)) return reason;
  return FindMisfit(node, kOpset);
}

Result<bool> RefuseQuantizedProd(Graph& /*graph*/, Node& node) {
  if (!OnQuantizedTypes(node) || node.arithmetic() != Arithmetic::kTflite) return false;
  return UnsupportedError("{}: TensorFlow Lite rounds after each factor; use --dequantize",
                          node.Describe());
}

// A filter of integers gets its axes before it is dequantized, while it is a constant.
Result<bool> OrderQuantizedFilter(Graph& graph, Node& node) {
  const auto layout = ChannelsBeforeTaps(node);
  return layout && OnQuantizedTypes(node) ? SetFilterLayout(graph, node, *layout) : false;
}

// Integers that are dequantized to float32 and rounded to float16, as ONNX has them, are stored as
// float16, if that holds their scales: a cast would be computed in each run, and is no constant.
Result<bool> DequantizeToHalf(Graph& graph, Node& node) {
  const Value* const reals = node.input(0);
  if (node.output()->dtype() != DType::kF16 || reals->is_constant() || !IsStored(*reals))
    return false;
  NN_ASSIGN(Node* const half, graph.Append("dequantize", {reals->def()->input(0)},
                                           DequantizeAttrs{DType::kF16}, 1, &node));
  if (FindExport("dequantize")->why_not(*half)) {
    graph.Erase(half);
    return false;
  }
  half->output()->set_name(node.output()->name());
  graph.ReplaceUses(node.output(), half->output());
  graph.Erase(&node);
  return true;
}

bool IsNarrowInteger(const Value* v) {
  return !v->type().quantized() && IsInteger(v->dtype()) && DTypeBits(v->dtype()) <= 16;
}

// Of integers that float32 holds, before they become those of i32.
Result<bool> PoolInFloat(Graph& graph, Node& node) {
  return ComputeIn(DType::kF32, graph, node, IsNarrowInteger, nullptr);
}

constexpr Rewrite kPreparations[] = {
    {"cast", "dequantize to float16", DequantizeToHalf},
    // Integer arithmetic, mostly that of TensorFlow Lite.
    {"", "filter layout", OrderQuantizedFilter},
    {"max_pool", "float32", PoolInFloat},
    {"softmax", "scale by beta", ScaleByBeta},
    {"reduce_prod", "refused", RefuseQuantizedProd},
    {"", "table", TabulateUnary},
};

Status Prepare(Graph& graph) {
  return PrepareQuantized(graph, kPreparations);
}

// Core ML has no empty arrays to grow. A spatial axis is added where an operation has two; more do
// not help. Types and ranks that keep a node from its operation keep the parts of its decomposition
// from theirs.
bool TakesFunction(const Node& node, const FunctionRow& row) {
  if (!row.changes_types && WhyNotValues(node)) return false;
  if (row.name == FunctionName::kSecondSpatialAxis) return node.input(0)->type().rank() == 3;
  return row.name != FunctionName::kStacksThatGrow;
}

constexpr Rewrite kRewrites[] = {
    {"batch_norm", "scale and shift", &ScaleAndShift},
    kForms,
    {"quantize", "rounding", &QuantizeInFloat},
    {"dequantize", "constant", &DequantizeConstant},
    {"matmul", "vectors as matrices", &ProductOfMatrices},
    {"non_max_suppression", "one list each",
     [](Graph& g, Node& n) { return OneListEach(g, n, true); }},
    {"shape_of", "slice of all sizes", &SliceAnyShape},
    {"layer_norm", "statistics by reductions", &SplitStatistics},
    {"fmod", "float32", &ComputeInFloat},
    {"fmod", "elementary steps", &DecomposeFmod},
    kSharedFunctions,
    kSharedRules,
};

template <Opset kOpset>
constexpr Target MakeTarget() {
  return {
      .name = "ML Programs",
      .why_illegal = WhyIllegal<kOpset>,
      .takes_regions = true,
      .forms = {.layout = Layout::kNcx, .filter_layout = ChannelsBeforeTaps, .time_first = true},
      .rewrites = kRewrites,
      .takes_function = TakesFunction,
      .lacks_scalar_ports = true,
      .prepare = Prepare,
      .change_types = WidenIntegers};
}

template <size_t... kIndices>
constexpr auto MakeTargets(std::index_sequence<kIndices...>) {
  return std::array{MakeTarget<static_cast<Opset>(kIndices)>()...};
}

}  // namespace

const Target& ProgramTarget(Opset opset) {
  static const auto targets = MakeTargets(std::make_index_sequence<kOpsets>());
  return targets[static_cast<size_t>(opset)];
}

}  // namespace nn::coreml::program
