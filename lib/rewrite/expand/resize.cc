// resize of known sizes as sums of gathered elements.
#include <algorithm>

#include "ir/op_def.h"
#include "ops/nn/resize/resize.h"
#include "ops/support/term_ops.h"
#include "rewrite/expand/index.h"

namespace nn {
namespace {

// Limit of expansions: elements along an axis from which a resize interpolates. Each becomes a
// node.
constexpr int64_t kMaxTaps = 64;

Term Along(const Term& x, int rank, int64_t at, const ResizeAxis& axis) {
  Term sum;
  std::vector<int64_t> dims(static_cast<size_t>(rank), 1);
  dims[static_cast<size_t>(at)] = axis.size();
  for (int64_t t = 0; t < axis.taps; ++t) {
    std::vector<int32_t> index;
    std::vector<float> weight;
    for (int64_t i = 0; i < axis.size(); ++i) {
      const auto tap = static_cast<size_t>(i * axis.taps + t);
      index.push_back(static_cast<int32_t>(axis.index[tap]));
      weight.push_back(axis.weight[tap]);
    }
    Term v = Gather(x, Tensor::Of({axis.size()}, index), at);
    if (axis.taps > 1) v = v * Tensor::Of(dims, weight);
    sum = sum.is_absent() ? v : sum + v;
  }
  return sum;
}

}  // namespace

Result<bool> ExpandResize(Graph& graph, Node& node) {
  const auto& a = node.attrs<ResizeAttrs>();
  const Type& x = node.input(0)->type();
  const auto input = ConstDims(SpatialDims(*x.dims, a.layout));
  const auto sizes = ConstDims(a.sizes);
  if (node.inputs().size() > 1 || !input || !sizes) return false;
  if (!ElementsWithin(*input, kMaxElements)) return false;
  if (a.mode != ResizeMode::kNearest && (x.quantized() || x.dtype != DType::kF32)) return false;
  const ResizeNumbers numbers{a.scales, *sizes, a.roi};
  NN_ASSIGN(const auto output, ResizedSizes(a, numbers, *input));
  if (!ElementsWithin(output, kMaxElements)) return false;
  NN_ASSIGN(const auto axes, ResizeAxes(a, node.arithmetic(), numbers, *input, output));
  bool inside = true;
  for (const ResizeAxis& axis : axes) {
    if (axis.taps > kMaxTaps) return false;
    inside &=
        std::none_of(axis.outside.begin(), axis.outside.end(), [](uint8_t o) { return o != 0; });
  }
  if (!inside && (x.quantized() || x.dtype != DType::kF32)) return false;
  Term y = node.input(0);
  const int64_t first = FirstSpatialAxis(a.layout);
  for (size_t k = axes.size(); k-- > 0;) {
    if (axes[k].IsIdentity((*input)[k])) continue;
    y = Along(y, x.rank(), first + static_cast<int64_t>(k), axes[k]);
  }
  for (size_t k = 0; !inside && k < axes.size(); ++k) {
    std::vector<int64_t> dims(static_cast<size_t>(x.rank()), 1);
    dims[static_cast<size_t>(first) + k] = axes[k].size();
    NN_ASSIGN(TensorBuilder outside, TensorBuilder::Create(DType::kBool, dims));
    for (int64_t i = 0; i < axes[k].size(); ++i)
      outside.SetInt(i, axes[k].outside[static_cast<size_t>(i)] != 0 ? 1 : 0);
    y = Select(outside.Finish(), a.extrapolation_value, y);
  }
  return Expansion(graph, node).Replace(y);
}

}  // namespace nn
