// The quantizers of QONNX, in which Brevitas and QKeras write networks: real numbers are rounded to
// what an integer of a given width, times a scale, can be.
//
// Source: the operator documents of QONNX: IntQuant 1 (Quant is its former name), BipolarQuant 1,
// Trunc 1 and 2.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "formats/onnx/export/quant/linear_quant.h"
#include "formats/onnx/family.h"
#include "ops/support/term_ops.h"

namespace nn::onnx {
namespace {

// Limit of ONNX: bit width of a QONNX operator. Wider integers are not exact in float32, or have no
// meaning as such.
constexpr int64_t kMaxBits = 32;

enum class RoundingMode { kHalfEven, kCeil, kFloor, kUp, kDown, kHalfUp, kHalfDown };

Result<RoundingMode> RoundingModeOf(ImportContext& ctx, std::string_view fallback) {
  constexpr std::array<std::pair<std::string_view, RoundingMode>, 8> kModes = {{
      {"ROUND", RoundingMode::kHalfEven},
      {"HALF_EVEN", RoundingMode::kHalfEven},
      {"CEIL", RoundingMode::kCeil},
      {"FLOOR", RoundingMode::kFloor},
      {"UP", RoundingMode::kUp},
      {"DOWN", RoundingMode::kDown},
      {"HALF_UP", RoundingMode::kHalfUp},
      {"HALF_DOWN", RoundingMode::kHalfDown},
  }};
  const std::string given = ctx.String("rounding_mode", fallback);
  std::string name = given;
  for (char& c : name)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  for (const auto& [known, mode] : kModes)
    if (name == known) return mode;
  return ModelError("rounding_mode is {}, which is unknown", Quote(given));
}

Term Rounded(const Term& v, RoundingMode mode) {
  switch (mode) {
    case RoundingMode::kHalfEven:
      return Apply("round", {v});
    case RoundingMode::kCeil:
      return Apply("ceil", {v});
    case RoundingMode::kFloor:
      return Apply("floor", {v});
    default:
      break;
  }
  // The others round magnitudes.
  Term size = Apply("abs", {v});
  if (mode == RoundingMode::kHalfUp) size = size + 0.5;
  if (mode == RoundingMode::kHalfDown) size = size - 0.5;
  const bool up = mode == RoundingMode::kUp || mode == RoundingMode::kHalfDown;
  return Apply("sign", {v}) * Apply(up ? "ceil" : "floor", {size});
}

// The constant number of bits in input i.
Result<int64_t> BitsOf(ImportContext& ctx, size_t i) {
  NN_ASSIGN(Value* const given, ctx.Required(i));
  NN_ASSIGN(Value* const v, Folded(ctx, given));
  if (!v->is_constant()) return UnsupportedError("a bit width that is computed at run time");
  const Tensor& t = v->constant();
  if (t.elements() != 1) return UnsupportedError("{} bit widths; only one", t.elements());
  const double bits = t.GetDouble(0);
  if (!(bits >= 1) || bits != std::floor(bits))
    return ModelError("a bit width is {}; it must be a positive integer", bits);
  if (bits > static_cast<double>(kMaxBits))
    return UnsupportedError("a bit width of {}; at most {}", bits, kMaxBits);
  return static_cast<int64_t>(bits);
}

// The integers of a type with so many bits.
struct IntegerRange {
  int64_t least = 0;
  int64_t most = 0;

  IntegerRange(int64_t bits, bool is_signed, bool is_narrow) {
    const int64_t count = int64_t{1} << bits;
    most = is_signed ? count / 2 - 1 : count - 1;
    least = is_signed ? -count / 2 : 0;
    if (is_narrow) (is_signed ? ++least : --most);
  }
};

Term Clamped(Term v, const IntegerRange& range) {
  return Clip(std::move(v), static_cast<float>(range.least), static_cast<float>(range.most));
}

bool IsZero(const Value* v) {
  return v->is_constant() &&
         std::ranges::all_of(v->constant().ToDoubles(), [](double d) { return d == 0; });
}

// A real operand with its scale and zero point, inputs 1 and 2.
struct QuantOperand {
  Value* x = nullptr;
  Value* scale = nullptr;
  Value* zero = nullptr;  // null: 0

