// The legalization target TensorFlow Lite.
#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "formats/tflite/export/export.h"
#include "formats/tflite/export/narrow_cast.h"
#include "formats/tflite/export/operator_fit.h"
#include "formats/tflite/export/rewrites.h"
#include "formats/tflite/file/tensor.h"
#include "ir/op_def.h"
#include "ops/array/arrange/blocks.h"
#include "ops/array/arrange/concat.h"
#include "ops/array/arrange/pad.h"
#include "ops/array/arrange/positions.h"
#include "ops/array/arrange/scatter.h"
#include "ops/array/shape.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/nn/norm.h"
#include "ops/nn/resize/resize.h"
#include "ops/quant/fake_quantize.h"
#include "ops/quant/quantized.h"
#include "ops/recurrent/unroll.h"
#include "ops/support/term_ops.h"
#include "passes/qdq/qdq.h"
#include "passes/types/float32.h"
#include "rewrite/apply_rule.h"
#include "rewrite/forms/matrices.h"
#include "rewrite/functions.h"
#include "rewrite/rewrite.h"
#include "rewrite/target.h"
#include "rewrite/weights.h"

namespace nn::tflite {
namespace {

std::optional<std::string> WhyNotTypes(const Node& node, bool any_type) {
  const auto check = [&](const Value* v) -> std::optional<std::string> {
    if (v == nullptr) return std::nullopt;
    const DType t = v->dtype();
    if (!TensorTypeOf(t))
      return fmt::format("TensorFlow Lite has no element type {}", DTypeName(t));
    if (v->type().quantized())
      for (const float scale : v->type().quant->scales)
        if (!(scale > 0)) return fmt::format("scales must be positive, not {}", scale);
    const bool is_unsigned = t == DType::kU16 || t == DType::kU32 || t == DType::kU64;
    if (any_type || (is_unsigned && NamesType(node, t))) return std::nullopt;
    if (t == DType::kU64)
      return fmt::format("TensorFlow Lite has no {} for u64, and converts u64 to no other type",
                         node.op_name());
    if (is_unsigned || (IsFloat(t) && t != DType::kF32))
      return fmt::format("TensorFlow Lite has no {} for {}", node.op_name(), DTypeName(t));
    return std::nullopt;
  };
  for (const Value* v : node.inputs())
    if (auto reason = check(v)) return reason;
  for (const Value* v : node.outputs())
    if (auto reason = check(v)) return reason;
  const auto is_narrow = [](DType t) {
    return t == DType::kU8 || t == DType::kI8 || t == DType::kI16;
  };
  const bool on_quantized = node.input(0) != nullptr && node.input(0)->type().quantized();
  for (const Value* v : node.outputs())
    if (on_quantized && node.op().quant_rule != QuantRule::kStored && is_narrow(v->dtype()) &&
        !v->type().quantized())
      return fmt::format("the result {} must be quantized", v->type().ToString());
  return std::nullopt;
}

// Only CONCATENATION of UINT8 converts between the quantizations of its operands.
std::optional<std::string> WhyNotQuants(const Node& node) {
  if (node.op().quant_rule != QuantRule::kSame ||
      (node.Is<ConcatAttrs>() && node.output()->dtype() == DType::kU8))
    return std::nullopt;
  for (const Value* y : node.outputs())
    for (const Value* x : node.inputs())
      if (x != nullptr && x->type().quantized() && x->dtype() == y->dtype() &&
          (!y->type().quantized() || !SameButForRounding(*x->type().quant, *y->type().quant)))
        return fmt::format("the operator cannot requantize {} to {}", x->type().ToString(),
                           y->type().ToString());
  return std::nullopt;
}

// Legal nodes with a better form.
std::optional<std::string> WhyWasteful(const Node& node) {
  // Channels in the last axis can be shuffled in place.
  if (node.Is<TransposeAttrs>() && node.input(0)->def() != nullptr && IsShuffle(node)) {
    const auto& perm = node.attrs<TransposeAttrs>().perm;
    if (perm.back() == static_cast<int64_t>(perm.size()) - 1)
      return "it can be replaced by a gather";
  }
  return std::nullopt;
}

// Indices of 64 bits -> of 32 bits. Those that these do not have select nothing, as the nearest
// ones do.
Result<bool> ClipIndices(Graph& graph, Node& node) {
  Value* const indices = node.input(0);
  if (indices->dtype() != DType::kI64 || indices->is_constant()) return false;
  const Term bounded = Minimum(Maximum(indices, MinInteger(DType::kI32)), MaxInteger(DType::kI32));
  NN_ASSIGN(Value* const clipped, Expansion(graph, node).Build(Cast(bounded, DType::kI32)));
  graph.SetInput(&node, 0, clipped);
  return true;
}

constexpr Rewrite kRewrites[] = {
    kEarlyFunctions,
    kForms,
    {"conv_transpose", "zeros between taps", FillDilations},
    {"conv", "padding", ConvPadding},
    {"conv", "bias", ZeroBias},
    {"conv_transpose", "padding", TransposedConvPadding},
    {"max_pool", "padding", MaxPoolPadding},
    {"average_pool", "padding", AveragePoolPadding},
    {"clip", "bounds", ClipAsBounds},
    {"atan2", "broadcast", BroadcastOperands},
    {"cast", "narrow integers", NarrowCast},
    {"cast", "saturation", ClippedCast},
    {"arg_max", "wider numbers", ArgOf16Bits},
    {"arg_min", "wider numbers", ArgOf16Bits},
    {"one_hot", "indices of 32 bits", ClipIndices},
    {"rnn", "final state", FinalStateAsSlice},
    {"lstm", "final state", FinalStateAsSlice},
    {"rnn", "mask of lengths", LengthsAsMask},
    {"lstm", "mask of lengths", LengthsAsMask},
    {"matmul", "weights", TransposedWeights},
    {"matmul", "vectors", VectorsAsMatrices},
    {"depth_to_space", "order of channels", BlocksBeforeChannels},
    {"space_to_depth", "order of channels", BlocksBeforeChannels},
    {"pad", "unpadded axes in one", JoinUnpaddedAxes},
    {"pad", "crop", CropAsSlice},
    {"dequantize", "constant", DequantizeConstant},
    {"non_max_suppression", "one list each", CornersOfOneList},
    {"pow", "products", PowAsProducts},
    {"pow", "whole exponent", WholeExponent},
    {"shift_left", "product", ShiftLeftAsProduct},
    kSharedFunctions,
    {"", "wider integers", ComputeInWiderIntegers},
    kSharedRules,
};

// The reason for an operator without a counterpart: if other operators can express it, its element
// type or shape.
std::string WhyNotExpressed(const Node& node) {
  // The first input may be absent.
  const Type x = node.input(0) == nullptr ? Type() : node.input(0)->type();
  const bool has_rewrite =
      node.input(0) != nullptr && (HasRules(node) || HasRewrite(kRewrites, node, nullptr));
  const bool empty = x.ranked() && Product(*x.dims) == 0;
  if (const auto reason = WhyNotExpanded(node)) return std::string(*reason);
  if (has_rewrite && (x.dtype != DType::kF32 || x.quantized() || empty))
    return fmt::format("TensorFlow Lite has no {} for {}", node.op_name(),
                       x.quantized() || empty ? x.ToString() : std::string(DTypeName(x.dtype)));
  if (has_rewrite && !node.output()->type().const_dims())
    return fmt::format(
        "TensorFlow Lite has no {} operator, and other operators need constant shapes; set input "
        "shapes with --input-shape",
        node.op_name());
  return fmt::format("TensorFlow Lite has no {} operator", node.op_name());
}

std::optional<std::string> WhyIllegal(const Node& node) {
  const ExportRow* row = FindExport(node.op_name());
  if (row == nullptr && node.op().FindFormat("tflite") == nullptr) {
    if (node.op().category == Category::kRecurrent)
      if (auto reason = WhyNotUnrolled(node)) return reason;
    return WhyNotExpressed(node);
  }
  if (auto reason = WhyNotTypes(node, row != nullptr && row->any_type)) return reason;
  if (auto reason = WhyNotQuants(node)) return reason;
  if (row != nullptr && row->why_not != nullptr)
    if (auto reason = row->why_not(node)) return reason;
  if (auto reason = FindOperatorMisfit(node)) return reason;
  return WhyWasteful(node);
}

bool TakesFunction(const Node& node, const FunctionRow& row) {
  if (node.Is<PadAttrs>() || node.Is<ResizeAttrs>() || node.Is<CompressAttrs>())
    return row.name != FunctionName::kSlicesOfInput && CanGather(node.input(0)->dtype());
  if (node.Is<ScatterNdAttrs>() || node.Is<ScatterElementsAttrs>())
    return !WhyNotScatterTypes(node);
  return !node.Is<LrnAttrs>() || node.output()->type().rank() <= kMaxPaddedAxes;
}

// Blocks of images get the layout and the order of TensorFlow Lite by rewrites.
bool TakesIdiom(const Node& node) {
  if (!node.Is<DepthToSpaceAttrs>()) return !WhyIllegal(node);
  const Type& x = node.input(0)->type();
  const Layout layout = node.attrs<DepthToSpaceAttrs>().layout;
  return x.dtype == DType::kF32 && x.rank() == 4 && x.dim(ChannelAxis(layout, 4)).is_const();
}

// Rounded numbers that are results of a graph do not belong to hybrid kernels alone.
Status ExpandRoundedResults(Graph& graph) {
  for (Node& node : graph.nodes())
    for (const auto& region : node.regions()) NN_RETURN_IF_ERROR(ExpandRoundedResults(*region));
  std::set<Node*> rounded;
  for (const Port& p : graph.outputs())
    if (Node* const node = p.value->def(); node != nullptr && node->Is<DynamicFakeQuantizeAttrs>())
      rounded.insert(node);
  for (Node* const node : rounded) NN_RETURN_IF_ERROR(node->op().decompose(graph, *node));
  return {};
}

Status Prepare(Graph& graph) {
  NN_RETURN_IF_ERROR(FuseQuantized(graph));
  NN_RETURN_IF_ERROR(ExpandRoundedResults(graph));
  NN_RETURN_IF_ERROR(ComputeInnerInFloat32(graph));
  return CountIndicesFromStart(graph);
}

}  // namespace

const Target& TfliteTarget() {
  static const Target target = {
      .name = "TensorFlow Lite",
      .why_illegal = WhyIllegal,
      .takes_idiom = TakesIdiom,
      .takes_regions = true,
      .forms = {.layout = Layout::kNxc, .lacks_groups = LacksGroups, .filter_layout = FilterOrder},
      .rewrites = kRewrites,
      .takes_function = TakesFunction,
      .prepare = Prepare};
  return target;
}

}  // namespace nn::tflite
