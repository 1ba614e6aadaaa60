#include "ops/nn/deform_conv.h"

#include <cmath>
#include <numeric>
#include <optional>

#include "base/arith.h"
#include "base/checked_math.h"
#include "ir/op_def.h"
#include "ops/families.h"
#include "ops/nn/conv.h"
#include "ops/support/composition.h"
#include "ops/support/index.h"
#include "ops/support/reals.h"
#include "ops/support/types.h"

namespace nn {

std::span<const AttrField> DeformConvAttrs::Fields() {
  static const AttrField fields[] = {
      Field<&DeformConvAttrs::strides>("strides"), Field<&DeformConvAttrs::dilations>("dilations"),
      Field<&DeformConvAttrs::pads>("pads"), Field<&DeformConvAttrs::groups>("groups"),
      Field<&DeformConvAttrs::offset_groups>("offset_groups")};
  return fields;
}

namespace {

enum DeformInput : size_t { kX, kFilter, kOffset, kBias, kMask };

// The convolution without offsets.
ConvAttrs PlainConvolution(const DeformConvAttrs& a) {
  ConvAttrs conv;
  conv.strides = a.strides;
  conv.dilations = a.dilations;
  conv.pads = a.pads;
  conv.groups = a.groups;
  return conv;
}

Status RequireEqual(const Dim& size, const Dim& want, std::string_view what) {
  if (!size.is_const() || !want.is_const() || size == want) return {};
  return ModelError("{} is {}; must be {}", what, size.ToString(), want.ToString());
}

Status CheckChannels(const DeformConvAttrs& a, const Type& x, const Type& filter) {
  if (a.groups < 1 || a.offset_groups < 1)
    return ModelError("there are {} groups and {} offset groups; must be positive", a.groups,
                      a.offset_groups);
  NN_RETURN_IF_ERROR(
      RequireEqual(x.dim(1), filter.dim(1) * Dim(a.groups), "the number of input channels"));
  for (const auto& [channels, groups, what] : {std::tuple(x.dim(1), a.offset_groups, "input"),
                                               std::tuple(filter.dim(0), a.groups, "output")})
    if (channels.is_const() && channels.value() % groups != 0)
      return ModelError("{} {} channels are not divisible by {} groups", channels.ToString(), what,
                        groups);
  return {};
}

// offset or mask: [N, channels, output...].
Status CheckPerPosition(const InferContext& ctx, size_t input, const Dim& channels, const Dims& y,
                        std::string_view what) {
  NN_RETURN_IF_ERROR(RequireReal(ctx, input));
  NN_RETURN_IF_ERROR(
      RequireRank(ctx, input, static_cast<int>(y.size()), static_cast<int>(y.size())));
  Dims want = y;
  want[1] = channels;
  for (size_t i = 0; i < want.size(); ++i)
    NN_RETURN_IF_ERROR(RequireEqual(ctx.in(input).dim(static_cast<int>(i)), want[i],
                                    fmt::format("axis {} of the {}", i, what)));
  return {};
}

Status InferDeformConv(InferContext& ctx) {
  const auto& a = ctx.attrs<DeformConvAttrs>();
  for (const size_t i : {kX, kFilter}) {
    NN_RETURN_IF_ERROR(RequireReal(ctx, i));
    NN_RETURN_IF_ERROR(RequireRank(ctx, i, 3));
  }
  NN_RETURN_IF_ERROR(SameDType(ctx, {kX, kFilter, kOffset, kBias, kMask}));
  const Type &x = ctx.in(kX), &filter = ctx.in(kFilter);
  if (filter.rank() != x.rank())
    return ModelError("the filter {} does not match {}", filter.ToString(), x.ToString());
  NN_RETURN_IF_ERROR(CheckChannels(a, x, filter));
  NN_ASSIGN(const auto windows, ConvWindows(PlainConvolution(a), *x.dims, *filter.dims));
  Dims y = {x.dim(0), filter.dim(0)};
  int64_t taps = 1;
  for (const Window& w : windows) {
    y.push_back(w.output);
    const auto product = CheckedMul(taps, w.kernel);
    if (!product) return LimitError("the filter {} is too large", filter.ToString());
    taps = *product;
  }
  const Dim per_tap = Dim(a.offset_groups) * Dim(taps);
  const Dim axes(static_cast<int64_t>(windows.size()));
  NN_RETURN_IF_ERROR(CheckPerPosition(ctx, kOffset, per_tap * axes, y, "offset"));
  if (ctx.has(kMask)) NN_RETURN_IF_ERROR(CheckPerPosition(ctx, kMask, per_tap, y, "mask"));
  if (ctx.has(kBias)) {
    NN_RETURN_IF_ERROR(RequireReal(ctx, kBias));
    NN_RETURN_IF_ERROR(RequireRank(ctx, kBias, 1, 1));
    NN_RETURN_IF_ERROR(RequireEqual(ctx.in(kBias).dim(0), filter.dim(0), "the size of the bias"));
  }
  ctx.set_out(0, Type(x.dtype, std::move(y)));
  return {};
}

// An element of x and its weight.
template <typename T>
struct DeformCorner {
  int64_t at;
  T weight;
};

// The elements of x around a position, at offsets from a channel's first; none outside x.
template <typename T>
void CornersOf(std::span<const T> position, std::span<const int64_t> size,
               std::span<const int64_t> step, std::vector<DeformCorner<T>>& corners) {
  corners.assign(1, {0, T(1)});
  std::vector<DeformCorner<T>> next;
  for (size_t axis = 0; axis < size.size(); ++axis) {
    const T floor = std::floor(position[axis]);
    const T d = position[axis] - floor;
    next.clear();
    // A comparison with NaN is false.
    if (floor >= -1 && floor < static_cast<T>(size[axis])) {
      const auto first = static_cast<int64_t>(floor);
      for (const DeformCorner<T>& corner : corners)
        for (const int64_t i : {first, first + 1})
          if (i >= 0 && i < size[axis])
            next.push_back(
                {corner.at + i * step[axis],
                 axis == 0 ? (i == first ? 1 - d : d) : corner.weight * (i == first ? 1 - d : d)});
    }
    std::swap(corners, next);
  }
}

// The evaluation of a node, on T.
template <typename T>
class DeformedConvolution {
 public:
  DeformedConvolution(const EvalContext& ctx, const ConvGeometry& g)
      : g_(g),
        offset_groups_(ctx.attrs<DeformConvAttrs>().offset_groups),
        x_(ctx.in(kX)),
        filter_(ctx.in(kFilter)),
        offset_(ctx.in(kOffset)),
        channels_(g.in_channels * g.groups),
        taps_(g.taps()),
        positions_(g.out_positions()) {
    if (ctx.has(kBias)) bias_.emplace(ctx.in(kBias));
    if (ctx.has(kMask)) mask_.emplace(ctx.in(kMask));
    for (const ConstWindow& w : g.windows) {
      size_.push_back(w.input);
      kernel_.push_back(w.kernel);
      out_.push_back(w.output);
    }
    step_ = Strides(size_);
    image_ = std::accumulate(size_.begin(), size_.end(), int64_t{1}, std::multiplies<>());
    read_.resize(static_cast<size_t>(channels_ * taps_));
  }