  // x / scale + zero
  Term Steps() const {
    const Term v = x / Term(scale);
    return zero == nullptr ? v : v + zero;
  }
};

Result<QuantOperand> ReadQuantOperand(ImportContext& ctx) {
  QuantOperand s;
  s.x = ctx.input(0);
  NN_ASSIGN(s.scale, Folded(ctx, ctx.input(1)));
  NN_ASSIGN(s.zero, Folded(ctx, ctx.input(2)));
  if (!IsFloat(s.x->dtype()) && s.x->dtype() != DType::kUnknown)
    return ModelError("the operand is {}; it must be real", s.x->type().ToString());
  if (IsZero(s.zero)) s.zero = nullptr;
  return s;
}

// The scale as one of a quantized type: a constant number, or constant numbers along one axis;
// nullopt if it is neither or not positive.
std::optional<LinearQuant> MappingOf(ImportContext& ctx, const QuantOperand& s) {
  if (!s.scale->is_constant() || s.zero != nullptr) return std::nullopt;
  const Tensor& t = s.scale->constant();
  const auto scales = t.ToDoubles();
  if (t.dtype() != DType::kF32 || scales.empty() ||
      !std::ranges::all_of(scales, [](double v) { return v > 0 && std::isfinite(v); }))
    return std::nullopt;
  LinearQuant q;
  for (int axis = 0; axis < t.rank(); ++axis)
    if (t.dim(axis) == t.elements()) q.axis = axis;
  if (t.elements() != 1) {
    const Type& x = s.x->type();
    if (!x.ranked() || x.rank() != t.rank() || t.dim(static_cast<int>(q.axis)) != t.elements())
      return std::nullopt;
  }
  const auto vector = t.elements() == 1 ? t.Reshaped({}) : t.Reshaped({t.elements()});
  if (!vector) return std::nullopt;
  q.scale = ctx.Constant(*vector);
  return q;
}

// Weights become constant integers, and operands that QuantizeLinear rounds in the same way, real
// numbers quantized and dequantized. Null for all others.
Result<Value*> AsQuantized(ImportContext& ctx, const QuantOperand& s, int64_t bits, bool is_signed,
                           bool is_narrow, RoundingMode mode) {
  const auto mapping = MappingOf(ctx, s);
  if (!mapping || bits > 8 || s.x->dtype() != DType::kF32) return nullptr;
  const DType dtype = is_signed ? DType::kI8 : DType::kU8;
  NN_ASSIGN(Value* const x, Folded(ctx, s.x));
  if (x->is_constant()) {
    const Term steps = Clamped(s.Steps(), IntegerRange(bits, is_signed, is_narrow));
    NN_ASSIGN(Value* const rounded, ctx.Build(Cast(Rounded(steps, mode), dtype)));
    NN_ASSIGN(Value* const v, Folded(ctx, rounded));
    if (v->is_constant()) return AddDequantize(ctx, v, *mapping, DType::kF32);
  }
  if (bits != 8 || is_narrow || mode != RoundingMode::kHalfEven) return nullptr;
  NN_ASSIGN(Value* const integers, AddQuantize(ctx, s.x, *mapping, dtype));
  return ctx.Add("dequantize", {integers}, DequantizeAttrs{});
}

// 1 where v >= 0, else -1.
Result<Term> SignWithoutZero(ImportContext& ctx, const Term& v, DType dtype) {
  NN_ASSIGN(Value* const one, ctx.Number(dtype, 1));
  return Select(GreaterEqual(v, 0), one, -1);
}

// Integers, as real numbers -> (v - zero) * scale.
Term Restored(const Term& v, const Term& zero, const Term& scale) {
  return (zero.is_absent() ? v : v - zero) * scale;
}

Status ImportIntQuant(ImportContext& ctx) {
  NN_ASSIGN(const QuantOperand s, ReadQuantOperand(ctx));
  NN_ASSIGN(const int64_t bits, BitsOf(ctx, 3));
  const bool is_signed = ctx.Int("signed", 1) != 0, is_narrow = ctx.Int("narrow", 0) != 0;
  NN_ASSIGN(const RoundingMode mode, RoundingModeOf(ctx, "ROUND"));
  if (bits == 1 && is_signed) {
    NN_ASSIGN(const Term v, SignWithoutZero(ctx, s.Steps(), s.x->dtype()));
    return ctx.EmitTerm(Restored(v, s.zero, s.scale));
  }
  NN_ASSIGN(Value* const quantized, AsQuantized(ctx, s, bits, is_signed, is_narrow, mode));
  if (quantized != nullptr) {
    ctx.SetOutput(0, quantized);
    return {};
  }
  const Term v = Clamped(s.Steps(), IntegerRange(bits, is_signed, is_narrow));
  return ctx.EmitTerm(Restored(Rounded(v, mode), s.zero, s.scale));
}

Status ImportBipolarQuant(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  Value* const scale = ctx.input(1);
  NN_ASSIGN(const Term v, SignWithoutZero(ctx, x / Term(scale), x->dtype()));
  return ctx.EmitTerm(v * scale);
}

// The integers of the operand, divided by a power of two.
Term Truncated(const QuantOperand& s, double divisor) {
  return Apply("round", {s.Steps()}) / divisor;
}

Status ImportTrunc1(ImportContext& ctx) {
  NN_ASSIGN(const QuantOperand s, ReadQuantOperand(ctx));
  NN_ASSIGN(const int64_t from, BitsOf(ctx, 3));
  NN_ASSIGN(const int64_t to, BitsOf(ctx, 4));
  NN_ASSIGN(const RoundingMode mode, RoundingModeOf(ctx, "FLOOR"));
  const Term v = Truncated(s, std::exp2(static_cast<double>(from - to)));
  return ctx.EmitTerm(Restored(Rounded(v, mode), s.zero, s.scale));
}

// The divisor is the quotient of the scales, rounded to a power of two.
Status ImportTrunc2(ImportContext& ctx) {
  NN_ASSIGN(const QuantOperand s, ReadQuantOperand(ctx));
  NN_ASSIGN(Value* const given, ctx.Required(4));
  NN_ASSIGN(Value* const out_scale, Folded(ctx, given));
  if (!s.scale->is_constant() || !out_scale->is_constant() || s.scale->constant().elements() != 1 ||
      out_scale->constant().elements() != 1)
    return UnsupportedError("scales that are not constant numbers");
  NN_ASSIGN(const int64_t bits, BitsOf(ctx, 5));
  const bool is_signed = ctx.Int("signed", 1) != 0, is_narrow = ctx.Int("narrow", 0) != 0;
  NN_ASSIGN(const RoundingMode mode, RoundingModeOf(ctx, "FLOOR"));
  const double quotient = out_scale->constant().GetDouble(0) / s.scale->constant().GetDouble(0);
  if (!(quotient > 0) || !std::isfinite(quotient))
    return ModelError("the scales are {} and {}; they must be positive",
                      s.scale->constant().GetDouble(0), out_scale->constant().GetDouble(0));
  const double divisor = std::exp2(std::nearbyint(std::log2(quotient)));
  const Term v = Clamped(Truncated(s, divisor), IntegerRange(bits, is_signed, is_narrow));
  const Term zero = s.zero == nullptr ? Term() : s.zero / Term(divisor);
  return ctx.EmitTerm(Restored(Rounded(v, mode), zero, out_scale));
}

constexpr std::string_view kQonnx = "qonnx.custom_op.general";
constexpr std::string_view kBrevitas = "onnx.brevitas";

constexpr ImportRow kQonnxImports[] = {
    {.op = "Quant", .import = ImportIntQuant, .inputs = 3, .domain = kQonnx},
    {.op = "IntQuant", .import = ImportIntQuant, .inputs = 3, .domain = kQonnx},
    {.op = "BipolarQuant", .import = ImportBipolarQuant, .inputs = 2, .domain = kQonnx},
    {.op = "Trunc", .import = ImportTrunc1, .inputs = 3, .domain = kQonnx},
    {.op = "Trunc", .since = 2, .import = ImportTrunc2, .inputs = 3, .domain = kQonnx},
    {.op = "Quant", .import = ImportIntQuant, .inputs = 3, .domain = kBrevitas},
    {.op = "IntQuant", .import = ImportIntQuant, .inputs = 3, .domain = kBrevitas},
    {.op = "BipolarQuant", .import = ImportBipolarQuant, .inputs = 2, .domain = kBrevitas},
    {.op = "Trunc", .import = ImportTrunc1, .inputs = 3, .domain = kBrevitas},
    {.op = "Trunc", .since = 2, .import = ImportTrunc2, .inputs = 3, .domain = kBrevitas},
};

}  // namespace

Family QonnxFamily() {
  return {.imports = kQonnxImports};
}

}  // namespace nn::onnx
