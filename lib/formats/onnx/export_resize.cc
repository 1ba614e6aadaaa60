#include <algorithm>
#include <cmath>
#include <numeric>

#include "formats/onnx/export.h"
#include "ops/blocks.h"
#include "ops/grid_sample.h"
#include "ops/resize.h"

namespace nn::onnx {
namespace {

enum Input : size_t { kX, kRoi, kScales, kSizes };

// ---- Resize, Upsample ---------------------------------------------------------------------------

// The scales of a node, stated or such that they give the sizes; nullopt if there are none.
std::optional<std::vector<float>> KnownScales(const Node& node) {
  const auto& a = node.attrs<ResizeAttrs>();
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

// The rounding as ONNX has it from operator set 11 on; nullopt if it is none of those.
std::optional<NearestRounding> PlainRounding(const Node& node) {
  const NearestRounding rounding = node.attrs<ResizeAttrs>().rounding;
  if (rounding != NearestRounding::kSimple) return rounding;
  if (OnlyGrows(node)) return NearestRounding::kFloor;
  if (OnlyShrinks(node)) return NearestRounding::kCeil;
  return std::nullopt;
}

// floor((i + 0.5) / s) is the position of half_pixel, halves rounded up.
bool IsHalfPixelRoundedUp(const ResizeAttrs& a) {
  return a.coordinates == Coordinates::kTfHalfPixelForNn && a.mode == ResizeMode::kNearest &&
         a.rounding == NearestRounding::kFloor;
}

// Whether Resize-10 says the same: asymmetric coordinates, scales, rounding that shrinks by taking
// the ceiling and grows by taking the floor.
bool IsResize10(const Node& node) {
  const auto& a = node.attrs<ResizeAttrs>();
  if (a.coordinates != Coordinates::kAsymmetric || a.mode == ResizeMode::kCubic || a.antialias ||
      a.exclude_outside || a.aspect != AspectPolicy::kStretch ||
      !(KnownScales(node) || node.input(kScales) != nullptr))
    return false;
  return a.mode == ResizeMode::kLinear || a.rounding == NearestRounding::kSimple ||
         (a.rounding == NearestRounding::kFloor && OnlyGrows(node)) ||
         (a.rounding == NearestRounding::kCeil && OnlyShrinks(node));
}

int64_t ResizeOpset(const Node& node) {
  const auto& a = node.attrs<ResizeAttrs>();
  if (a.coordinates == Coordinates::kHalfPixelSymmetric) return 19;
  if (a.antialias || a.aspect != AspectPolicy::kStretch || node.input(kRoi) != nullptr) return 18;
  if (!IsResize10(node)) return 11;
  return node.input(kScales) == nullptr && OnlyGrows(node) ? 7 : 10;
}

std::optional<std::string> WhyNotResize(const Node& node) {
  const auto& a = node.attrs<ResizeAttrs>();
  if (a.layout != Layout::kNcx) return "channels are not first";
  if (!node.input(kX)->type().ranked()) return "its rank is not known";
  if (node.input(kX)->type().quantised() && a.mode != ResizeMode::kNearest)
    return "interpolation of quantised values";
  if (a.coordinates == Coordinates::kTfHalfPixelForNn && !IsHalfPixelRoundedUp(a))
    return "coordinates tf_half_pixel_for_nn, which operator set 13 took away";
  if (a.mode == ResizeMode::kNearest && !PlainRounding(node))
    return "rounding that depends on each axis's scale";
  return std::nullopt;
}

// Numbers for the spatial axes behind those for batch and channels.
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
  SetInt(ctx.AddHelper("Concat", std::move(parts), {name}), "axis", 0);
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
  pb::NodeProto* out = ctx.AddNode(node, op, std::move(inputs), {ctx.NameOf(node.output())});
  if (ctx.opset() < 9) SetFloats(out, "scales", WithLeading(1, *KnownScales(node)));
  SetString(out, "mode", EnumName(node.attrs<ResizeAttrs>().mode));
  return {};
}

// Sizes for all axes.
Result<std::string> AddSizes(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<ResizeAttrs>();
  const Dims& x = *node.input(kX)->type().dims;
  if (Value* dynamic = node.input(kSizes)) {
    NN_ASSIGN(std::string leading, ctx.AddDims({x[0], x[1]}, "leading"));
    return AddConcat(ctx, {std::move(leading), ctx.NameAs(dynamic, DType::kI64)}, "sizes");
  }
  Dims all = {x[0], x[1]};
  all.insert(all.end(), a.sizes.begin(), a.sizes.end());
  return ctx.AddDims(all, "sizes");
}

// The operands after x: roi, scales, sizes. With `axes` they are about the spatial axes only.
Result<std::vector<std::string>> ResizeOperands(ExportContext& ctx, const Node& node, bool axes) {
  const auto& a = node.attrs<ResizeAttrs>();
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
  // Operator sets 11 and 12 have no absent operands in front of present ones.
  if (ctx.opset() < 13)
    for (size_t i = 0; i < 2; ++i)
      if (operands[i].empty()) operands[i] = AddFloats(ctx, {}, i == 0 ? "roi" : "scales");
  return operands;
}

void SetResizeAttrs(pb::NodeProto* out, const Node& node, int64_t opset) {
  const auto& a = node.attrs<ResizeAttrs>();
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
  if (ctx.opset() < 11) return WriteUpsample(ctx, node);
  const bool axes = ctx.opset() >= 18;
  NN_ASSIGN(std::vector<std::string> inputs, ResizeOperands(ctx, node, axes));
  inputs.insert(inputs.begin(), ctx.NameOf(node.input(kX)));
  pb::NodeProto* out = ctx.AddNode(node, "Resize", std::move(inputs), {ctx.NameOf(node.output())});
  SetResizeAttrs(out, node, ctx.opset());
  if (!axes) return {};
  std::vector<int64_t> spatial(static_cast<size_t>(node.output()->type().rank() - 2));
  std::iota(spatial.begin(), spatial.end(), 2);
  SetInts(out, "axes", spatial);
  return {};
}

// ---- Blocks -------------------------------------------------------------------------------------

Status WriteDepthToSpace(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<DepthToSpaceAttrs>();
  pb::NodeProto* out = ctx.AddNode(node, "DepthToSpace");
  SetInt(out, "blocksize", a.block);
  if (ctx.opset() >= 11) SetString(out, "mode", a.mode == DepthOrder::kDcr ? "DCR" : "CRD");
  return {};
}

Status WriteSpaceToDepth(ExportContext& ctx, const Node& node) {
  SetInt(ctx.AddNode(node, "SpaceToDepth"), "blocksize", node.attrs<DepthToSpaceAttrs>().block);
  return {};
}

std::optional<std::string> WhyNotBlocks(const Node& node) {
  if (node.attrs<DepthToSpaceAttrs>().layout != Layout::kNcx) return "channels are not first";
  if (!node.input(0)->type().ranked() || node.input(0)->type().rank() != 4)
    return "it is not about images";
  return std::nullopt;
}

std::optional<std::string> WhyNotSpaceToDepth(const Node& node) {
  if (node.attrs<DepthToSpaceAttrs>().mode != DepthOrder::kDcr) return "its order of channels";
  return WhyNotBlocks(node);
}

int64_t DepthToSpaceOpset(const Node& node) {
  return node.attrs<DepthToSpaceAttrs>().mode == DepthOrder::kDcr ? 1 : 11;
}

// ---- GridSample ---------------------------------------------------------------------------------

// The modes of operator set 16 have other names from 20 on.
Status WriteGridSample(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<GridSampleAttrs>();
  pb::NodeProto* out = ctx.AddNode(node, "GridSample");
  std::string mode(EnumName(a.mode));
  if (ctx.opset() < 20 && a.mode != ResizeMode::kNearest) mode = "bi" + mode;
  SetString(out, "mode", mode);
  SetString(out, "padding_mode", EnumName(a.padding));
  SetInt(out, "align_corners", a.align_corners ? 1 : 0);
  return {};
}

std::optional<std::string> WhyNotGridSample(const Node& node) {
  if (node.attrs<GridSampleAttrs>().layout != Layout::kNcx) return "channels are not first";
  if (node.input(0)->type().quantised()) return "quantised images";
  return std::nullopt;
}

int64_t GridSampleOpset(const Node& node) {
  const Type& x = node.input(0)->type();
  return x.ranked() && x.rank() == 4 ? 16 : 20;
}

}  // namespace

void AddResizeExports(std::vector<ExportRow>& rows) {
  rows.push_back({"resize", WriteResize, WhyNotResize, ResizeOpset});
  rows.push_back({"depth_to_space", WriteDepthToSpace, WhyNotBlocks, DepthToSpaceOpset});
  rows.push_back({"space_to_depth", WriteSpaceToDepth, WhyNotSpaceToDepth});
  rows.push_back({"grid_sample", WriteGridSample, WhyNotGridSample, GridSampleOpset});
}

}  // namespace nn::onnx