  void Run(T* y) {
    if (positions_ == 0) return;
    for (int64_t n = 0; n < g_.batch; ++n) {
      std::vector<int64_t> at(out_.size(), 0);
      int64_t position = 0;
      do {
        Read(n, position, at);
        for (int64_t o = 0; o < g_.out_channels * g_.groups; ++o)
          y[(n * g_.out_channels * g_.groups + o) * positions_ + position] = Product(o);
        ++position;
      } while (NextIndex(at, out_));
    }
  }

 private:
  // What the taps of an output position read: [taps, channels].
  void Read(int64_t n, int64_t position, std::span<const int64_t> at) {
    const int64_t axes = static_cast<int64_t>(size_.size());
    const int64_t group_channels = channels_ / offset_groups_;
    std::vector<T> p(size_.size());
    std::vector<DeformCorner<T>> corners;
    for (int64_t h = 0; h < offset_groups_; ++h) {
      std::vector<int64_t> k(kernel_.size(), 0);
      for (int64_t tap = 0; tap < taps_; ++tap) {
        const int64_t row = (n * offset_groups_ + h) * taps_ + tap;
        for (size_t axis = 0; axis < p.size(); ++axis) {
          const ConstWindow& w = g_.windows[axis];
          const auto place =
              static_cast<T>(at[axis] * w.stride + k[axis] * w.dilation - w.pad_begin);
          p[axis] =
              place + offset_[(row * axes + static_cast<int64_t>(axis)) * positions_ + position];
        }
        CornersOf<T>(p, size_, step_, corners);
        for (int64_t c = h * group_channels; c < (h + 1) * group_channels; ++c) {
          T sum = 0;
          for (const DeformCorner<T>& corner : corners)
            sum = Fma(corner.weight, x_[(n * channels_ + c) * image_ + corner.at], sum);
          if (mask_) sum = sum * (*mask_)[row * positions_ + position];
          read_[static_cast<size_t>(tap * channels_ + c)] = sum;
        }
        NextIndex(k, kernel_);
      }
    }
  }

