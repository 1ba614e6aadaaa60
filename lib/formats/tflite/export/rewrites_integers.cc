// Integer operators for which the kernels are missing, computed by other operators or in wider
// types.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "formats/tflite/export/export.h"
#include "formats/tflite/export/rewrites.h"
#include "ir/op_def.h"
#include "ops/array/arrange/gather.h"
#include "ops/math/bit_cast.h"
#include "ops/math/elementwise/elementwise.h"
#include "rewrite/expand.h"
#include "rewrite/legalize.h"
#include "rewrite/rewrite.h"

namespace nn::tflite {
namespace {

bool IsWord(DType t) {
  return t == DType::kI32 || t == DType::kI64;
}

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
  return IsNarrow(v) || (!v->type().quantized() && (IsWord(t) || t == DType::kU64));
}

bool IsEmpty(const Value* v) {
  return v != nullptr && v->type().ranked() &&
         std::ranges::any_of(*v->type().dims, [](const Dim& d) { return d == 0; });
}

bool IsLegal(const Node& node) {
  return !TfliteTarget().why_illegal(node);
}

Result<Value*> CastTo(Expansion& e, Value* v, DType dtype) {
  if (v->dtype() == dtype) return v;
  return e.Add("cast", {v}, CastAttrs{.to = dtype});
}

// 64-bit integers as those of the other sign; CAST does not accept u64.
Result<Value*> AsSigned(Expansion& e, Value* v) {
  return v->dtype() == DType::kU64 ? e.Add("bit_cast", {v}, BitCastAttrs{DType::kI64}) : v;
}
Result<bool> FinishAs(Expansion& e, Value* y, DType dtype) {
  NN_ASSIGN(
      y, dtype == DType::kU64 ? e.Add("bit_cast", {y}, BitCastAttrs{dtype}) : CastTo(e, y, dtype));
  return e.Replace(y);
}

// A constant of integers.
Result<Value*> Integers(Expansion& e, DType dtype, std::vector<int64_t> dims,
                        const std::vector<int64_t>& numbers) {
  NN_ASSIGN(TensorBuilder b, TensorBuilder::Create(dtype, std::move(dims)));
  for (size_t i = 0; i < numbers.size(); ++i) b.SetInt(static_cast<int64_t>(i), numbers[i]);
  return e.Constant(b.Finish());
}
Result<Value*> Whole(Expansion& e, DType dtype, int64_t v) {
  return Integers(e, dtype, {}, {v});
}

// The type in which a product of two integers of a type is exact, or has the same lowest bits.
DType ProductType(DType t) {
  return DTypeBits(t) <= 16 ? DType::kI32 : DType::kI64;
}

// a & b of one type of up to 32 bits: half of a + b - (a ^ b), in 32 bits for each half of a word.
class Both {
 public:
  explicit Both(Expansion& e) : e_(e) {}

  Result<Value*> Of(Value* a, Value* b) {
    const bool is_word = DTypeBits(a->dtype()) == 32;
    NN_ASSIGN(a, CastTo(e_, a, DType::kI32));
    NN_ASSIGN(b, CastTo(e_, b, DType::kI32));
    if (!is_word) return OfHalves(a, b);
    NN_ASSIGN(Value* const bits, Whole(e_, DType::kI32, 16));
    NN_ASSIGN(Value* const step, Whole(e_, DType::kI32, 1 << 16));
    NN_ASSIGN(Value* const a_high, e_.Add("shift_right", {a, bits}));
    NN_ASSIGN(Value* const b_high, e_.Add("shift_right", {b, bits}));
    NN_ASSIGN(Value* const a_low, e_.Add("mod", {a, step}));
    NN_ASSIGN(Value* const b_low, e_.Add("mod", {b, step}));
    NN_ASSIGN(Value * high, OfHalves(a_high, b_high));
    NN_ASSIGN(Value* const low, OfHalves(a_low, b_low));
    NN_ASSIGN(high, e_.Add("mul", {high, step}));
    return e_.Add("add", {high, low});
  }

 private:
  Result<Value*> OfHalves(Value* a, Value* b) {
    NN_ASSIGN(Value * both, e_.Add("add", {a, b}));
    NN_ASSIGN(Value* const either, e_.Add("bitwise_xor", {a, b}));
    NN_ASSIGN(both, e_.Add("sub", {both, either}));
    NN_ASSIGN(Value* const one, Whole(e_, DType::kI32, 1));
    return e_.Add("shift_right", {both, one});
  }

  Expansion& e_;
};

// a to the power of b, both i64, by squaring.
class Power {
 public:
  explicit Power(Expansion& e) : e_(e) {}

