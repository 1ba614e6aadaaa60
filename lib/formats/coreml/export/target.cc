// The legalization target Core ML.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "formats/common/suppression.h"
#include "formats/coreml/export/export.h"
#include "formats/coreml/export/integer_range.h"
#include "formats/coreml/export/layer_fit.h"
#include "formats/coreml/export/narrow_integers.h"
#include "formats/coreml/export/rewrite.h"
#include "formats/coreml/spec/signature.h"
#include "ir/op_def.h"
#include "ops/control/loop.h"
#include "ops/nn/pool.h"
#include "ops/recurrent/unroll.h"
#include "ops/support/types.h"
#include "passes/qdq/qdq.h"
#include "passes/types/float32.h"
#include "rewrite/apply_rule.h"
#include "rewrite/expand.h"
#include "rewrite/forms/forms.h"
#include "rewrite/functions.h"
#include "rewrite/rewrite.h"

namespace nn::coreml {
namespace {

bool IsWhole(DType t) {
  return t == DType::kI32 || t == DType::kI64 || t == DType::kBool;
}

std::optional<std::string> WhyNotValue(const Value& v, Types types) {
  const Type& type = v.type();
  if (!type.ranked()) return "the ranks of its values must be known";
  if (type.quantized()) return "Core ML has no quantized values";
  if (type.rank() > kMaxRank) return fmt::format("Core ML has no arrays of {} axes", type.rank());
  if (type.rank() == 0 && !v.is_constant()) return "Core ML has no scalars";
  for (const Dim& d : *type.dims)
    if (d.is_const() && d.value() > std::numeric_limits<int32_t>::max())
      return fmt::format("Core ML has no axes of size {}", d.value());
  if (type.dtype != DType::kF32 && !IsWhole(type.dtype))
    return fmt::format("Core ML has no {} values", DTypeName(type.dtype));
  if (type.dtype != DType::kF32 && types == Types::kFloat) return WhyNotComputed(type.dtype);
  if (!v.is_constant()) return std::nullopt;
  if (v.constant().elements() == 0) return "its constants cannot be empty";
  if (type.dtype != DType::kF32 && !AllExact(v.constant()))
    return "float32 does not represent its integers exactly";
  return std::nullopt;
}

// Integer arithmetic is exact for sizes and indices whose contents are known by inference.
bool IsShapeArithmetic(const Node& node) {
  return node.op().keeps_integers && node.output()->elements() != nullptr;
}

bool HasLayer(const OpDef& op) {
  return FindExport(op.name) != nullptr || op.FindFormat("coreml") != nullptr;
}

// The types of its layer.
Types TypesOf(const Node& node) {
  if (IsShapeArithmetic(node) || IsExactArithmetic(node)) return Types::kAny;
  const ExportRow* const row = FindExport(node.op_name());
  return row == nullptr ? Types::kFloat : row->types;
}

// Whether other layers can compute what the operator does.
bool IsDecomposed(const Node& node) {
  static const auto by_rules = OperatorsWithRulesTo([](std::string_view op) {
    return HasLayer(*Ops().Find(op)) || std::ranges::count(FunctionRows(), op, &FunctionRow::op);
  });
  return node.op().decompose != nullptr || by_rules.contains(node.op_name()) ||
         HasRewrite(CoremlTarget(), node);
}

std::optional<std::string> WhyIllegal(const Node& node) {
  const bool has_layer = HasLayer(node.op());
  if (const auto reason = WhyNotExpanded(node); reason && IsPlainF32(node))
    return std::string(*reason);
  if (has_layer || IsDecomposed(node)) {
    if (auto reason = WhyNotValues(node, TypesOf(node))) return reason;
  }
  if (!has_layer) {
    const auto steps = node.op().category == Category::kRecurrent ? WhyNotUnrolled(node)
                                                                  : std::optional<std::string>();
    return fmt::format("Core ML has no {} layer{}", node.op_name(),
                       steps ? fmt::format("; {}", *steps) : "");
  }
  const ExportRow* const row = FindExport(node.op_name());
  if (row != nullptr && row->why_not != nullptr)
    if (auto reason = row->why_not(node)) return reason;
  if (auto misfit = FindLayerMisfit(node)) return std::move(misfit->text);
  return std::nullopt;
}

// Core ML has no empty arrays to grow, and gathers along an axis. Types and ranks that keep a node
// from its layer keep the parts of its decomposition from theirs.
bool TakesFunction(const Node& node, const FunctionRow& row) {
  constexpr std::string_view kLayers[] = {"gather_elements", "scatter_elements", "scatter_nd",
                                          "slice", "top_k"};
  // Positions and products of integers, which float32 may not represent.
  if (row.op == "shift_left" || row.op == "shift_right" ||
      (row.name == FunctionName::kComputedGathers && !node.output()->type().const_dims()))
    return false;
  if (row.name == FunctionName::kStacksThatGrow || row.name == FunctionName::kGathersOfBatches ||
      row.name == FunctionName::kSecondSpatialAxis || std::ranges::count(kLayers, row.op))
    return false;
  return row.changes_types || !HasLayer(node.op()) || !WhyNotValues(node, Types::kAny);
}

// Core ML computes with real numbers only, so quantized weights are dequantized.
Status Prepare(Graph& graph) {
  for (const Node& node : graph.nodes())
    if (node.Is<LoopAttrs>()) NN_RETURN_IF_ERROR(BoundNumbers(node));
  NN_RETURN_IF_ERROR(ComputeInnerInFloat32(graph));
  NN_RETURN_IF_ERROR(UnfuseQdq(graph));
  return DequantizeConstants(graph);
}

}  // namespace

std::optional<std::string> WhyNotValues(const Node& node, Types types) {
  for (const auto values : {node.inputs(), node.outputs()})
    for (const Value* v : values)
      if (v != nullptr)
        if (auto reason = WhyNotValue(*v, types)) return reason;
  return std::nullopt;
}

const Target& CoremlTarget() {
  static const Rewrite rewrites[] = {
      {"batch_norm", "scale and shift", &ScaleAndShift},
      kForms,
      {"", "two spatial axes", &AddSpatialAxes},
      {"batch_norm", "spatial axes in one", &MergeSpatialAxes},
      {"matmul", "weights in rows of outputs", &TransposeWeights},
      {"matmul", "vectors as matrices", &ProductOfMatrices},
      {"gather", "index by a slice", &GatherToSlice},
      {"slice", "bounds of the axes", &BoundsWithinAxes},
      {"shape_of", "slice of all sizes", &SliceShape},
      {"reverse_sequence", "batch before time", &BatchBeforeTime},
      {"cast", "whole numbers", &DropFractions},
      {"quantize", "rounding", &QuantizeInFloat},
      {"one_hot", "indices counted from the start", &CountFromBegin},
      {"scatter_nd", "list of one update", &ScatterList},
      {"layer_norm", "statistics by reductions", &SplitStatistics},
      {"mod", "divisor other than 0", &NonZeroDivisor},
      {"fmod", "divisor other than 0", &NonZeroDivisor},
      {"fmod", "elementary steps", &DecomposeFmod},
      {"non_max_suppression", "one list each",
       [](Graph& g, Node& n) { return OneListEach(g, n, true); }},
      kSharedFunctions,
      kSharedRules,
  };
  static const Target target = {
      .name = "Core ML",
      .why_illegal = WhyIllegal,
      .takes_regions = true,
      .forms = {.layout = Layout::kNcx, .filter_layout = ChannelsBeforeTaps, .time_first = true},
      .rewrites = rewrites,
      .takes_function = TakesFunction,
      .lacks_scalars = true,
      .prepare = Prepare,
      .change_types = WidenIntegers,
      .narrows_constants = true};
  return target;
}

}  // namespace nn::coreml
