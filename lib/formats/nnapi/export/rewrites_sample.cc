// grid_sample with a weight for each element of each spatial axis, because NNAPI has no lookups at
// computed places.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/checked_math.h"
#include "formats/nnapi/export/comparisons.h"
#include "formats/nnapi/export/rewrites.h"
#include "formats/nnapi/export/terms.h"
#include "ir/op_def.h"
#include "ops/array/arrange/slice.h"
#include "ops/math/matmul.h"
#include "ops/nn/resize/grid_sample.h"
#include "ops/support/term_ops.h"
#include "ops/support/window.h"

namespace nn::nnapi {
namespace {

// Limit of NNAPI: elements of each tensor that a grid sample needs.
constexpr int64_t kMaxElements = int64_t{1} << 24;
// Limit of NNAPI: images of a grid sample.
constexpr int64_t kMaxImages = 64;

Term Clipped(const Term& x, double low, double high) {
  return Clip(x, static_cast<float>(low), static_cast<float>(high));
}

// One spatial axis of n elements. Positions are columns [positions, 1].
class SampledAxis {
 public:
  SampledAxis(const GridSampleAttrs& a, int64_t n) : a_(a), n_(n) {}

  // Cubic taps beyond the ends of the axis that the padding fills.
  int64_t margin() const {
    return a_.mode == ResizeMode::kCubic && a_.padding != GridPadding::kZeros ? 2 : 0;
  }
  // The elements of the axis that stand for it and its margins.
  std::vector<int64_t> Elements() const {
    std::vector<int64_t> out;
    for (int64_t i = -margin(); i < n_ + margin(); ++i) out.push_back(ElementAt(i));
    return out;
  }

  // The weights of these elements at the places `g` of a grid, [positions, elements].
  Term Weights(Term g) const {
    std::vector<float> places;
    for (int64_t i = -margin(); i < n_ + margin(); ++i) places.push_back(static_cast<float>(-i));
    const Term distance = Magnitude(Position(g) + Tensor::Of({1, std::ssize(places)}, places));
    if (a_.mode != ResizeMode::kCubic) return Relu(-distance + 1.0);
    // ((a + 2) d - (a + 3)) d^2 + 1 up to 1, then ((a d - 5 a) d + 8 a) d - 4 a up to 2, where
    // a = -0.75. Each is exactly 0 at the ends of its part.
    const Term near = AtMostOne(distance);
    const Term far = Clipped(distance, 1, 2);
    return (near * 1.25 - 2.25) * near * near + 1.0 +
           (((far * -0.75 + 3.75) * far - 6.0) * far + 3.0);
  }

 private:
  // The outer edges of the axis, or the centers of its outer elements.
  double low() const { return a_.align_corners ? 0 : -0.5; }
  double high() const { return static_cast<double>(n_ - 1) - low(); }
  double last() const { return static_cast<double>(n_ - 1); }

  // The position as grid_sample.h defines it, within the axis or its margins.
  Term Position(Term g) const {
    Term p = g + 1.0;
    p = a_.align_corners ? Times(p * 0.5, last()) : (Times(p, static_cast<double>(n_)) - 1.0) * 0.5;
    if (a_.mode == ResizeMode::kNearest) p = Apply("round", {p});
    if (a_.padding == GridPadding::kZeros) return p;
    constexpr double kFar = 0x1p30;
    p = Clipped(p, -kFar, kFar);
    const bool reflects = a_.padding == GridPadding::kReflection && low() < high();
    // Without margins, the nearest elements are those that the padding has.
    if (!reflects && margin() == 0) return Clipped(p, 0, last());
    // Cubic taps of a position further outside all have the border's element, as those of -1 and n.
    if (a_.padding == GridPadding::kBorder) return Clipped(p, -1, static_cast<double>(n_));
    const Term outside = Step(Magnitude(p - Clipped(p, low(), high())));
    const Compared inside{p, {-kFar, kFar}, false};
    const Compared moved{reflects ? Reflected(p) : Clipped(p, 0, last()), {low(), high()}, false};
    p = Selected(outside, moved, inside);
    return margin() == 0 ? Clipped(p, 0, last()) : Clipped(p, low(), high());
  }

  // A wave of period 2 (high - low).
  Term Reflected(Term p) const {
    const double span = high() - low();
    const Term from = p + -low();
    const Term rest = from + Floor(Times(from, 0.5 / span)) * (-2 * span);
    return -Magnitude(rest - span) + high();
  }

  int64_t ElementAt(int64_t i) const {
    if (a_.padding != GridPadding::kReflection || n_ == 1) return std::clamp<int64_t>(i, 0, n_ - 1);
    const int64_t period = 2 * (a_.align_corners ? n_ - 1 : n_);
    const int64_t rest = ((i % period) + period) % period;
    return rest < n_ ? rest : period - rest - (a_.align_corners ? 0 : 1);
  }

  const GridSampleAttrs& a_;
  int64_t n_;
};

// The sizes of the tensors that the weighted sums need.
struct SampleSizes {
  int64_t images = 0, channels = 0, positions = 0;
  std::vector<int64_t> spatial;  // of x

