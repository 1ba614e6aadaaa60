#include <algorithm>
#include <cmath>

#include "formats/coreml/import.h"
#include "ops/blocks.h"
#include "ops/resize.h"

namespace nn::coreml {
namespace {

Status EmitSpatial(ImportContext& ctx, std::string_view op, Value* x, Attrs attrs) {
  NN_ASSIGN(Value* const y, ctx.Add(op, {x}, std::move(attrs)));
  NN_ASSIGN(Value* const out, ctx.Unspatial(y, 0));
  ctx.SetOutput(0, out);
  return {};
}

// Factors of H and W; `whole` tells whether they are whole numbers.
Result<std::vector<float>> Factors(const Fields& p, bool& whole) {
  std::vector<float> factors = p.Floats("fractionalScalingFactor");
  whole = factors.empty();
  if (whole) {
    NN_ASSIGN(const std::vector<int64_t> counts, p.Sizes("scalingFactor", 2, 1));
    factors.assign(counts.begin(), counts.end());
  } else if (p.Count("scalingFactor") > 0) {
    return ModelError("both scalingFactor and fractionalScalingFactor");
  }
  if (factors.size() != 2) return ModelError("{} scaling factors, not 2", factors.size());
  for (const float f : factors)
    if (!(f > 0) || f > 0x1p20f) return ModelError("the scaling factor {}", f);
  return factors;
}

// The default mode's step, (X - X / N) / (N - 1), is X / N.
Coordinates CoordinatesOf(const Fields& p, bool nearest) {
  const std::string_view mode = p.Enum("linearUpsampleMode");
  if (nearest || mode == "DEFAULT") return Coordinates::kAsymmetric;
  return mode == "ALIGN_CORNERS_TRUE" ? Coordinates::kAlignCorners : Coordinates::kHalfPixel;
}

Status ImportUpsample(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 1));
  const Fields& p = ctx.params();
  NN_ASSIGN(Value* const x, ctx.Spatial(0));
  bool whole = true;
  NN_ASSIGN(const std::vector<float> factors, Factors(p, whole));
  const bool nearest = p.Enum("mode") == "NN";
  if (nearest && !whole)
    return UnsupportedError("the nearest neighbour with fractional scaling factors");
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
    return UnsupportedError("fractional scaling factors of a size that varies");
  }
  return EmitSpatial(ctx, "resize", x, std::move(a));
}

Status ImportResizeBilinear(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 1));
  const Fields& p = ctx.params();
  NN_ASSIGN(Value* const x, ctx.Spatial(0));
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
    // A single element is taken from the middle, as cropping to the whole does.
    const bool single = target[0] == 1 || target[1] == 1;
    a.coordinates = single ? Coordinates::kCrop : Coordinates::kAlignCorners;
    if (single) a.roi = {0, 0, 1, 1};
  } else {
    return UnsupportedError("the sampling method {}", method.empty() ? "unknown" : method);
  }
  return EmitSpatial(ctx, "resize", x, std::move(a));
}

Status ImportReorganizeData(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 1));
  const Fields& p = ctx.params();
  NN_ASSIGN(Value* const x, ctx.Spatial(0));
  const std::string_view mode = p.Enum("mode");
  DepthToSpaceAttrs a;
  NN_ASSIGN(a.block, p.Size("blockSize"));
  if (a.block < 2) return ModelError("blockSize is {}", a.block);
  a.mode = mode == "PIXEL_SHUFFLE" ? DepthOrder::kCrd : DepthOrder::kDcr;
  return EmitSpatial(ctx, mode == "SPACE_TO_DEPTH" ? "space_to_depth" : "depth_to_space", x, a);
}

}  // namespace

void AddResizeImports(ImportTable& t) {
  t["upsample"] = ImportUpsample;
  t["resizeBilinear"] = ImportResizeBilinear;
  t["reorganizeData"] = ImportReorganizeData;
}

}  // namespace nn::coreml
