#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/text.h"
#include "formats/onnx/family.h"
#include "formats/onnx/linear_quant.h"
#include "ops/array/shape.h"
#include "ops/array/slice.h"
#include "ops/nn/resize.h"
#include "ops/support/types.h"

namespace nn::onnx {

// ==== From ONNX ==================================================================================

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

// Permutes the axes of the request to the end, after two others, resizes, and permutes them back.
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
    if (!KnownBeforeRun(split))
      return UnsupportedError("Resize of batch or channels needs shapes known before the run");
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

// The entries of the sizes for the spatial axes of a layout; null if the request does not have them
// one after the other.
Result<Value*> SpatialSizes(ImportContext& ctx, const ResizeRequest& r, int first, int count) {
  const auto from = std::ranges::find(r.axes, first) - r.axes.begin();
  if (std::ssize(r.axes) - from < count) return nullptr;
  for (int k = 0; k < count; ++k)
    if (r.axes[static_cast<size_t>(from + k)] != first + k) return nullptr;
  if (std::ssize(r.axes) == count) return r.sizes;
  return ctx.Add("slice", {r.sizes}, SliceAttrs{{0}, {from}, {from + count}, {}});
}

// Sizes that only the run knows, as symbols of other values: false if they resize batch or channels
// as well.
Result<bool> EmitOpenSizes(ImportContext& ctx, Value* x, ResizeRequest r, const Dims& sizes) {
  for (const Layout layout : {Layout::kNcx, Layout::kNxc}) {
    ResizeRequest known = r;
    known.sizes = nullptr;
    known.attrs.sizes = sizes;
    auto attrs = InLayout(known, layout, x->type());
    if (!attrs || attrs->aspect != AspectPolicy::kStretch || !attrs->roi.empty()) continue;
    NN_ASSIGN(Value* const spatial,
              SpatialSizes(ctx, r, FirstSpatialAxis(layout), x->type().rank() - 2));
    if (spatial == nullptr) continue;
    attrs->sizes.clear();
    NN_RETURN_IF_ERROR(ctx.Emit("resize", {x, nullptr, nullptr, spatial}, *attrs));
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
  return EmitGeneral(ctx, x, r);
}

// The image. Interpolation is of the stored integers, and rounds differently from that of the real
// numbers they represent.
Result<Value*> Image(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  if (!x->type().quantized() || ctx.String("mode", "nearest") == "nearest") return x;
  return AddCast(ctx, x, x->dtype());
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
    if (sizes && KnownBeforeRun(*sizes)) {
      a.sizes = *sizes;
    } else {
      r.sizes = ctx.input(3);
      if (sizes && sizes->size() == r.axes.size() && a.scales.empty() && r.scales == nullptr &&
          r.roi == nullptr) {
        NN_ASSIGN(const bool done, EmitOpenSizes(ctx, x, r, *sizes));
        if (done) return {};
      }
    }
  }
  return EmitResize(ctx, x, r);
}

}  // namespace

// ==== To ONNX ====================================================================================

