// Resize and Upsample to ONNX.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "formats/onnx/family.h"
#include "ops/nn/resize/resize.h"
#include "ops/support/types.h"

namespace nn::onnx {
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

// The axes before those that are resized: batch and channels, or the others that ResizeOwnAxes()
// has left.
size_t LeadingAxes(const Node& node) {
  const auto& a = node.attrs<ResizeAttrs>();
  size_t resized = std::max(a.scales.size(), a.sizes.size());
  for (const Input numbers : {kScales, kSizes})
    if (const Value* v = node.input(numbers))
      if (const auto dims = v->type().const_dims(); dims && dims->size() == 1)
        resized = static_cast<size_t>((*dims)[0]);
  return resized == 0 ? 2 : node.input(kX)->type().dims->size() - resized;
}

// The scales of a node, stated or derived from the sizes; nullopt if there are none.
std::optional<std::vector<float>> KnownScales(const Node& node) {
  const ResizeAttrs a = AttrsOf(node);
  if (!a.scales.empty()) return a.scales;
  const auto in = node.input(kX)->type().const_dims();
  const auto out = node.output()->type().const_dims();
  if (!in || !out || node.input(kScales) != nullptr) return std::nullopt;
  std::vector<float> scales;
  for (size_t d = LeadingAxes(node); d < in->size(); ++d) {
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
  constexpr int64_t kMaxCompared = 1 << 16;
  if (std::ranges::any_of(*to, [](int64_t n) { return n > kMaxCompared; })) return true;
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

// Prepends the entries for the leading axes, all equal, to those for the spatial axes.
std::vector<float> WithLeading(const Node& node, float leading, std::span<const float> spatial) {
  std::vector<float> all(LeadingAxes(node), leading);
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
  if (Value* dynamic = node.input(kScales)) {
    const std::vector<float> ones(LeadingAxes(node), 1);
    if (ones.empty()) return ctx.NameAs(dynamic, DType::kF32);
    return AddConcat(ctx, {AddFloats(ctx, ones, "ones"), ctx.NameAs(dynamic, DType::kF32)},
                     "scales");
  }
  return AddFloats(ctx, WithLeading(node, 1, *KnownScales(node)), "scales");
}

Status WriteUpsample(ExportContext& ctx, const Node& node) {
  std::vector<std::string> inputs = {ctx.NameOf(node.input(kX))};
  const std::string_view op = ctx.opset() < 10 ? "Upsample" : "Resize";
  if (ctx.opset() >= 9) inputs.push_back(AddScales(ctx, node));
  pb::NodeProto* out = ctx.AddNode(node, op, {{ctx.NameOf(node.output())}, std::move(inputs)});
  if (ctx.opset() < 9) SetFloats(out, "scales", WithLeading(node, 1, *KnownScales(node)));
  SetString(out, "mode", EnumName(node.attrs<ResizeAttrs>().mode));
  return {};
}

// Sizes for all axes.
Result<std::string> AddSizes(ExportContext& ctx, const Node& node) {
  const ResizeAttrs a = AttrsOf(node);
  const Dims& x = *node.input(kX)->type().dims;
  Dims all(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(LeadingAxes(node)));
  if (Value* dynamic = node.input(kSizes)) {
    if (all.empty()) return ctx.NameAs(dynamic, DType::kI64);
    NN_ASSIGN(std::string leading, ctx.AddDims(all, "leading"));
    return AddConcat(ctx, {std::move(leading), ctx.NameAs(dynamic, DType::kI64)}, "sizes");
  }
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
      all = WithLeading(node, 0, roi.first(roi.size() / 2));
      const auto ends = WithLeading(node, 1, roi.subspan(roi.size() / 2));
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

// Known numbers are written for all axes: ONNX Runtime moves transposes across a Resize, but leaves
// its `axes` as they are.
bool NeedsAxes(const Node& node) {
  const ResizeAttrs a = AttrsOf(node);
  if (a.aspect != AspectPolicy::kStretch || node.inputs().size() > 1) return true;
  const Dims& x = *node.input(kX)->type().dims;
  const std::span<const Dim> leading = std::span(x).first(LeadingAxes(node));
  return a.scales.empty() && (!ConstDims(a.sizes) || !std::ranges::all_of(leading, &Dim::is_const));
}

Status WriteResize(ExportContext& ctx, const Node& node) {
  if (ctx.opset() == 10 && !IsResize10(node))
    return UnsupportedError("Resize of operator set 10 rounds otherwise for scales below 1");
  if (ctx.opset() < 11) return WriteUpsample(ctx, node);
  if (const auto why = WhyNotRounding(node)) return UnsupportedError("{}", *why);
  const size_t leading = LeadingAxes(node);
  const bool axes = ctx.opset() >= 18 && leading > 0 && NeedsAxes(node);
  NN_ASSIGN(std::vector<std::string> inputs, ResizeOperands(ctx, node, axes));
  inputs.insert(inputs.begin(), ctx.NameOf(node.input(kX)));
  pb::NodeProto* out =
      ctx.AddNode(node, "Resize", {{ctx.NameOf(node.output())}, std::move(inputs)});
  SetResizeAttrs(out, node, ctx.opset());
  if (!axes) return {};
  std::vector<int64_t> spatial(node.output()->type().dims->size() - leading);
  std::iota(spatial.begin(), spatial.end(), static_cast<int64_t>(leading));
  SetInts(out, "axes", spatial);
  return {};
}

constexpr ExportRow kResizeExports[] = {
    {.op = "resize", .write = WriteResize, .why_not = WhyNotResize, .min_opset = ResizeOpset},
};

}  // namespace

Family ResizeExportFamily() {
  return {.exports = kResizeExports};
}

}  // namespace nn::onnx