  Result<Value*> Of(Value* a, Value* b, int bits, bool may_be_negative) {
    NN_ASSIGN(one_, Whole(e_, DType::kI64, 1));
    Value* square = a;
    Value* odd = nullptr;
    for (int k = 0; k < bits; ++k) {
      if (k > 0) {
        NN_ASSIGN(square, e_.Add("mul", {square, square}));
      }
      NN_ASSIGN(Value* const has_bit, HasBit(b, k));
      if (k == 0) odd = has_bit;
      NN_ASSIGN(Value* const factor, e_.Add("select", {has_bit, square, one_}));
      if (product_ == nullptr) {
        product_ = factor;
      } else {
        NN_ASSIGN(product_, e_.Add("mul", {product_, factor}));
      }
    }
    return may_be_negative ? WithInverses(a, b, odd) : Result<Value*>(product_);
  }

 private:
  Result<Value*> HasBit(Value* b, int k) {
    const int64_t bit = int64_t{1} << k;
    // 2^63, by which b would be divided, is not an i64.
    NN_ASSIGN(Value* const at, Whole(e_, DType::kI64, bit));
    if (k == 62) return e_.Add("greater_equal", {b, at});
    NN_ASSIGN(Value* const by, Whole(e_, DType::kI64, bit << 1));
    NN_ASSIGN(Value* const rest, e_.Add("mod", {b, by}));
    return e_.Add("greater_equal", {rest, at});
  }

  // With a negative exponent, 1 and -1 have inverses; other integers give 0.
  Result<Value*> WithInverses(Value* a, Value* b, Value* odd) {
    NN_ASSIGN(Value* const zero, Whole(e_, DType::kI64, 0));
    NN_ASSIGN(Value* const minus, Whole(e_, DType::kI64, -1));
    NN_ASSIGN(Value* const is_minus, e_.Add("equal", {a, minus}));
    NN_ASSIGN(Value* const is_one, e_.Add("equal", {a, one_}));
    NN_ASSIGN(Value* const sign, e_.Add("select", {odd, minus, one_}));
    NN_ASSIGN(Value * inverse, e_.Add("select", {is_minus, sign, zero}));
    NN_ASSIGN(inverse, e_.Add("select", {is_one, one_, inverse}));
    NN_ASSIGN(Value* const negative, e_.Add("less", {b, zero}));
    return e_.Add("select", {negative, inverse, product_});
  }

