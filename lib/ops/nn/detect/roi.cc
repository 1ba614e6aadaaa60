#include "ops/nn/detect/roi.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "base/arith.h"
#include "base/checked_math.h"
#include "ir/op_def.h"
#include "ops/families.h"
#include "ops/nn/detect/roi_samples.h"
#include "ops/support/composition.h"
#include "ops/support/domain.h"
#include "ops/support/movement.h"
#include "ops/support/reals.h"
#include "ops/support/types.h"

namespace nn {

std::span<const AttrField> RoiAlignAttrs::Fields() {
  static const AttrField fields[] = {Field<&RoiAlignAttrs::layout>("layout"),
                                     Field<&RoiAlignAttrs::mode>("mode"),
                                     Field<&RoiAlignAttrs::height>("height"),
                                     Field<&RoiAlignAttrs::width>("width"),
                                     Field<&RoiAlignAttrs::sampling_ratio>("sampling_ratio"),
                                     Field<&RoiAlignAttrs::spatial_scale>("spatial_scale"),
                                     Field<&RoiAlignAttrs::half_pixel>("half_pixel")};
  return fields;
}
std::span<const AttrField> MaxRoiPoolAttrs::Fields() {
  static const AttrField fields[] = {Field<&MaxRoiPoolAttrs::layout>("layout"),
                                     Field<&MaxRoiPoolAttrs::height>("height"),
                                     Field<&MaxRoiPoolAttrs::width>("width"),
                                     Field<&MaxRoiPoolAttrs::spatial_scale>("spatial_scale")};
  return fields;
}

namespace {

constexpr double kFarthest = kFarthestRoi;

// ---- Shapes

Status RequireColumns(const InferContext& ctx, int64_t columns) {
  NN_RETURN_IF_ERROR(RequireRank(ctx, 1, 2, 2));
  const Dim& size = ctx.in(1).dim(1);
  if (!size.is_const() || size == columns) return {};
  return ModelError("rois {} has {} columns; must have {}", ctx.in(1).ToString(), size.ToString(),
                    columns);
}

template <typename A>
Status InferRegions(InferContext& ctx, const Dim& regions) {
  const auto& a = ctx.attrs<A>();
  for (const auto& [name, size] : {std::pair("height", a.height), std::pair("width", a.width)})
    if (size < 1) return ModelError("{} is {}; must be positive", name, size);
  if (!std::isfinite(a.spatial_scale))
    return ModelError("spatial_scale is {}; must be finite", a.spatial_scale);
  for (const size_t i : {0, 1}) NN_RETURN_IF_ERROR(RequireReal(ctx, i));
  NN_RETURN_IF_ERROR(SameDType(ctx, {0, 1}));
  NN_RETURN_IF_ERROR(RequireRank(ctx, 0, 4, 4));
  Dims dims = *ctx.in(0).dims;
  const auto first = static_cast<size_t>(FirstSpatialAxis(a.layout));
  dims[0] = regions;
  dims[first] = a.height;
  dims[first + 1] = a.width;
  ctx.set_out(0, ctx.in(0).WithDims(std::move(dims)));
  return {};
}

Status InferRoiAlign(InferContext& ctx) {
  if (ctx.attrs<RoiAlignAttrs>().sampling_ratio < 0)
    return ModelError("sampling_ratio is {}; must not be negative",
                      ctx.attrs<RoiAlignAttrs>().sampling_ratio);
  NN_RETURN_IF_ERROR(RequireColumns(ctx, 4));
  NN_RETURN_IF_ERROR(RequireRank(ctx, 2, 1, 1));
  const Dim &rois = ctx.in(1).dim(0), &batch = ctx.in(2).dim(0);
  if (rois.is_const() && batch.is_const() && rois != batch)
    return ModelError("there are {} rois and {} entries of batch", rois.ToString(),
                      batch.ToString());
  NN_RETURN_IF_ERROR(RequireIntegers(ctx, 2, "image numbers"));
  return InferRegions<RoiAlignAttrs>(ctx, rois.is_const() ? rois : batch);
}

Status InferMaxRoiPool(InferContext& ctx) {
  NN_RETURN_IF_ERROR(RequireColumns(ctx, 5));
  return InferRegions<MaxRoiPoolAttrs>(ctx, ctx.in(1).dim(0));
}

// Sizes and distances of axes, in elements.
struct RoiImage {
  int64_t count, channels;
  std::array<int64_t, 2> size;
  int64_t image_step, channel_step;
  std::array<int64_t, 2> step;

