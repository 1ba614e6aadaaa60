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
#include "ops/support/term_ops.h"

namespace nn::tflite {

// ==== From TensorFlow Lite =======================================================================

namespace {

// Limit of TensorFlow Lite: elements and rows of SignalRfft and SignalIrfft.
constexpr int64_t kMaxTransform = 1 << 20;

struct Transform {
  bool is_fixed = false;      // of fixed-point numbers
  Term x;                     // f64[rows, size of the last axis]
  std::vector<int64_t> dims;  // of the input
  int64_t rows = 1;
  int64_t length = 0;
};

Result<Transform> TransformOf(const ImportContext& ctx) {
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
  t.x = Cast(x, DType::kF64);
  return t;
}

// The transform with `size` numbers in each row.
Status EmitTransform(ImportContext& ctx, Transform t, const Term& x, DftAttrs attrs, int64_t size) {
  const Term y = Apply("dft", {x, Tensor::Scalar(t.length)}, attrs);
  t.dims.back() = size;
  return ctx.Emit("reshape", {Cast(y, DType::kF32)}, ReshapeAttrs{ToDims(t.dims)});
}

Status ImportSignalRfft(ImportContext& ctx) {
  NN_ASSIGN(Transform t, TransformOf(ctx));
  if (t.is_fixed) return ctx.Emit("fixed_dft", {t.x}, FixedDftAttrs{.length = t.length});
  const int64_t size = t.dims.back();
  if (size > t.length)
    return ModelError("the input has {} elements; fft_length is {}", size, t.length);
  return EmitTransform(ctx, t, Reshape(t.x, {Dim(t.rows), Dim(size), Dim(1)}),
                       DftAttrs{.axis = -2, .onesided = true}, t.length + 2);
}

Status ImportSignalIrfft(ImportContext& ctx) {
  NN_ASSIGN(Transform t, TransformOf(ctx));
  if (t.is_fixed)
    return ctx.Emit("fixed_dft", {t.x}, FixedDftAttrs{.length = t.length, .inverse = true});
  if (t.dims.back() != t.length + 2)
    return ModelError("the input has {} elements; expected {}", t.dims.back(), t.length + 2);
  return EmitTransform(ctx, t, Reshape(t.x, {Dim(t.rows), Dim(t.length / 2 + 1), Dim(2)}),
                       DftAttrs{.axis = -2, .inverse = true, .onesided = true}, t.length);
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
