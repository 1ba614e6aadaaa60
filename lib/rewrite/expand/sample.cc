// grid_sample in elementary operators.
#include <array>
#include <optional>

#include "ir/op_def.h"
#include "ir/types/axis_map.h"
#include "ops/array/arrange/gather.h"
#include "ops/array/arrange/slice.h"
#include "ops/array/shape.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/nn/resize/grid_sample.h"
#include "ops/support/window.h"
#include "rewrite/expand.h"

namespace nn {
namespace {

// All positions are computed in float32, which is exact for as many rows of channels.
constexpr int64_t kMaxRows = int64_t{1} << 24;

// One of the elements of a spatial axis that a position takes: values of the shape of the grid with
// a last axis of size 1.
struct Tap {
  Value* index;   // inside the axis
  Value* inside;  // bool: false where the element is padding; null: it never is
  Value* weight;  // null: 1
};

class Sampler {
 public:
  Sampler(Graph& graph, Node& node, std::vector<int64_t> sizes)
      : e_(graph, node), a_(node.attrs<GridSampleAttrs>()), sizes_(std::move(sizes)) {}

  // Samples x, of which the channels are the last axis, without the axes before them.
  Result<Value*> Sample(Value* x, Value* grid, int64_t images) {
    const size_t axes = sizes_.size();
    for (size_t k = 0; k < axes; ++k) {
      // The last axis comes first in the grid.
      const auto at = static_cast<int64_t>(axes - 1 - k);
      const int64_t last = grid->type().rank() - 1;
      NN_ASSIGN(Value* const g, e_.Add("slice", {grid}, SliceAttrs{{last}, {at}, {at + 1}, {1}}));
      NN_ASSIGN(auto taps, TapsOf(g, sizes_[k]));
      taps_.push_back(std::move(taps));
    }
    int64_t rows = images;
    for (const int64_t n : sizes_) rows *= n;
    NN_ASSIGN(rows_, e_.Add("reshape", {x},
                            ReshapeAttrs{{Dim(rows), x->type().dim(x->type().rank() - 1)}, false}));
    Value* image = nullptr;  // the first row of each image
    if (images > 1) {
      std::vector<int64_t> dims(static_cast<size_t>(grid->type().rank()), 1);
      dims[0] = images;
      NN_ASSIGN(TensorBuilder first, TensorBuilder::Create(DType::kF32, dims));
      const int64_t size = rows / images;
      for (int64_t i = 0; i < images; ++i) first.SetDouble(i, static_cast<double>(size * i));
      image = e_.Constant(first.Finish());
    }
    return Sum(0, image, nullptr);
  }

  bool Replace(Value* y) { return e_.Replace(y); }

 private:
  Result<Value*> With(std::string_view op, Value* x, double number) {
    NN_ASSIGN(Value* const n, e_.Number(DType::kF32, number));
    return e_.Add(op, {x, n});
  }
  Result<Value*> Clip(Value* x, double low, double high) {
    return e_.Add("clip", {x}, ClipAttrs{static_cast<float>(low), static_cast<float>(high)});
  }

  // The position in an axis of n elements, in the order of grid_sample.h.
  Result<Value*> Position(Value* g, int64_t n) {
    NN_ASSIGN(Value * p, With("add", g, 1));
    if (a_.align_corners) {
      NN_ASSIGN(p, With("div", p, 2));
      NN_ASSIGN(p, With("mul", p, static_cast<double>(n - 1)));
    } else {
      NN_ASSIGN(p, With("mul", p, static_cast<double>(n)));
      NN_ASSIGN(p, With("sub", p, 1));
      NN_ASSIGN(p, With("div", p, 2));
    }
    constexpr double kFar = 0x1p30;
    NN_ASSIGN(Value* const number, e_.Add("equal", {p, p}));  // false for NaN
    NN_ASSIGN(Value* const far, e_.Number(DType::kF32, -kFar));
    NN_ASSIGN(p, e_.Add("select", {number, p, far}));
    NN_ASSIGN(p, Clip(p, -kFar, kFar));
    if (a_.mode == ResizeMode::kNearest) {
      NN_ASSIGN(p, e_.Add("round", {p}));
    }
    const bool is_border = a_.padding == GridPadding::kBorder;
    if (a_.padding == GridPadding::kZeros || (is_border && a_.mode == ResizeMode::kCubic)) return p;
    NN_ASSIGN(Value* const nearest, Clip(p, Low(), High(n)));
    NN_ASSIGN(Value* const inside, e_.Add("equal", {p, nearest}));
    NN_ASSIGN(Value* const moved,
              is_border ? Clip(p, 0, static_cast<double>(n - 1)) : Reflected(p, n));
    return e_.Add("select", {inside, p, moved});
  }

