// cast: conversion of element types, by the rules of ONNX Cast (versions 1 to 25).
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/text/from_chars.h"
#include "base/text/text.h"
#include "ir/types/small_float.h"
#include "ops/families.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/math/elementwise/impl.h"

namespace nn {
namespace {

// Rounds to odd: a further rounding to a type of at most 22 bits then gives the same result as a
// single rounding.
float OddFloat(double value) {
  const auto f = static_cast<float>(value);
  const auto back = static_cast<double>(f);
  if (back == value || std::isnan(value)) return f;
  const auto bits = std::bit_cast<uint32_t>(f);
  if ((bits & 1) != 0) return f;
  return std::bit_cast<float>(std::fabs(back) > std::fabs(value) ? bits - 1 : bits + 1);
}

double OddDouble(bool negative, uint64_t magnitude) {
  if (magnitude >> 53 != 0)
    magnitude = (magnitude & ~uint64_t{0x7FF}) | ((magnitude & 0x7FF) != 0 ? 0x800 : 0);
  const auto d = static_cast<double>(magnitude);
  return negative ? -d : d;
}

// The power of two as a float8e8m0; 0xFF is NaN.
uint8_t PowerOfTwo(double value, const CastAttrs& a) {
  if (std::isnan(value)) return 0xFF;
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return a.saturate ? 0x00 : 0xFF;
  if (std::isinf(magnitude)) return a.saturate ? 0xFE : 0xFF;
  int exponent = 0;  // magnitude = fraction 2^exponent, fraction in [1/2, 1)
  const double fraction = std::frexp(magnitude, &exponent);
  const bool up = a.round_mode == PowerRounding::kUp        ? fraction > 0.5
                  : a.round_mode == PowerRounding::kNearest ? fraction >= 0.75
                                                            : false;
  const int biased = exponent - (up ? 0 : 1) + 127;
  if (biased >= 0 && biased <= 0xFE) return static_cast<uint8_t>(biased);
  if (!a.saturate) return 0xFF;
  return biased < 0 ? 0x00 : 0xFE;
}

// Rounds toward zero. NaN becomes 0; values outside the type become its bound or, for types of
// fewer than 8 bits, wrap, and infinities become 0. ONNX leaves these undefined, but its node
// tests, its reference implementation and ONNX Runtime wrap integers of 2 and 4 bits.
int64_t Truncated(double value, DType to) {
  if (std::isnan(value)) return 0;
  if (DTypeBits(to) < 8) return static_cast<int64_t>(std::fmod(std::isinf(value) ? 0 : value, 16));
  if (to == DType::kU64) {
    if (value >= 0x1p64) return -1;
    return value <= 0 ? 0 : static_cast<int64_t>(static_cast<uint64_t>(value));
  }
  const int64_t low = MinInteger(to);
  const int64_t high = MaxInteger(to);
  if (value <= static_cast<double>(low)) return low;
  return value >= static_cast<double>(high) ? high : static_cast<int64_t>(value);
}

class Caster {
 public:
  Caster(const CastAttrs& attrs, TensorBuilder& out) : a_(attrs), out_(out) {}

  void PutReal(int64_t i, double v) {
    if (a_.to == DType::kBool)
      out_.SetInt(i, v != 0 ? 1 : 0);
    else if (!IsFloat(a_.to))
      out_.SetInt(i, Truncated(v, a_.to));
    else if (a_.to == DType::kF8E8M0)
      reinterpret_cast<uint8_t*>(out_.data())[i] = PowerOfTwo(v, a_);
    else if (DTypeBits(a_.to) == 8)
      reinterpret_cast<uint8_t*>(out_.data())[i] =
          FloatToSmallFloat(a_.to, OddFloat(v), a_.saturate);
    else
      out_.SetDouble(i, DTypeBits(a_.to) < 32 ? static_cast<double>(OddFloat(v)) : v);
  }

  // `v` holds the bits of a u64 if `is_unsigned`.
  void PutInt(int64_t i, int64_t v, bool is_unsigned) {
    const bool negative = !is_unsigned && v < 0;
    if (a_.to == DType::kBool)
      out_.SetInt(i, v != 0 ? 1 : 0);
    else if (!IsFloat(a_.to))
      out_.SetInt(i, v);  // wraps to the width
    else if (a_.to == DType::kF32)
      out_.SetDouble(
          i, is_unsigned ? static_cast<float>(static_cast<uint64_t>(v)) : static_cast<float>(v));
    else if (a_.to == DType::kF64)
      out_.SetDouble(
          i, is_unsigned ? static_cast<double>(static_cast<uint64_t>(v)) : static_cast<double>(v));
    else
      PutReal(i, OddDouble(negative,
                           negative ? 0 - static_cast<uint64_t>(v) : static_cast<uint64_t>(v)));
  }

