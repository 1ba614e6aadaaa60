#include "ops/nn/resize/grid_sample.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/arith.h"
#include "ir/op_def.h"
#include "ops/families.h"
#include "ops/support/domain.h"
#include "ops/support/index.h"
#include "ops/support/movement.h"
#include "ops/support/types.h"

namespace nn {

std::span<const AttrField> GridSampleAttrs::Fields() {
  static const AttrField fields[] = {Field<&GridSampleAttrs::layout>("layout"),
                                     Field<&GridSampleAttrs::mode>("mode"),
                                     Field<&GridSampleAttrs::padding>("padding"),
                                     Field<&GridSampleAttrs::align_corners>("align_corners")};
  return fields;
}
std::span<const AttrField> AffineGridAttrs::Fields() {
  static const AttrField fields[] = {Field<&AffineGridAttrs::align_corners>("align_corners")};
  return fields;
}

namespace {

// ---- grid_sample --------------------------------------------------------------------------------

Status InferGridSample(InferContext& ctx) {
  const Type& x = ctx.in(0);
  const Type& grid = ctx.in(1);
  NN_RETURN_IF_ERROR(RequirePerTensor(ctx, 0));
  if (grid.dtype != DType::kUnknown && (!IsFloat(grid.dtype) || grid.quantized()))
    return ModelError("the grid is {}; must be an unquantized floating-point tensor",
                      grid.ToString());
  if (!x.ranked() || !grid.ranked()) {
    ctx.set_out(0, Unranked(x));
    return {};
  }
  NN_RETURN_IF_ERROR(RequireRank(ctx, 0, 3));
  const auto axes = static_cast<size_t>(x.rank() - 2);
  if (grid.rank() != x.rank() ||
      (grid.dims->back().is_const() && grid.dims->back() != Dim(static_cast<int64_t>(axes))))
    return ModelError("the grid {} does not match {}", grid.ToString(), x.ToString());
  if (x.dim(0).is_const() && grid.dim(0).is_const() && x.dim(0) != grid.dim(0))
    return ModelError("the grid has batch size {}, x has {}", grid.dim(0).ToString(),
                      x.dim(0).ToString());
  Dims dims = *x.dims;
  const auto first = static_cast<size_t>(FirstSpatialAxis(ctx.attrs<GridSampleAttrs>().layout));
  for (size_t k = 0; k < axes; ++k) dims[first + k] = (*grid.dims)[1 + k];
  ctx.set_out(0, x.WithDims(std::move(dims)));
  return {};
}

template <typename T>
T Reflect(T p, T low, T high) {
  const T range = high - low;
  if (p >= low && p <= high) return p;
  if (range == 0) return low;
  const T beyond = p < low ? low - p : p - high;
  const T turns = std::floor(beyond / range);
  const T rest = beyond - turns * range;
  const bool even = std::fmod(turns, T(2)) == 0;
  // An odd number of turns comes back from the other end.
  return (p < low) == even ? low + rest : high - rest;
}

// The elements and weights of one spatial axis of x for one position.
template <typename T>
struct GridTaps {
  int count = 0;
  std::array<int64_t, 4> index;  // -1: zero
  std::array<T, 4> weight;
};

template <typename T>
class AxisSampler {
 public:
  AxisSampler(const GridSampleAttrs& a, int64_t size)
      : a_(a),
        size_(size),
        low_(a.align_corners ? T(0) : T(-0.5)),
        high_(a.align_corners ? static_cast<T>(size - 1) : static_cast<T>(size) - T(0.5)) {}

  GridTaps<T> At(T g) const {
    constexpr T kFar = T(0x1p30);
    const auto n = static_cast<T>(size_);
    T p = a_.align_corners ? (g + 1) / 2 * (n - 1) : ((g + 1) * n - 1) / 2;
    if (std::isnan(p)) p = -kFar;
    p = std::clamp(p, -kFar, kFar);
    if (a_.mode == ResizeMode::kNearest) p = std::nearbyint(p);
    if (p < low_ || p > high_) {
      if (a_.padding == GridPadding::kBorder && a_.mode != ResizeMode::kCubic)
        p = std::clamp(p, T(0), n - 1);
      if (a_.padding == GridPadding::kReflection) p = Reflect(p, low_, high_);
    }
    GridTaps<T> taps;
    if (a_.mode == ResizeMode::kNearest) {
      Add(taps, static_cast<int64_t>(p), 1);
      return taps;
    }
    const T floor = std::floor(p);
    const T d = p - floor;
    const auto at = static_cast<int64_t>(floor);
    if (a_.mode == ResizeMode::kLinear) {
      Add(taps, at, 1 - d);
      Add(taps, at + 1, d);
    } else {
      for (int t = -1; t <= 2; ++t) Add(taps, at + t, Cubic(std::fabs(static_cast<T>(t) - d)));
    }
    return taps;
  }

