#include "formats/coreml/import.h"
#include "formats/coreml/window.h"
#include "ops/pool.h"
#include "ops/reduce.h"

namespace nn::coreml {
namespace {

// includeLastPixel rounds sizes up. Without padding it keeps a last window that starts beyond the
// input, which has no taps; the graph drops it.
Status CheckLastWindow(const PoolAttrs& a, const Dims& x) {
  if (std::any_of(a.pads.begin(), a.pads.end(), [](int64_t p) { return p > 0; })) return {};
  for (size_t i = 0; i < a.kernel.size(); ++i) {
    if (a.strides[i] <= a.kernel[i]) continue;
    const Dim& size = x[2 + i];
    if (size.is_const() &&
        (size.value() < a.kernel[i] || (size.value() - a.kernel[i]) % a.strides[i] == 0))
      continue;
    return UnsupportedError("includeLastPixel with strides above the kernel size");
  }
  return {};
}

Status ReadPool(const Fields& p, const Dims& x, PoolAttrs& a) {
  NN_ASSIGN(a.kernel, p.Sizes("kernelSize", 2, 3));
  NN_ASSIGN(a.strides, p.Sizes("stride", 2, 1));
  if (p.OneOf("PoolingPaddingType") != "includeLastPixel")
    return ReadPadding(p, "PoolingPaddingType", a);
  NN_ASSIGN(const std::vector<int64_t> pads,
            p.Sub("includeLastPixel").Sizes("paddingAmounts", 2, 0));
  a.pads = {pads[0], pads[1], pads[0], pads[1]};
  a.ceil_mode = true;
  return CheckLastWindow(a, x);
}

Status EmitSpatial(ImportContext& ctx, std::string_view op, Value* x, Attrs attrs) {
  NN_ASSIGN(Value* const y, ctx.Add(op, {x}, std::move(attrs)));
  NN_ASSIGN(Value* const out, ctx.Unspatial(y, 0));
  ctx.SetOutput(0, out);
  return {};
}

Status ImportGlobal(ImportContext& ctx, std::string_view type, std::vector<int64_t> axes) {
  NN_ASSIGN(Value* const x, ctx.Float(0));
  const std::string_view op = type == "MAX"  ? "reduce_max"
                              : type == "L2" ? "reduce_l2"
                                             : "reduce_mean";
  if (x->type().rank() < static_cast<int>(axes.size()))
    return ModelError("its input has rank {}", x->type().rank());
  return ctx.Emit(op, {x}, ReduceAttrs{std::move(axes), true});
}

Status ImportPooling(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 1));
  const Fields& p = ctx.params();
  const std::string_view type = p.Enum("type");
  if (type.empty()) return ModelError("an unknown type of pooling");
  if (p.Bool("globalPooling")) return ImportGlobal(ctx, type, {-2, -1});
  NN_ASSIGN(Value* const x, ctx.Spatial(0));
  const Dims& dims = *x->type().dims;
  if (type == "MAX") {
    MaxPoolAttrs a;
    NN_RETURN_IF_ERROR(ReadPool(p, dims, a));
    return EmitSpatial(ctx, "max_pool", x, std::move(a));
  }
  if (type == "AVERAGE") {
    AveragePoolAttrs a;
    NN_RETURN_IF_ERROR(ReadPool(p, dims, a));
    a.count_include_pad = !p.Bool("avgPoolExcludePadding");
    return EmitSpatial(ctx, "average_pool", x, std::move(a));
  }
  LpPoolAttrs a;
  NN_RETURN_IF_ERROR(ReadPool(p, dims, a));
  return EmitSpatial(ctx, "lp_pool", x, std::move(a));
}

Status ReadPool3(const Fields& p, PoolAttrs& a) {
  for (const char* axis : {"Depth", "Height", "Width"}) {
    NN_ASSIGN(const int64_t kernel, p.Size(std::string("kernel") + axis));
    NN_ASSIGN(const int64_t stride, p.Size(std::string("stride") + axis));
    a.kernel.push_back(kernel);
    a.strides.push_back(stride);
  }
  const std::string_view type = p.Enum("paddingType");
  if (type == "SAME") a.padding = Padding::kSameUpper;
  if (type != "CUSTOM") return {};
  for (const char* side : {"Front", "Top", "Left", "Back", "Bottom", "Right"}) {
    NN_ASSIGN(const int64_t v, p.Size(std::string("customPadding") + side));
    a.pads.push_back(v);
  }
  return {};
}

Status ImportPooling3d(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 1));
  const Fields& p = ctx.params();
  NN_ASSIGN(Value* const x, ctx.Float(0));
  if (x->type().rank() != 5) return ModelError("its input has rank {}, not 5", x->type().rank());
  if (p.Enum("type") == "MAX") {
    MaxPoolAttrs a;
    NN_RETURN_IF_ERROR(ReadPool3(p, a));
    return ctx.Emit("max_pool", {x}, std::move(a));
  }
  AveragePoolAttrs a;
  NN_RETURN_IF_ERROR(ReadPool3(p, a));
  a.count_include_pad = !p.Bool("countExcludePadding");
  return ctx.Emit("average_pool", {x}, std::move(a));
}

Status ImportGlobalPooling3d(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 1));
  return ImportGlobal(ctx, ctx.params().Enum("type"), {-3, -2, -1});
}

}  // namespace

void AddPoolImports(ImportTable& t) {
  t["pooling"] = ImportPooling;
  t["pooling3d"] = ImportPooling3d;
  t["globalPooling3d"] = ImportGlobalPooling3d;
}

}  // namespace nn::coreml
