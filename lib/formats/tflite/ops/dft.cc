#include "ops/math/dft.h"

#include <limits>
#include <vector>

#include "formats/tflite/complex.h"
#include "formats/tflite/family.h"
#include "ops/array/gather.h"
#include "ops/array/shape.h"
#include "ops/math/bit_cast.h"
#include "ops/math/elementwise.h"

namespace nn::tflite {
namespace {

template <int64_t part>
Status ImportPart(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Ranked(0));
  NN_ASSIGN(Value* const parts, PartsOf(ctx, x));
  NN_ASSIGN(Value* const y, PartOf(ctx, parts, part));
  ctx.SetOutput(0, y);
  return {};
}

// Squares of float32 neither overflow nor vanish in double. If one part is infinite, so is the
// result, even if the other one is NaN.
Status ImportComplexAbs(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Ranked(0));
  if (x->dtype() == DType::kC128)
    return UnsupportedError("absolute values of c128 are unsupported");
  NN_ASSIGN(Value * parts, PartsOf(ctx, x));
  NN_ASSIGN(parts, ctx.Add("cast", {parts}, CastAttrs{.to = DType::kF64}));
  std::vector<Value*> squares, infinite;
  for (const int64_t part : {0, 1}) {
    NN_ASSIGN(Value* const v, PartOf(ctx, parts, part));
    NN_ASSIGN(Value* const square, ctx.Add("mul", {v, v}));
    NN_ASSIGN(Value* const is_infinite, ctx.Add("is_inf", {v}, IsInfAttrs{}));
    squares.push_back(square);
    infinite.push_back(is_infinite);
  }
  NN_ASSIGN(Value * y, ctx.Add("add", squares));
  NN_ASSIGN(y, ctx.Add("sqrt", {y}));
  NN_ASSIGN(Value* const any, ctx.Add("or", infinite));
  Value* const infinity = ctx.Constant(Tensor::Scalar(std::numeric_limits<double>::infinity()));
  NN_ASSIGN(y, ctx.Add("select", {any, infinity, y}));
  return ctx.Emit("cast", {y}, CastAttrs{.to = DType::kF32});
}

// The transforms of the last two axes, of which fft_length gives the sizes: the first half of the
// last one, since x is real. In double, so that the result is rounded once.
Status ImportRfft2d(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Ranked(0));
  NN_ASSIGN(Value* const lengths, ctx.Ranked(1));
  if (!IsInteger(lengths->dtype()) || lengths->type().rank() != 1 ||
      (lengths->type().dim(0).is_const() && !(lengths->type().dim(0) == 2)))
    return ModelError("the lengths are {}; must be 2 integers", lengths->type().ToString());
  if (x->dtype() != DType::kF32 || x->type().rank() < 2)
    return ModelError("the operand is {}; must be f32 of rank 2 or more", x->type().ToString());
  const auto length = [&](int64_t i) {
    return ctx.Add("gather", {lengths, ctx.Constant(Tensor::Scalar(i))}, GatherAttrs{0});
  };
  NN_ASSIGN(Value* const rows, length(0));
  NN_ASSIGN(Value* const columns, length(1));
  NN_ASSIGN(Value * y, ctx.Add("cast", {x}, CastAttrs{.to = DType::kF64}));
  NN_ASSIGN(y, ctx.Add("expand_dims", {y}, AxesAttrs{{-1}}));
  NN_ASSIGN(y, ctx.Add("dft", {y, columns}, DftAttrs{.axis = -2, .onesided = true}));
  NN_ASSIGN(y, ctx.Add("dft", {y, rows}, DftAttrs{.axis = -3}));
  NN_ASSIGN(y, ctx.Add("cast", {y}, CastAttrs{.to = DType::kF32}));
  return ctx.Emit("bit_cast", {y}, BitCastAttrs{DType::kC64});
}

constexpr ImportRow kDftImports[] = {
    {.op = Op::REAL, .import = ImportPart<0>},
    {.op = Op::IMAG, .import = ImportPart<1>},
    {.op = Op::COMPLEX_ABS, .import = ImportComplexAbs},
    {.op = Op::RFFT2D, .import = ImportRfft2d},
    {.op = Op::CUSTOM, .import = ImportRfft2d, .custom = "RFFT2D"},  // before it was built in
};

}  // namespace

Family DftFamily() {
  return {.imports = kDftImports};
}

}  // namespace nn::tflite
