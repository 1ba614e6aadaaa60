// The transforms of tflite-micro's signal library, of float32 and of fixed-point numbers.
//
// Source: tflite-micro signal/micro/kernels/rfft.cc, irfft.cc.
#include <utility>
#include <vector>

#include "formats/tflite/family.h"
#include "formats/tflite/file/custom_options.h"
#include "ops/array/shape.h"
#include "ops/math/dft.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/math/fixed_dft.h"

namespace nn::tflite {

// ==== From TensorFlow Lite =======================================================================

namespace {

constexpr int64_t kMaxTransform = 1 << 20;  // elements

struct Transform {
  bool is_fixed = false;      // of fixed-point numbers
  Value* x = nullptr;         // f64[rows, size of the last axis]
  std::vector<int64_t> dims;  // of the input
  int64_t rows = 1;
  int64_t length = 0;
  Value* length_value = nullptr;
};

Result<Transform> TransformOf(ImportContext& ctx) {
  NN_ASSIGN(const CustomMap options, CustomMap::Read(ctx));
  Transform t;
  NN_ASSIGN(t.length, options.Int("fft_length", 2, kMaxTransform));
  if (t.length % 2 != 0) return UnsupportedError("an odd fft_length, {}, is unsupported", t.length);
  NN_ASSIGN(Value* const x, ctx.Ranked(0));
  t.is_fixed = x->dtype() == DType::kI16 || x->dtype() == DType::kI32;
  if (x->dtype() != DType::kF32 && !t.is_fixed)
    return UnsupportedError("a transform of {} is unsupported; must be f32, i16 or i32",
                            x->type().ToString());
  if (t.is_fixed) {
    t.x = x;
    return t;
  }
  const auto dims = x->type().const_dims();
  if (!dims || dims->empty())
    return UnsupportedError("an input of type {} is unsupported", x->type().ToString());
  t.dims = *dims;
  for (size_t i = 0; i + 1 < t.dims.size(); ++i) {
    t.rows *= t.dims[i];
    if (t.rows > kMaxTransform)
      return UnsupportedError("an input of type {} is unsupported", x->type().ToString());
  }
  NN_ASSIGN(t.x, ctx.Add("cast", {x}, CastAttrs{.to = DType::kF64}));
  t.length_value = ctx.Constant(Tensor::Scalar(t.length));
  return t;
}

// The transform with `size` numbers in each row.
Status EmitTransform(ImportContext& ctx, Transform t, Value* y, int64_t size) {
  NN_ASSIGN(y, ctx.Add("cast", {y}, CastAttrs{.to = DType::kF32}));
  t.dims.back() = size;
  return ctx.Emit("reshape", {y}, ReshapeAttrs{ToDims(t.dims)});
}

Status ImportSignalRfft(ImportContext& ctx) {
  NN_ASSIGN(Transform t, TransformOf(ctx));
  if (t.is_fixed) return ctx.Emit("fixed_dft", {t.x}, FixedDftAttrs{.length = t.length});
  const int64_t size = t.dims.back();
  if (size > t.length)
    return ModelError("the input has {} elements; fft_length is {}", size, t.length);
  NN_ASSIGN(Value * y, ctx.Add("reshape", {t.x}, ReshapeAttrs{{Dim(t.rows), Dim(size), Dim(1)}}));
  NN_ASSIGN(y, ctx.Add("dft", {y, t.length_value}, DftAttrs{.axis = -2, .onesided = true}));
  const int64_t out = t.length + 2;
  return EmitTransform(ctx, std::move(t), y, out);
}

Status ImportSignalIrfft(ImportContext& ctx) {
  NN_ASSIGN(Transform t, TransformOf(ctx));
  if (t.is_fixed)
    return ctx.Emit("fixed_dft", {t.x}, FixedDftAttrs{.length = t.length, .inverse = true});
  if (t.dims.back() != t.length + 2)
    return ModelError("the input has {} elements; expected {}", t.dims.back(), t.length + 2);
  NN_ASSIGN(Value * y,
            ctx.Add("reshape", {t.x}, ReshapeAttrs{{Dim(t.rows), Dim(t.length / 2 + 1), Dim(2)}}));
  NN_ASSIGN(y, ctx.Add("dft", {y, t.length_value},
                       DftAttrs{.axis = -2, .inverse = true, .onesided = true}));
  const int64_t out = t.length;
  return EmitTransform(ctx, std::move(t), y, out);
}

constexpr ImportRow kSignalTransformImports[] = {
    {.op = Op::CUSTOM, .import = ImportSignalRfft, .custom = "SignalRfft"},
    {.op = Op::CUSTOM, .import = ImportSignalIrfft, .custom = "SignalIrfft"},
};

}  // namespace

Family SignalTransformFamily() {
  return {.imports = kSignalTransformImports};
}

}  // namespace nn::tflite
