#include "formats/tflite/hybrid.h"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <numeric>
#include <vector>

#include "formats/tflite/export.h"
#include "ops/math/matmul.h"
#include "ops/nn/conv_transpose.h"
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
  std::initializer_list<DType> weights;
  DynamicFakeQuantizeAttrs rows;
  bool selects_rounding = false;  // by an option; otherwise it is that of `rows`
  int channels = -1;              // axis of the weights that may have scales; -1: none
  bool needs_all_scales = false;  // one for each channel
};

std::optional<Kernel> KernelOf(const Node& node, const Type& weights) {
  using enum DType;
  if (node.Is("matmul")) {
    const auto& a = node.attrs<MatmulAttrs>();
    const int rank = node.input(0)->type().rank();
    if (IsFullyConnected(node)) return Kernel{{kI8, kI4, kI2}, RowsAlong(rank - 1, false), true, 0};
    if (rank < 2 || node.input(2) != nullptr) return std::nullopt;
    return Kernel{{kI8}, RowsAlong(a.transpose_a ? rank - 2 : rank - 1, false), true};
  }
  if (weights.rank() != 4) return std::nullopt;
  if (node.Is("conv_transpose")) return Kernel{{kI8}, RowsOfImages(4, false), false, 0, true};
  const auto& a = node.attrs<ConvAttrs>();
  const bool symmetric = IsSymmetricConv(a, *weights.quant);
  if (a.filter_layout == FilterLayout::kIxo)
    return Kernel{{kI8}, RowsOfImages(4, false), false, 3, true};
  if (a.filter_layout != FilterLayout::kOxi) return std::nullopt;
  return Kernel{{kI8, kI4}, RowsOfImages(4, symmetric), false, 0, !symmetric};
}

bool HasScales(const Kernel& kernel, const Type& weights) {
  const Quant& q = *weights.quant;
  if (std::ranges::any_of(q.zero_points, [](int64_t z) { return z != 0; })) return false;
  const auto count = static_cast<int64_t>(q.scales.size());
  if (q.per_axis() && count > 1 && q.axis != kernel.channels) return false;
  return !kernel.needs_all_scales || weights.dim(kernel.channels) == count;
}

bool IsProduct(const Node& node) {
  return node.Is("matmul") || node.Is("conv") || node.Is("conv_transpose");
}

}  // namespace

std::optional<Hybrid> HybridOf(const Node& product) {
  if (!IsProduct(product)) return std::nullopt;
  const Node* const rounding = product.input(0)->def();
  const Node* const scaling = product.input(1)->def();
  if (rounding == nullptr || !rounding->Is("dynamic_fake_quantize") || scaling == nullptr ||
      !scaling->Is("dequantize"))
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

bool IsPartOfHybrids(const Node& node) {
  if (!node.Is("dynamic_fake_quantize") && !node.Is("dequantize")) return false;
  const int place = node.Is("dequantize") ? 1 : 0;
  const auto uses = node.output()->uses();
  return !uses.empty() && std::ranges::all_of(uses, [&](const Use& use) {
    return use.index == place && HybridOf(*use.node).has_value();
  });
}

}  // namespace nn::tflite