namespace {

enum Input : size_t { kX, kRoi, kScales, kSizes };

// TensorFlow Lite's arithmetic depends on the sizes of the result only.
bool IsBySizes(const Node& node) {
  return node.arithmetic() == Arithmetic::kTflite &&
         (!node.attrs<ResizeAttrs>().scales.empty() ||
          node.attrs<ResizeAttrs>().aspect != AspectPolicy::kStretch);
}

// With the sizes of the result in place of scales or a policy that have no effect.
ResizeAttrs AttrsOf(const Node& node) {
  ResizeAttrs a = node.attrs<ResizeAttrs>();
  if (!IsBySizes(node)) return a;
  a.scales.clear();
  a.sizes = SpatialDims(*node.output()->type().dims, a.layout);
  a.aspect = AspectPolicy::kStretch;
  return a;
}

// The scales of a node, stated or derived from the sizes; nullopt if there are none.
std::optional<std::vector<float>> KnownScales(const Node& node) {
  const ResizeAttrs a = AttrsOf(node);
  if (!a.scales.empty()) return a.scales;
  const auto in = node.input(kX)->type().const_dims();
  const auto out = node.output()->type().const_dims();
  if (!in || !out || node.input(kScales) != nullptr) return std::nullopt;
  std::vector<float> scales;
  for (size_t d = 2; d < in->size(); ++d) {
    const auto n = static_cast<float>((*in)[d]);
    const auto m = static_cast<float>((*out)[d]);
    const float s = m / n;
    if (!(s > 0) || !std::isfinite(s) || std::floor(s * n) != m) return std::nullopt;
    scales.push_back(s);
  }
  return scales;
}

template <typename Predicate>
bool AllScales(const Node& node, Predicate holds) {
  const auto scales = KnownScales(node);
  return scales && std::all_of(scales->begin(), scales->end(), holds);
}

bool OnlyGrows(const Node& node) {
  return AllScales(node, [](float s) { return s >= 1; });
}
bool OnlyShrinks(const Node& node) {
  return AllScales(node, [](float s) { return s < 1; });
}

// The nearest_mode of operator set 11 and later; nullopt if there is none.
std::optional<NearestRounding> PlainRounding(const Node& node) {
  const NearestRounding rounding = node.attrs<ResizeAttrs>().rounding;
  if (rounding != NearestRounding::kSimple) return rounding;
  if (OnlyGrows(node)) return NearestRounding::kFloor;
  if (OnlyShrinks(node)) return NearestRounding::kCeil;
  return std::nullopt;
}

// floor((i + 0.5) / s) is the half_pixel position with halves rounded up.
bool IsHalfPixelRoundedUp(const ResizeAttrs& a) {
  return a.coordinates == Coordinates::kTfHalfPixelForNn && a.mode == ResizeMode::kNearest &&
         a.rounding == NearestRounding::kFloor;
}

// Whether Resize-10 is equivalent: asymmetric coordinates, scales, rounding that shrinks by taking
// the ceiling and grows by taking the floor.
bool IsResize10(const Node& node) {
  const ResizeAttrs a = AttrsOf(node);
  if (a.coordinates != Coordinates::kAsymmetric || a.mode == ResizeMode::kCubic || a.antialias ||
      a.exclude_outside || a.aspect != AspectPolicy::kStretch ||
      !(KnownScales(node) || node.input(kScales) != nullptr))
    return false;
  return a.mode == ResizeMode::kLinear || a.rounding == NearestRounding::kSimple ||
         (a.rounding == NearestRounding::kFloor && OnlyGrows(node)) ||
         (a.rounding == NearestRounding::kCeil && OnlyShrinks(node));
}

// Whether Upsample is equivalent, whose scales are at least 1.
bool IsUpsample(const Node& node) {
  if (OnlyGrows(node)) return IsResize10(node);
  return node.source_op() == "Upsample" && node.input(kScales) != nullptr;
}

int64_t ResizeOpset(const Node& node) {
  const ResizeAttrs a = AttrsOf(node);
  if (a.coordinates == Coordinates::kHalfPixelSymmetric) return 19;
  if (a.antialias || a.aspect != AspectPolicy::kStretch || node.input(kRoi) != nullptr) return 18;
  if (IsUpsample(node)) return node.input(kScales) == nullptr ? 7 : 9;
  return IsResize10(node) ? 10 : 11;
}

// Whether ONNX selects the elements that TensorFlow Lite does. It divides by the scale where the
// other multiplies, so that positions next to an integer may be on either side of it. True if the
// sizes are not known, or too large to compare all positions.
Result<bool> SelectsAlike(const Node& node) {
  const ResizeAttrs& tflite = node.attrs<ResizeAttrs>();
  if (node.arithmetic() == Arithmetic::kDefault || tflite.mode != ResizeMode::kNearest) return true;
  const auto from = ConstDims(SpatialDims(*node.input(kX)->type().dims, tflite.layout));
  const auto to = ConstDims(SpatialDims(*node.output()->type().dims, tflite.layout));
  if (!from || !to) return true;
  constexpr int64_t kMostCompared = 1 << 16;
  if (std::ranges::any_of(*to, [](int64_t n) { return n > kMostCompared; })) return true;
  const ResizeNumbers numbers{.scales = {}, .sizes = *to, .roi = {}};
  ResizeAttrs onnx = AttrsOf(node);
  if (IsHalfPixelRoundedUp(onnx)) {
    onnx.coordinates = Coordinates::kHalfPixel;
    onnx.rounding = NearestRounding::kRoundPreferCeil;
  }
  NN_ASSIGN(const auto want, ResizeAxes(tflite, node.arithmetic(), numbers, *from, *to));
  NN_ASSIGN(const auto got, ResizeAxes(onnx, Arithmetic::kDefault, numbers, *from, *to));
  for (size_t k = 0; k < want.size(); ++k)
    if (want[k].index != got[k].index) return false;
  return true;
}

// Why no Resize of operator set 11 and later is equivalent.
std::optional<std::string> WhyNotRounding(const Node& node) {
  if (node.attrs<ResizeAttrs>().mode != ResizeMode::kNearest || PlainRounding(node))
    return std::nullopt;
  return "the rounding depends on the scale of each axis; ONNX has one nearest_mode";
}

std::optional<std::string> WhyNotResize(const Node& node) {
  if (!node.input(kX)->type().ranked()) return "its rank must be known";
  const ResizeAttrs a = AttrsOf(node);
  if (a.layout != Layout::kNcx) return "the channels must be axis 1";
  if (IsBySizes(node) && (node.input(kSizes) != nullptr || !KnownBeforeRun(a.sizes)))
    return "TensorFlow Lite's arithmetic depends on the sizes of the result, which are not known";
  if (node.input(kX)->type().quantized() && a.mode != ResizeMode::kNearest)
    return "its operands are quantized; Resize interpolates real ones only";
  if (a.coordinates == Coordinates::kTfHalfPixelForNn && !IsHalfPixelRoundedUp(a))
    return "coordinate mode tf_half_pixel_for_nn was removed in operator set 13";
  if (!IsResize10(node))
    if (auto why = WhyNotRounding(node)) return why;
  if (!SelectsAlike(node).value_or(true))
    return "ONNX rounds its positions differently, so that it selects other elements";
  return std::nullopt;
}

// Prepends the entries for batch and channels to those for the spatial axes.
std::vector<float> WithLeading(float leading, std::span<const float> spatial) {
  std::vector<float> all = {leading, leading};
  all.insert(all.end(), spatial.begin(), spatial.end());
  return all;
}

std::string AddFloats(ExportContext& ctx, const std::vector<float>& values, std::string_view hint) {
  return ctx.AddTensor(Tensor::Of({static_cast<int64_t>(values.size())}, values), hint);
}

std::string AddConcat(ExportContext& ctx, std::vector<std::string> parts, std::string_view hint) {
  std::string name = ctx.NewName(hint);
  SetInt(ctx.AddHelper("Concat", {{name}, std::move(parts)}), "axis", 0);
  return name;
}

// Scales for all axes.
std::string AddScales(ExportContext& ctx, const Node& node) {
  if (Value* dynamic = node.input(kScales))
    return AddConcat(ctx, {AddFloats(ctx, {1, 1}, "ones"), ctx.NameAs(dynamic, DType::kF32)},
                     "scales");
  return AddFloats(ctx, WithLeading(1, *KnownScales(node)), "scales");
}

Status WriteUpsample(ExportContext& ctx, const Node& node) {
  std::vector<std::string> inputs = {ctx.NameOf(node.input(kX))};
  const std::string_view op = ctx.opset() < 10 ? "Upsample" : "Resize";
  if (ctx.opset() >= 9) inputs.push_back(AddScales(ctx, node));
  pb::NodeProto* out = ctx.AddNode(node, op, {{ctx.NameOf(node.output())}, std::move(inputs)});
  if (ctx.opset() < 9) SetFloats(out, "scales", WithLeading(1, *KnownScales(node)));
  SetString(out, "mode", EnumName(node.attrs<ResizeAttrs>().mode));
  return {};
}

// Sizes for all axes.
Result<std::string> AddSizes(ExportContext& ctx, const Node& node) {
  const ResizeAttrs a = AttrsOf(node);
  const Dims& x = *node.input(kX)->type().dims;
  if (Value* dynamic = node.input(kSizes)) {
    NN_ASSIGN(std::string leading, ctx.AddDims({x[0], x[1]}, "leading"));
    return AddConcat(ctx, {std::move(leading), ctx.NameAs(dynamic, DType::kI64)}, "sizes");
  }
  Dims all = {x[0], x[1]};
  all.insert(all.end(), a.sizes.begin(), a.sizes.end());
  return ctx.AddDims(all, "sizes");
}

// The operands after x: roi, scales, sizes. With `axes` they cover the spatial axes only.
Result<std::vector<std::string>> ResizeOperands(ExportContext& ctx, const Node& node, bool axes) {
  const ResizeAttrs a = AttrsOf(node);
  std::vector<std::string> operands(3);
  const std::span<const float> roi = a.roi;
  if (node.input(kRoi) != nullptr) {
    operands[0] = ctx.NameOf(node.input(kRoi));
  } else if (a.coordinates == Coordinates::kCrop) {
    std::vector<float> all = a.roi;
    if (!axes) {
      all = WithLeading(0, roi.first(roi.size() / 2));
      const auto ends = WithLeading(1, roi.subspan(roi.size() / 2));
      all.insert(all.end(), ends.begin(), ends.end());
    }
    operands[0] = AddFloats(ctx, all, "roi");
  }
  const bool by_scales = node.input(kScales) != nullptr || !a.scales.empty();
  if (by_scales && axes) {
    operands[1] = node.input(kScales) != nullptr ? ctx.NameAs(node.input(kScales), DType::kF32)
                                                 : AddFloats(ctx, a.scales, "scales");
  } else if (by_scales) {
    operands[1] = AddScales(ctx, node);
  } else if (axes) {
    NN_ASSIGN(operands[2], node.input(kSizes) != nullptr
                               ? ctx.NameAs(node.input(kSizes), DType::kI64)
                               : ctx.AddDims(a.sizes, "sizes"));
  } else {
    NN_ASSIGN(operands[2], AddSizes(ctx, node));
  }
  // Operator sets 11 and 12 do not allow an absent operand before a present one.
  if (ctx.opset() < 13)
    for (size_t i = 0; i < 2; ++i)
      if (operands[i].empty()) operands[i] = AddFloats(ctx, {}, i == 0 ? "roi" : "scales");
  return operands;
}

void SetResizeAttrs(pb::NodeProto* out, const Node& node, int64_t opset) {
  const ResizeAttrs a = AttrsOf(node);
  SetString(out, "mode", EnumName(a.mode));
  const bool rounded_up = IsHalfPixelRoundedUp(a) && opset >= 13;
  std::string_view coordinates = EnumName(a.coordinates);
  if (rounded_up) coordinates = EnumName(Coordinates::kHalfPixel);
  if (a.coordinates == Coordinates::kCrop) coordinates = "tf_crop_and_resize";
  SetString(out, "coordinate_transformation_mode", coordinates);
  if (a.mode == ResizeMode::kNearest)
    SetString(out, "nearest_mode",
              EnumName(rounded_up ? NearestRounding::kRoundPreferCeil : *PlainRounding(node)));
  if (a.mode == ResizeMode::kCubic) SetFloat(out, "cubic_coeff_a", a.cubic_coeff_a);
  if (a.exclude_outside) SetInt(out, "exclude_outside", 1);
  if (a.extrapolation_value != 0) SetFloat(out, "extrapolation_value", a.extrapolation_value);
  if (a.antialias) SetInt(out, "antialias", 1);
  if (a.aspect != AspectPolicy::kStretch)
    SetString(out, "keep_aspect_ratio_policy", EnumName(a.aspect));
}

Status WriteResize(ExportContext& ctx, const Node& node) {
  if (ctx.opset() == 10 && !IsResize10(node))
    return UnsupportedError("Resize of operator set 10 rounds otherwise for scales below 1");
  if (ctx.opset() < 11) return WriteUpsample(ctx, node);
  if (const auto why = WhyNotRounding(node)) return UnsupportedError("{}", *why);
  const bool axes = ctx.opset() >= 18;
  NN_ASSIGN(std::vector<std::string> inputs, ResizeOperands(ctx, node, axes));
  inputs.insert(inputs.begin(), ctx.NameOf(node.input(kX)));
  pb::NodeProto* out =
      ctx.AddNode(node, "Resize", {{ctx.NameOf(node.output())}, std::move(inputs)});
  SetResizeAttrs(out, node, ctx.opset());
  if (!axes) return {};
  std::vector<int64_t> spatial(static_cast<size_t>(node.output()->type().rank() - 2));
  std::iota(spatial.begin(), spatial.end(), 2);
  SetInts(out, "axes", spatial);
  return {};
}

}  // namespace

namespace {

constexpr ImportRow kResizeImports[] = {
    {.op = "Upsample", .since = 1, .import = ImportUpsample1},
    {.op = "Upsample", .since = 7, .import = ImportUpsample7},
    {.op = "Resize", .since = 10, .import = ImportResize10},
    {.op = "Resize", .since = 11, .import = ImportResize11},
};

constexpr ExportRow kResizeExports[] = {
    {.op = "resize", .write = WriteResize, .why_not = WhyNotResize, .min_opset = ResizeOpset},
};

}  // namespace

Family ResizeFamily() {
  return {.imports = kResizeImports, .exports = kResizeExports};
}

}  // namespace nn::onnx
