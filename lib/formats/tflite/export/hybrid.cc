#include "formats/tflite/export/hybrid.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include "formats/tflite/export/export.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/math/matmul.h"
#include "ops/nn/conv_transpose.h"
#include "ops/quant/fake_quantize.h"
#include "ops/quant/quantized.h"
#include "ops/recurrent/extended_lstm.h"
#include "ops/reduce/reduction.h"

namespace nn::tflite {

DynamicFakeQuantizeAttrs RowsAlong(int64_t axis, bool asymmetric) {
  return {{axis}, !asymmetric};
}

DynamicFakeQuantizeAttrs RowsOfImages(int rank, bool symmetric) {
  std::vector<int64_t> axes(static_cast<size_t>(rank) - 1);
  std::iota(axes.begin(), axes.end(), 1);
  return {std::move(axes), symmetric};
}

bool IsSymmetricConv(const ConvAttrs& attrs, const Quant& filter) {
  return attrs.filter_layout == FilterLayout::kOxi && attrs.groups == 1 &&
         std::ranges::all_of(filter.scales, [&](float s) { return s == filter.scales[0]; });
}

namespace {

// What a kernel accepts.
struct Kernel {
  std::vector<DType> weights;
  DynamicFakeQuantizeAttrs rows;
  bool selects_rounding = false;  // by an option; otherwise it is that of `rows`
  int channels = -1;              // axis of the weights that may have scales; -1: none
  bool needs_all_scales = false;  // one for each channel
};

std::optional<Kernel> KernelOf(const Node& node, const Type& weights) {
  using enum DType;
  if (node.Is<MatmulAttrs>()) {
    const auto& a = node.attrs<MatmulAttrs>();
    const int rank = node.input(0)->type().rank();
    if (IsFullyConnected(node)) return Kernel{{kI8, kI4, kI2}, RowsAlong(rank - 1, false), true, 0};
    if (rank < 2 || node.input(2) != nullptr) return std::nullopt;
    return Kernel{{kI8}, RowsAlong(a.transpose_a ? rank - 2 : rank - 1, false), true};
  }
  if (weights.rank() != 4) return std::nullopt;
  if (node.Is<ConvTransposeAttrs>()) return Kernel{{kI8}, RowsOfImages(4, false), false, 0, true};
  const auto& a = node.attrs<ConvAttrs>();
  const bool symmetric = IsSymmetricConv(a, *weights.quant);
  if (a.filter_layout == FilterLayout::kIxo)
    return Kernel{{kI8}, RowsOfImages(4, false), false, 3, true};
  if (a.filter_layout != FilterLayout::kOxi) return std::nullopt;
  return Kernel{{kI8, kI4}, RowsOfImages(4, symmetric), false, 0, !symmetric};
}

bool HasScales(const Kernel& kernel, const Type& weights) {
  const Quant& q = *weights.quant;
  if (HasZeroPoints(q)) return false;
  const auto count = static_cast<int64_t>(q.scales.size());
  if (q.per_axis() && count > 1 && q.axis != kernel.channels) return false;
  return !kernel.needs_all_scales || weights.dim(kernel.channels) == count;
}

bool IsProduct(const Node& node) {
  return node.Is<MatmulAttrs>() || node.Is<ConvAttrs>() || node.Is<ConvTransposeAttrs>();
}

}  // namespace

std::optional<Hybrid> HybridOf(const Node& product) {
  if (!IsProduct(product)) return std::nullopt;
  const Node* const rounding = product.input(0)->def();
  const Node* const scaling = product.input(1)->def();
  if (rounding == nullptr || !rounding->Is<DynamicFakeQuantizeAttrs>() || scaling == nullptr ||
      !scaling->Is<DequantizeAttrs>())
    return std::nullopt;
  const Value* const weights = scaling->input(0);
  const Type& type = weights->type();
  if (!type.ranked() || !type.quantized() || !product.input(0)->type().ranked())
    return std::nullopt;
  const auto kernel = KernelOf(product, type);
  if (!kernel || std::ranges::find(kernel->weights, type.dtype) == kernel->weights.end() ||
      !HasScales(*kernel, type))
    return std::nullopt;
  const auto& rows = rounding->attrs<DynamicFakeQuantizeAttrs>();
  const auto axes = ReducedAxes(rows.axes, product.input(0)->type().rank());
  if (!axes || !std::ranges::equal(*axes, kernel->rows.axes) ||
      (!kernel->selects_rounding && rows.symmetric != kernel->rows.symmetric))
    return std::nullopt;
  return Hybrid{rounding->input(0), weights, !rows.symmetric};
}

namespace {

using Lstm = ExtendedLstmInputs;

// The integers that the operand of a layer dequantizes; null if it is no constant of INT8.
const Value* IntegersOf(const Value* operand) {
  const Node* const scaling = operand == nullptr ? nullptr : operand->def();
  if (scaling == nullptr || !scaling->Is<DequantizeAttrs>()) return nullptr;
  const Value* const integers = scaling->input(0);
  const bool fits = integers->is_constant() && integers->type().quantized() &&
                    integers->dtype() == DType::kI8 && !HasZeroPoints(*integers->type().quant);
  return fits ? integers : nullptr;
}

// Whether the rows of each of `parts` parts have one scale.
bool HasScaleOfParts(const Value& integers, int64_t parts) {
  const Quant& quant = *integers.type().quant;
  if (!quant.per_axis() || quant.scales.size() == 1) return true;
  const size_t rows = quant.scales.size() / static_cast<size_t>(parts);
  bool fits = quant.axis == 0 && rows > 0;
  for (size_t i = 0; fits && i < quant.scales.size(); ++i)
    fits = quant.scales[i] == quant.scales[i / rows * rows];
  return fits;
}

}  // namespace

bool IsHybridLayer(const Node& layer) {
  if (!layer.Is<ExtendedLstmAttrs>()) return false;
  const auto& a = layer.attrs<ExtendedLstmAttrs>();
  const Node* const rounding = layer.input(Lstm::kX)->def();
  if (a.state_rounding == StateRounding::kNone || rounding == nullptr ||
      !rounding->Is<DynamicFakeQuantizeAttrs>())
    return false;
  const auto& rows = rounding->attrs<DynamicFakeQuantizeAttrs>();
  if (rows.axes != std::vector<int64_t>{2} ||
      rows.symmetric != (a.state_rounding == StateRounding::kSymmetric))
    return false;
  const auto fits = [&](size_t i, int64_t parts) {
    const Value* const integers = IntegersOf(layer.input(i));
    return integers != nullptr && HasScaleOfParts(*integers, parts);
  };
  const auto gates = static_cast<int64_t>(a.gates());
  return fits(Lstm::kW, gates) && fits(Lstm::kR, gates) &&
         (layer.input(Lstm::kPeepholes) == nullptr || fits(Lstm::kPeepholes, gates - 1)) &&
         (layer.input(Lstm::kProjection) == nullptr || fits(Lstm::kProjection, 1));
}

const Value* LayerOperand(const Node& layer, size_t i) {
  const bool rounded = i == Lstm::kX, scaled = i == Lstm::kW || i == Lstm::kR ||
                                               i == Lstm::kPeepholes || i == Lstm::kProjection;
  const Value* const v = layer.input(i);
  return v != nullptr && (rounded || scaled) && IsHybridLayer(layer) ? v->def()->input(0) : v;
}

bool IsPartOfHybrids(const Node& node) {
  if (!node.Is<DynamicFakeQuantizeAttrs>() && !node.Is<DequantizeAttrs>()) return false;
  const bool rounds = node.Is<DynamicFakeQuantizeAttrs>();
  const auto uses = node.output()->uses();
  return !uses.empty() && std::ranges::all_of(uses, [&](const Use& use) {
    const auto i = static_cast<size_t>(use.index);
    if (IsHybridLayer(*use.node)) return LayerOperand(*use.node, i) != use.node->input(i);
    return i == (rounds ? 0 : 1) && HybridOf(*use.node).has_value();
  });
}

}  // namespace nn::tflite
