// Preparation of operators on quantized tensors: which scales and zero points they support.
#include <algorithm>
#include <cmath>

#include "formats/tflite/constraints/operation.h"

namespace nn::tflite::constraints {
namespace {

using Op = fb::BuiltinOperator;

// The filter or weights of a quantized product have one scale, or one for each output channel.
void CheckScales(Operation& o, const Value& x, const Value& filter, int64_t channels) {
  if (AffineOf(*x.tensor) == nullptr)
    o.Fail(Check::kQuantized, "{} is {} but has no quantization scale", x.Text(),
           fb::EnumNameTensorType(x.type));
  const auto* q = AffineOf(*filter.tensor);
  if (q == nullptr)
    return o.Fail(Check::kQuantized, "{} is {} but has no quantization scale", filter.Text(),
                  fb::EnumNameTensorType(filter.type));
  const int64_t scales = SizeOf(q->scale());
  if (scales == 1) return;
  if (Differ(channels, scales))
    o.Fail(Check::kChannelScales, "{} has {} scales; expected 1 or {}", filter.Text(), scales,
           channels);
  else if (x.type == fb::TensorType::UINT8 || filter.type == fb::TensorType::UINT8)
    o.Fail(Check::kChannelScales, "{} has {} scales; expected 1 with UINT8", filter.Text(), scales);
  else if (Differ(channels, filter.dim(q->quantized_dimension())))
    o.Fail(Check::kChannelScales, "{} has scales along axis {}, which has {} elements; expected {}",
           filter.Text(), q->quantized_dimension(), filter.dim(q->quantized_dimension()), channels);
}

void CheckZeroPoints(Operation& o, const Value& filter) {
  const auto* q = AffineOf(*filter.tensor);
  if (q == nullptr) return;
  for (const int64_t zero : ListOf<int64_t>(q->zero_point()))
    if (zero != 0)
      return o.Fail(Check::kFilterZeroPoint, "{} has zero point {}; expected 0", filter.Text(),
                    zero);
}

// The scale of a bias is the product of the input and filter scales.
void CheckBiasScale(Operation& o, const Value& x, const Value& filter, const Value* bias) {
  const Value* y = o.out(0);
  if (bias == nullptr || y == nullptr) return;
  const double product = double{ScaleOf(x)} * double{ScaleOf(filter)};
  const double difference = std::abs(product - double{ScaleOf(*bias)});
  if (!(product >= 0) || !(difference / double{ScaleOf(*y)} <= 0.02))
    o.Fail(Check::kBiasScale,
           "the bias has scale {}; the product of the input and filter scales is {}",
           ScaleOf(*bias), product);
}

void CheckOutput(Operation& o) {
  if (const Value* y = o.out(0);
      y != nullptr && IsQuantizedType(y->type) && AffineOf(*y->tensor) == nullptr)
    o.Note(Check::kAtRun, "{} is {} but has no quantization scale", y->Text(),
           fb::EnumNameTensorType(y->type));
}

void Convolution(Operation& o) {
  const bool transposed = o.op() == Op::TRANSPOSE_CONV;
  const Value* x = o.in(transposed ? 2 : 0);
  const Value* filter = o.in(1);
  if (x == nullptr || filter == nullptr || !IsQuantizedType(x->type)) return;
  const bool depthwise = o.op() == Op::DEPTHWISE_CONV_2D;
  CheckScales(o, *x, *filter, filter->dim(depthwise ? 3 : 0));
  if (o.op() == Op::CONV_2D && x->type != fb::TensorType::UINT8) CheckZeroPoints(o, *filter);
  if (!o.failed() && x->type == fb::TensorType::UINT8)
    CheckBiasScale(o, *x, *filter, o.in(transposed ? 3 : 2));
  CheckOutput(o);
}

void Dense(Operation& o) {
  if (!o.AllPresent(2)) return;
  const Value& x = *o.in(0);
  const Value& w = *o.in(1);
  if (w.type == fb::TensorType::INT4 || w.type == fb::TensorType::INT2) CheckZeroPoints(o, w);
  if (!IsQuantizedType(x.type)) return;
  CheckScales(o, x, w, w.dim(0));
  const auto* q = AffineOf(*w.tensor);
  if (!o.failed() && q != nullptr && SizeOf(q->scale()) == 1) CheckBiasScale(o, x, w, o.in(2));
  CheckOutput(o);
}

// The input has the scale and zero point of the output.
void CheckSame(Operation& o, const Value& x, const Value& y) {
  if (ScaleOf(x) != ScaleOf(y) || ZeroPointOf(x) != ZeroPointOf(y))
    o.Fail(Check::kSameQuantization,
           "{} has scale {} and zero point {}, but {} has scale {} and zero point {}", x.Text(),
           ScaleOf(x), ZeroPointOf(x), y.Text(), ScaleOf(y), ZeroPointOf(y));
}

// Operators with which the kernels copy integers between any scales, but not the delegate XNNPACK,
// which LiteRT uses by default for 8 bits.
void Same8(Operation& o) {
  const Value* x = o.in(0);
  const Value* y = o.out(0);
  if (x == nullptr || y == nullptr ||
      (x->type != fb::TensorType::UINT8 && x->type != fb::TensorType::INT8))
    return;
  if (AffineOf(*x->tensor) != nullptr && AffineOf(*y->tensor) != nullptr) CheckSame(o, *x, *y);
}

void SameAsFirst(Operation& o) {
  const Value* x = o.in(o.op() == Op::FILL ? 1 : 0);
  const Value* y = o.out(0);
  if (x == nullptr || y == nullptr) return;
  const bool any = o.op() == Op::EXPAND_DIMS || o.op() == Op::FILL;
  if (any || IsQuantizedType(x->type)) CheckSame(o, *x, *y);
}

void SameAsAll(Operation& o) {
  const Value* y = o.out(0);
  for (int i = 0; i < o.inputs() && y != nullptr && !o.failed(); ++i) {
    const Value* x = o.in(i);
    if (x == nullptr) continue;
    if (o.op() == Op::PACK || x->type == fb::TensorType::INT8) CheckSame(o, *x, *y);
  }
}

void UnpackTypes(Operation& o) {
  for (int i = 0; i < o.outputs() && !o.failed(); ++i)
    if (o.in(0) != nullptr && o.out(i) != nullptr) CheckSame(o, *o.in(0), *o.out(i));
}

void FixedOutput(Operation& o) {
  const Value* y = o.out(0);
  if (y == nullptr || o.in(0) == nullptr) return;
  if (const auto misfit =
          FixedQuantMisfit(o.op(), o.in(0)->type, y->type, ScaleOf(*y), ZeroPointOf(*y)))
    o.Fail(Check::kFixedQuantization, "{} has {}", y->Text(), *misfit);
  const auto* options = o.at().op->builtin_options_as_L2NormOptions();
  if (options != nullptr &&
      options->fused_activation_function() != fb::ActivationFunctionType::NONE)
    o.Fail(Check::kActivation, "fused_activation_function is {}; expected NONE",
           fb::EnumNameActivationFunctionType(options->fused_activation_function()));
}

// What TensorFlow Lite's 8-bit quantization specification says about INT8, beyond the kernels.
void SpecifiedSame(Operation& o) {
  const Value* y = o.out(0);
  if (y == nullptr || y->type != fb::TensorType::INT8 || AffineOf(*y->tensor) == nullptr) return;
  for (int i = 0; i < o.inputs(); ++i) {
    const Value* x = o.in(i);
    if (x == nullptr || x->type != fb::TensorType::INT8 || AffineOf(*x->tensor) == nullptr ||
        (ScaleOf(*x) == ScaleOf(*y) && ZeroPointOf(*x) == ZeroPointOf(*y)))
      continue;
    return o.Note(Check::kSpecifiedQuantization,
                  "{} has scale {} and zero point {}, but {} has scale {} and zero point {}; "
                  "expected the same",
                  x->Text(), ScaleOf(*x), ZeroPointOf(*x), y->Text(), ScaleOf(*y), ZeroPointOf(*y));
  }
}

void SpecifiedFixed(Operation& o) {
  const Value* y = o.out(0);
  if (y == nullptr || y->type != fb::TensorType::INT8 || AffineOf(*y->tensor) == nullptr) return;
  if (const auto misfit = SpecifiedQuantMisfit(o.op(), ScaleOf(*y), ZeroPointOf(*y)))
    o.Note(Check::kSpecifiedQuantization, "{} has {}", y->Text(), *misfit);
}

void SpecifiedWeights(Operation& o) {
  const Value* x = o.in(0);
  const Value* w = o.in(1);
  if (x == nullptr || w == nullptr || x->type != fb::TensorType::INT8 ||
      w->type != fb::TensorType::INT8)
    return;
  const auto* q = AffineOf(*w->tensor);
  if (q == nullptr) return;
  for (const int64_t zero : ListOf<int64_t>(q->zero_point()))
    if (zero != 0)
      return o.Note(Check::kSpecifiedQuantization, "{} has zero point {}; expected 0", w->Text(),
                    zero);
}

// The factors that rescale the summands need positive scales.
void Sum(Operation& o) {
  for (const Value* v : {o.in(0), o.in(1), o.out(0)}) {
    if (v == nullptr || !IsQuantizedType(v->type) || ScaleOf(*v) > 0) continue;
    const bool plain = v->type == fb::TensorType::INT16 && AffineOf(*o.in(0)->tensor) == nullptr;
    if (!plain)
      return o.Fail(Check::kQuantized, "{} is {} but has scale {}; expected a positive scale",
                    v->Text(), fb::EnumNameTensorType(v->type), ScaleOf(*v));
  }
}

void Quantized8(Operation& o) {
  const Value* x = o.in(0);
  const Value* y = o.out(0);
  if (x == nullptr || y == nullptr) return;
  for (const Value* v : {x, y})
    if (x->type == fb::TensorType::INT8 && AffineOf(*v->tensor) == nullptr)
      return o.Fail(Check::kQuantized, "{} is INT8 but has no quantization scale", v->Text());
  if (x->type == fb::TensorType::INT16 && AffineOf(*x->tensor) != nullptr &&
      AffineOf(*y->tensor) == nullptr)
    o.Fail(Check::kQuantized, "{} has no quantization scale", y->Text());
}

void Quantize(Operation& o) {
  const Value* x = o.in(0);
  const Value* y = o.out(0);
  if (x == nullptr || y == nullptr) return;
  if (AffineOf(*y->tensor) == nullptr)
    return o.Fail(Check::kQuantized, "{} has no quantization scale", y->Text());
  TypeSet to;
  for (const fb::TensorType t : {fb::TensorType::INT8, fb::TensorType::INT16}) to.Add(t);
  if (x->type == fb::TensorType::INT16) to.Add(fb::TensorType::INT32);
  if (x->type == fb::TensorType::FLOAT32 || x->type == fb::TensorType::INT8 ||
      x->type == fb::TensorType::UINT8)
    to.Add(fb::TensorType::UINT8);
  if (x->type == fb::TensorType::FLOAT32)
    for (const fb::TensorType t : {fb::TensorType::INT4, fb::TensorType::UINT4}) to.Add(t);
  if (!to.Has(y->type))
    return o.Fail(Check::kConversion, "{} cannot be converted to {}; expected one of {}",
                  fb::EnumNameTensorType(x->type), fb::EnumNameTensorType(y->type), to.Text());
  if (x->type != fb::TensorType::INT16 || y->type != fb::TensorType::INT16) return;
  for (const Value* v : {x, y})
    if (ZeroPointOf(*v) != 0)
      return o.Fail(Check::kInt16ZeroPoint, "{} has zero point {}; expected 0", v->Text(),
                    ZeroPointOf(*v));
}

constexpr Preparation kQuantizationPreparations[] = {
    {Op::CONV_2D, Convolution},
    {Op::DEPTHWISE_CONV_2D, Convolution},
    {Op::TRANSPOSE_CONV, Convolution},
    {Op::FULLY_CONNECTED, Dense},
    {Op::EXPAND_DIMS, SameAsFirst},
    {Op::FILL, SameAsFirst},
    {Op::SPACE_TO_BATCH_ND, SameAsFirst},
    {Op::BATCH_TO_SPACE_ND, SameAsFirst},
    {Op::MIRROR_PAD, SameAsFirst},
    {Op::PADV2, SameAsFirst},
    {Op::REDUCE_MAX, SameAsFirst},
    {Op::REDUCE_MIN, SameAsFirst},
    {Op::MAX_POOL_2D, Same8},
    {Op::PAD, Same8},
    {Op::RESIZE_BILINEAR, Same8},
    {Op::SLICE, Same8},
    {Op::SPACE_TO_DEPTH, Same8},
    {Op::STRIDED_SLICE, Same8},
    {Op::TRANSPOSE, Same8},
    {Op::CONCATENATION, SameAsAll},
    {Op::PACK, SameAsAll},
    {Op::UNPACK, UnpackTypes},
    {Op::LOGISTIC, FixedOutput},
    {Op::TANH, FixedOutput},
    {Op::SOFTMAX, FixedOutput},
    {Op::LOG_SOFTMAX, FixedOutput},
    {Op::L2_NORMALIZATION, FixedOutput},
    {Op::ADD, Sum},
    {Op::SUB, Sum},
    {Op::SQUARED_DIFFERENCE, Sum},
    {Op::ABS, Quantized8},
    {Op::RSQRT, Quantized8},
    {Op::LOG, Quantized8},
    {Op::QUANTIZE, Quantize},
    {Op::AVERAGE_POOL_2D, SpecifiedSame},
    {Op::GATHER, SpecifiedSame},
    {Op::MAXIMUM, SpecifiedSame},
    {Op::MINIMUM, SpecifiedSame},
    {Op::RESHAPE, SpecifiedSame},
    {Op::SQUEEZE, SpecifiedSame},
    {Op::LOGISTIC, SpecifiedFixed},
    {Op::TANH, SpecifiedFixed},
    {Op::DEPTHWISE_CONV_2D, SpecifiedWeights},
    {Op::FULLY_CONNECTED, SpecifiedWeights},
};

}  // namespace

std::span<const Preparation> QuantizationPreparations() {
  return kQuantizationPreparations;
}

}  // namespace nn::tflite::constraints