  Expansion& e_;
  Value* one_ = nullptr;
  Value* product_ = nullptr;
};

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
Result<Value*> PowerOf(Expansion& e, Value* a, int64_t exponent) {
  Value* y = nullptr;
  for (Value* square = a;;) {
    if ((exponent & 1) != 0) {
      if (y == nullptr) {
        y = square;
      } else {
        NN_ASSIGN(y, e.Add("mul", {y, square}));
      }
    }
    exponent >>= 1;
    if (exponent == 0) return y;
    NN_ASSIGN(square, e.Add("mul", {square, square}));
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
  Value *a = node.input(0), *b = node.input(1);
  const DType dtype = a->dtype();
  if (!IsPlainInteger(a) || !IsPlainInteger(b) || b->dtype() == DType::kU64) return false;
  // POW computes in i32 what i32 holds.
  if (b->dtype() == dtype && dtype != DType::kI64 && dtype != DType::kU32) return false;
  Expansion e(graph, node);
  NN_ASSIGN(a, AsSigned(e, a));
  NN_ASSIGN(a, CastTo(e, a, DType::kI64));
  Value* y = nullptr;
  if (const auto exponent = UniformExponent(b)) {
    NN_ASSIGN(y, PowerOf(e, a, *exponent));
    if (y->type().dims == node.output()->type().dims) return FinishAs(e, y, dtype);
  }
  const auto [bits, may_be_negative] = BitsOfExponent(b);
  NN_ASSIGN(b, CastTo(e, b, DType::kI64));
  NN_ASSIGN(y, Power(e).Of(a, b, bits, may_be_negative));
  return FinishAs(e, y, dtype);
}

// The exponents of integers must be whole.
Result<bool> WholeExponent(Graph& graph, Node& node) {
  const Value* const a = node.input(0);
  const Type& b = node.input(1)->type();
  if (!IsPlainInteger(a) || b.dtype != DType::kF32 || b.quantized()) return false;
  Expansion e(graph, node);
  const DType whole = a->dtype() == DType::kI32 ? DType::kI32 : DType::kI64;
  NN_ASSIGN(Value* const exponent, CastTo(e, node.input(1), whole));
  graph.SetInput(&node, 1, exponent);
  return true;
}

Result<bool> ShiftLeftAsProduct(Graph& graph, Node& node) {
  Value *x = node.input(0), *by = node.input(1);
  if (!IsPlainInteger(x)) return false;
  const DType dtype = x->dtype(), wide = ProductType(dtype);
  const int bits = DTypeBits(dtype);
  Expansion e(graph, node);
  NN_ASSIGN(x, AsSigned(e, x));
  NN_ASSIGN(by, AsSigned(e, by));
  NN_ASSIGN(x, CastTo(e, x, wide));
  NN_ASSIGN(by, CastTo(e, by, wide));
  // A shift by the width of the type, or by a negative number, shifts everything out.
  NN_ASSIGN(Value* const zero, Whole(e, wide, 0));
  NN_ASSIGN(Value* const all, Whole(e, wide, bits));
  if (IsSigned(dtype) || dtype == DType::kU64) {
    NN_ASSIGN(Value* const negative, e.Add("less", {by, zero}));
    NN_ASSIGN(by, e.Add("select", {negative, all, by}));
  }
  NN_ASSIGN(by, e.Add("minimum", {by, all}));
  std::vector<int64_t> powers;
  powers.reserve(static_cast<size_t>(bits) + 1);
  for (int k = 0; k < bits; ++k) powers.push_back(static_cast<int64_t>(uint64_t{1} << k));
  powers.push_back(0);
  NN_ASSIGN(Value* const table, Integers(e, wide, {std::ssize(powers)}, powers));
  NN_ASSIGN(Value* const power, e.Add("gather", {table, by}, GatherAttrs{0, 0}));
  NN_ASSIGN(Value* const y, e.Add("mul", {x, power}));
  return FinishAs(e, y, dtype);
}

Result<bool> BitsInWords(Graph& graph, Node& node) {
  Value *const a = node.input(0), *const b = node.input(1);
  const DType dtype = a->dtype();
  if (!IsPlainInteger(a) || DTypeBits(dtype) != 64 || IsEmpty(a) || IsEmpty(b)) return false;
  Expansion e(graph, node);
  const BitCastAttrs words{DType::kI32};
  NN_ASSIGN(Value* const left, e.Add("bit_cast", {a}, words));
  NN_ASSIGN(Value* const right, e.Add("bit_cast", {b}, words));
  NN_ASSIGN(Value * y, e.Add(node.op_name(), {left, right}));
  NN_ASSIGN(y, e.Add("bit_cast", {y}, BitCastAttrs{dtype}));
  return e.Replace(y);
}

Result<bool> AndAsSum(Graph& graph, Node& node) {
  Value* const a = node.input(0);
  if (!IsPlainInteger(a) || DTypeBits(a->dtype()) > 32) return false;
  Expansion e(graph, node);
  NN_ASSIGN(Value* const y, Both(e).Of(a, node.input(1)));
  return FinishAs(e, y, a->dtype());
}

Result<bool> OrAsSum(Graph& graph, Node& node) {
  Value *a = node.input(0), *b = node.input(1);
  const DType dtype = a->dtype();
  if (!IsPlainInteger(a) || DTypeBits(dtype) > 32) return false;
  Expansion e(graph, node);
  NN_ASSIGN(Value* const both, Both(e).Of(a, b));
  NN_ASSIGN(a, CastTo(e, a, DType::kI32));
  NN_ASSIGN(b, CastTo(e, b, DType::kI32));
  NN_ASSIGN(Value* const differ, e.Add("bitwise_xor", {a, b}));
  NN_ASSIGN(Value* const y, e.Add("add", {both, differ}));
  return FinishAs(e, y, dtype);
}

Result<bool> NotAsDifference(Graph& graph, Node& node) {
  Value* x = node.input(0);
  const DType dtype = x->dtype();
  if (!IsPlainInteger(x)) return false;
  Expansion e(graph, node);
  NN_ASSIGN(x, AsSigned(e, x));
  if (!IsWord(x->dtype())) {
    NN_ASSIGN(x, CastTo(e, x, DType::kI32));
  }
  NN_ASSIGN(Value* const ones, Whole(e, x->dtype(), -1));
  NN_ASSIGN(Value* const y, e.Add("sub", {ones, x}));
  return FinishAs(e, y, dtype);
}

Result<bool> ArgOf16Bits(Graph& graph, Node& node) {
  const Type& x = node.input(0)->type();
  if (x.dtype != DType::kI16 && x.dtype != DType::kU16) return false;
  const bool real = x.quantized();
  const Attrs attrs = real ? Attrs(DequantizeAttrs{}) : Attrs(CastAttrs{.to = DType::kI32});
  const OpDef& op = *Ops().Find(real ? "dequantize" : "cast");
  Node* const wider = graph.AddNode(op, {node.input(0)}, attrs, 1, &node);
  NN_RETURN_IF_ERROR(InferNode(*wider));
  graph.SetInput(&node, 0, wider->output());
  return true;
}

}  // namespace nn::tflite