  bool fits() const {
    int64_t rows = channels;
    for (const int64_t n : spatial) {
      const auto weights = CheckedMul(images * positions, n);
      if (n == 0 || !weights || *weights > kMaxElements || rows > kMaxElements / n) return false;
      rows *= n;
    }
    const auto sums = CheckedMul(images * positions, rows / spatial.back());
    return sums && *sums <= kMaxElements && *sums > 0;
  }
};

std::optional<SampleSizes> SizesOf(const Node& node) {
  const auto& a = node.attrs<GridSampleAttrs>();
  const auto x = node.input(0)->type().const_dims();
  const auto grid = node.input(1)->type().const_dims();
  if (!x || !grid || x->size() < 3 || grid->empty()) return std::nullopt;
  SampleSizes s;
  s.images = (*x)[0];
  const bool is_ncx = a.layout == Layout::kNcx;
  s.channels = is_ncx ? (*x)[1] : x->back();
  s.spatial.assign(x->begin() + (is_ncx ? 2 : 1), x->end() - (is_ncx ? 0 : 1));
  const auto points = CheckedElements(*grid);
  if (s.images < 1 || s.images > kMaxImages || !points || *points > kMaxElements)
    return std::nullopt;
  s.positions = *points / s.images / std::ssize(s.spatial);
  return s.fits() ? std::optional(s) : std::nullopt;
}

class WeightedSample {
 public:
  WeightedSample(Node& node, SampleSizes sizes)
      : node_(node), a_(node.attrs<GridSampleAttrs>()), s_(std::move(sizes)) {
    for (const int64_t n : s_.spatial) axes_.emplace_back(a_, n);
  }

  Term Sum() {
    const size_t last = axes_.size() - 1;
    Term sum = OnLastAxis(Data(), WeightsOf(last));
    int64_t rows = Rows() / Size(last);
    std::vector<int64_t> shape = {points(), rows};
    for (size_t k = last; k-- > 0;) {
      rows /= Size(k);
      const Term elements = Shaped(sum, shape, {points(), rows, Size(k)});
      const Term weights = Shaped(WeightsOf(k), {points(), Size(k)}, {points(), 1, Size(k)});
      sum = ReduceSum(elements * weights, {2}, false);
      shape = {points(), rows};
    }
    // The grid without its last axis, and the channels.
    std::vector<int64_t> dims = *node_.input(1)->type().const_dims();
    dims.back() = s_.channels;
    sum = Shaped(sum, shape, dims);
    return a_.layout == Layout::kNxc ? sum : ChannelsFirst(sum);
  }

 private:
  int64_t points() const { return s_.images * s_.positions; }
  int64_t Size(size_t k) const { return s_.spatial[k] + 2 * axes_[k].margin(); }
  // Elements of one image.
  int64_t Rows() const {
    int64_t n = s_.channels;
    for (size_t k = 0; k < axes_.size(); ++k) n *= Size(k);
    return n;
  }

  Term ChannelsFirst(const Term& x) const {
    const AxisMap map = AxisMap::ChannelsFirst(static_cast<int>(axes_.size()) + 2);
    return Transpose(x, {map.from().begin(), map.from().end()});
  }

  // x with the margins of its axes and the channels before them, [images * rows, last axis].
  Term Data() {
    Term x = node_.input(0);
    std::vector<int64_t> shape = {s_.images, s_.channels};
    if (a_.layout == Layout::kNxc) x = ChannelsFirst(x);
    for (size_t k = 0; k < axes_.size(); ++k) {
      shape.push_back(Size(k));
      if (axes_[k].margin() == 0) continue;
      x = Gather(x, Tensor::Ints(axes_[k].Elements()), static_cast<int64_t>(k) + 2);
    }
    const int64_t n = shape.back();
    return Shaped(x, shape, {s_.images * (Rows() / n), n});
  }

  // [points, elements of axis k]
  Term WeightsOf(size_t k) {
    const auto count = static_cast<int64_t>(axes_.size());
    const Term grid = Shaped(node_.input(1), {points(), count});
    // The last axis comes first in the grid.
    const int64_t at = count - 1 - static_cast<int64_t>(k);
    return axes_[k].Weights(Apply("slice", {grid}, SliceAttrs{{1}, {at}, {at + 1}, {}}));
  }

  // The sums over the last axis, [points, other elements of an image].
  Term OnLastAxis(const Term& data, const Term& weights) {
    std::vector<Term> sums;
    for (int64_t i = 0; i < s_.images; ++i) {
      const auto of_image = [&](const Term& all, int64_t count) {
        if (s_.images == 1) return all;
        return Apply("slice", {all}, SliceAttrs{{0}, {i * count}, {(i + 1) * count}, {}});
      };
      const int64_t rows = Rows() / Size(axes_.size() - 1);
      sums.push_back(Apply("matmul", {of_image(weights, s_.positions), of_image(data, rows)},
                           MatmulAttrs{false, true}));
    }
    return Concat(std::move(sums), 0);
  }

  Node& node_;
  const GridSampleAttrs a_;
  const SampleSizes s_;
  std::vector<SampledAxis> axes_;
};

}  // namespace

Result<bool> SampleByWeights(Graph& graph, Node& node) {
  const auto sizes = SizesOf(node);
  if (!IsReal(node) || !sizes || !node.output()->type().const_dims() ||
      std::ranges::any_of(node.inputs(), [](const Value* v) { return v->dtype() != DType::kF32; }))
    return false;
  return Formulas(graph, node).Replace(WeightedSample(node, *sizes).Sum());
}

std::optional<std::string> WhyNotSampled(const Node& node) {
  if (!node.Is<GridSampleAttrs>() || !IsReal(node)) return std::nullopt;
  const std::string lacks = "NNAPI 1.0 has no grid_sample operation, and ";
  if (!node.output()->type().const_dims() || !node.input(0)->type().const_dims())
    return lacks + "its decomposition needs a fixed shape; use --batch or --input-shape";
  if (SizesOf(node)) return std::nullopt;
  return lacks + "the weighted sums of its decomposition would be too large";
}

}  // namespace nn::nnapi