  RoiImage(Layout layout, const std::vector<int64_t>& dims) {
    const auto steps = Strides(dims);
    const auto first = static_cast<size_t>(FirstSpatialAxis(layout));
    const auto channel = static_cast<size_t>(ChannelAxis(layout, 4));
    count = dims[0];
    channels = dims[channel];
    image_step = steps[0];
    channel_step = steps[channel];
    size = {dims[first], dims[first + 1]};
    step = {steps[first], steps[first + 1]};
  }
};

// Calls fn(channel, bin on each axis, offset in x of the channel, offset in y) for a region of an
// image.
template <typename Fn>
void ForEachBin(const RoiImage& x, const RoiImage& y, int64_t image, int64_t roi, Fn fn) {
  for (int64_t c = 0; c < x.channels; ++c)
    for (int64_t h = 0; h < y.size[0]; ++h)
      for (int64_t w = 0; w < y.size[1]; ++w)
        fn(static_cast<size_t>(h), static_cast<size_t>(w),
           image * x.image_step + c * x.channel_step,
           roi * y.image_step + c * y.channel_step + h * y.step[0] + w * y.step[1]);
}

// ---- roi_align

template <typename T>
T AverageOfSamples(const T* x, const RoiBin<T>& rows, const RoiBin<T>& columns, T count) {
  T sum = 0;
  for (const RoiSample<T>& r : rows.samples)
    for (const RoiSample<T>& c : columns.samples) {
      T sample = 0;
      for (const size_t i : {0, 1})
        for (const size_t j : {0, 1})
          sample = Fma(r.weight[i] * c.weight[j], x[r.at[i] + c.at[j]], sample);
      sum = sum + sample;
    }
  return count > 0 ? sum / count : T(0);
}

template <typename T>
T LargestProduct(const T* x, const RoiBin<T>& rows, const RoiBin<T>& columns, T count) {
  if (!(count > 0)) return 0;
  T most = -std::numeric_limits<T>::infinity();
  if (rows.any_outside || columns.any_outside) most = 0;
  for (const RoiSample<T>& r : rows.samples)
    for (const RoiSample<T>& c : columns.samples)
      for (const size_t i : {0, 1})
        for (const size_t j : {0, 1}) {
          const T product = r.weight[i] * c.weight[j] * x[r.at[i] + c.at[j]];
          if (std::isnan(product)) return product;
          most = most > product ? most : product;
        }
  return most;
}

Status EvalRoiAlign(EvalContext& ctx) {
  const auto& a = ctx.attrs<RoiAlignAttrs>();
  const Tensor &x = ctx.in(0), &batch = ctx.in(2);
  return WithReals(x.dtype(), [&](auto zero) -> Status {
    using T = decltype(zero);
    NN_ASSIGN(auto out, RealOutput<T>::Create(ctx));
    const Reals<T> values(x), rois(ctx.in(1));
    const RoiImage in(a.layout, x.dims()), y(a.layout, *ctx.out_type().const_dims());
    for (int64_t roi = 0; roi < y.count; ++roi) {
      const int64_t image = batch.GetInt(roi);
      NN_RETURN_IF_ERROR(CheckRoiImage(roi, static_cast<double>(image), in.count));
      const RoiAxis<T> rows(a, rois[roi * 4 + 1], rois[roi * 4 + 3], a.height, in.size[0],
                            in.step[0]);
      const RoiAxis<T> columns(a, rois[roi * 4], rois[roi * 4 + 2], a.width, in.size[1],
                               in.step[1]);
      const T count = static_cast<T>(rows.count()) * static_cast<T>(columns.count());
      ForEachBin(in, y, image, roi, [&](size_t h, size_t w, int64_t from, int64_t to) {
        const auto compute = a.mode == RoiMode::kAvg ? AverageOfSamples<T> : LargestProduct<T>;
        out[to] = compute(values.data() + from, rows.bins()[h], columns.bins()[w], count);
      });
    }
    out.Finish();
    return {};
  });
}

// Four products a sample. If the regions determine the number of samples, at most two rows or
// columns of samples per row or column of the image, and as many per bin.
std::optional<int64_t> RoiAlignMultiplyAdds(const Node& node) {
  const auto& a = node.attrs<RoiAlignAttrs>();
  const auto x = node.input(0)->type().const_dims(), y = node.output()->type().const_dims();
  if (!x || !y) return std::nullopt;
  const RoiImage in(a.layout, *x), out(a.layout, *y);
  std::vector<int64_t> counts = {4, out.count, out.channels};
  for (const size_t k : {0, 1}) {
    const auto samples = a.sampling_ratio != 0
                             ? CheckedMul(out.size[k], a.sampling_ratio)
                             : CheckedMul<int64_t>(2, in.size[k] + out.size[k] + 2);
    if (!samples) return std::nullopt;
    counts.push_back(*samples);
  }
  return CheckedElements(counts);
}

// ---- max_roi_pool

// The elements [first, last) of each bin of a region on one axis.
template <typename T>
std::vector<std::pair<int64_t, int64_t>> PooledRanges(T c1, T c2, float spatial_scale, int64_t bins,
                                                      int64_t size) {
  const auto scaled = [&](T c) {
    T p = std::round(c * static_cast<T>(spatial_scale));
    if (std::isnan(p)) p = -static_cast<T>(kFarthest);
    return static_cast<int64_t>(
        std::clamp(p, -static_cast<T>(kFarthest), static_cast<T>(kFarthest)));
  };
  const int64_t start = scaled(c1);
  const int64_t length = std::max<int64_t>(scaled(c2) - start + 1, 1);
  const T bin = static_cast<T>(length) / static_cast<T>(bins);
  std::vector<std::pair<int64_t, int64_t>> ranges;
  for (int64_t b = 0; b < bins; ++b) {
    const auto first = static_cast<int64_t>(std::floor(static_cast<T>(b) * bin));
    const auto last = static_cast<int64_t>(std::ceil(static_cast<T>(b + 1) * bin));
    ranges.emplace_back(std::clamp<int64_t>(start + first, 0, size),
                        std::clamp<int64_t>(start + last, 0, size));
  }
  return ranges;
}

Status EvalMaxRoiPool(EvalContext& ctx) {
  const auto& a = ctx.attrs<MaxRoiPoolAttrs>();
  const Tensor& x = ctx.in(0);
  return WithReals(x.dtype(), [&](auto zero) -> Status {
    using T = decltype(zero);
    NN_ASSIGN(auto out, RealOutput<T>::Create(ctx));
    const Reals<T> values(x), rois(ctx.in(1));
    const RoiImage in(a.layout, x.dims()), y(a.layout, *ctx.out_type().const_dims());
    for (int64_t roi = 0; roi < y.count; ++roi) {
      const auto r = rois.span().subspan(static_cast<size_t>(roi) * 5, 5);
      NN_RETURN_IF_ERROR(CheckRoiImage(roi, static_cast<double>(r[0]), in.count));
      const auto rows = PooledRanges(r[2], r[4], a.spatial_scale, a.height, in.size[0]);
      const auto columns = PooledRanges(r[1], r[3], a.spatial_scale, a.width, in.size[1]);
      const auto image = static_cast<int64_t>(r[0]);
      ForEachBin(in, y, image, roi, [&](size_t h, size_t w, int64_t from, int64_t to) {
        const bool empty = rows[h].first >= rows[h].second || columns[w].first >= columns[w].second;
        T most = empty ? T(0) : -std::numeric_limits<T>::infinity();
        for (int64_t i = rows[h].first; i < rows[h].second; ++i)
          for (int64_t j = columns[w].first; j < columns[w].second; ++j) {
            const T v = values[from + i * in.step[0] + j * in.step[1]];
            if (v > most || std::isnan(v)) most = v;
          }
        out[to] = most;
      });
    }
    out.Finish();
    return {};
  });
}

// Bins cover the image at most once, and have two common elements at their ends.
std::optional<int64_t> MaxRoiPoolComparisons(const Node& node) {
  const auto& a = node.attrs<MaxRoiPoolAttrs>();
  const auto x = node.input(0)->type().const_dims(), y = node.output()->type().const_dims();
  if (!x || !y) return std::nullopt;
  const RoiImage in(a.layout, *x), out(a.layout, *y);
  std::vector<int64_t> counts = {out.count, out.channels};
  for (const size_t k : {0, 1}) {
    const auto most = CheckedAdd(in.size[k], out.size[k]);
    const auto each = most ? CheckedMul<int64_t>(2, *most) : most;
    if (!each) return std::nullopt;
    counts.push_back(*each);
  }
  return CheckedElements(counts);
}

// ---- Domains

Domain RoiAlignDomain(const Node& node, size_t input, std::span<const Domain>) {
  const auto x = DimsOf(node.input(0));
  if (input != 2 || !x || x->empty()) return {};
  return IndexDomain((*x)[0]);
}

// The first column is an image; the others may be anything.
Domain MaxRoiPoolDomain(const Node& node, size_t input, std::span<const Domain>) {
  const auto x = DimsOf(node.input(0));
  if (input != 1 || !x || x->empty()) return {};
  Domain domain;
  domain.min = 0;
  domain.max = std::max<double>(0, static_cast<double>((*x)[0]) - kDomainMargin);
  return domain;
}

}  // namespace

Status CheckRoiImage(int64_t roi, double image, int64_t count) {
  if (image >= 0 && image < static_cast<double>(count)) return {};
  return ModelError("region {} is of image {}; there are {}", roi, image, count);
}

void RegisterRoiOps(OpRegistry& ops) {
  OpDef align;
  align.name = "roi_align";
  align.summary = "pools samples of regions of images";
  align.category = Category::kPooling;
  align.attrs = AttrsInfoOf<RoiAlignAttrs>();
  align.inputs = {{"x"}, {"rois"}, {"batch"}};
  align.infer = InferRoiAlign;
  align.eval = EvalRoiAlign;
  align.change_axes = LayoutChange;
  align.multiply_adds = RoiAlignMultiplyAdds;
  ops.Add(std::move(align));

  OpDef pool;
  pool.name = "max_roi_pool";
  pool.summary = "the largest elements of regions of images";
  pool.category = Category::kPooling;
  pool.attrs = AttrsInfoOf<MaxRoiPoolAttrs>();
  pool.inputs = {{"x"}, {"rois"}};
  pool.infer = InferMaxRoiPool;
  pool.eval = EvalMaxRoiPool;
  pool.change_axes = LayoutChange;
  pool.multiply_adds = MaxRoiPoolComparisons;
  ops.Add(std::move(pool));
}

void AddRoiDomains(DomainTable& domains) {
  domains["roi_align"] = RoiAlignDomain;
  domains["max_roi_pool"] = MaxRoiPoolDomain;
}

}  // namespace nn
