#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "formats/coreml/family.h"
#include "formats/coreml/import/crops.h"
#include "ops/array/arrange/blocks.h"
#include "ops/nn/resize/resize_alike.h"
#include "ops/support/term_ops.h"

namespace nn::coreml {

// ==== From Core ML ===============================================================================

namespace {

// Factors of H and W; `whole` tells whether they are integers.
Result<std::vector<float>> Factors(const Fields& p, bool& whole) {
  std::vector<float> factors = p.Floats("fractionalScalingFactor");
  whole = factors.empty();
  if (whole) {
    NN_ASSIGN(const std::vector<int64_t> counts, p.Sizes("scalingFactor", 2, 1));
    factors.assign(counts.begin(), counts.end());
  } else if (p.Count("scalingFactor") > 0) {
    return ModelError("scalingFactor and fractionalScalingFactor cannot both be set");
  }
  if (factors.size() != 2)
    return ModelError("there are {} scaling factors; expected 2", factors.size());
  for (const float f : factors)
    if (!(f > 0) || f > 0x1p20f) return ModelError("scaling factor {} is out of range", f);
  return factors;
}

// The default mode's step, (X - X / N) / (N - 1), is X / N.
Coordinates CoordinatesOf(const Fields& p, bool nearest) {
  const std::string_view mode = p.Enum("linearUpsampleMode");
  if (nearest || mode == "DEFAULT") return Coordinates::kAsymmetric;
  return mode == "ALIGN_CORNERS_TRUE" ? Coordinates::kAlignCorners : Coordinates::kHalfPixel;
}

Status ImportUpsample(ImportContext& ctx) {
  const Fields& p = ctx.params();
  Value* const x = ctx.input(0);
  bool whole = true;
  NN_ASSIGN(const std::vector<float> factors, Factors(p, whole));
  const bool nearest = p.Enum("mode") == "NN";
  if (nearest && !whole)
    return UnsupportedError("nearest-neighbor mode with fractional scaling factors is unsupported");
  ResizeAttrs a;
  a.mode = nearest ? ResizeMode::kNearest : ResizeMode::kLinear;
  a.rounding = NearestRounding::kFloor;
  a.coordinates = CoordinatesOf(p, nearest);
  const auto dims = x->type().const_dims();
  if (whole) {
    a.scales = factors;
  } else if (dims) {
    for (size_t i = 0; i < 2; ++i)
      a.sizes.emplace_back(
          static_cast<int64_t>(std::floor(static_cast<float>((*dims)[2 + i]) * factors[i])));
  } else {
    return UnsupportedError("fractional scaling factors of a dynamic size are unsupported");
  }
  return ctx.EmitSpatial("resize", {x}, std::move(a));
}

Status ImportResizeBilinear(ImportContext& ctx) {
  const Fields& p = ctx.params();
  Value* const x = ctx.input(0);
  NN_ASSIGN(const std::vector<int64_t> target, p.Sizes("targetSize", 2, 1));
  const std::string_view method = p.Sub("mode").Enum("samplingMethod");
  ResizeAttrs a;
  a.mode = ResizeMode::kLinear;
  a.sizes = ToDims(target);
  if (method == "UPSAMPLE_MODE") {
    a.coordinates = Coordinates::kAsymmetric;
  } else if (method == "STRICT_ALIGN_ENDPOINTS_MODE") {
    a.coordinates = Coordinates::kAlignCorners;
  } else if (method == "ALIGN_ENDPOINTS_MODE") {
    // A single element is taken from the center, as a crop of the whole image does.
    const bool single = target[0] == 1 || target[1] == 1;
    a.coordinates = single ? Coordinates::kCrop : Coordinates::kAlignCorners;
    if (single) a.roi = {0, 0, 1, 1};
  } else {
    return UnsupportedError("sampling method {} is unsupported",
                            method.empty() ? "unknown" : method);
  }
  return ctx.EmitSpatial("resize", {x}, std::move(a));
}

// ---- Crops --------------------------------------------------------------------------------------

CropSampling SamplingNamed(std::string_view method) {
  if (method == "UPSAMPLE_MODE") return CropSampling::kUpsample;
  if (method == "ROI_ALIGN_MODE") return CropSampling::kOffset;
  return method == "ALIGN_ENDPOINTS_MODE" ? CropSampling::kAlign : CropSampling::kStrictAlign;
}

// Samples the boxes [N, 1, 4 or 5, 1, 1] of images [1, B, C, H, W].
Status ImportCropResize(ImportContext& ctx) {
  const Fields& p = ctx.params();
  NN_ASSIGN(const std::vector<int64_t> target, p.Sizes("targetSize", 2, 1));
  NN_ASSIGN(Value* const x, ctx.Spatial(0, 5));
  Value* boxes = ctx.input(1);
  const int rank = boxes->type().rank();
  if (rank < 5) return ModelError("the boxes have rank {}; expected 5 or more", rank);
  NN_ASSIGN(boxes, ctx.Build(Reshape(boxes, {Dim(-1), boxes->type().dim(rank - 3)})));
  const std::string_view mode = p.Sub("boxIndicesMode").Enum("boxMode");
  NN_ASSIGN(const Term y,
            ResizedCrops(ctx, x, boxes,
                         {.target = target,
                          .sampling = SamplingNamed(p.Sub("mode").Enum("samplingMethod")),
                          .is_width_first = mode.ends_with("WIDTH_FIRST"),
                          .is_centered = mode.starts_with("CENTER_SIZE"),
                          .is_normalized = p.Bool("normalizedCoordinates"),
                          .scale = p.FloatOr("spatialScale", 1)}));
  return ctx.EmitTerm(y);
}

// ---- Blocks -------------------------------------------------------------------------------------

Status ImportReorganizeData(ImportContext& ctx) {
  const Fields& p = ctx.params();
  Value* const x = ctx.input(0);
  const std::string_view mode = p.Enum("mode");
  DepthToSpaceAttrs a;
  NN_ASSIGN(a.block, p.Size("blockSize"));
  if (a.block < 2) return ModelError("blockSize is {}", a.block);
  a.mode = mode == "PIXEL_SHUFFLE" ? DepthOrder::kCrd : DepthOrder::kDcr;
  return ctx.EmitSpatial(mode == "SPACE_TO_DEPTH" ? "space_to_depth" : "depth_to_space", {x}, a);
}

}  // namespace

// ==== To Core ML =================================================================================

namespace {

// Integer factors of H and W, stated or derived from the sizes.
std::optional<std::vector<int64_t>> WholeFactors(const Node& node) {
  const auto& a = node.attrs<ResizeAttrs>();
  std::vector<int64_t> out;
  for (const float s : a.scales) {
    if (std::floor(s) != s || s < 1 || s > 0x1p20f) return std::nullopt;
    out.push_back(static_cast<int64_t>(s));
  }
  if (!out.empty()) return out;
  const Type& x = node.input(0)->type();
  for (size_t i = 0; i < a.sizes.size(); ++i) {
    const Dim& size = x.dim(static_cast<int>(i) + FirstSpatialAxis(a.layout));
    if (!a.sizes[i].is_const() || !size.is_const() || size.value() == 0 ||
        a.sizes[i].value() % size.value() != 0 || a.sizes[i].value() == 0)
      return std::nullopt;
    out.push_back(a.sizes[i].value() / size.value());
  }
  return out;
}

// The sizes of the result if they are constant.
std::optional<std::vector<int64_t>> FixedSizes(const Node& node) {
  return ConstDims(SpatialDims(*node.output()->type().dims, node.attrs<ResizeAttrs>().layout));
}

// Whether the scales are the quotients of the sizes.
bool ScalesAreOfSizes(const Node& node) {
  const auto& a = node.attrs<ResizeAttrs>();
  const auto in = ConstDims(SpatialDims(*node.input(0)->type().dims, a.layout));
  const auto out = FixedSizes(node);
  if (a.scales.empty()) return true;
  if (!in || !out) return WholeFactors(node).has_value();
  for (size_t i = 0; i < a.scales.size(); ++i)
    if (static_cast<float>((*out)[i]) / static_cast<float>((*in)[i]) != a.scales[i]) return false;
  return true;
}

// Whether nearest-neighbor mode with integer factors repeats each element.
bool Repeats(const ResizeAttrs& a) {
  switch (a.coordinates) {
    case Coordinates::kAsymmetric:
    case Coordinates::kTfHalfPixelForNn:
      return a.rounding == NearestRounding::kFloor || a.rounding == NearestRounding::kSimple;
    // The positions are less than 1/2 from the element.
    case Coordinates::kHalfPixel:
    case Coordinates::kHalfPixelSymmetric:
    case Coordinates::kPytorchHalfPixel:
      return a.rounding == NearestRounding::kRoundPreferFloor ||
             a.rounding == NearestRounding::kRoundPreferCeil;
    default:
      return false;
  }
}

// A layer that resizes: upsample by integer factors, or resizeBilinear to fixed sizes.
struct ResizeLayer {
  bool is_upsample;
  ResizeMode mode;
  Coordinates coordinates;
  std::string_view option;  // linearUpsampleMode or samplingMethod; "": the default
};
constexpr ResizeLayer kResizeLayers[] = {
    {true, ResizeMode::kNearest, Coordinates::kAsymmetric, ""},
    {true, ResizeMode::kLinear, Coordinates::kHalfPixel, "ALIGN_CORNERS_FALSE"},
    {false, ResizeMode::kLinear, Coordinates::kAsymmetric, "UPSAMPLE_MODE"},
    {false, ResizeMode::kLinear, Coordinates::kAlignCorners, "STRICT_ALIGN_ENDPOINTS_MODE"},
    {false, ResizeMode::kLinear, Coordinates::kCrop, "ALIGN_ENDPOINTS_MODE"},
    {true, ResizeMode::kLinear, Coordinates::kAsymmetric, ""},
    {true, ResizeMode::kLinear, Coordinates::kAlignCorners, "ALIGN_CORNERS_TRUE"},
};

// The integer factors of H and W: those of the sizes if they are known, else the stated ones.
std::optional<std::vector<int64_t>> FactorsOf(const Node& node) {
  const Layout layout = node.attrs<ResizeAttrs>().layout;
  const auto from = ConstDims(SpatialDims(*node.input(0)->type().dims, layout));
  const auto to = FixedSizes(node);
  if (!from || !to) return WholeFactors(node);
  std::vector<int64_t> factors;
  for (size_t i = 0; i < from->size(); ++i) {
    if ((*from)[i] == 0 || (*to)[i] == 0 || (*to)[i] % (*from)[i] != 0) return std::nullopt;
    factors.push_back((*to)[i] / (*from)[i]);
  }
  return factors;
}

// Whether the layer has the weights of the node, whose sizes are known.
bool HasWeights(const ResizeLayer& layer, const Node& node) {
  if (layer.is_upsample && !FactorsOf(node)) return false;
  ResizeAttrs a{.layout = node.attrs<ResizeAttrs>().layout,
                .mode = layer.mode,
                .coordinates = layer.coordinates,
                .rounding = NearestRounding::kFloor};
  if (layer.coordinates == Coordinates::kCrop) a.roi = {0, 0, 1, 1};
  return ResizesAs(node, a);
}

// The same for a node whose sizes a run decides.
bool HasPositions(const ResizeLayer& layer, const Node& node) {
  const auto& a = node.attrs<ResizeAttrs>();
  if (a.mode != layer.mode || a.antialias || a.exclude_outside ||
      a.aspect != AspectPolicy::kStretch)
    return false;
  if (layer.is_upsample ? !WholeFactors(node) : !FixedSizes(node)) return false;
  if (a.mode == ResizeMode::kNearest)
    return Repeats(a) && node.arithmetic() == Arithmetic::kDefault;
  return a.coordinates == layer.coordinates && a.coordinates != Coordinates::kCrop &&
         ScalesAreOfSizes(node);
}

const ResizeLayer* LayerOf(const Node& node) {
  for (const auto has : {HasWeights, HasPositions})
    for (const ResizeLayer& layer : kResizeLayers)
      if (has(layer, node)) return &layer;
  return nullptr;
}

Status WriteResize(ExportContext& ctx, const Node& node) {
  const ResizeLayer& layer = *LayerOf(node);
  if (!layer.is_upsample) {
    Writer p = ctx.AddLayer(node, "resizeBilinear", 1);
    p.Ints("targetSize", *FixedSizes(node));
    p.Sub("mode").Enum("samplingMethod", layer.option);
    return {};
  }
  Writer p = ctx.AddLayer(node, "upsample", 1);
  p.Ints("scalingFactor", *FactorsOf(node));
  if (layer.mode == ResizeMode::kNearest) return {};
  p.Enum("mode", "BILINEAR");
  if (!layer.option.empty()) p.Enum("linearUpsampleMode", layer.option);
  return {};
}

std::string WhyNoLayer(const Node& node) {
  const auto& a = node.attrs<ResizeAttrs>();
  if (a.antialias || a.exclude_outside || a.aspect != AspectPolicy::kStretch)
    return "antialias, exclude_outside and keep_aspect_ratio_policy are unsupported";
  if (a.mode == ResizeMode::kCubic) return "Core ML has no cubic resize";
  if (a.mode == ResizeMode::kNearest && !WholeFactors(node))
    return "Core ML has a nearest resize by integer factors only";
  if (a.mode == ResizeMode::kNearest)
    return fmt::format("Core ML has no nearest resize with {} coordinates and rounding {}",
                       EnumName(a.coordinates), EnumName(a.rounding));
  return fmt::format("Core ML has no linear resize with {} coordinates for these sizes",
                     EnumName(a.coordinates));
}

std::optional<std::string> WhyNotResize(const Node& node) {
  const auto& a = node.attrs<ResizeAttrs>();
  if (node.input(0)->type().rank() != 4) return "it must resize two axes";
  for (size_t i = 1; i < node.inputs().size(); ++i)
    if (node.input(i) != nullptr) return "its sizes must be constant";
  if (LayerOf(node) == nullptr) return WhyNoLayer(node);
  // The layout can be changed, so it is the reason only if nothing else is.
  if (a.layout != Layout::kNcx) return "the channels must be axis 1";
  return std::nullopt;
}

template <bool to_space>
Status WriteBlocks(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<DepthToSpaceAttrs>();
  const bool shuffle = a.mode == DepthOrder::kCrd;
  Writer p = ctx.AddLayer(node, "reorganizeData");
  p.Enum("mode", !to_space ? "SPACE_TO_DEPTH" : shuffle ? "PIXEL_SHUFFLE" : "DEPTH_TO_SPACE");
  p.Int("blockSize", a.block);
  return {};
}

template <bool to_space>
std::optional<std::string> WhyNotBlocks(const Node& node) {
  const auto& a = node.attrs<DepthToSpaceAttrs>();
  if (node.input(0)->type().rank() != 4) return "it must have two spatial axes";
  if (!to_space && a.mode == DepthOrder::kCrd) return "the order must be DCR";
  if (a.layout != Layout::kNcx) return "the channels must be axis 1";
  return std::nullopt;
}

}  // namespace

namespace {

constexpr ImportRow kResizeImports[] = {
    {.layer = "upsample", .import = ImportUpsample, .inputs = "s"},
    {.layer = "resizeBilinear", .import = ImportResizeBilinear, .inputs = "s"},
    {.layer = "cropResize", .import = ImportCropResize, .inputs = "af"},
    {.layer = "reorganizeData", .import = ImportReorganizeData, .inputs = "s"},
};

constexpr ExportRow kResizeExports[] = {
    {.op = "resize", .write = WriteResize, .why_not = WhyNotResize},
    {.op = "depth_to_space",
     .write = WriteBlocks<true>,
     .why_not = WhyNotBlocks<true>,
     .types = Types::kAny},
    {.op = "space_to_depth",
     .write = WriteBlocks<false>,
     .why_not = WhyNotBlocks<false>,
     .types = Types::kAny},
};

}  // namespace

Family ResizeFamily() {
  return {.imports = kResizeImports, .exports = kResizeExports};
}

}  // namespace nn::coreml
