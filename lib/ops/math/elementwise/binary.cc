// Arithmetic on two broadcast operands.
#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "numeric/double_functions.h"
#include "numeric/functions-inl.h"
#include "numeric/functions.h"
#include "numeric/scalar.h"
#include "ops/families.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/math/elementwise/impl.h"
#include "ops/support/broadcast.h"
#include "ops/support/types.h"

namespace nn {
namespace {

using BinaryFloat = float (*)(float, float);

// std::fmod is exact, so it is the same everywhere.
float FmodF32(float a, float b) {
  return std::fmod(a, b);
}
double FmodF64(double a, double b) {
  return std::fmod(a, b);
}

// The remainder of a division that rounds down: it has the sign of b.
template <typename T>
T FloorMod(T a, T b) {
  const T r = std::fmod(a, b);
  return r != 0 && (b < 0) != (r < 0) ? r + b : r;
}

// The quotient in double is close enough to the exact one for its floor to be right after rounding
// to float32 (TensorFlow Lite, reference/floor_div.h, computes the same).
float FloorDivF32(float a, float b) {
  return static_cast<float>(std::floor(static_cast<double>(a) / static_cast<double>(b)));
}

const std::map<std::string_view, BinaryFloat>& BinaryFloats() {
  static const std::map<std::string_view, BinaryFloat> table = {
#define NN_ROW(name, fn) {name, &scalar::fn<ScalarMachine>::Run},
      NN_BINARY_FUNCTIONS(NN_ROW)
#undef NN_ROW
          {"floor_div", FloorDivF32},
      {"mod", FloorMod<float>},
      {"fmod", FmodF32},
  };
  return table;
}

// ---- Shape arithmetic
// A quotient of expressions is assumed to have non-negative operands, so that truncation and floor
// agree. nullopt: unknown.

using MaybeDim = std::optional<Dim>;

MaybeDim AddDims(const Dim& a, const Dim& b) {
  return a + b;
}
MaybeDim SubDims(const Dim& a, const Dim& b) {
  return a - b;
}
MaybeDim MulDims(const Dim& a, const Dim& b) {
  return a * b;
}
MaybeDim SmallerDims(const Dim& a, const Dim& b) {
  return Dim::Min(a, b);
}
MaybeDim LargerDims(const Dim& a, const Dim& b) {
  return Dim::Max(a, b);
}
MaybeDim FloorDivDims(const Dim& a, const Dim& b) {
  return b == 0 ? std::nullopt : MaybeDim(Dim::FloorDiv(a, b));
}
MaybeDim ModDims(const Dim& a, const Dim& b) {
  return b == 0 ? std::nullopt : MaybeDim(Dim::Mod(a, b));
}
MaybeDim DivDims(const Dim& a, const Dim& b) {
  if (b == 0 || !a.is_const() || !b.is_const()) return FloorDivDims(a, b);
  return Dim(DivInt::Run(a.value(), b.value(), 64));
}
MaybeDim FmodDims(const Dim& a, const Dim& b) {
  if (b == 0 || !a.is_const() || !b.is_const()) return ModDims(a, b);
  return Dim(FmodInt::Run(a.value(), b.value(), 64));
}
MaybeDim PowDims(const Dim& a, const Dim& b) {
  if (b == 0 || !a.is_const() || !b.is_const()) return std::nullopt;
  return Dim(PowInt::Run(a.value(), b.value(), 64));
}

struct BinaryFacts {
  Interval (*range)(RangeContext&, size_t) = nullptr;
  MaybeDim (*dim)(const Dim& a, const Dim& b) = nullptr;
  bool commutes = false;
  bool shares_unit = false;
  std::optional<Selection> selects = std::nullopt;
};

Status InferBinary(InferContext& ctx);
Status InferPow(InferContext& ctx);
Status InferPrelu(InferContext& ctx);
Status EvalBinary(EvalContext& ctx);
Status EvalPow(EvalContext& ctx);

struct BinaryRow {
  std::string_view name;
  std::string_view summary;
  bool keeps_integers;
  BinaryFacts facts;
  double (*f64)(double, double);
  IntegerBinary integer;
  std::vector<FormatName> formats;
  Category category = Category::kArithmetic;
  Status (*infer)(InferContext&) = InferBinary;
  Status (*eval)(EvalContext&) = EvalBinary;
};

const std::vector<BinaryRow>& BinaryRows() {
  constexpr bool keeps = true, rounds = false;  // integers
  constexpr bool commutes = true, shares_unit = true;
  static constexpr Selection selects = {.inputs = 0b11, .by_value = true};
  static const std::vector<BinaryRow> rows = {
      {"add",
       "a + b",
       keeps,
       BinaryFacts{AddRange, AddDims, commutes, shares_unit},
       [](double a, double b) { return a + b; },
       IntegersOf2<AddInt>(),
       {{"mil", "add", 1, {}}, {"onnx", "Add", 7, {}}, {"coreml", "addBroadcastable", 1, {}}}},
      {"sub",
       "a - b",
       keeps,
       BinaryFacts{SubRange, SubDims, !commutes, shares_unit},
       [](double a, double b) { return a - b; },
       IntegersOf2<SubInt>(),
       {{"mil", "sub", 1, {}}, {"onnx", "Sub", 7, {}}, {"coreml", "subtractBroadcastable", 1, {}}}},
      {"mul",
       "a * b",
       keeps,
       BinaryFacts{MulRange, MulDims, commutes},
       [](double a, double b) { return a * b; },
       IntegersOf2<MulInt>(),
       {{"mil", "mul", 1, {}}, {"onnx", "Mul", 7, {}}, {"coreml", "multiplyBroadcastable", 1, {}}}},
      {"div",
       "a / b; rounded toward zero for integers",
       rounds,
       BinaryFacts{DivRange, DivDims},
       [](double a, double b) { return a / b; },
       IntegersOf2<DivInt>(),
       {{"onnx", "Div", 7, {}}, {"coreml", "divideBroadcastable", 1, {}}}},
      {"floor_div",
       "a / b, rounded down",
       keeps,
       BinaryFacts{FloorDivRange, FloorDivDims},
       [](double a, double b) { return std::floor(a / b); },
       IntegersOf2<FloorDivInt>(),
       {{"mil", "floor_div", 1, {}},
        {"tflite", "FLOOR_DIV", 1, {}},
        {"coreml", "floorDivBroadcastable", 1, {}}}},
      {"mod",
       "the remainder of a / b rounded down, with the sign of b",
       keeps,
       BinaryFacts{ModRange, ModDims},
       FloorMod<double>,
       IntegersOf2<ModInt>(),
       {{"mil", "mod", 1, {}},
        {"tflite", "FLOOR_MOD", 1, {}},
        {"coreml", "modBroadcastable", 1, {}}}},
      {"fmod",
       "the remainder of a / b rounded toward zero, with the sign of a",
       keeps,
       BinaryFacts{FmodRange, FmodDims},
       FmodF64,
       IntegersOf2<FmodInt>(),
       {}},
      {"pow",
       "a to the power b",
       rounds,
       BinaryFacts{PowRange, PowDims},
       float64::Pow,
       IntegersOf2<PowInt>(),
       {{"mil", "pow", 1, {}},
        {"onnx", "Pow", 7, {}},
        {"tflite", "POW", 1, {}},
        {"coreml", "powBroadcastable", 1, {}}},
       Category::kArithmetic,
       InferPow,
       EvalPow},
      {"minimum",
       "the smaller of a and b",
       keeps,
       BinaryFacts{SmallerRange, SmallerDims, commutes, shares_unit, selects},
       [](double a, double b) { return a != a || a < b ? a : b; },
       IntegersOf2<MinimumInt>(),
       {{"mil", "minimum", 1, {}},
        {"onnx", "Min", 8, {}},
        {"tflite", "MINIMUM", 1, {}},
        {"coreml", "minBroadcastable", 1, {}}}},
      {"maximum",
       "the larger of a and b",
       keeps,
       BinaryFacts{LargerRange, LargerDims, commutes, shares_unit, selects},
       [](double a, double b) { return a != a || a > b ? a : b; },
       IntegersOf2<MaximumInt>(),
       {{"mil", "maximum", 1, {}},
        {"onnx", "Max", 8, {}},
        {"tflite", "MAXIMUM", 1, {}},
        {"coreml", "maxBroadcastable", 1, {}}}},
      {"atan2",
       "the angle of the point (b, a)",
       rounds,
       BinaryFacts{Atan2Range},
       float64::Atan2,
       {},
       {{"tflite", "ATAN2", 1, {}}}},
      {"log_add_exp",
       "log(e^a + e^b)",
       rounds,
       BinaryFacts{nullptr, nullptr, commutes},
       [](double a, double b) {
         if (a == b) return a + std::numbers::ln2;
         return std::max(a, b) + float64::Log1p(float64::Exp(-std::fabs(a - b)));
       },
       {},
       {}},
      {"squared_difference",
       "(a - b)^2",
       keeps,
       BinaryFacts{SquaredDifferenceRange, nullptr, commutes},
       [](double a, double b) { return (a - b) * (a - b); },
       IntegersOf2<SquaredDifferenceInt>(),
       {{"tflite", "SQUARED_DIFFERENCE", 1, {}}}},
      {"prelu",
       "a < 0 ? a * b : a; b is broadcast to the shape of a",
       keeps,
       BinaryFacts{PreluRange},
       [](double a, double b) { return a < 0 ? a * b : a; },
       IntegersOf2<PreluInt>(),
       {{"onnx", "PRelu", 7, {}}, {"tflite", "PRELU", 1, {}}},
       Category::kActivation,
       InferPrelu},
  };
  return rows;
}

const BinaryRow& BinaryRowOf(const Node& node) {
  static const auto index = [] {
    std::map<std::string_view, const BinaryRow*> m;
    for (const BinaryRow& row : BinaryRows()) m[row.name] = &row;
    return m;
  }();
  return *index.at(node.op_name());
}

void InferArithmetic(InferContext& ctx) {
  const auto a = ctx.elements(0);
  const auto b = ctx.elements(1);
  if (!a || !b || a->empty() || b->empty()) return;
  if (a->size() != b->size() && a->size() != 1 && b->size() != 1) return;
  const auto dim = BinaryRowOf(ctx.node()).facts.dim;
  if (dim == nullptr) return;
  Dims out;
  for (size_t i = 0; i < std::max(a->size(), b->size()); ++i) {
    const auto d = dim((*a)[a->size() == 1 ? 0 : i], (*b)[b->size() == 1 ? 0 : i]);
    if (!d || !d->is_valid()) return;
    out.push_back(*d);
  }
  ctx.set_out_elements(0, std::move(out));
}

Status InferTyped(InferContext& ctx, DType dtype) {
  Type out;
  out.dtype = dtype;
  NN_ASSIGN(out.dims, BroadcastInputs(ctx));
  const bool vector = out.dims && out.dims->size() <= 1 && IsInteger(dtype);
  ctx.set_out(0, std::move(out));
  if (vector) InferArithmetic(ctx);
  return {};
}

Status InferBinary(InferContext& ctx) {
  NN_ASSIGN(const DType dtype, SameDType(ctx, {0, 1}));
  return InferTyped(ctx, dtype);
}

// The exponent may have a different type (ONNX).
Status InferPow(InferContext& ctx) {
  return InferTyped(ctx, ctx.in(0).dtype);
}

// The slope of a quantized input may have a different type (TensorFlow Lite uses i8 for i16).
Status InferPrelu(InferContext& ctx) {
  DType dtype = ctx.in(0).dtype;
  if (!ctx.in(0).quantized()) {
    NN_ASSIGN(dtype, SameDType(ctx, {0, 1}));
  }
  NN_RETURN_IF_ERROR(InferTyped(ctx, dtype));
  if (!ctx.in(0).ranked()) return {};
  const Dims& x = *ctx.in(0).dims;
  const Type& out = ctx.node().output()->type();
  if (out.dims && out.dims->size() != x.size())
    return ModelError("the slope {} has more axes than the input {}", ctx.in(1).ToString(),
                      ctx.in(0).ToString());
  if (!Compatible(Type(dtype, x), out))
    return ModelError("the slope {} does not broadcast to the input {}", ctx.in(1).ToString(),
                      ctx.in(0).ToString());
  return {};
}

// x to the power of element i of b. Rounding an integer to float64 must not make it even.
double Float64Pow(double x, const Tensor& b, int64_t i) {
  const bool whole = IsInteger(b.dtype());
  double y = b.GetDouble(i);
  if (whole)
    y = b.dtype() == DType::kU64 ? static_cast<double>(static_cast<uint64_t>(b.GetInt(i)))
                                 : static_cast<double>(b.GetInt(i));
  if (!whole || !std::signbit(x)) return float64::Pow(x, y);
  const double r = float64::Pow(-x, y);
  return (b.GetInt(i) & 1) != 0 ? -r : r;
}

// The real power of an integer, truncated and cut to the type; NaN gives 0. What rounding leaves
// just below a whole number is that number.
int64_t WholePow(int64_t x, double y, DType to) {
  const double base =
      to == DType::kU64 ? static_cast<double>(static_cast<uint64_t>(x)) : static_cast<double>(x);
  double v = float64::Pow(base, y);
  const double near = std::nearbyint(v);
  if (std::fabs(v - near) <= std::fabs(near) * 0x1p-48) v = near;
  if (std::isnan(v)) return 0;
  if (to == DType::kU64 && v >= 0x1p63)
    return static_cast<int64_t>(v >= 0x1p64 ? ~uint64_t{0} : static_cast<uint64_t>(v));
  if (v <= static_cast<double>(MinInteger(to))) return MinInteger(to);
  return v >= static_cast<double>(MaxInteger(to)) ? MaxInteger(to) : static_cast<int64_t>(v);
}

// float a and integer b: the power of real numbers. Integer a and float b: the power of
// real numbers unless b is whole.
Status EvalMixedPow(EvalContext& ctx) {
  const Tensor& a = ctx.in(0);
  const Tensor& b = ctx.in(1);
  NN_ASSIGN(TensorBuilder out, ctx.NewOutput());
  const auto each = [&](auto fn) { ForEachBroadcast<2>(out.dims(), {a.dims(), b.dims()}, fn); };
  if (a.dtype() == DType::kF64) {
    each([&](int64_t i, const auto& at) {
      out.SetDouble(i, Float64Pow(a.GetDouble(at[0]), b, at[1]));
    });
    ctx.set_out(0, out.Finish());
    return {};
  }
  if (IsFloat(a.dtype())) {
    const bool whole = IsInteger(b.dtype());
    each([&](int64_t i, const auto& at) {
      const auto x = static_cast<float>(a.GetDouble(at[0]));
      const auto y = static_cast<float>(b.GetDouble(at[1]));
      float r = scalar::PowFn<ScalarMachine>::Run(x, y);
      // Rounding to float32 must not make an odd exponent even.
      if (whole && std::signbit(x)) {
        r = scalar::PowFn<ScalarMachine>::Run(-x, y);
        if ((b.GetInt(at[1]) & 1) != 0) r = -r;
      }
      out.SetDouble(i, r);
    });
    ctx.set_out(0, out.Finish());
    return {};
  }
  const IntegerBinary fn = IntegersOf2<PowInt>();
  each([&](int64_t i, const auto& at) {
    const int64_t x = a.GetInt(at[0]);
    if (!IsFloat(b.dtype())) {
      out.SetInt(i, fn.s(x, b.GetInt(at[1]), 64));
      return;
    }
    const double y = b.GetDouble(at[1]);
    const bool whole = y == std::floor(y) && std::fabs(y) < 0x1p63;
    out.SetInt(i, whole ? fn.s(x, static_cast<int64_t>(y), 64) : WholePow(x, y, a.dtype()));
  });
  ctx.set_out(0, out.Finish());
  return {};
}

Status EvalPow(EvalContext& ctx) {
  const bool mixed = !IsQuantized(ctx) && ctx.in(0).dtype() != ctx.in(1).dtype();
  return mixed ? EvalMixedPow(ctx) : EvalBinary(ctx);
}

Status EvalBinary(EvalContext& ctx) {
  const BinaryRow& row = BinaryRowOf(ctx.node());
  if (IsQuantized(ctx)) return EvalQuantizedBinary(ctx);
  const Tensor& a = ctx.in(0);
  const Tensor& b = ctx.in(1);
  NN_ASSIGN(TensorBuilder out, ctx.NewOutput());
  const auto each = [&](auto fn) { ForEachBroadcast<2>(out.dims(), {a.dims(), b.dims()}, fn); };
  const BinaryFloat f32 = BinaryFloats().at(row.name);
  const int bits = DTypeBits(a.dtype());
  if (a.dtype() == DType::kF32) {
    const auto x = a.As<float>();
    const auto y = b.As<float>();
    const auto z = out.As<float>();
    each([&](int64_t i, const auto& at) {
      z[static_cast<size_t>(i)] = f32(x[static_cast<size_t>(at[0])], y[static_cast<size_t>(at[1])]);
    });
  } else if (a.dtype() == DType::kF16 || a.dtype() == DType::kBF16) {
    each([&](int64_t i, const auto& at) {
      out.SetDouble(
          i, f32(static_cast<float>(a.GetDouble(at[0])), static_cast<float>(b.GetDouble(at[1]))));
    });
  } else if (a.dtype() == DType::kF64 && row.f64 != nullptr) {
    each([&](int64_t i, const auto& at) {
      out.SetDouble(i, row.f64(a.GetDouble(at[0]), b.GetDouble(at[1])));
    });
  } else if (IsSigned(a.dtype()) && row.integer.s != nullptr) {
    each([&](int64_t i, const auto& at) {
      out.SetInt(i, row.integer.s(a.GetInt(at[0]), b.GetInt(at[1]), bits));
    });
  } else if (IsInteger(a.dtype()) && row.integer.u != nullptr) {
    each([&](int64_t i, const auto& at) {
      out.SetInt(i,
                 static_cast<int64_t>(row.integer.u(static_cast<uint64_t>(a.GetInt(at[0])),
                                                    static_cast<uint64_t>(b.GetInt(at[1])), bits)));
    });
  } else {
    return UnsupportedTypes(ctx);
  }
  ctx.set_out(0, out.Finish());
  return {};
}

}  // namespace

void RegisterBinaryOps(OpRegistry& ops) {
  for (const BinaryRow& row : BinaryRows()) {
    OpDef op;
    op.name = row.name;
    op.summary = row.summary;
    op.category = row.category;
    op.quant_rule = QuantRule::kElementwise;
    op.keeps_integers = row.keeps_integers;
    op.exact_integers = row.keeps_integers;
    op.commutes = row.facts.commutes;
    op.shares_unit = row.facts.shares_unit;
    op.selects = row.facts.selects;
    op.range = row.facts.range;
    op.wraps_integers = row.integer.s != nullptr;
    const Elements types =
        row.integer.s != nullptr ? Elements::kReals | Elements::kIntegers : Elements::kReals;
    op.inputs = {{"a", Arity::kRequired, types}, {"b", Arity::kRequired, types}};
    op.infer = row.infer;
    op.eval = row.eval;
    op.change_axes = ChangeBroadcastAxes;
    op.formats = row.formats;
    ops.Add(std::move(op));
  }
}

}  // namespace nn
