// Resize and Upsample from ONNX.
#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "base/text/text.h"
#include "formats/onnx/export/quant/linear_quant.h"
#include "formats/onnx/family.h"
#include "ops/array/arrange/concat.h"
#include "ops/array/arrange/slice.h"
#include "ops/array/shape.h"
#include "ops/nn/resize/resize.h"
#include "ops/support/term_ops.h"
#include "ops/support/types.h"

namespace nn::onnx {

namespace {

// ---- Resize and Upsample ------------------------------------------------------------------------
// ONNX resizes any axes, the graph's operator the spatial ones. Where batch and channels stay, the
// axes have one of the layouts; else those to be resized are made spatial axes.

// The request of a node: numbers for `axes`, in this order, as attributes or as inputs.
struct ResizeRequest {
  ResizeAttrs attrs;  // scales, sizes and roi for `axes` where known
  std::vector<int> axes;
  Value* roi = nullptr;  // inputs with unknown contents
  Value* scales = nullptr;
  Value* sizes = nullptr;

  bool known() const { return roi == nullptr && scales == nullptr && sizes == nullptr; }
};

// Whether axis i of the request is unchanged.
bool Stays(const ResizeRequest& r, size_t i, const Type& x) {
  const ResizeAttrs& a = r.attrs;
  if (!r.known() || a.aspect != AspectPolicy::kStretch) return false;
  if (a.coordinates == Coordinates::kCrop && (a.roi[i] != 0.0f || a.roi[r.axes.size() + i] != 1.0f))
    return false;
  return a.scales.empty() ? a.sizes[i] == x.dim(r.axes[i]) : a.scales[i] == 1.0f;
}

// The request as attributes for a layout; nullopt if batch or channels are resized.
std::optional<ResizeAttrs> InLayout(const ResizeRequest& r, Layout layout, const Type& x) {
  if (!r.known() || x.rank() < 3) return std::nullopt;
  const int first = FirstSpatialAxis(layout);
  const auto count = static_cast<size_t>(x.rank() - 2);
  ResizeAttrs a = r.attrs;
  a.layout = layout;
  if (!a.scales.empty()) a.scales.assign(count, 1.0f);
  if (!a.sizes.empty())
    a.sizes.assign(x.dims->begin() + first, x.dims->begin() + first + x.rank() - 2);
  a.roi.assign(a.roi.empty() ? 0 : 2 * count, 0.0f);
  std::fill(a.roi.begin() + static_cast<std::ptrdiff_t>(a.roi.size() / 2), a.roi.end(), 1.0f);
  size_t resized = 0;
  for (size_t i = 0; i < r.axes.size(); ++i) {
    if (Stays(r, i, x)) continue;
    const int k = r.axes[i] - first;
    if (k < 0 || k >= static_cast<int>(count)) return std::nullopt;
    const auto at = static_cast<size_t>(k);
    if (!a.scales.empty()) a.scales[at] = r.attrs.scales[i];
    if (!a.sizes.empty()) a.sizes[at] = r.attrs.sizes[i];
    if (!a.roi.empty()) {
      a.roi[at] = r.attrs.roi[i];
      a.roi[count + at] = r.attrs.roi[r.axes.size() + i];
    }
    ++resized;
  }
  // A common scale covers the axes of the request, so these must be all spatial axes.
  if (a.aspect != AspectPolicy::kStretch && resized != count) return std::nullopt;
  return a;
}

// The request without the first axis if that stays: a resize of fewer axes is one that more formats
// have, and more runtimes. Vectors and matrices get axes in front anyway.
ResizeRequest WithoutFirstAxis(ResizeRequest r, const Type& x) {
  const auto first = std::ranges::find(r.axes, 0);
  const auto i = first - r.axes.begin();
  if (x.rank() < 3 || first == r.axes.end() || !Stays(r, static_cast<size_t>(i), x)) return r;
  const std::ptrdiff_t count = std::ssize(r.axes);
  ResizeAttrs& a = r.attrs;
  if (!a.scales.empty()) a.scales.erase(a.scales.begin() + i);
  if (!a.sizes.empty()) a.sizes.erase(a.sizes.begin() + i);
  if (!a.roi.empty()) {
    a.roi.erase(a.roi.begin() + count + i);
    a.roi.erase(a.roi.begin() + i);
  }
  r.axes.erase(first);
  return r;
}

// Permutes the axes of the request to the end, after two others, resizes, and permutes them back.
Status EmitGeneral(ImportContext& ctx, Value* x, const ResizeRequest& r) {
  const int rank = x->type().rank();
  TransposeAttrs to_end;
  for (int d = 0; d < rank; ++d)
    if (std::find(r.axes.begin(), r.axes.end(), d) == r.axes.end()) to_end.perm.push_back(d);
  const size_t others = to_end.perm.size();
  to_end.perm.insert(to_end.perm.end(), r.axes.begin(), r.axes.end());
  const bool permutes = !std::is_sorted(to_end.perm.begin(), to_end.perm.end());
  Dims dims;
  for (const int64_t d : to_end.perm) dims.push_back(x->type().dim(static_cast<int>(d)));
  const auto first = dims.begin() + static_cast<std::ptrdiff_t>(others);  // of the resized axes
  const Dims kept(dims.begin(), first);
  std::vector<int64_t> leading;
  for (size_t d = others; d < 2; ++d) leading.push_back(static_cast<int64_t>(d));
  Term v = permutes ? Apply("transpose", {x}, to_end) : x;
  if (others > 2) {
    Dims merged = {Product(kept), Dim(1)};
    merged.insert(merged.end(), first, dims.end());
    v = Reshape(v, std::move(merged));
  } else if (!leading.empty()) {
    v = ExpandDims(v, leading);
  }
  std::vector<Term> inputs = {v, r.roi, r.scales, r.sizes};
  while (inputs.back().is_absent()) inputs.pop_back();
  NN_ASSIGN(Value* const resized, ctx.Add("resize", std::move(inputs), r.attrs));
  Term y = resized;
  if (others > 2) {
    Dims split = kept;
    split.insert(split.end(), resized->type().dims->begin() + 2, resized->type().dims->end());
    if (!KnownBeforeRun(split))
      return UnsupportedError("Resize of batch or channels needs shapes known before the run");
    y = Reshape(y, std::move(split));
  } else if (!leading.empty()) {
    y = Squeeze(y, leading);
  }
  if (permutes) {
    const AxisMap back = AxisMap::Permutation(to_end.perm).Inverse();
    y = Transpose(y, {back.from().begin(), back.from().end()});
  }
  return ctx.EmitTerm(y);
}

// What is known before the run of `count` numbers that it joins from vectors, with `unknown` for
// the others; nullopt if their count is not known, or another one.
template <typename T, typename Known>
std::optional<std::vector<T>> KnownParts(const Value* numbers, size_t count, const T& unknown,
                                         const Known& known) {
  std::vector<T> out;
  const auto add = [&](const Value* part) {
    const Type& type = part->type();
    if (!type.ranked() || type.rank() != 1 || !type.dim(0).is_const()) return false;
    const int64_t size = type.dim(0).value();
    if (size > static_cast<int64_t>(count)) return false;
    const std::optional<std::vector<T>> all = known(part);
    if (all)
      out.insert(out.end(), all->begin(), all->end());
    else
      out.resize(out.size() + static_cast<size_t>(size), unknown);
    return true;
  };
  const Node* const join = numbers->def();
  const bool is_joined = join != nullptr && join->Is<ConcatAttrs>() && !known(numbers);
  const bool has_counts = is_joined ? std::ranges::all_of(join->inputs(), add) : add(numbers);
  return has_counts && out.size() == count ? std::optional(std::move(out)) : std::nullopt;
}

std::optional<std::vector<float>> ConstantFloats(const Value* v) {
  if (!v->is_constant()) return std::nullopt;
  std::vector<float> out;
  for (const double x : v->constant().ToDoubles()) out.push_back(static_cast<float>(x));
  return out;
}

// The request with what is known of its sizes or scales as attributes; nullopt if it has others
// that only the run knows.
std::optional<ResizeRequest> KnownRequest(const ResizeRequest& r) {
  constexpr float kNotKnown = std::numeric_limits<float>::quiet_NaN();
  const ResizeAttrs& a = r.attrs;
  const bool is_by_sizes = r.sizes != nullptr;
  if (r.roi != nullptr || !a.roi.empty() || a.aspect != AspectPolicy::kStretch ||
      !a.sizes.empty() || !a.scales.empty() || is_by_sizes == (r.scales != nullptr))
    return std::nullopt;
  ResizeRequest known = r;
  known.sizes = known.scales = nullptr;
  if (is_by_sizes) {
    auto sizes = KnownParts<Dim>(r.sizes, r.axes.size(), Dim(-1), KnownElements);
    if (!sizes) return std::nullopt;
    known.attrs.sizes = std::move(*sizes);
  } else {
    auto scales = KnownParts<float>(r.scales, r.axes.size(), kNotKnown, ConstantFloats);
    if (!scales) return std::nullopt;
    known.attrs.scales = std::move(*scales);
  }
  return known;
}

// The entries of sizes or scales for the spatial axes of a layout; null if the request does not
// have them one after the other.
Result<Value*> SpatialNumbers(ImportContext& ctx, const ResizeRequest& r, Value* numbers, int first,
                              int count) {
  const auto from = std::ranges::find(r.axes, first) - r.axes.begin();
  if (std::ssize(r.axes) - from < count) return nullptr;
  for (int k = 0; k < count; ++k)
    if (r.axes[static_cast<size_t>(from + k)] != first + k) return nullptr;
  if (std::ssize(r.axes) == count) return numbers;
  return ctx.Add("slice", {numbers}, SliceAttrs{{0}, {from}, {from + count}, {}});
}

// Sizes or scales that only the run knows: false if it may resize batch or channels as well.
Result<bool> EmitOpen(ImportContext& ctx, Value* x, const ResizeRequest& r) {
  const auto known = KnownRequest(r);
  if (!known) return false;
  for (const Layout layout : {Layout::kNcx, Layout::kNxc}) {
    auto attrs = InLayout(*known, layout, x->type());
    if (!attrs) continue;
    Value* const all = r.sizes != nullptr ? r.sizes : r.scales;
    NN_ASSIGN(Value* const spatial,
              SpatialNumbers(ctx, r, all, FirstSpatialAxis(layout), x->type().rank() - 2));
    if (spatial == nullptr) continue;
    attrs->sizes.clear();
    attrs->scales.clear();
    std::vector<Value*> inputs = {x, nullptr, spatial};
    if (r.sizes != nullptr) inputs.insert(inputs.begin() + 2, nullptr);
    NN_RETURN_IF_ERROR(ctx.Emit("resize", std::move(inputs), *attrs));
    return true;
  }
  return false;
}

Status EmitResize(ImportContext& ctx, Value* x, const ResizeRequest& r) {
  const size_t n = r.axes.size();
  const ResizeAttrs& a = r.attrs;
  if (r.known() && a.scales.empty() == a.sizes.empty())
    return ModelError("exactly one of scales and sizes must be given");
  if (r.known() && a.scales.size() + a.sizes.size() != n)
    return ModelError("{} scales or sizes for {} axes", a.scales.size() + a.sizes.size(), n);
  if (r.roi == nullptr && a.coordinates == Coordinates::kCrop && a.roi.size() != 2 * n)
    return ModelError("roi has {} elements for {} axes", a.roi.size(), n);
  for (const Layout layout : {Layout::kNcx, Layout::kNxc})
    if (auto attrs = InLayout(r, layout, x->type())) return ctx.Emit("resize", {x}, *attrs);
  NN_ASSIGN(const bool done, EmitOpen(ctx, x, r));
  if (done) return {};
  return EmitGeneral(ctx, x, WithoutFirstAxis(r, x->type()));
}

// The image. Interpolation is of the stored integers, and rounds differently from that of the real
// numbers they represent.
Result<Value*> Image(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  if (!x->type().quantized() || ctx.String("mode", "nearest") == "nearest") return x;
  return ctx.Build(As(x, x->dtype()));
}

Result<ResizeRequest> NewRequest(const ImportContext& ctx, const Value* x) {
  if (!x->type().ranked()) return UnsupportedError("Resize needs an input of known rank");
  ResizeRequest r;
  std::vector<int64_t> axes = ctx.Ints("axes");
  if (!ctx.HasAttr("axes")) {
    axes.resize(x->type().dims->size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  NN_ASSIGN(r.axes, NormalizeAxes(axes, x->type().rank()));
  const std::string mode = ctx.String("mode", "nearest");
  const auto known = ParseEnum<ResizeMode>(mode == "bilinear" ? "linear" : mode);
  if (!known || (*known == ResizeMode::kCubic && ctx.opset() < 11))
    return ModelError("unknown mode {}", Quote(mode));
  r.attrs.mode = *known;
  r.attrs.coordinates = Coordinates::kAsymmetric;
  return r;
}

// Reads floats into `numbers` if the input is constant, else sets `dynamic` to the input. An empty
// tensor means absent.
void ReadNumbers(const ImportContext& ctx, size_t input, std::vector<float>& numbers,
                 Value*& dynamic) {
  Value* v = ctx.input(input);
  if (v == nullptr) return;
  if (!v->is_constant()) {
    if (v->type().ranked() && Product(*v->type().dims) == 0) return;
    dynamic = v;
    return;
  }
  for (const double s : v->constant().ToDoubles()) numbers.push_back(static_cast<float>(s));
}

Status EmitUpsample(ImportContext& ctx, Value* x, const ResizeRequest& r) {
  for (const float scale : r.attrs.scales)
    if (!(scale >= 1)) return ModelError("Upsample has a scale of {}, but takes 1 and more", scale);
  return EmitResize(ctx, x, r);
}

// Upsample-1 has a scale for each of two axes.
Status ImportUpsample1(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, Image(ctx));
  NN_ASSIGN(ResizeRequest r, NewRequest(ctx, x));
  r.attrs.rounding = NearestRounding::kFloor;
  r.attrs.scales = {1, 1, ctx.Float("height_scale", 0), ctx.Float("width_scale", 0)};
  return EmitUpsample(ctx, x, r);
}

Status ImportUpsample7(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, Image(ctx));
  NN_ASSIGN(ResizeRequest r, NewRequest(ctx, x));
  r.attrs.rounding = NearestRounding::kFloor;
  if (ctx.opset() < 9)
    r.attrs.scales = ctx.Floats("scales");
  else
    ReadNumbers(ctx, 1, r.attrs.scales, r.scales);
  return EmitUpsample(ctx, x, r);
}

// ONNX does not specify its rounding; ONNX Runtime's is used.
Status ImportResize10(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, Image(ctx));
  NN_ASSIGN(ResizeRequest r, NewRequest(ctx, x));
  r.attrs.rounding = NearestRounding::kSimple;
  ReadNumbers(ctx, 1, r.attrs.scales, r.scales);
  return EmitResize(ctx, x, r);
}

Result<Coordinates> ReadCoordinates(const ImportContext& ctx) {
  constexpr std::string_view kName = "coordinate_transformation_mode";
  if (ctx.String(kName, "") == "tf_crop_and_resize") return Coordinates::kCrop;
  NN_ASSIGN(const auto coordinates, ctx.Enum(kName, Coordinates::kHalfPixel));
  if (coordinates == Coordinates::kCrop)
    return ModelError("{} is \"crop\", which is unknown", kName);
  return coordinates;
}

Status ImportResize11(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, Image(ctx));
  NN_ASSIGN(ResizeRequest r, NewRequest(ctx, x));
  ResizeAttrs& a = r.attrs;
  NN_ASSIGN(a.coordinates, ReadCoordinates(ctx));
  NN_ASSIGN(a.rounding, ctx.Enum("nearest_mode", NearestRounding::kRoundPreferFloor));
  NN_ASSIGN(a.aspect, ctx.Enum("keep_aspect_ratio_policy", AspectPolicy::kStretch));
  if (a.rounding == NearestRounding::kSimple)
    return ModelError("nearest_mode is \"simple\", which is unknown");
  a.antialias = ctx.Int("antialias", 0) != 0;
  a.exclude_outside = ctx.Int("exclude_outside", 0) != 0;
  a.cubic_coeff_a = ctx.Float("cubic_coeff_a", -0.75f);
  a.extrapolation_value = ctx.Float("extrapolation_value", 0);
  if (a.coordinates == Coordinates::kCrop) ReadNumbers(ctx, 1, a.roi, r.roi);
  ReadNumbers(ctx, 2, a.scales, r.scales);
  if (ctx.input(3) != nullptr) {
    const auto sizes = ctx.Elements(3);
    if (sizes && KnownBeforeRun(*sizes))
      a.sizes = *sizes;
    else
      r.sizes = ctx.input(3);
  }
  return EmitResize(ctx, x, r);
}

}  // namespace

namespace {

constexpr ImportRow kResizeImports[] = {
    {.op = "Upsample", .since = 1, .import = ImportUpsample1, .inputs = 1},
    {.op = "Upsample", .since = 7, .import = ImportUpsample7, .inputs = 1},
    {.op = "Resize", .since = 10, .import = ImportResize10, .inputs = 1},
    {.op = "Resize", .since = 11, .import = ImportResize11, .inputs = 1},
};

}  // namespace

Family ResizeFamily() {
  return {.imports = kResizeImports};
}

}  // namespace nn::onnx
