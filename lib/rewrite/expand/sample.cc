// grid_sample in elementary operators.
#include <array>
#include <optional>

#include "ir/op_def.h"
#include "ir/types/axis_map.h"
#include "ops/array/shape.h"
#include "ops/nn/resize/grid_sample.h"
#include "ops/support/term_ops.h"
#include "ops/support/window.h"
#include "rewrite/expand.h"
#include "rewrite/expand/cubic.h"

namespace nn {
namespace {

// Limit of expansions: images times positions of the input of GridSample. All positions are
// computed in float32, which is exact for as many rows of channels.
constexpr int64_t kMaxRows = int64_t{1} << 24;

// One of the elements of a spatial axis that a position takes: values of the shape of the grid with
// a last axis of size 1.
struct Tap {
  Term index;   // inside the axis
  Term inside;  // bool: false where the element is padding; absent: it never is
  Term weight;  // absent: 1
};

class Sampler {
 public:
  Sampler(const GridSampleAttrs& a, std::vector<int64_t> sizes) : a_(a), sizes_(std::move(sizes)) {}

  // Samples x, of which the channels are the last axis, without the axes before them.
  Term Sample(Value* x, Value* grid, int64_t images) {
    const size_t axes = sizes_.size();
    grid_rank_ = grid->type().rank();
    for (size_t k = 0; k < axes; ++k) {
      // The last axis comes first in the grid.
      const auto at = static_cast<int64_t>(axes - 1 - k);
      taps_.push_back(TapsOf(Slice(grid, grid_rank_ - 1, at, at + 1), sizes_[k]));
    }
    int64_t rows = images;
    for (const int64_t n : sizes_) rows *= n;
    rows_ = Reshape(x, {Dim(rows), x->type().dim(x->type().rank() - 1)});
    if (images == 1) return Sum(0, {}, {});
    std::vector<int64_t> dims(static_cast<size_t>(grid_rank_), 1);
    dims[0] = images;
    std::vector<float> first;  // row of each image
    for (int64_t i = 0; i < images; ++i) first.push_back(static_cast<float>(rows / images * i));
    return Sum(0, Tensor::Of(dims, first), {});
  }

 private:
  static Term Clipped(const Term& x, double low, double high) {
    return Clip(x, static_cast<float>(low), static_cast<float>(high));
  }

  // The position in an axis of n elements, in the order of grid_sample.h.
  Term Position(const Term& g, int64_t n) const {
    Term p = g + 1;
    p = a_.align_corners ? p / 2 * (n - 1) : (p * n - 1) / 2;
    constexpr double kFar = 0x1p30;
    p = Clipped(Select(Equal(p, p), p, -kFar), -kFar, kFar);  // unequal: NaN
    if (a_.mode == ResizeMode::kNearest) p = Apply("round", {p});
    const bool is_border = a_.padding == GridPadding::kBorder;
    if (a_.padding == GridPadding::kZeros || (is_border && a_.mode == ResizeMode::kCubic)) return p;
    const Term inside = Equal(p, Clipped(p, Low(), High(n)));
    return Select(inside, p,
                  is_border ? Clipped(p, 0, static_cast<double>(n - 1)) : Reflected(p, n));
  }

  // The outer edges of an axis, or the centers of its outer elements.
  double Low() const { return a_.align_corners ? 0 : -0.5; }
  double High(int64_t n) const { return static_cast<double>(n) - (a_.align_corners ? 1 : 0.5); }

  // The reflection of a position outside the axis, in the steps of grid_sample's evaluation.
  Term Reflected(const Term& p, int64_t n) const {
    const double low = Low(), high = High(n);
    if (low == high) return Clipped(p, low, low);
    const Term begin = Tensor::Scalar(static_cast<float>(low));
    const Term end = Tensor::Scalar(static_cast<float>(high));
    const Term below = Less(p, begin);
    const Term beyond = Select(below, begin - p, p - end);
    const Term turns = Apply("floor", {beyond / (high - low)});
    const Term rest = beyond - turns * (high - low);
    const Term half = turns * 0.5;
    // An odd number of turns comes back from the other end.
    const Term from_end = Apply("xor", {below, Equal(half, Apply("floor", {half}))});
    return Select(from_end, end - rest, begin + rest);
  }