 private:
  static T Cubic(T c) {
    constexpr T a = T(-0.75);
    if (c <= 1) return ((a + 2) * c - (a + 3)) * c * c + 1;
    if (c < 2) return ((a * c - 5 * a) * c + 8 * a) * c - 4 * a;
    return 0;
  }

  void Add(GridTaps<T>& taps, int64_t index, T weight) const {
    if (index < 0 || index >= size_) {
      if (a_.padding == GridPadding::kZeros)
        index = -1;
      else if (a_.padding == GridPadding::kReflection)
        index = static_cast<int64_t>(Reflect(static_cast<T>(index), low_, high_));
      if (a_.padding != GridPadding::kZeros) index = std::clamp<int64_t>(index, 0, size_ - 1);
    }
    taps.index[static_cast<size_t>(taps.count)] = index;
    taps.weight[static_cast<size_t>(taps.count++)] = weight;
  }

  const GridSampleAttrs& a_;
  int64_t size_;
  T low_, high_;
};

// The shapes and strides of an evaluation.
struct GridShape {
  size_t axes, first, channel;
  std::vector<int64_t> x_dims, x_strides, y_dims, y_strides;

  GridShape(Layout layout, const std::vector<int64_t>& x, const std::vector<int64_t>& y)
      : axes(x.size() - 2),
        first(static_cast<size_t>(FirstSpatialAxis(layout))),
        channel(static_cast<size_t>(ChannelAxis(layout, static_cast<int>(x.size())))),
        x_dims(x),
        x_strides(Strides(x)),
        y_dims(y),
        y_strides(Strides(y)) {}
};

// Calls fn(taps of each spatial axis, offset of the image in x, offset of the position in y).
template <typename T, typename Fn>
void ForEachPosition(const GridSampleAttrs& a, const GridShape& s, const Tensor& grid, Fn fn) {
  std::vector<AxisSampler<T>> samplers;
  for (size_t k = 0; k < s.axes; ++k) samplers.emplace_back(a, s.x_dims[s.first + k]);
  std::vector<GridTaps<T>> taps(s.axes);
  if (grid.elements() == 0) return;
  const std::span<const int64_t> box = std::span(s.y_dims).subspan(s.first, s.axes);
  size_t g = 0;
  for (int64_t image = 0; image < s.y_dims[0]; ++image) {
    std::vector<int64_t> at(s.axes, 0);
    do {
      int64_t to = image * s.y_strides[0];
      for (size_t k = 0; k < s.axes; ++k) {
        to += at[k] * s.y_strides[s.first + k];
        // The last axis comes first.
        const double v = grid.GetDouble(static_cast<int64_t>(g + s.axes - 1 - k));
        taps[k] = samplers[k].At(static_cast<T>(v));
      }
      g += s.axes;
      fn(taps, image * s.x_strides[0], to);
    } while (NextIndex(at, box));
  }
}

// The interpolated value at one position of one channel, axis k and all after it.
template <typename T>
T Sample(const std::vector<T>& x, const GridShape& s, const std::vector<GridTaps<T>>& taps,
         size_t k, int64_t from) {
  if (k == s.axes) return x[static_cast<size_t>(from)];
  T sum = 0;
  for (size_t t = 0; t < static_cast<size_t>(taps[k].count); ++t) {
    const int64_t index = taps[k].index[t];
    const T value =
        index < 0 ? T(0) : Sample(x, s, taps, k + 1, from + index * s.x_strides[s.first + k]);
    sum = Fma(taps[k].weight[t], value, sum);
  }
  return sum;
}

template <typename T>
Status Interpolate(EvalContext& ctx) {
  const auto& a = ctx.attrs<GridSampleAttrs>();
  const Tensor& x = ctx.in(0);
  NN_ASSIGN(TensorBuilder out, ctx.NewOutput());
  const GridShape s(a.layout, x.dims(), out.dims());
  const double zero =
      ctx.in_type(0).quantized() ? static_cast<double>(ctx.in_type(0).quant->zero_point()) : 0;
  std::vector<T> values(static_cast<size_t>(x.elements()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<T>(x.GetDouble(static_cast<int64_t>(i)) - zero);
  ForEachPosition<T>(a, s, ctx.in(1), [&](const auto& taps, int64_t from, int64_t to) {
    for (int64_t c = 0; c < s.x_dims[s.channel]; ++c) {
      double v = Sample(values, s, taps, 0, from + c * s.x_strides[s.channel]);
      if (IsInteger(x.dtype())) {
        v = ctx.in_type(0).quantized() ? std::nearbyint(v) + zero : std::trunc(v);
        v = std::clamp(v, static_cast<double>(MinInteger(x.dtype())),
                       static_cast<double>(MaxInteger(x.dtype())));
      }
      out.SetDouble(to + c * s.y_strides[s.channel], v);
    }
  });
  ctx.set_out(0, out.Finish());
  return {};
}

template <typename T>
Status PickNearest(EvalContext& ctx) {
  const auto& a = ctx.attrs<GridSampleAttrs>();
  const Tensor& x = ctx.in(0);
  NN_ASSIGN(const Tensor zero, ZeroElement(ctx.in_type(0)));
  NN_ASSIGN(TensorBuilder out, ctx.NewOutput());
  const GridShape s(a.layout, x.dims(), out.dims());
  ForEachPosition<T>(a, s, ctx.in(1), [&](const auto& taps, int64_t from, int64_t to) {
    bool outside = false;
    for (size_t k = 0; k < s.axes; ++k) {
      outside |= taps[k].index[0] < 0;
      from += taps[k].index[0] * s.x_strides[s.first + k];
    }
    for (int64_t c = 0; c < s.x_dims[s.channel]; ++c)
      out.Copy(to + c * s.y_strides[s.channel], outside ? zero : x,
               outside ? 0 : from + c * s.x_strides[s.channel]);
  });
  ctx.set_out(0, out.Finish());
  return {};
}

Status EvalGridSample(EvalContext& ctx) {
  const auto& a = ctx.attrs<GridSampleAttrs>();
  const Tensor& x = ctx.in(0);
  const auto dims = ctx.out_type().const_dims();
  const bool empty = dims && std::find(dims->begin(), dims->end(), 0) != dims->end();
  if (empty) {
    NN_ASSIGN(TensorBuilder out, ctx.NewOutput());
    ctx.set_out(0, out.Finish());
    return {};
  }
  if (x.elements() == 0) return ModelError("x has no elements and cannot be sampled");
  const bool wide =
      x.dtype() == DType::kF64 || ctx.in(1).dtype() == DType::kF64 || IsInteger(x.dtype());
  if (a.mode == ResizeMode::kNearest)
    return wide ? PickNearest<double>(ctx) : PickNearest<float>(ctx);
  if (!IsFloat(x.dtype()) && !IsInteger(x.dtype()))
    return UnsupportedError("{} interpolation of {} is not supported", EnumName(a.mode),
                            DTypeName(x.dtype()));
  return wide ? Interpolate<double>(ctx) : Interpolate<float>(ctx);
}

// ---- affine_grid --------------------------------------------------------------------------------

Status InferAffineGrid(InferContext& ctx) {
  const Type& theta = ctx.in(0);
  if (theta.dtype != DType::kUnknown && !IsFloat(theta.dtype))
    return ModelError("theta is {}; must be floating-point", theta.ToString());
  Type y = Unranked(theta);
  const auto size = ctx.elements(1);
  if (!size) {
    ctx.set_out(0, y);
    return {};
  }
  if (size->size() != 4 && size->size() != 5)
    return ModelError("size is {}; must have 4 or 5 entries", ToString(*size));
  const auto axes = static_cast<int64_t>(size->size()) - 2;
  if (theta.ranked()) {
    NN_RETURN_IF_ERROR(RequireRank(ctx, 0, 3, 3));
    const Dims want = {(*size)[0], Dim(axes), Dim(axes + 1)};
    for (int d = 0; d < 3; ++d)
      if (theta.dim(d).is_const() && want[static_cast<size_t>(d)].is_const() &&
          theta.dim(d) != want[static_cast<size_t>(d)])
        return ModelError("theta {} does not match images of size {}", theta.ToString(),
                          ToString(*size));
  }
  Dims dims = {(*size)[0]};
  dims.insert(dims.end(), size->begin() + 2, size->end());
  dims.emplace_back(axes);
  y.dims = std::move(dims);
  ctx.set_out(0, y);
  return {};
}

}  // namespace

template <typename T>
T AffineCoordinate(int64_t i, int64_t n, bool align_corners) {
  const auto at = static_cast<T>(i);
  const auto size = static_cast<T>(n);
  if (align_corners) return n == 1 ? T(0) : Fma(at, T(2) / (size - 1), T(-1));
  return Fma(at, T(2) / size, T(-1) + T(1) / size);
}

template float AffineCoordinate(int64_t, int64_t, bool);
template double AffineCoordinate(int64_t, int64_t, bool);

namespace {

template <typename T>
Status MakeGrid(EvalContext& ctx) {
  const bool align_corners = ctx.attrs<AffineGridAttrs>().align_corners;
  const Tensor& theta = ctx.in(0);
  NN_ASSIGN(TensorBuilder out, ctx.NewOutput());
  const auto& dims = out.dims();
  const size_t axes = dims.size() - 2;
  const auto strides = Strides(dims);
  for (int64_t i = 0; i < out.elements(); ++i) {
    const int64_t row = i / strides[0] * static_cast<int64_t>(axes) + i % dims.back();
    T sum = 0;
    for (size_t k = 0; k <= axes; ++k) {
      const size_t axis = axes - k;  // of the output: the last spatial axis first
      const T v = k == axes ? T(1)
                            : AffineCoordinate<T>(i / strides[axis] % dims[axis], dims[axis],
                                                  align_corners);
      const int64_t at = row * static_cast<int64_t>(axes + 1) + static_cast<int64_t>(k);
      sum = Fma(static_cast<T>(theta.GetDouble(at)), v, sum);
    }
    out.SetDouble(i, sum);
  }
  ctx.set_out(0, out.Finish());
  return {};
}

Status EvalAffineGrid(EvalContext& ctx) {
  return ctx.in(0).dtype() == DType::kF64 ? MakeGrid<double>(ctx) : MakeGrid<float>(ctx);
}

// The declared sizes, or some.
Domain AffineGridDomain(const Node& node, size_t input, std::span<const Domain>) {
  const auto count = LengthOf(node.input(1));
  const auto theta = DimsOf(node.input(0)), y = DimsOf(node.output());
  if (input == 0 || !count || *count < 3 || !theta || theta->empty()) return {};
  std::vector<int64_t> size(static_cast<size_t>(*count), 4);
  size[0] = (*theta)[0];
  size[1] = 1;
  if (y && y->size() == size.size()) std::copy(y->begin() + 1, y->end() - 1, size.begin() + 2);
  return Exactly(size);
}

}  // namespace

void RegisterGridSampleOps(OpRegistry& ops) {
  OpDef sample;
  sample.name = "grid_sample";
  sample.summary = "samples images at the positions of a grid";
  sample.category = Category::kMovement;
  sample.attrs = AttrsInfoOf<GridSampleAttrs>();
  sample.inputs = {{"x"}, {"grid"}};
  sample.infer = InferGridSample;
  sample.eval = EvalGridSample;
  sample.change_axes = LayoutChange;
  ops.Add(std::move(sample));

  OpDef affine;
  affine.name = "affine_grid";
  affine.summary = "the sampling grid of an affine map";
  affine.category = Category::kOther;
  affine.attrs = AttrsInfoOf<AffineGridAttrs>();
  affine.inputs = {{"theta"}, {"size"}};
  affine.infer = InferAffineGrid;
  affine.eval = EvalAffineGrid;
  affine.formats = {{"onnx", "AffineGrid", 20, {{"align_corners", "align_corners"}}}};
  ops.Add(std::move(affine));
}

void AddGridSampleDomains(DomainTable& domains) {
  domains["affine_grid"] = AffineGridDomain;
}

}  // namespace nn
