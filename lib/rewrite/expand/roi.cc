// roi_align in elementary operators.
#include <algorithm>
#include <array>
#include <vector>

#include "ir/op_def.h"
#include "ir/types/axis_map.h"
#include "ops/array/shape.h"
#include "ops/nn/detect/roi.h"
#include "ops/nn/pool.h"
#include "ops/support/term_ops.h"
#include "rewrite/expand.h"
#include "rewrite/expand/index.h"

namespace nn {
namespace {

// The two elements of an axis that each sample takes, as values of the shape [regions, samples].
struct SampledAxis {
  Term inside;                 // bool: whether the sample is inside the image
  std::array<Term, 2> index;   // float32
  std::array<Term, 2> weight;  // float32
};

// Computes the positions in the order of roi_align's evaluation (ops/nn/detect/roi.h).
class RegionSampler {
 public:
  explicit RegionSampler(const Node& node)
      : a_(node.attrs<RoiAlignAttrs>()), rois_(node.input(1)) {}

  // x [images, height, width, channels] -> y [regions, height, width, channels].
  Term Sample(Value* x, Value* batch) const {
    const Dims& dims = *x->type().dims;
    const int64_t height = dims[1].value(), width = dims[2].value();
    const SampledAxis rows = AxisOf(1, a_.height, height, 2);
    const SampledAxis columns = AxisOf(0, a_.width, width, 1);
    const auto first_element = [&](const Term& row) {
      if (dims[0] == 1) return row * width;
      const Term image = ExpandDims(Cast(batch, DType::kF32), {1, 2});
      return row * width + image * (height * width);
    };
    const Term all = Reshape(x, {dims[0] * dims[1] * dims[2], dims[3]});
    Term y;
    for (const size_t i : {0, 1}) {
      const Term row = first_element(rows.index[i]);
      for (const size_t k : {0, 1}) {
        const Term taps = Gather(all, Cast(row + columns.index[k], DType::kI32), 0);
        const Term v = taps * ExpandDims(rows.weight[i] * columns.weight[k], {3});
        y = y.is_absent() ? v : a_.mode == RoiMode::kMax ? Maximum(y, v) : y + v;
      }
    }
    y = Select(ExpandDims(And(rows.inside, columns.inside), {3}), y, 0);
    return a_.sampling_ratio == 1 ? y : Pooled(y);
  }

 private:
  // A coordinate of all regions, in elements: [regions, 1].
  Term Coordinate(int64_t at) const {
    const Term c = Slice(rois_, 1, at, at + 1) * a_.spatial_scale;
    return a_.half_pixel ? c - 0.5 : c;
  }

  // Positions of the samples on an axis, in order: [regions, bins * samples].
  Term Positions(int64_t coordinate, int64_t bins) const {
    const Term start = Coordinate(coordinate);
    Term bin = Coordinate(coordinate + 2) - start;
    if (!a_.half_pixel) {
      const Term one = Tensor::Scalar(1.0f);
      bin = Select(Apply("greater_equal", {bin, one}), bin, one);  // NaN becomes 1
    }
    bin = bin / bins;
    const int64_t samples = a_.sampling_ratio;
    std::vector<float> bins_before, middles;
    for (int64_t b = 0; b < bins; ++b)
      for (int64_t i = 0; i < samples; ++i) {
        bins_before.push_back(static_cast<float>(b));
        middles.push_back(static_cast<float>(i) + 0.5f);
      }
    return start + bin * Tensor::Of({bins * samples}, bins_before) +
           bin * Tensor::Of({bins * samples}, middles) / samples;
  }

  // With a new axis.
  SampledAxis AxisOf(int64_t coordinate, int64_t bins, int64_t size, int64_t new_axis) const {
    const Term p = Positions(coordinate, bins);
    const Term inside = And(Apply("greater_equal", {p, -1}), Apply("less_equal", {p, size}));
    const auto last = static_cast<float>(size - 1);
    const Term at = Clip(Select(inside, p, 0), 0, last);
    const Term low = Apply("floor", {at});
    const Term weight = at - low;
    const auto wide = [&](const Term& v) { return ExpandDims(v, {new_axis}); };
    return {
        wide(inside), {wide(low), wide(Minimum(low + 1, last))}, {wide(1 - weight), wide(weight)}};
  }

  // The samples of each bin in one.
  Term Pooled(const Term& y) const {
    const auto pool = [&](auto attrs, std::string_view op) {
      attrs.layout = Layout::kNxc;
      attrs.kernel = attrs.strides = {a_.sampling_ratio, a_.sampling_ratio};
      return Apply(op, {y}, attrs);
    };
    return a_.mode == RoiMode::kMax ? pool(MaxPoolAttrs(), "max_pool")
                                    : pool(AveragePoolAttrs(), "average_pool");
  }

  const RoiAlignAttrs& a_;
  Value* rois_;
};

}  // namespace

Result<bool> ExpandRoiAlign(Graph& graph, Node& node) {
  const auto& a = node.attrs<RoiAlignAttrs>();
  Value* x = node.input(0);
  if (!IsPlainF32(node) || node.input(1)->dtype() != DType::kF32 || a.sampling_ratio < 1)
    return false;
  const Dims& dims = *x->type().dims;
  const auto sizes = ConstDims(SpatialDims(dims, a.layout));
  // Limit of expansions: images times positions of the input of RoiAlign. Positions are computed in
  // float32.
  constexpr int64_t kMaxPositions = int64_t{1} << 24;
  if (!sizes || !dims[0].is_const() ||
      !ElementsWithin({dims[0].value(), (*sizes)[0], (*sizes)[1]}, kMaxPositions) ||
      !ElementsWithin({std::max(a.height, a.width), a.sampling_ratio}, kMaxElements))
    return false;
  for (const Value* v : node.inputs())
    if (std::ranges::any_of(*v->type().dims, [](const Dim& d) { return d == 0; })) return false;
  if (a.layout == Layout::kNcx) {
    NN_ASSIGN(x, Rearrange(graph, x, AxisMap::ChannelsLast(4)));
  }
  Expansion e(graph, node);
  NN_ASSIGN(Value * y, e.Build(RegionSampler(node).Sample(x, node.input(2))));
  if (a.layout == Layout::kNcx) {
    NN_ASSIGN(y, Rearrange(graph, y, AxisMap::ChannelsFirst(4)));
  }
  return e.Replace(y);
}

}  // namespace nn
