// The windows of signal processing: HannWindow, HammingWindow and BlackmanWindow, sums of cosines.
#include <numbers>

#include "formats/onnx/family.h"
#include "formats/onnx/file/tensor.h"
#include "ops/math/elementwise/elementwise.h"

namespace nn::onnx {

namespace {

// y[n] = constant - first cos(2 pi n / N) + second cos(4 pi n / N)
struct CosineSum {
  double constant = 0, first = 0, second = 0;
};

constexpr CosineSum kHann = {0.5, 0.5, 0};
constexpr CosineSum kHamming = {25.0 / 46, 21.0 / 46, 0};
constexpr CosineSum kBlackman = {0.42, 0.5, 0.08};

template <const CosineSum& kSum>
Status ImportWindow(ImportContext& ctx) {
  NN_ASSIGN(Value* const size, ctx.Required(0));
  const DType to = DTypeOf(static_cast<int>(ctx.Int("output_datatype", 1)));
  const auto number = [&](double v) { return ctx.Number(DType::kF32, v); };
  NN_ASSIGN(Value* const zero, ctx.Number(size->dtype(), 0));
  NN_ASSIGN(Value* const one, ctx.Number(size->dtype(), 1));
  NN_ASSIGN(Value * n, ctx.Add("range", {zero, size, one}));
  NN_ASSIGN(n, ctx.Add("cast", {n}, CastAttrs{}));
  Value* period = size;
  if (ctx.Int("periodic", 1) == 0) {
    NN_ASSIGN(period, ctx.Add("sub", {size, one}));
  }
  NN_ASSIGN(period, ctx.Add("cast", {period}, CastAttrs{}));
  NN_ASSIGN(Value* const circle, number(2 * std::numbers::pi));
  NN_ASSIGN(Value * angle, ctx.Add("mul", {n, circle}));
  NN_ASSIGN(angle, ctx.Add("div", {angle, period}));
  NN_ASSIGN(Value * y, ctx.Add("cos", {angle}));
  NN_ASSIGN(Value* const first, number(kSum.first));
  NN_ASSIGN(y, ctx.Add("mul", {y, first}));
  NN_ASSIGN(Value* const constant, number(kSum.constant));
  NN_ASSIGN(y, ctx.Add("sub", {constant, y}));
  if (kSum.second != 0) {
    NN_ASSIGN(angle, ctx.Add("add", {angle, angle}));
    NN_ASSIGN(Value * wave, ctx.Add("cos", {angle}));
    NN_ASSIGN(Value* const second, number(kSum.second));
    NN_ASSIGN(wave, ctx.Add("mul", {wave, second}));
    NN_ASSIGN(y, ctx.Add("add", {y, wave}));
  }
  if (to == DType::kF32) {
    ctx.SetOutput(0, y);
    return {};
  }
  return ctx.Emit("cast", {y}, CastAttrs{.to = to});
}

}  // namespace

namespace {

constexpr ImportRow kWindowImports[] = {
    {.op = "HannWindow", .since = 17, .import = ImportWindow<kHann>},
    {.op = "HammingWindow", .since = 17, .import = ImportWindow<kHamming>},
    {.op = "BlackmanWindow", .since = 17, .import = ImportWindow<kBlackman>},
};

}  // namespace

Family WindowFamily() {
  return {.imports = kWindowImports};
}

}  // namespace nn::onnx
