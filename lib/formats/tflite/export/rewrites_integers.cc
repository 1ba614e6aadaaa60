// Integer operators for which the kernels are missing, computed by other operators or in wider
// types.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "formats/tflite/export/export.h"
#include "formats/tflite/export/rewrites.h"
#include "ir/op_def.h"
#include "ir/text/number.h"
#include "ops/math/bit_cast.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/support/term_ops.h"
#include "rewrite/expand.h"
#include "rewrite/rewrite.h"
#include "rewrite/target.h"

namespace nn::tflite {
namespace {

// Plain integers that CAST converts, other than those that most kernels compute.
bool IsNarrow(const Value* v) {
  const DType t = v->dtype();
  return !v->type().quantized() && (t == DType::kI8 || t == DType::kI16 || t == DType::kU8 ||
                                    t == DType::kU16 || t == DType::kU32);
}
bool IsNarrowerThanI32(const Value* v) {
  return IsNarrow(v) && v->dtype() != DType::kU32;
}

bool IsPlainInteger(const Value* v) {
  const DType t = v->dtype();
  return IsNarrow(v) ||
         (!v->type().quantized() && (t == DType::kI32 || t == DType::kI64 || t == DType::kU64));
}

bool IsEmpty(const Value* v) {
  return v != nullptr && v->type().ranked() &&
         std::ranges::any_of(*v->type().dims, [](const Dim& d) { return d == 0; });
}

bool IsLegal(const Node& node) {
  return !TfliteTarget().why_illegal(node);
}

// x of type `from` in another type.
Term As(const Term& x, DType from, DType to) {
  return from == to ? x : Cast(x, to);
}

// CAST does not accept u64, whose bits are those of an i64.
Term AsSigned(Value* v, DType to) {
  if (v->dtype() != DType::kU64) return As(v, v->dtype(), to);
  return As(Apply("bit_cast", {v}, BitCastAttrs{DType::kI64}), DType::kI64, to);
}
// Replaces a node of type `to` by y of type `from`.
Result<bool> ReplaceAs(Graph& graph, Node& node, const Term& y, DType from, DType to) {
  return Expansion(graph, node)
      .Replace(to == DType::kU64 ? Apply("bit_cast", {y}, BitCastAttrs{to}) : As(y, from, to));
}

// The type in which a product of two integers of a type is exact, or has the same lowest bits.
DType ProductType(DType t) {
  return DTypeBits(t) <= 16 ? DType::kI32 : DType::kI64;
}

// Whether the exponent has bit k.
Term HasBit(const Term& b, int k) {
  const int64_t bit = int64_t{1} << k;
  // 2^63, by which b would be divided, is not an i64.
  return Apply("greater_equal", {k == 62 ? b : Apply("mod", {b, bit << 1}), bit});
}

// a to the power of b, both i64, by squaring. With a negative exponent, 1 and -1 have inverses;
// other integers give 0.
Result<Term> Power(Expansion& e, const Term& a, const Term& b, int bits, bool may_be_negative) {
  const Term one = Tensor::Scalar<int64_t>(1);
  Term square = a, odd, product;
  for (int k = 0; k < bits; ++k) {
    if (k > 0) {
      NN_ASSIGN(square, e.Build(square * square));
    }
    const Term has_bit = HasBit(b, k);
    if (k == 0) odd = has_bit;
    const Term factor = Select(has_bit, square, one);
    NN_ASSIGN(product, e.Build(product.is_absent() ? factor : product * factor));
  }
  if (!may_be_negative) return product;
  const Term zero = Tensor::Scalar<int64_t>(0), minus = Tensor::Scalar<int64_t>(-1);
  const Term of_minus = Select(Equal(a, minus), Select(odd, minus, one), zero);
  const Term inverse = Select(Equal(a, one), one, of_minus);
  return Select(Less(b, zero), inverse, product);
}

// The bits that an exponent may have, without its sign.
std::pair<int, bool> BitsOfExponent(const Value* b) {
  const DType t = b->dtype();
  if (!b->is_constant()) return {std::min(63, DTypeBits(t) - (IsSigned(t) ? 1 : 0)), IsSigned(t)};
  int bits = 1;
  bool negative = false;
  for (const int64_t v : b->constant().ToInts()) {
    negative = negative || v < 0;
    while (bits < 63 && (std::max<int64_t>(v, 0) >> bits) != 0) ++bits;
  }
  return {bits, negative};
}

// A positive exponent of all elements.
std::optional<int64_t> UniformExponent(const Value* b) {
  if (!b->is_constant() || b->constant().elements() != 1) return std::nullopt;
  const int64_t v = b->constant().GetInt(0);
  return v < 1 ? std::nullopt : std::optional(v);
}

// The product by squaring; only what the exponent needs.
Result<Term> PowerOf(Expansion& e, const Term& a, int64_t exponent) {
  Term y;
  for (Term square = a;;) {
    if ((exponent & 1) != 0) {
      NN_ASSIGN(y, e.Build(y.is_absent() ? square : y * square));
    }
    exponent >>= 1;
    if (exponent == 0) return y;
    NN_ASSIGN(square, e.Build(square * square));
  }
}

}  // namespace

Result<bool> ComputeInWiderIntegers(Graph& graph, Node& node) {
  if (!node.op().wraps_integers || std::ranges::any_of(node.inputs(), IsEmpty)) return false;
  const auto is_u32 = [](const Value* v) { return v != nullptr && v->dtype() == DType::kU32; };
  if (std::ranges::none_of(node.inputs(), is_u32)) {
    NN_ASSIGN(const bool changed, ComputeIn(DType::kI32, graph, node, IsNarrowerThanI32, IsLegal));
    if (changed) return true;
  }
  return ComputeIn(DType::kI64, graph, node, IsNarrow, IsLegal);
}

Result<bool> PowAsProducts(Graph& graph, Node& node) {
  Value *const a = node.input(0), *const b = node.input(1);
  const DType dtype = a->dtype();
  if (!IsPlainInteger(a) || !IsPlainInteger(b) || b->dtype() == DType::kU64) return false;
  // POW computes in i32 what i32 holds.
  if (b->dtype() == dtype && dtype != DType::kI64 && dtype != DType::kU32) return false;
  Expansion e(graph, node);
  const Term base = AsSigned(a, DType::kI64);
  const auto exponent = UniformExponent(b);
  if (exponent && a->type().dims == node.output()->type().dims) {
    NN_ASSIGN(const Term y, PowerOf(e, base, *exponent));
    return ReplaceAs(graph, node, y, DType::kI64, dtype);
  }
  const auto [bits, may_be_negative] = BitsOfExponent(b);
  const Term power = As(b, b->dtype(), DType::kI64);
  NN_ASSIGN(const Term y, Power(e, base, power, bits, may_be_negative));
  return ReplaceAs(graph, node, y, DType::kI64, dtype);
}

// The exponents of integers must be whole.
Result<bool> WholeExponent(Graph& graph, Node& node) {
  const Value* const a = node.input(0);
  const Type& b = node.input(1)->type();
  if (!IsPlainInteger(a) || b.dtype != DType::kF32 || b.quantized()) return false;
  const DType whole = a->dtype() == DType::kI32 ? DType::kI32 : DType::kI64;
  NN_ASSIGN(Value* const exponent, Expansion(graph, node).Build(Cast(node.input(1), whole)));
  graph.SetInput(&node, 1, exponent);
  return true;
}

Result<bool> ShiftLeftAsProduct(Graph& graph, Node& node) {
  Value *const x = node.input(0), *const given = node.input(1);
  if (!IsPlainInteger(x)) return false;
  const DType dtype = x->dtype(), wide = ProductType(dtype);
  const int bits = DTypeBits(dtype);
  Term by = AsSigned(given, wide);
  // A shift by the width of the type, or by a negative number, shifts everything out.
  NN_ASSIGN(const Term all, Number(wide, bits));
  if (IsSigned(dtype) || dtype == DType::kU64) by = Select(Less(by, 0), all, by);
  NN_ASSIGN(TensorBuilder powers, TensorBuilder::Create(wide, {bits + 1}));
  for (int k = 0; k < bits; ++k) powers.SetInt(k, static_cast<int64_t>(uint64_t{1} << k));
  powers.SetInt(bits, 0);
  const Term power = Gather(powers.Finish(), Minimum(by, all), 0);
  return ReplaceAs(graph, node, AsSigned(x, wide) * power, wide, dtype);
}

Result<bool> ArgOf16Bits(Graph& graph, Node& node) {
  const Type& x = node.input(0)->type();
  if (x.dtype != DType::kI16 && x.dtype != DType::kU16) return false;
  const bool real = x.quantized();
  const Term given = node.input(0);
  const Term wider =
      real ? Apply("dequantize", {given}, DequantizeAttrs{}) : Cast(given, DType::kI32);
  NN_ASSIGN(Value* const v, Expansion(graph, node).Build(wider));
  graph.SetInput(&node, 0, v);
  return true;
}

}  // namespace nn::tflite
