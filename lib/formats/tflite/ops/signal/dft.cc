#include "ops/math/dft.h"

#include <bit>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "formats/tflite/family.h"
#include "formats/tflite/import/complex.h"
#include "ops/math/bit_cast.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/support/term_ops.h"
#include "rewrite/expand.h"
#include "rewrite/functions.h"

namespace nn::tflite {
namespace {

template <int64_t part>
Status ImportPart(ImportContext& ctx) {
  NN_ASSIGN(Value* const parts, PartsOf(ctx, ctx.input(0)));
  return ctx.EmitTerm(PartOf(parts, part));
}

// Squares of float32 neither overflow nor vanish in double. If one part is infinite, so is the
// result, even if the other one is NaN.
Status ImportComplexAbs(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  if (x->dtype() == DType::kC128)
    return UnsupportedError("absolute values of c128 are unsupported");
  NN_ASSIGN(Value* const parts, PartsOf(ctx, x));
  const Term wide = Cast(parts, DType::kF64);
  const Term re = PartOf(wide, 0), im = PartOf(wide, 1);
  const Term any = Or(Apply("is_inf", {re}, IsInfAttrs{}), Apply("is_inf", {im}, IsInfAttrs{}));
  const Term y = Apply("sqrt", {re * re + im * im});
  return ctx.Emit("cast", {Select(any, std::numeric_limits<double>::infinity(), y)},
                  CastAttrs{.to = DType::kF32});
}

// The transforms of the last two axes, of which fft_length gives the sizes: the first half of the
// last one, since x is real. In double, so that the result is rounded once. A row of one element is
// its own transform.
Status ImportRfft2d(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  Value* const lengths = ctx.input(1);
  if (!IsInteger(lengths->dtype()) || lengths->type().rank() != 1 ||
      (lengths->type().dim(0).is_const() && !(lengths->type().dim(0) == 2)))
    return ModelError("the lengths are {}; must be 2 integers", lengths->type().ToString());
  if (x->dtype() != DType::kF32 || x->type().rank() < 2)
    return ModelError("the operand is {}; must be f32 of rank 2 or more", x->type().ToString());
  const auto length = [&](int64_t i) { return Gather(lengths, Tensor::Scalar(i), 0); };
  const bool one_row = lengths->is_constant() && lengths->constant().GetInt(0) == 1 &&
                       x->type().dim(x->type().rank() - 2) == 1;
  Term y = ExpandDims(x, {-1});
  if (!one_row) y = Cast(y, DType::kF64);
  y = Apply("dft", {y, length(1)}, DftAttrs{.axis = -2, .onesided = true});
  if (!one_row) y = Cast(Apply("dft", {y, length(0)}, DftAttrs{.axis = -3}), DType::kF32);
  return ctx.Emit("bit_cast", {y}, BitCastAttrs{DType::kC64});
}

// ==== To TensorFlow Lite =========================================================================

// The number of elements of a transform; nullopt if it is not constant.
std::optional<int64_t> LengthOf(const Node& node) {
  if (const Value* const length = node.input(1); length != nullptr)
    return length->is_constant() ? std::optional(length->constant().GetInt(0)) : std::nullopt;
  const Dim& size = node.input(0)->type().dim(node.input(0)->type().rank() - 2);
  return size.is_const() ? std::optional(size.value()) : std::nullopt;
}

// RFFT2D of one row has the half of a real transform whose length is a power of two.
bool IsRfft(const Node& node) {
  const auto& a = node.attrs<DftAttrs>();
  const Type& x = node.input(0)->type();
  const int rank = x.rank();
  const auto n = LengthOf(node);
  return IsPlainF32(node) && node.input(2) == nullptr && a.onesided && !a.inverse &&
         (a.axis == -2 || a.axis == rank - 2) && x.dim(rank - 1) == 1 &&
         x.dim(rank - 2).is_const() && x.dim(rank - 2).value() > 0 && n && *n > 1 &&
         *n <= std::numeric_limits<int32_t>::max() &&
         std::has_single_bit(static_cast<uint64_t>(*n));
}

std::optional<std::string> WhyNotDft(const Node& node) {
  if (IsRfft(node)) return std::nullopt;
  return std::string(*WhyNotExpanded(node));
}

// The other axes become one, and the parts the last axis of the result.
Status WriteRfft(ExportContext& ctx, const Node& node) {
  const Type &x = node.input(0)->type(), &y = node.output()->type();
  const int64_t size = x.dim(x.rank() - 2).value(), results = *LengthOf(node) / 2 + 1;
  const Dim rows = Product(Dims(x.dims->begin(), x.dims->end() - 2));
  auto& builder = ctx.builder();
  const auto temporary = [&](DType dtype, Dims dims) {
    return ctx.AddTensor(Type(dtype, std::move(dims)), node.output()->name());
  };
  const auto reshape = [&](TensorIndex from, TensorIndex to, TensorIndex shape) {
    ctx.AddOperator(Op::RESHAPE, {{to}, {from, shape}}, fb::CreateReshapeOptions(builder));
  };
  NN_ASSIGN(const TensorIndex flat, ctx.AddInts({-1, 1, size}, "shape"));
  NN_ASSIGN(const TensorIndex lengths, ctx.AddInts({1, *LengthOf(node)}, "fft_length"));
  const TensorIndex signals = temporary(DType::kF32, {rows, Dim(1), Dim(size)});
  reshape(ctx.TensorOf(node.input(0)), signals, flat);
  const Dims half = {rows, Dim(1), Dim(results)};
  const TensorIndex spectrum = temporary(DType::kC64, half);
  ctx.AddOperator(Op::RFFT2D, {{spectrum}, {signals, lengths}}, fb::CreateRfft2dOptions(builder));
  const TensorIndex re = temporary(DType::kF32, half), im = temporary(DType::kF32, half);
  ctx.AddOperator(Op::REAL, {{re}, {spectrum}});
  ctx.AddOperator(Op::IMAG, {{im}, {spectrum}});
  const TensorIndex parts = temporary(DType::kF32, {rows, Dim(1), Dim(results), Dim(2)});
  ctx.AddOperator(Op::PACK, {{parts}, {re, im}}, fb::CreatePackOptions(builder, 2, 3));
  NN_ASSIGN(const TensorIndex shape, ctx.AddDims(*y.dims, "shape"));
  reshape(parts, ctx.ResultOf(node), shape);
  return {};
}

constexpr ImportRow kDftImports[] = {
    {.op = Op::REAL, .import = ImportPart<0>, .inputs = "r"},
    {.op = Op::IMAG, .import = ImportPart<1>, .inputs = "r"},
    {.op = Op::COMPLEX_ABS, .import = ImportComplexAbs, .inputs = "r"},
    {.op = Op::RFFT2D, .import = ImportRfft2d, .inputs = "rr"},
    {.op = Op::CUSTOM,
     .import = ImportRfft2d,
     .inputs = "rr",
     .custom = "RFFT2D"},  // before it was built in
};

constexpr ExportRow kDftExports[] = {
    {.op = "dft", .write = WriteRfft, .why_not = WhyNotDft, .any_type = true},
};

}  // namespace

Family DftFamily() {
  return {.imports = kDftImports, .exports = kDftExports};
}

}  // namespace nn::tflite
