// Comparisons, logic and bits.
#include <cmath>
#include <map>

#include "ops/families.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/math/elementwise/impl.h"
#include "ops/support/broadcast.h"
#include "ops/support/types.h"

namespace nn {
namespace {

// ---- Comparisons

struct CompareRow {
  std::string_view name;
  std::string_view summary;
  bool (*real)(double, double);
  bool (*s)(int64_t, int64_t);
  bool (*u)(uint64_t, uint64_t);
  bool ordered;  // needs an order; equality alone is defined for strings too
  std::vector<FormatName> formats;
};

template <typename F>
CompareRow Compare(std::string_view name, std::string_view summary, bool ordered,
                   std::vector<FormatName> formats) {
  return {name,
          summary,
          [](double a, double b) { return F()(a, b); },
          [](int64_t a, int64_t b) { return F()(a, b); },
          [](uint64_t a, uint64_t b) { return F()(a, b); },
          ordered,
          std::move(formats)};
}

const std::vector<CompareRow>& CompareRows() {
  static const std::vector<CompareRow> rows = {
      Compare<std::equal_to<>>(
          "equal", "a == b", false,
          {{"mil", "equal", 1, {}}, {"onnx", "Equal", 7, {}}, {"tflite", "EQUAL", 1, {}}}),
      Compare<std::not_equal_to<>>("not_equal", "a != b", false,
                                   {{"mil", "not_equal", 1, {}}, {"tflite", "NOT_EQUAL", 1, {}}}),
      Compare<std::less<>>(
          "less", "a < b", true,
          {{"mil", "less", 1, {}}, {"onnx", "Less", 7, {}}, {"tflite", "LESS", 1, {}}}),
      Compare<std::less_equal<>>("less_equal", "a <= b", true,
                                 {{"mil", "less_equal", 1, {}},
                                  {"onnx", "LessOrEqual", 12, {}},
                                  {"tflite", "LESS_EQUAL", 1, {}}}),
      Compare<std::greater<>>(
          "greater", "a > b", true,
          {{"mil", "greater", 1, {}}, {"onnx", "Greater", 7, {}}, {"tflite", "GREATER", 1, {}}}),
      Compare<std::greater_equal<>>("greater_equal", "a >= b", true,
                                    {{"mil", "greater_equal", 1, {}},
                                     {"onnx", "GreaterOrEqual", 12, {}},
                                     {"tflite", "GREATER_EQUAL", 1, {}}}),
  };
  return rows;
}

template <typename Row>
const Row& RowOf(const std::vector<Row>& rows, const Node& node) {
  for (const Row& row : rows)
    if (row.name == node.op_name()) return row;
  return rows.front();
}

// The result for a difference a - b, which may be an expression of known sign: a dimension is not
// -1.
std::optional<bool> KnownComparison(const CompareRow& row, const Dim& d) {
  if (!d.is_valid()) return std::nullopt;
  if (d.is_const()) return row.s(d.value(), 0);
  const bool negative = row.s(-1, 0), zero = row.s(0, 0), positive = row.s(1, 0);
  if ((d - Dim(1)).non_negative()) return positive;
  if ((Dim(-1) - d).non_negative()) return negative;
  if (d.non_negative() && zero == positive) return zero;
  if ((Dim(0) - d).non_negative() && zero == negative) return zero;
  return std::nullopt;
}

void InferCompareElements(InferContext& ctx) {
  const CompareRow& row = RowOf(CompareRows(), ctx.node());
  const auto a = ctx.elements(0);
  const auto b = ctx.elements(1);
  if (!a || !b || a->empty() || b->empty()) return;
  if (a->size() != b->size() && a->size() != 1 && b->size() != 1) return;
  Dims out;
  for (size_t i = 0; i < std::max(a->size(), b->size()); ++i) {
    const Dim d = (*a)[a->size() == 1 ? 0 : i] - (*b)[b->size() == 1 ? 0 : i];
    const auto known = KnownComparison(row, d);
    if (!known) return;
    out.emplace_back(*known ? 1 : 0);
  }
  ctx.set_out_elements(0, std::move(out));
}

Status InferCompare(InferContext& ctx) {
  NN_ASSIGN(const DType dtype, SameDType(ctx, {0, 1}));
  Type out;
  out.dtype = DType::kBool;
  NN_ASSIGN(out.dims, BroadcastInputs(ctx));
  const bool vector = out.dims && out.dims->size() <= 1 && IsInteger(dtype);
  ctx.set_out(0, std::move(out));
  if (vector) InferCompareElements(ctx);
  return {};
}

Status EvalCompare(EvalContext& ctx) {
  const CompareRow& row = RowOf(CompareRows(), ctx.node());
  const Tensor& a = ctx.in(0);
  const Tensor& b = ctx.in(1);
  if (IsQuantized(ctx)) return EvalQuantizedBinary(ctx);
  NN_ASSIGN(TensorBuilder out, ctx.NewOutput());
  const auto y = out.As<uint8_t>();
  const auto each = [&](auto test) {
    ForEachBroadcast<2>(out.dims(), {a.dims(), b.dims()}, [&](int64_t i, const auto& at) {
      y[static_cast<size_t>(i)] = test(at[0], at[1]) ? 1 : 0;
    });
  };
  if (IsFloat(a.dtype())) {
    each([&](int64_t i, int64_t k) { return row.real(a.GetDouble(i), b.GetDouble(k)); });
  } else if (IsSigned(a.dtype())) {
    each([&](int64_t i, int64_t k) { return row.s(a.GetInt(i), b.GetInt(k)); });
  } else if (a.dtype() == DType::kBool && !row.ordered) {
    each([&](int64_t i, int64_t k) { return row.s(a.GetInt(i) != 0, b.GetInt(k) != 0); });
  } else if (IsInteger(a.dtype())) {
    each([&](int64_t i, int64_t k) {
      return row.u(static_cast<uint64_t>(a.GetInt(i)), static_cast<uint64_t>(b.GetInt(k)));
    });
  } else if (a.dtype() == DType::kString && !row.ordered) {
    each([&](int64_t i, int64_t k) {
      const bool same = a.strings()[static_cast<size_t>(i)] == b.strings()[static_cast<size_t>(k)];
      return same == (row.name == "equal");
    });
  } else {
    return UnsupportedTypes(ctx);
  }
  ctx.set_out(0, out.Finish());
  return {};
}

// ---- Logic and bits

struct AndInt {
  template <typename T>
  static T Run(T a, T b, int) {
    return a & b;
  }
};
struct OrInt {
  template <typename T>
  static T Run(T a, T b, int) {
    return a | b;
  }
};
struct XorInt {
  template <typename T>
  static T Run(T a, T b, int) {
    return a ^ b;
  }
};
// A shift by at least the width of the type shifts everything out.
struct ShiftLeftInt {
  template <typename T>
  static T Run(T a, T b, int bits) {
    if (b < 0 || b >= static_cast<T>(bits)) return 0;
    return static_cast<T>(static_cast<uint64_t>(a) << b);
  }
};
// Arithmetic shift for signed types. Amounts are clamped to [0, bits - 1] (TensorFlow Lite,
// right_shift.cc; ONNX leaves other amounts undefined).
struct ShiftRightInt {
  template <typename T>
  static T Run(T a, T b, int bits) {
    const T last = static_cast<T>(bits - 1);
    return static_cast<T>(a >> (b < 0 ? T(0) : b > last ? last : b));
  }
};

struct BitsRow {
  std::string_view name;
  std::string_view summary;
  Elements types;
  IntegerBinary fn;
  std::vector<FormatName> formats;
};

const std::vector<BitsRow>& BitsRows() {
  static const std::vector<BitsRow> rows = {
      {"and",
       "both",
       Elements::kBool,
       IntegersOf2<AndInt>(),
       {{"mil", "logical_and", 1, {}}, {"onnx", "And", 7, {}}, {"tflite", "LOGICAL_AND", 1, {}}}},
      {"or",
       "either",
       Elements::kBool,
       IntegersOf2<OrInt>(),
       {{"mil", "logical_or", 1, {}}, {"onnx", "Or", 7, {}}, {"tflite", "LOGICAL_OR", 1, {}}}},
      {"xor",
       "exactly one of a and b",
       Elements::kBool,
       IntegersOf2<XorInt>(),
       {{"mil", "logical_xor", 1, {}}, {"onnx", "Xor", 7, {}}}},
      {"bitwise_and",
       "a & b",
       Elements::kIntegers,
       IntegersOf2<AndInt>(),
       {{"onnx", "BitwiseAnd", 18, {}}}},
      {"bitwise_or",
       "a | b",
       Elements::kIntegers,
       IntegersOf2<OrInt>(),
       {{"onnx", "BitwiseOr", 18, {}}}},
      {"bitwise_xor",
       "a ^ b",
       Elements::kIntegers | Elements::kBool,
       IntegersOf2<XorInt>(),
       {{"onnx", "BitwiseXor", 18, {}}, {"tflite", "BITWISE_XOR", 1, {}}}},
      {"shift_left", "a << b", Elements::kIntegers, IntegersOf2<ShiftLeftInt>(), {}},
      {"shift_right",
       "a >> b",
       Elements::kIntegers,
       IntegersOf2<ShiftRightInt>(),
       {{"tflite", "RIGHT_SHIFT", 1, {}}}},
  };
  return rows;
}

Status InferBits(InferContext& ctx) {
  const BitsRow& row = RowOf(BitsRows(), ctx.node());
  NN_ASSIGN(const DType dtype, SameDType(ctx, {0, 1}));
  if (!row.types.Has(dtype))
    return ModelError("{} of {} is not defined", row.name, DTypeName(dtype));
  Type out;
  out.dtype = dtype;
  NN_ASSIGN(out.dims, BroadcastInputs(ctx));
  ctx.set_out(0, std::move(out));
  return {};
}

Status EvalBits(EvalContext& ctx) {
  const BitsRow& row = RowOf(BitsRows(), ctx.node());
  const Tensor& a = ctx.in(0);
  const Tensor& b = ctx.in(1);
  NN_ASSIGN(TensorBuilder out, ctx.NewOutput());
  const int bits = DTypeBits(a.dtype());
  const bool is_signed = IsSigned(a.dtype());
  const bool logical = a.dtype() == DType::kBool;
  ForEachBroadcast<2>(out.dims(), {a.dims(), b.dims()}, [&](int64_t i, const auto& at) {
    // Any nonzero byte is true.
    const int64_t x = logical ? a.GetInt(at[0]) != 0 : a.GetInt(at[0]);
    const int64_t y = logical ? b.GetInt(at[1]) != 0 : b.GetInt(at[1]);
    out.SetInt(i, is_signed ? row.fn.s(x, y, bits)
                            : static_cast<int64_t>(row.fn.u(static_cast<uint64_t>(x),
                                                            static_cast<uint64_t>(y), bits)));
  });
  ctx.set_out(0, out.Finish());
  return {};
}

// ---- One operand

Status InferNot(InferContext& ctx) {
  const DType dtype = ctx.in(0).dtype;
  if (!ctx.node().op().inputs[0].elements.Has(dtype))
    return ModelError("{} of {} is not defined", ctx.node().op_name(), DTypeName(dtype));
  NN_RETURN_IF_ERROR(InferSameType(ctx));
  if (const auto elements = ctx.elements(0); elements && dtype == DType::kBool) {
    Dims out;
    for (const Dim& d : *elements) out.push_back(Dim(1) - d);
    ctx.set_out_elements(0, std::move(out));
  }
  return {};
}

Status EvalNot(EvalContext& ctx) {
  const Tensor& x = ctx.in(0);
  NN_ASSIGN(TensorBuilder out, ctx.NewOutput());
  const bool logical = x.dtype() == DType::kBool;
  for (int64_t i = 0; i < out.elements(); ++i) {
    const int64_t v = x.GetInt(i);
    out.SetInt(i, logical ? static_cast<int64_t>(v == 0) : ~v);
  }
  ctx.set_out(0, out.Finish());
  return {};
}

Status InferTest(InferContext& ctx) {
  const DType dtype = ctx.in(0).dtype;
  if (dtype != DType::kUnknown && !IsFloat(dtype))
    return ModelError("{} of {} is not defined; the input must be floating-point",
                      ctx.node().op_name(), DTypeName(dtype));
  Type out = ctx.in(0);
  out.dtype = DType::kBool;
  out.quant = nullptr;
  ctx.set_out(0, std::move(out));
  return {};
}

template <typename Test>
Status EvalTest(EvalContext& ctx, const Test& test) {
  const Tensor& x = ctx.in(0);
  NN_ASSIGN(TensorBuilder out, ctx.NewOutput());
  for (int64_t i = 0; i < out.elements(); ++i) out.SetInt(i, test(x.GetDouble(i)) ? 1 : 0);
  ctx.set_out(0, out.Finish());
  return {};
}

Status EvalIsNan(EvalContext& ctx) {
  return EvalTest(ctx, [](double v) { return std::isnan(v); });
}

Status EvalIsInf(EvalContext& ctx) {
  const auto& a = ctx.attrs<IsInfAttrs>();
  return EvalTest(ctx, [&a](double v) {
    return std::isinf(v) && (v > 0 ? a.detect_positive : a.detect_negative);
  });
}

OpDef UnaryOp(std::string_view name, std::string_view summary, Elements types,
              Status (*infer)(InferContext&), Status (*eval)(EvalContext&),
              std::vector<FormatName> formats) {
  OpDef op;
  op.name = name;
  op.summary = summary;
  op.category = Category::kArithmetic;
  op.inputs = {{"x", Arity::kRequired, types}};
  op.infer = infer;
  op.eval = eval;
  op.change_axes = ChangeUnaryAxes;
  op.formats = std::move(formats);
  return op;
}

OpDef BinaryOp(std::string_view name, std::string_view summary, Elements types,
               Status (*infer)(InferContext&), Status (*eval)(EvalContext&),
               std::vector<FormatName> formats) {
  OpDef op = UnaryOp(name, summary, types, infer, eval, std::move(formats));
  op.inputs = {{"a", Arity::kRequired, types}, {"b", Arity::kRequired, types}};
  op.change_axes = ChangeBroadcastAxes;
  return op;
}

}  // namespace

void RegisterLogicOps(OpRegistry& ops) {
  for (const CompareRow& row : CompareRows()) {
    const Elements ordered = Elements::kIntegers | Elements::kFloats;
    const Elements types =
        row.ordered ? ordered : ordered | Elements::kBool | Elements{DType::kString};
    OpDef op = BinaryOp(row.name, row.summary, types, InferCompare, EvalCompare, row.formats);
    op.quant_rule = QuantRule::kElementwise;
    op.wraps_integers = true;
    ops.Add(std::move(op));
  }
  for (const BitsRow& row : BitsRows())
    ops.Add(BinaryOp(row.name, row.summary, row.types, InferBits, EvalBits, row.formats));
  ops.Add(UnaryOp(
      "not", "logical not", Elements::kBool, InferNot, EvalNot,
      {{"mil", "logical_not", 1, {}}, {"onnx", "Not", 1, {}}, {"tflite", "LOGICAL_NOT", 1, {}}}));
  ops.Add(UnaryOp("bitwise_not", "inverts every bit", Elements::kIntegers, InferNot, EvalNot,
                  {{"onnx", "BitwiseNot", 18, {}}}));
  ops.Add(UnaryOp("is_nan", "whether x is NaN", Elements::kFloats, InferTest, EvalIsNan,
                  {{"onnx", "IsNaN", 9, {}}}));
  OpDef is_inf =
      UnaryOp("is_inf", "whether x is infinite", Elements::kFloats, InferTest, EvalIsInf,
              {{"onnx",
                "IsInf",
                10,
                {{"detect_negative", "detect_negative"}, {"detect_positive", "detect_positive"}}}});
  is_inf.attrs = AttrsInfoOf<IsInfAttrs>();
  ops.Add(std::move(is_inf));
}

}  // namespace nn