  // The outer edges of an axis, or the centers of its outer elements.
  double Low() const { return a_.align_corners ? 0 : -0.5; }
  double High(int64_t n) const { return static_cast<double>(n) - (a_.align_corners ? 1 : 0.5); }

  // The reflection of a position outside the axis, in the steps of grid_sample's evaluation.
  Result<Value*> Reflected(Value* p, int64_t n) {
    const double low = Low(), high = High(n);
    if (low == high) return Clip(p, low, low);
    NN_ASSIGN(Value* const begin, e_.Number(DType::kF32, low));
    NN_ASSIGN(Value* const end, e_.Number(DType::kF32, high));
    NN_ASSIGN(Value* const below, e_.Add("less", {p, begin}));
    NN_ASSIGN(Value* const down, e_.Add("sub", {begin, p}));
    NN_ASSIGN(Value* const up, e_.Add("sub", {p, end}));
    NN_ASSIGN(Value* const beyond, e_.Add("select", {below, down, up}));
    NN_ASSIGN(Value * turns, With("div", beyond, high - low));
    NN_ASSIGN(turns, e_.Add("floor", {turns}));
    NN_ASSIGN(Value* const whole, With("mul", turns, high - low));
    NN_ASSIGN(Value* const rest, e_.Add("sub", {beyond, whole}));
    NN_ASSIGN(Value* const half, With("mul", turns, 0.5));
    NN_ASSIGN(Value* const rounded, e_.Add("floor", {half}));
    NN_ASSIGN(Value* const even, e_.Add("equal", {half, rounded}));
    // An odd number of turns comes back from the other end.
    NN_ASSIGN(Value* const from_end, e_.Add("xor", {below, even}));
    NN_ASSIGN(Value* const after, e_.Add("add", {begin, rest}));
    NN_ASSIGN(Value* const before, e_.Add("sub", {end, rest}));
    return e_.Add("select", {from_end, before, after});
  }

  // 1 for |offset| = 0 down to 0 for 2, with a = -0.75: grid_sample.h.
  Result<Value*> CubicWeight(Value* c, bool near) {
    constexpr double a = -0.75;
    if (near) {  // ((a + 2) c - (a + 3)) c c + 1
      NN_ASSIGN(Value * w, With("mul", c, a + 2));
      NN_ASSIGN(w, With("sub", w, a + 3));
      NN_ASSIGN(w, e_.Add("mul", {w, c}));
      NN_ASSIGN(w, e_.Add("mul", {w, c}));
      return With("add", w, 1);
    }
    NN_ASSIGN(Value * w, With("mul", c, a));  // ((a c - 5 a) c + 8 a) c - 4 a
    for (const double term : {-5 * a, 8 * a}) {
      NN_ASSIGN(w, With("add", w, term));
      NN_ASSIGN(w, e_.Add("mul", {w, c}));
    }
    return With("add", w, -4 * a);
  }

  Result<std::vector<Tap>> TapsOf(Value* g, int64_t n) {
    NN_ASSIGN(Value* const p, Position(g, n));
    std::vector<Tap> taps;
    if (a_.mode == ResizeMode::kNearest) {
      NN_ASSIGN(taps.emplace_back(), TapAt(p, n, nullptr));
      return taps;
    }
    NN_ASSIGN(Value* const floor, e_.Add("floor", {p}));
    NN_ASSIGN(Value* const d, e_.Add("sub", {p, floor}));
    const bool cubic = a_.mode == ResizeMode::kCubic;
    for (int t = cubic ? -1 : 0; t <= (cubic ? 2 : 1); ++t) {
      Value* index = floor;
      if (t != 0) {
        NN_ASSIGN(index, With("add", floor, t));
      }
      Value* weight = d;  // the distance |t - d|, and for `linear` of the second tap the weight
      if (t > 0 && cubic) {
        NN_ASSIGN(Value* const offset, e_.Number(DType::kF32, t));
        NN_ASSIGN(weight, e_.Add("sub", {offset, d}));
      } else if (t < 0) {
        NN_ASSIGN(weight, With("add", d, -t));
      } else if (!cubic && t == 0) {
        NN_ASSIGN(Value* const one, e_.Number(DType::kF32, 1));
        NN_ASSIGN(weight, e_.Add("sub", {one, d}));
      }
      if (cubic) {
        NN_ASSIGN(weight, CubicWeight(weight, t == 0 || t == 1));
      }
      NN_ASSIGN(taps.emplace_back(), TapAt(index, n, weight));
    }
    return taps;
  }