 private:
  const CastAttrs& a_;
  TensorBuilder& out_;
};

// ---- Strings

// from_chars knows no plus sign.
std::string_view WithoutPlus(std::string_view text) {
  return text.starts_with('+') && !text.starts_with("+-") ? text.substr(1) : text;
}

Result<double> ParseReal(std::string_view text) {
  const std::string_view digits = WithoutPlus(text);
  double v = 0;
  const auto [end, error] = FromChars(digits.data(), digits.data() + digits.size(), v);
  if (end != digits.data() + digits.size() || error == std::errc::invalid_argument)
    return ModelError("cast: {} is not a number", Quote(text));
  if (error == std::errc::result_out_of_range)
    return ModelError("cast: {} is out of range", Quote(text));
  return v;
}

Status FromStrings(const Tensor& x, const CastAttrs& a, TensorBuilder& out) {
  Caster cast(a, out);
  for (int64_t i = 0; i < x.elements(); ++i) {
    const std::string& text = x.strings()[static_cast<size_t>(i)];
    const std::string_view digits = WithoutPlus(text);
    const char* end = digits.data() + digits.size();
    // Integers have a path of their own: double cannot represent all of them.
    int64_t s = 0;
    uint64_t u = 0;
    float f = 0;
    if (IsInteger(a.to) && FromChars(digits.data(), end, s).ptr == end && !digits.empty()) {
      cast.PutInt(i, s, false);
    } else if (IsInteger(a.to) && FromChars(digits.data(), end, u).ptr == end && !digits.empty()) {
      cast.PutInt(i, static_cast<int64_t>(u), true);
    } else if (a.to == DType::kF32 && FromChars(digits.data(), end, f).ptr == end &&
               FromChars(digits.data(), end, f).ec == std::errc()) {
      out.SetDouble(i, f);
    } else {
      NN_ASSIGN(const double v, ParseReal(text));
      cast.PutReal(i, v);
    }
  }
  return {};
}

// The shortest plain decimal that reads back as the same number; whole numbers have all digits.
template <typename T>
std::string RealText(T v) {
  if (std::isnan(v)) return "NaN";
  if (std::isinf(v)) return v < 0 ? "-INF" : "INF";
  char buffer[512];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), v, std::chars_format::fixed).ptr;
  std::string text(buffer, end);
  if (text.find('.') == std::string::npos) text += ".0";
  return text;
}

// The same for types that are narrower than float: fewer digits identify their numbers.
Result<std::string> NarrowText(DType dtype, float v) {
  if (v == std::trunc(v)) return RealText(v);
  const CastAttrs a{.to = dtype};
  const auto stored = [&](double number) -> Result<Tensor> {
    NN_ASSIGN(TensorBuilder b, TensorBuilder::Create(dtype, {}));
    Caster(a, b).PutReal(0, number);
    return b.Finish();
  };
  NN_ASSIGN(const Tensor want, stored(v));
  for (int digits = 0; digits < std::numeric_limits<float>::max_digits10; ++digits) {
    char buffer[64];
    char* const end =
        std::to_chars(buffer, buffer + sizeof(buffer), v, std::chars_format::scientific, digits)
            .ptr;
    double rounded = 0;
    FromChars(buffer, end, rounded);
    NN_ASSIGN(const Tensor got, stored(rounded));
    if (got.Identical(want)) return RealText(rounded);
  }
  return RealText(v);
}

Result<Tensor> ToStrings(const Tensor& x) {
  std::vector<std::string> out(static_cast<size_t>(x.elements()));
  for (size_t i = 0; i < out.size(); ++i) {
    const auto k = static_cast<int64_t>(i);
    if (x.dtype() == DType::kF64) {
      out[i] = RealText(x.GetDouble(k));
    } else if (x.dtype() == DType::kF32) {
      out[i] = RealText(static_cast<float>(x.GetDouble(k)));
    } else if (IsFloat(x.dtype())) {
      NN_ASSIGN(out[i], NarrowText(x.dtype(), static_cast<float>(x.GetDouble(k))));
    } else {
      out[i] = x.dtype() == DType::kU64 ? fmt::format("{}", static_cast<uint64_t>(x.GetInt(k)))
                                        : fmt::format("{}", x.GetInt(k));
    }
  }
  return Tensor(x.dims(), std::move(out));
}

// ---- The operator

Status InferCast(InferContext& ctx) {
  const DType to = ctx.attrs<CastAttrs>().to;
  const Type& x = ctx.in(0);
  Type out;
  out.dtype = to;
  out.dims = x.dims;
  ctx.set_out(0, std::move(out));
  const auto elements = ctx.elements(0);
  if (!elements) return {};
  Dims kept;
  for (const Dim& d : *elements) {
    if (to == DType::kBool) {
      if (!d.is_const()) return {};
      kept.emplace_back(d.value() != 0 ? 1 : 0);
    } else {
      if (!IsInteger(to) || DTypeBits(to) < 32) return {};
      if (d.is_const() && (d.value() < MinInteger(to) || d.value() > MaxInteger(to))) return {};
      kept.push_back(d);
    }
  }
  ctx.set_out_elements(0, std::move(kept));
  return {};
}