  T Product(int64_t o) const {
    const int64_t first = o / g_.out_channels * g_.in_channels;
    T sum = 0;
    for (int64_t tap = 0; tap < taps_; ++tap)
      for (int64_t c = 0; c < g_.in_channels; ++c)
        sum = Fma(read_[static_cast<size_t>(tap * channels_ + first + c)],
                  filter_[(o * g_.in_channels + c) * taps_ + tap], sum);
    return sum + (bias_ ? (*bias_)[o] : T(0));
  }

  const ConvGeometry& g_;
  int64_t offset_groups_;
  Reals<T> x_, filter_, offset_;
  std::optional<Reals<T>> bias_, mask_;
  int64_t channels_, taps_, positions_;
  int64_t image_ = 1;  // elements of a channel of x
  std::vector<int64_t> size_, kernel_, out_, step_;
  std::vector<T> read_;
};

Status EvalDeformConv(EvalContext& ctx) {
  NN_ASSIGN(const ConvGeometry g, GeometryOf(PlainConvolution(ctx.attrs<DeformConvAttrs>()),
                                             ctx.in(kX).dims(), ctx.in(kFilter).dims()));
  return WithReals(ctx.in(kX).dtype(), [&](auto zero) -> Status {
    using T = decltype(zero);
    NN_ASSIGN(auto y, RealOutput<T>::Create(ctx));
    DeformedConvolution<T>(ctx, g).Run(y.data());
    y.Finish();
    return {};
  });
}

// The products with the filter, and four for each element that a tap reads.
std::optional<int64_t> DeformConvMultiplyAdds(const Node& node) {
  const auto x = node.input(kX)->type().const_dims();
  const auto filter = node.input(kFilter)->type().const_dims();
  const auto y = node.output()->type().const_dims();
  if (!x || !filter || !y) return std::nullopt;
  std::vector<int64_t> taps(filter->begin() + 2, filter->end());
  taps.push_back((*y)[0]);
  taps.insert(taps.end(), y->begin() + 2, y->end());
  std::vector<int64_t> products = taps, reads = taps;
  products.push_back((*filter)[0]);
  products.push_back((*filter)[1]);
  reads.push_back((*x)[1]);
  reads.push_back(4);
  const auto a = CheckedElements(products), b = CheckedElements(reads);
  return a && b ? CheckedAdd(*a, *b) : std::nullopt;
}

}  // namespace

void RegisterDeformConvOps(OpRegistry& ops) {
  OpDef op;
  op.name = "deform_conv";
  op.summary = "convolution whose taps are moved by offsets";
  op.category = Category::kConvolution;
  op.attrs = AttrsInfoOf<DeformConvAttrs>();
  op.inputs = {
      {"x"}, {"filter"}, {"offset"}, {"bias", Arity::kOptional}, {"mask", Arity::kOptional}};
  op.infer = InferDeformConv;
  op.eval = EvalDeformConv;
  op.multiply_adds = DeformConvMultiplyAdds;
  ops.Add(std::move(op));
}

}  // namespace nn