  std::vector<Tap> TapsOf(const Term& g, int64_t n) const {
    const Term p = Position(g, n);
    if (a_.mode == ResizeMode::kNearest) return {TapAt(p, n, {})};
    std::vector<Tap> taps;
    const Term floor = Apply("floor", {p});
    const Term d = p - floor;
    if (a_.mode != ResizeMode::kCubic) return {TapAt(floor, n, 1 - d), TapAt(floor + 1, n, d)};
    constexpr float kA = -0.75f;  // of GridSampleAttrs
    for (int t = -1; t <= 2; ++t) {
      const Term distance = t == 0 ? d : t < 0 ? d + -t : t - d;
      taps.push_back(
          TapAt(t == 0 ? floor : floor + t, n, CubicWeight(distance, kA, t == 0 || t == 1)));
    }
    return taps;
  }

  Tap TapAt(const Term& at, int64_t n, const Term& weight) const {
    Term index = at;
    const auto clipped = [&] { return Clipped(index, 0, static_cast<double>(n - 1)); };
    Term inside = clipped();
    if (a_.padding == GridPadding::kReflection && a_.mode == ResizeMode::kCubic) {
      // Taps may be further outside than the position.
      index = Select(Equal(index, inside), index, Reflected(index, n));
      inside = clipped();
    }
    return {inside, a_.padding == GridPadding::kZeros ? Equal(index, inside) : Term(), weight};
  }

  // The weighted sum over the taps of axis k and those after it, in ascending order. `row` is the
  // row so far, absent for 0; `inside` whether all indices so far are inside, absent if they always
  // are.
  Term Sum(size_t k, const Term& row, const Term& inside) const {
    if (k == sizes_.size()) return Gathered(row, inside);
    int64_t stride = 1;
    for (size_t j = k + 1; j < sizes_.size(); ++j) stride *= sizes_[j];
    Term sum;
    for (const Tap& tap : taps_[k]) {
      Term place = stride == 1 ? tap.index : tap.index * stride;
      if (!row.is_absent()) place = place + row;
      const Term both = inside.is_absent()       ? tap.inside
                        : tap.inside.is_absent() ? inside
                                                 : And(inside, tap.inside);
      Term v = Sum(k + 1, place, both);
      if (!tap.weight.is_absent()) v = v * tap.weight;
      sum = sum.is_absent() ? v : sum + v;
    }
    return sum;
  }

  Term Gathered(const Term& row, const Term& inside) const {
    const Term v = Gather(rows_, Cast(Squeeze(row, {grid_rank_ - 1}), DType::kI32), 0);
    return inside.is_absent() ? v : Select(inside, v, 0);
  }

  const GridSampleAttrs& a_;
  std::vector<int64_t> sizes_;          // of the spatial axes of x
  std::vector<std::vector<Tap>> taps_;  // of each spatial axis
  Term rows_;                           // x as a matrix [images and positions, channels]
  int grid_rank_ = 0;
};

}  // namespace

Result<bool> ExpandGridSample(Graph& graph, Node& node) {
  const auto& a = node.attrs<GridSampleAttrs>();
  Value *x = node.input(0), *grid = node.input(1);
  const int rank = x->type().rank();
  if (!IsPlainF32(node) || grid->dtype() != DType::kF32) return false;
  const Dim images = x->type().dim(0);
  const auto sizes = ConstDims(SpatialDims(*x->type().dims, a.layout));
  if (!sizes || !images.is_const() || images.value() == 0) return false;
  int64_t rows = images.value();
  for (const int64_t n : *sizes) {
    if (n == 0 || rows > kMaxRows / n) return false;
    rows *= n;
  }
  if (a.layout == Layout::kNcx) {
    NN_ASSIGN(x, Rearrange(graph, x, AxisMap::ChannelsLast(rank)));
  }
  Expansion e(graph, node);
  NN_ASSIGN(Value * y, e.Build(Sampler(a, *sizes).Sample(x, grid, images.value())));
  if (a.layout == Layout::kNcx) {
    NN_ASSIGN(y, Rearrange(graph, y, AxisMap::ChannelsFirst(rank)));
  }
  return e.Replace(y);
}

}  // namespace nn
