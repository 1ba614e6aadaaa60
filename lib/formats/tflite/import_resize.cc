#include "formats/tflite/import.h"
#include "ops/resize.h"

namespace nn::tflite {
namespace {

Status EmitResize(ImportContext& ctx, ResizeAttrs a) {
  NN_ASSIGN(Value* const x, ctx.Ranked(0));
  if (x->type().rank() != 4) return ModelError("resizing {}", x->type().ToString());
  a.layout = Layout::kNxc;
  NN_ASSIGN(const auto sizes, ctx.KnownInts(1, "the sizes"));
  if (sizes.size() != 2) return ModelError("{} sizes for two axes", sizes.size());
  a.sizes = ToDims(sizes);
  NN_RETURN_IF_ERROR(ctx.Emit("resize", {x}, std::move(a)));
  // Positions are computed by other steps than elsewhere, on floats too.
  ctx.outputs()[0]->def()->set_arithmetic(Arithmetic::kTflite);
  return {};
}

Status ImportBilinear(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::ResizeBilinearOptions>());
  if (o->align_corners() && o->half_pixel_centers())
    return ModelError("align_corners together with half_pixel_centers");
  ResizeAttrs a;
  a.mode = ResizeMode::kLinear;
  a.coordinates = o->align_corners()        ? Coordinates::kAlignCorners
                  : o->half_pixel_centers() ? Coordinates::kHalfPixel
                                            : Coordinates::kAsymmetric;
  return EmitResize(ctx, std::move(a));
}

// Rounded down but for align_corners, where halves go up.
Status ImportNearest(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::ResizeNearestNeighborOptions>());
  if (o->align_corners() && o->half_pixel_centers())
    return UnsupportedError("align_corners together with half_pixel_centers");
  ResizeAttrs a;
  a.mode = ResizeMode::kNearest;
  a.coordinates = o->align_corners()        ? Coordinates::kAlignCorners
                  : o->half_pixel_centers() ? Coordinates::kTfHalfPixelForNn
                                            : Coordinates::kAsymmetric;
  a.rounding = o->align_corners() ? NearestRounding::kRoundPreferCeil : NearestRounding::kFloor;
  return EmitResize(ctx, std::move(a));
}

}  // namespace

void AddResizeImports(ImportTable& t) {
  using Op = fb::BuiltinOperator;
  t.Add(Op::RESIZE_BILINEAR, ImportBilinear);
  t.Add(Op::RESIZE_NEAREST_NEIGHBOR, ImportNearest);
}

}  // namespace nn::tflite
