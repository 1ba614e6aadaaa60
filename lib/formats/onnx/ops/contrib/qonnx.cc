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
#include "ops/math/elementwise/elementwise.h"

namespace nn::onnx {
namespace {

// Wider integers are not exact in float32, or have no meaning as such.
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

Result<Value*> AddRounding(ImportContext& ctx, Value* v, RoundingMode mode) {
  switch (mode) {
    case RoundingMode::kHalfEven:
      return ctx.Add("round", {v});
    case RoundingMode::kCeil:
      return ctx.Add("ceil", {v});
    case RoundingMode::kFloor:
      return ctx.Add("floor", {v});
    default:
      break;
  }
  // The others round magnitudes.
  NN_ASSIGN(Value* const sign, ctx.Add("sign", {v}));
  NN_ASSIGN(v, ctx.Add("abs", {v}));
  if (mode == RoundingMode::kHalfUp || mode == RoundingMode::kHalfDown) {
    NN_ASSIGN(Value* const half, ctx.Number(v->dtype(), 0.5));
    NN_ASSIGN(v, ctx.Add(mode == RoundingMode::kHalfUp ? "add" : "sub", {v, half}));
  }
  const bool up = mode == RoundingMode::kUp || mode == RoundingMode::kHalfDown;
  NN_ASSIGN(v, ctx.Add(up ? "ceil" : "floor", {v}));
  return ctx.Add("mul", {sign, v});
}

// The constant number of bits in input i.
Result<int64_t> BitsOf(ImportContext& ctx, size_t i) {
  NN_ASSIGN(Value * v, ctx.Required(i));
  NN_ASSIGN(v, Folded(ctx, v));
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

Result<Value*> Clamped(ImportContext& ctx, Value* v, const IntegerRange& range) {
  return ctx.Add("clip", {v},
                 ClipAttrs{static_cast<float>(range.least), static_cast<float>(range.most)});
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
  Result<Value*> Steps(ImportContext& ctx) const {
    NN_ASSIGN(Value* const v, ctx.Add("div", {x, scale}));
    return zero == nullptr ? Result<Value*>(v) : ctx.Add("add", {v, zero});
  }
};

Result<QuantOperand> ReadQuantOperand(ImportContext& ctx) {
  QuantOperand s;
  NN_ASSIGN(s.x, ctx.Required(0));
  NN_ASSIGN(s.scale, ctx.Required(1));
  NN_ASSIGN(s.scale, Folded(ctx, s.scale));
  NN_ASSIGN(s.zero, ctx.Required(2));
  NN_ASSIGN(s.zero, Folded(ctx, s.zero));
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
    NN_ASSIGN(Value * v, s.Steps(ctx));
    NN_ASSIGN(v, Clamped(ctx, v, IntegerRange(bits, is_signed, is_narrow)));
    NN_ASSIGN(v, AddRounding(ctx, v, mode));
    NN_ASSIGN(v, AddCast(ctx, v, dtype));
    NN_ASSIGN(v, Folded(ctx, v));
    if (v->is_constant()) return AddDequantize(ctx, v, *mapping, DType::kF32);
  }
  if (bits != 8 || is_narrow || mode != RoundingMode::kHalfEven) return nullptr;
  NN_ASSIGN(Value* const integers, AddQuantize(ctx, s.x, *mapping, dtype));
  return ctx.Add("dequantize", {integers}, DequantizeAttrs{});
}

// 1 where v >= 0, else -1.
Result<Value*> SignWithoutZero(ImportContext& ctx, Value* v) {
  NN_ASSIGN(Value* const zero, ctx.Number(v->dtype(), 0));
  NN_ASSIGN(Value* const one, ctx.Number(v->dtype(), 1));
  NN_ASSIGN(Value* const minus_one, ctx.Number(v->dtype(), -1));
  NN_ASSIGN(Value* const is_positive, ctx.Add("greater_equal", {v, zero}));
  return ctx.Add("select", {is_positive, one, minus_one});
}

// Integers, as real numbers -> (v - zero) * scale as result of the node.
Status EmitScaled(ImportContext& ctx, Value* v, Value* zero, Value* scale) {
  if (zero != nullptr) {
    NN_ASSIGN(v, ctx.Add("sub", {v, zero}));
  }
  return ctx.Emit("mul", {v, scale});
}

Status ImportIntQuant(ImportContext& ctx) {
  NN_ASSIGN(const QuantOperand s, ReadQuantOperand(ctx));
  NN_ASSIGN(const int64_t bits, BitsOf(ctx, 3));
  const bool is_signed = ctx.Int("signed", 1) != 0, is_narrow = ctx.Int("narrow", 0) != 0;
  NN_ASSIGN(const RoundingMode mode, RoundingModeOf(ctx, "ROUND"));
  if (bits == 1 && is_signed) {
    NN_ASSIGN(Value * v, s.Steps(ctx));
    NN_ASSIGN(v, SignWithoutZero(ctx, v));
    return EmitScaled(ctx, v, s.zero, s.scale);
  }
  NN_ASSIGN(Value* const quantized, AsQuantized(ctx, s, bits, is_signed, is_narrow, mode));
  if (quantized != nullptr) {
    ctx.SetOutput(0, quantized);
    return {};
  }
  NN_ASSIGN(Value * v, s.Steps(ctx));
  NN_ASSIGN(v, Clamped(ctx, v, IntegerRange(bits, is_signed, is_narrow)));
  NN_ASSIGN(v, AddRounding(ctx, v, mode));
  return EmitScaled(ctx, v, s.zero, s.scale);
}

Status ImportBipolarQuant(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  NN_ASSIGN(Value* const scale, ctx.Required(1));
  NN_ASSIGN(Value * v, ctx.Add("div", {x, scale}));
  NN_ASSIGN(v, SignWithoutZero(ctx, v));
  return ctx.Emit("mul", {v, scale});
}

// The integers of the operand, divided by a power of two.
Result<Value*> Truncated(ImportContext& ctx, const QuantOperand& s, double divisor) {
  NN_ASSIGN(Value * v, s.Steps(ctx));
  NN_ASSIGN(v, ctx.Add("round", {v}));
  NN_ASSIGN(Value* const number, ctx.Number(v->dtype(), divisor));
  return ctx.Add("div", {v, number});
}

Status ImportTrunc1(ImportContext& ctx) {
  NN_ASSIGN(const QuantOperand s, ReadQuantOperand(ctx));
  NN_ASSIGN(const int64_t from, BitsOf(ctx, 3));
  NN_ASSIGN(const int64_t to, BitsOf(ctx, 4));
  NN_ASSIGN(const RoundingMode mode, RoundingModeOf(ctx, "FLOOR"));
  NN_ASSIGN(Value * v, Truncated(ctx, s, std::exp2(static_cast<double>(from - to))));
  NN_ASSIGN(v, AddRounding(ctx, v, mode));
  return EmitScaled(ctx, v, s.zero, s.scale);
}

// The divisor is the quotient of the scales, rounded to a power of two.
Status ImportTrunc2(ImportContext& ctx) {
  NN_ASSIGN(const QuantOperand s, ReadQuantOperand(ctx));
  NN_ASSIGN(Value * out_scale, ctx.Required(4));
  NN_ASSIGN(out_scale, Folded(ctx, out_scale));
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
  NN_ASSIGN(Value * v, Truncated(ctx, s, divisor));
  NN_ASSIGN(v, Clamped(ctx, v, IntegerRange(bits, is_signed, is_narrow)));
  NN_ASSIGN(v, AddRounding(ctx, v, mode));
  Value* zero = s.zero;
  if (zero != nullptr) {
    NN_ASSIGN(Value* const number, ctx.Number(zero->dtype(), divisor));
    NN_ASSIGN(zero, ctx.Add("div", {zero, number}));
  }
  return EmitScaled(ctx, v, zero, out_scale);
}

constexpr std::string_view kQonnx = "qonnx.custom_op.general";
constexpr std::string_view kBrevitas = "onnx.brevitas";

constexpr ImportRow kQonnxImports[] = {
    {.op = "Quant", .import = ImportIntQuant, .domain = kQonnx},
    {.op = "IntQuant", .import = ImportIntQuant, .domain = kQonnx},
    {.op = "BipolarQuant", .import = ImportBipolarQuant, .domain = kQonnx},
    {.op = "Trunc", .import = ImportTrunc1, .domain = kQonnx},
    {.op = "Trunc", .since = 2, .import = ImportTrunc2, .domain = kQonnx},
    {.op = "Quant", .import = ImportIntQuant, .domain = kBrevitas},
    {.op = "IntQuant", .import = ImportIntQuant, .domain = kBrevitas},
    {.op = "BipolarQuant", .import = ImportBipolarQuant, .domain = kBrevitas},
    {.op = "Trunc", .import = ImportTrunc1, .domain = kBrevitas},
    {.op = "Trunc", .since = 2, .import = ImportTrunc2, .domain = kBrevitas},
};

}  // namespace

Family QonnxFamily() {
  return {.imports = kQonnxImports};
}

}  // namespace nn::onnx
