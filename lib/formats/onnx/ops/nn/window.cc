// The windows of signal processing: HannWindow, HammingWindow and BlackmanWindow, sums of cosines.
#include <numbers>

#include "formats/onnx/family.h"
#include "formats/onnx/file/tensor.h"
#include "ops/support/term_ops.h"

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
  Value* const size = ctx.input(0);
  const DType to = DTypeOf(static_cast<int>(ctx.Int("output_datatype", 1)));
  const Term n = Cast(Apply("range", {0, size, 1}), DType::kF32);
  const Term period = ctx.Int("periodic", 1) == 0 ? size - Term(1) : size;
  const Term angle = n * (2 * std::numbers::pi) / Cast(period, DType::kF32);
  Term y = kSum.constant - Apply("cos", {angle}) * kSum.first;
  if (kSum.second != 0) y = y + Apply("cos", {angle + angle}) * kSum.second;
  return ctx.EmitTerm(As(y, DType::kF32, to));
}

}  // namespace

namespace {

constexpr ImportRow kWindowImports[] = {
    {.op = "HannWindow", .since = 17, .import = ImportWindow<kHann>, .inputs = 1},
    {.op = "HammingWindow", .since = 17, .import = ImportWindow<kHamming>, .inputs = 1},
    {.op = "BlackmanWindow", .since = 17, .import = ImportWindow<kBlackman>, .inputs = 1},
};

}  // namespace

Family WindowFamily() {
  return {.imports = kWindowImports};
}

}  // namespace nn::onnx