  Result<Tap> TapAt(Value* index, int64_t n, Value* weight) {
    NN_ASSIGN(Value * clipped, Clip(index, 0, static_cast<double>(n - 1)));
    if (a_.padding == GridPadding::kReflection && a_.mode == ResizeMode::kCubic) {
      // Taps may be further outside than the position.
      NN_ASSIGN(Value* const inside, e_.Add("equal", {index, clipped}));
      NN_ASSIGN(Value* const moved, Reflected(index, n));
      NN_ASSIGN(index, e_.Add("select", {inside, index, moved}));
      NN_ASSIGN(clipped, Clip(index, 0, static_cast<double>(n - 1)));
    }
    Tap tap{clipped, nullptr, weight};
    if (a_.padding == GridPadding::kZeros) {
      NN_ASSIGN(tap.inside, e_.Add("equal", {index, clipped}));
    }
    return tap;
  }

  // The weighted sum over the taps of axis k and those after it, in ascending order. `row` is the
  // row so far, null for 0; `inside` whether all indices so far are inside, null if they always
  // are.
  Result<Value*> Sum(size_t k, Value* row, Value* inside) {
    if (k == sizes_.size()) return Gathered(row, inside);
    int64_t stride = 1;
    for (size_t j = k + 1; j < sizes_.size(); ++j) stride *= sizes_[j];
    Value* sum = nullptr;
    for (const Tap& tap : taps_[k]) {
      Value* place = tap.index;
      if (stride != 1) {
        NN_ASSIGN(place, With("mul", place, static_cast<double>(stride)));
      }
      if (row != nullptr) {
        NN_ASSIGN(place, e_.Add("add", {place, row}));
      }
      Value* both = inside != nullptr ? inside : tap.inside;
      if (inside != nullptr && tap.inside != nullptr) {
        NN_ASSIGN(both, e_.Add("and", {inside, tap.inside}));
      }
      NN_ASSIGN(Value * v, Sum(k + 1, place, both));
      if (tap.weight != nullptr) {
        NN_ASSIGN(v, e_.Add("mul", {v, tap.weight}));
      }
      if (sum != nullptr) {
        NN_ASSIGN(v, e_.Add("add", {sum, v}));
      }
      sum = v;
    }
    return sum;
  }

  Result<Value*> Gathered(Value* row, Value* inside) {
    NN_ASSIGN(row, e_.Add("squeeze", {row}, AxesAttrs{{row->type().rank() - 1}}));
    NN_ASSIGN(row, e_.Add("cast", {row}, CastAttrs{.to = DType::kI32}));
    NN_ASSIGN(Value* const v, e_.Add("gather", {rows_, row}, GatherAttrs{0, 0}));
    if (inside == nullptr) return v;
    NN_ASSIGN(Value* const zero, e_.Number(DType::kF32, 0));
    return e_.Add("select", {inside, v, zero});
  }

  Expansion e_;
  const GridSampleAttrs& a_;
  std::vector<int64_t> sizes_;          // of the spatial axes of x
  std::vector<std::vector<Tap>> taps_;  // of each spatial axis
  Value* rows_ = nullptr;               // x as a matrix [images and positions, channels]
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
  Sampler sampler(graph, node, *sizes);
  NN_ASSIGN(Value * y, sampler.Sample(x, grid, images.value()));
  if (a.layout == Layout::kNcx) {
    NN_ASSIGN(y, Rearrange(graph, y, AxisMap::ChannelsFirst(rank)));
  }
  return sampler.Replace(y);
}

}  // namespace nn
