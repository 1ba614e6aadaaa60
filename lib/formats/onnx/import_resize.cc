#include <algorithm>
#include <numeric>

#include "base/text.h"
#include "formats/onnx/import.h"
#include "ops/blocks.h"
#include "ops/grid_sample.h"
#include "ops/resize.h"
#include "ops/shape.h"
#include "ops/types.h"

namespace nn::onnx {
namespace {

// ---- Resize and Upsample ------------------------------------------------------------------------
// ONNX resizes any axes, the graph's operator the spatial ones. Where batch and channels stay, the
// axes have one of the layouts; else those to be resized are made spatial axes.

// What a node says: numbers for `axes`, in this order, as attributes or as inputs.
struct ResizeRequest {
  ResizeAttrs attrs;  // with scales, sizes and roi for `axes` where they are known
  std::vector<int> axes;
  Value* roi = nullptr;  // inputs whose contents are not known
  Value* scales = nullptr;
  Value* sizes = nullptr;

  bool known() const { return roi == nullptr && scales == nullptr && sizes == nullptr; }
};

// Whether axis number i of the request keeps its elements as they are.
bool Stays(const ResizeRequest& r, size_t i, const Type& x) {
  const ResizeAttrs& a = r.attrs;
  if (!r.known() || a.aspect != AspectPolicy::kStretch) return false;
  if (a.coordinates == Coordinates::kCrop && (a.roi[i] != 0.0f || a.roi[r.axes.size() + i] != 1.0f))
    return false;
  return a.scales.empty() ? a.sizes[i] == x.dim(r.axes[i]) : a.scales[i] == 1.0f;
}

// The request as attributes for a layout; nullopt if batch or channels are resized too.
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
  // A common scale is that of the axes in the request, so it must be about all spatial axes.
  if (a.aspect != AspectPolicy::kStretch && resized != count) return std::nullopt;
  return a;
}

// Brings the axes of the request to the end, behind two others, resizes, and brings them back.
Status EmitGeneral(ImportContext& ctx, Value* x, const ResizeRequest& r) {
  const int rank = x->type().rank();
  TransposeAttrs to_end;
  for (int d = 0; d < rank; ++d)
    if (std::find(r.axes.begin(), r.axes.end(), d) == r.axes.end()) to_end.perm.push_back(d);
  const size_t others = to_end.perm.size();
  to_end.perm.insert(to_end.perm.end(), r.axes.begin(), r.axes.end());
  Value* v = x;
  const bool permutes = !std::is_sorted(to_end.perm.begin(), to_end.perm.end());
  if (permutes) {
    NN_ASSIGN(v, ctx.Add("transpose", {v}, to_end));
  }
  const Dims kept(v->type().dims->begin(),
                  v->type().dims->begin() + static_cast<std::ptrdiff_t>(others));
  AxesAttrs leading;
  for (size_t d = others; d < 2; ++d) leading.axes.push_back(static_cast<int64_t>(d));
  if (others > 2) {
    Dims merged = {Product(kept), Dim(1)};
    merged.insert(merged.end(), v->type().dims->begin() + static_cast<std::ptrdiff_t>(others),
                  v->type().dims->end());
    NN_ASSIGN(v, ctx.Add("reshape", {v}, ReshapeAttrs{std::move(merged), false}));
  } else if (!leading.axes.empty()) {
    NN_ASSIGN(v, ctx.Add("expand_dims", {v}, leading));
  }
  std::vector<Value*> inputs = {v, r.roi, r.scales, r.sizes};
  while (inputs.back() == nullptr) inputs.pop_back();
  NN_ASSIGN(v, ctx.Add("resize", std::move(inputs), r.attrs));
  if (others > 2) {
    Dims split = kept;
    split.insert(split.end(), v->type().dims->begin() + 2, v->type().dims->end());
    if (!KnownBeforeRun(split)) return UnsupportedError("axes resized by what only a run can tell");
    NN_ASSIGN(v, ctx.Add("reshape", {v}, ReshapeAttrs{std::move(split), false}));
  } else if (!leading.axes.empty()) {
    NN_ASSIGN(v, ctx.Add("squeeze", {v}, leading));
  }
  if (permutes) {
    const AxisMap back = AxisMap::Permutation(to_end.perm).Inverse();
    NN_ASSIGN(v,
              ctx.Add("transpose", {v}, TransposeAttrs{{back.from().begin(), back.from().end()}}));
  }
  ctx.SetOutput(0, v);
  return {};
}

Status EmitResize(ImportContext& ctx, Value* x, const ResizeRequest& r) {
  const size_t n = r.axes.size();
  const ResizeAttrs& a = r.attrs;
  if (r.known() && a.scales.empty() == a.sizes.empty())
    return ModelError("either scales or sizes must be given");
  if (r.known() && a.scales.size() + a.sizes.size() != n)
    return ModelError("{} scales or sizes for {} axes", a.scales.size() + a.sizes.size(), n);
  if (r.roi == nullptr && a.coordinates == Coordinates::kCrop && a.roi.size() != 2 * n)
    return ModelError("{} numbers for the region of {} axes", a.roi.size(), n);
  for (const Layout layout : {Layout::kNcx, Layout::kNxc})
    if (auto attrs = InLayout(r, layout, x->type())) return ctx.Emit("resize", {x}, *attrs);
  return EmitGeneral(ctx, x, r);
}

Result<ResizeRequest> NewRequest(const ImportContext& ctx, const Value* x) {
  if (!x->type().ranked()) return UnsupportedError("resizing a tensor of unknown rank");
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
    return ModelError("mode is {}", Quote(mode));
  r.attrs.mode = *known;
  r.attrs.coordinates = Coordinates::kAsymmetric;
  return r;
}

// Float numbers: into `numbers` if the input is constant, else the input into `dynamic`. An empty
// tensor stands for an absent one.
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

// Upsample-1 has a scale for each of two axes.
Status ImportUpsample1(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  NN_ASSIGN(ResizeRequest r, NewRequest(ctx, x));
  r.attrs.rounding = NearestRounding::kFloor;
  r.attrs.scales = {1, 1, ctx.Float("height_scale", 0), ctx.Float("width_scale", 0)};
  return EmitResize(ctx, x, r);
}

Status ImportUpsample7(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  NN_ASSIGN(ResizeRequest r, NewRequest(ctx, x));
  r.attrs.rounding = NearestRounding::kFloor;
  if (ctx.opset() < 9)
    r.attrs.scales = ctx.Floats("scales");
  else
    ReadNumbers(ctx, 1, r.attrs.scales, r.scales);
  return EmitResize(ctx, x, r);
}

// Its rounding is not stated; it is as ONNX Runtime has it.
Status ImportResize10(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  NN_ASSIGN(ResizeRequest r, NewRequest(ctx, x));
  r.attrs.rounding = NearestRounding::kSimple;
  ReadNumbers(ctx, 1, r.attrs.scales, r.scales);
  return EmitResize(ctx, x, r);
}

template <typename E>
Result<E> ReadEnum(const ImportContext& ctx, std::string_view name, E fallback) {
  const std::string text = ctx.String(name, EnumName(fallback));
  const auto value = ParseEnum<E>(text);
  if (!value) return ModelError("{} is {}", name, Quote(text));
  return *value;
}

Result<Coordinates> ReadCoordinates(const ImportContext& ctx) {
  constexpr std::string_view kName = "coordinate_transformation_mode";
  if (ctx.String(kName, "") == "tf_crop_and_resize") return Coordinates::kCrop;
  NN_ASSIGN(const auto coordinates, ReadEnum(ctx, kName, Coordinates::kHalfPixel));
  if (coordinates == Coordinates::kCrop) return ModelError("{} is \"crop\"", kName);
  return coordinates;
}

Status ImportResize11(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  NN_ASSIGN(ResizeRequest r, NewRequest(ctx, x));
  ResizeAttrs& a = r.attrs;
  NN_ASSIGN(a.coordinates, ReadCoordinates(ctx));
  NN_ASSIGN(a.rounding, ReadEnum(ctx, "nearest_mode", NearestRounding::kRoundPreferFloor));
  NN_ASSIGN(a.aspect, ReadEnum(ctx, "keep_aspect_ratio_policy", AspectPolicy::kStretch));
  if (a.rounding == NearestRounding::kSimple) return ModelError("nearest_mode is \"simple\"");
  a.antialias = ctx.Int("antialias", 0) != 0;
  a.exclude_outside = ctx.Int("exclude_outside", 0) != 0;
  a.cubic_coeff_a = ctx.Float("cubic_coeff_a", -0.75f);
  a.extrapolation_value = ctx.Float("extrapolation_value", 0);
  if (a.coordinates == Coordinates::kCrop) ReadNumbers(ctx, 1, a.roi, r.roi);
  ReadNumbers(ctx, 2, a.scales, r.scales);
  if (ctx.input(3) != nullptr) {
    if (const auto sizes = ctx.Elements(3))
      a.sizes = *sizes;
    else
      r.sizes = ctx.input(3);
  }
  return EmitResize(ctx, x, r);
}

// ---- Blocks -------------------------------------------------------------------------------------

Status ImportDepthToSpace(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  DepthToSpaceAttrs a;
  NN_ASSIGN(a.block, ctx.RequiredInt("blocksize"));
  const std::string mode = ctx.String("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") return ModelError("mode is {}", Quote(mode));
  if (mode == "CRD") a.mode = DepthOrder::kCrd;
  return ctx.Emit("depth_to_space", {x}, a);
}

Status ImportSpaceToDepth(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  DepthToSpaceAttrs a;
  NN_ASSIGN(a.block, ctx.RequiredInt("blocksize"));
  return ctx.Emit("space_to_depth", {x}, a);
}

// ---- GridSample ---------------------------------------------------------------------------------

// The modes of operator set 16 have other names from 20 on.
Status ImportGridSample(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  NN_ASSIGN(Value* const grid, ctx.Required(1));
  GridSampleAttrs a;
  const std::string text = ctx.String("mode", "linear");
  std::string_view mode = text;
  if (ctx.opset() < 20 && mode.starts_with("bi")) mode.remove_prefix(2);
  const auto known = ParseEnum<ResizeMode>(mode);
  if (!known) return ModelError("mode is {}", Quote(text));
  a.mode = *known;
  NN_ASSIGN(a.padding, ReadEnum(ctx, "padding_mode", GridPadding::kZeros));
  a.align_corners = ctx.Int("align_corners", 0) != 0;
  return ctx.Emit("grid_sample", {x, grid}, a);
}

}  // namespace

void AddResizeImports(ImportTable& t) {
  t.Add("", "Upsample", 1, ImportUpsample1);
  t.Add("", "Upsample", 7, ImportUpsample7);
  t.Add("", "Resize", 10, ImportResize10);
  t.Add("", "Resize", 11, ImportResize11);
  t.Add("", "DepthToSpace", 1, ImportDepthToSpace);
  t.Add("", "SpaceToDepth", 1, ImportSpaceToDepth);
  t.Add("", "GridSample", 16, ImportGridSample);
}

}  // namespace nn::onnx