// Element i of a list of floats or doubles, which need not be aligned.
double PartAt(const std::byte* data, bool wide, int64_t i) {
  if (wide) {
    double v = 0;
    std::memcpy(&v, data + i * 8, sizeof(v));
    return v;
  }
  float v = 0;
  std::memcpy(&v, data + i * 4, sizeof(v));
  return v;
}
void PutPart(std::byte* data, bool wide, int64_t i, double v) {
  if (wide) {
    std::memcpy(data + i * 8, &v, sizeof(v));
    return;
  }
  const auto narrow = static_cast<float>(v);
  std::memcpy(data + i * 4, &narrow, sizeof(narrow));
}

// A complex number becomes its real part, as in TensorFlow Lite; a real number becomes one without
// an imaginary part.
Status EvalComplexCast(EvalContext& ctx) {
  const auto& a = ctx.attrs<CastAttrs>();
  const Tensor& x = ctx.in(0);
  NN_ASSIGN(TensorBuilder out, ctx.NewOutput());
  const std::byte* from = x.blob().data();
  const bool from_wide = x.dtype() == DType::kC128;
  const bool to_wide = a.to == DType::kC128;
  Caster cast(a, out);
  for (int64_t i = 0; i < out.elements(); ++i) {
    if (!IsComplex(a.to)) {
      cast.PutReal(i, PartAt(from, from_wide, 2 * i));
      continue;
    }
    double real = 0, imaginary = 0;
    if (IsComplex(x.dtype())) {
      real = PartAt(from, from_wide, 2 * i);
      imaginary = PartAt(from, from_wide, 2 * i + 1);
    } else if (IsFloat(x.dtype())) {
      real = x.GetDouble(i);
    } else if (x.dtype() == DType::kU64) {
      const auto v = static_cast<uint64_t>(x.GetInt(i));
      real = to_wide ? static_cast<double>(v) : static_cast<double>(static_cast<float>(v));
    } else {
      const int64_t v = x.GetInt(i);
      real = to_wide ? static_cast<double>(v) : static_cast<double>(static_cast<float>(v));
    }
    PutPart(out.data(), to_wide, 2 * i, real);
    PutPart(out.data(), to_wide, 2 * i + 1, imaginary);
  }
  ctx.set_out(0, out.Finish());
  return {};
}

Status EvalCast(EvalContext& ctx) {
  const auto& a = ctx.attrs<CastAttrs>();
  const Tensor& x = ctx.in(0);
  const bool from_string = x.dtype() == DType::kString;
  const bool to_string = a.to == DType::kString;
  const auto refused = [](DType t) {
    return t == DType::kUnknown || t == DType::kBool || IsComplex(t);
  };
  if (a.to == DType::kUnknown || (from_string && refused(a.to)) ||
      (to_string && refused(x.dtype())))
    return UnsupportedError("a conversion of {} to {} is not supported", DTypeName(x.dtype()),
                            DTypeName(a.to));
  if (x.dtype() == a.to) {
    ctx.set_out(0, x);
    return {};
  }
  if (IsComplex(x.dtype()) || IsComplex(a.to)) return EvalComplexCast(ctx);
  if (to_string) {
    NN_ASSIGN(Tensor t, ToStrings(x));
    ctx.set_out(0, std::move(t));
    return {};
  }
  NN_ASSIGN(TensorBuilder out, ctx.NewOutput());
  if (from_string) {
    NN_RETURN_IF_ERROR(FromStrings(x, a, out));
  } else {
    Caster cast(a, out);
    const int64_t n = out.elements();
    if (IsFloat(x.dtype()))
      for (int64_t i = 0; i < n; ++i) cast.PutReal(i, x.GetDouble(i));
    else if (x.dtype() == DType::kBool)
      for (int64_t i = 0; i < n; ++i) cast.PutInt(i, x.GetInt(i) != 0 ? 1 : 0, false);
    else
      for (int64_t i = 0; i < n; ++i) cast.PutInt(i, x.GetInt(i), !IsSigned(x.dtype()));
  }
  ctx.set_out(0, out.Finish());
  return {};
}

// Floats are truncated and, except by the narrowest types, kept within the type; NaN becomes 0.
Interval CastRange(RangeContext& ctx, size_t) {
  const Interval x = ctx.in(0);
  const DType from = ctx.node().input(0)->dtype(), to = ctx.attrs<CastAttrs>().to;
  if (!IsFloat(from) || !IsInteger(to)) return x;
  const Interval y = Union({std::trunc(x.min), std::trunc(x.max)}, {0, 0});
  if (DTypeBits(to) < 8) return y;
  return Intersection(y,
                      {static_cast<double>(MinInteger(to)), static_cast<double>(MaxInteger(to))});
}

}  // namespace

void RegisterCastOps(OpRegistry& ops) {
  OpDef op;
  op.name = "cast";
  op.summary = "converts to another element type";
  op.category = Category::kMovement;
  op.quant_rule = QuantRule::kStored;
  op.converts = true;
  op.range = CastRange;
  op.attrs = AttrsInfoOf<CastAttrs>();
  op.inputs = {{"x", Arity::kRequired, Elements::kAny}};
  op.infer = InferCast;
  op.eval = EvalCast;
  op.change_axes = ChangeUnaryAxes;
  ops.Add(std::move(op));
}

}  // namespace nn
