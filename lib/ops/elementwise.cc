#include "ops/elementwise.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "ir/op_def.h"
#include "ops/functions-inl.h"
#include "ops/functions.h"
#include "ops/ops.h"
#include "ops/requant.h"
#include "ops/scalar.h"
#include "ops/types.h"

namespace nn {

std::span<const AttrField> ClipAttrs::Fields() {
  static const AttrField fields[] = {Field<&ClipAttrs::min>("min"), Field<&ClipAttrs::max>("max")};
  return fields;
}
std::span<const AttrField> LeakyReluAttrs::Fields() {
  static const AttrField fields[] = {Field<&LeakyReluAttrs::alpha>("alpha")};
  return fields;
}
std::span<const AttrField> HardSigmoidAttrs::Fields() {
  static const AttrField fields[] = {Field<&HardSigmoidAttrs::alpha>("alpha"),
                                     Field<&HardSigmoidAttrs::beta>("beta")};
  return fields;
}

FunctionParams ParamsOf(const Node& node) {
  FunctionParams p{};
  size_t i = 0;
  for (const AttrField& field : node.attrs().info().fields)
    if (const AttrValue v = node.attrs().Get(field); std::holds_alternative<float>(v))
      p[i++] = std::get<float>(v);
  return p;
}

namespace {

using UnaryFloat = float (*)(float, const FunctionParams&);
using BinaryFloat = float (*)(float, float);

const std::map<std::string_view, UnaryFloat>& UnaryTable() {
  static const std::map<std::string_view, UnaryFloat> table = {
#define NN_ROW(name, fn) {name, &scalar::fn<ScalarMachine>::Run},
      NN_UNARY_FUNCTIONS(NN_ROW)
#undef NN_ROW
  };
  return table;
}

const std::map<std::string_view, BinaryFloat>& BinaryTable() {
  static const std::map<std::string_view, BinaryFloat> table = {
#define NN_ROW(name, fn) {name, &scalar::fn<ScalarMachine>::Run},
      NN_BINARY_FUNCTIONS(NN_ROW)
#undef NN_ROW
  };
  return table;
}

// ---- Other element types -------------------------------------------------------------------------
// f16 and bf16 are computed in float32 and rounded. f64 and integers have their own definitions,
// for the operators that are exact there.

struct UnaryRow {
  std::string_view name;
  std::string_view summary;
  const AttrsInfo* attrs;
  double (*f64)(double, const FunctionParams&);
  int64_t (*integer)(int64_t, const FunctionParams&);
  // For quantised types: the bounds in integers that the function clamps to.
  void (*quant_bounds)(const FunctionParams&, const Quant&, int64_t& low, int64_t& high);
  std::vector<FormatName> formats;
};

int64_t WrapNeg(int64_t v) { return static_cast<int64_t>(0 - static_cast<uint64_t>(v)); }

void ReluBounds(const FunctionParams&, const Quant& q, int64_t& low, int64_t&) {
  low = std::max<int64_t>(low, QuantizeBound(0, q.scale(), q.zero_point()));
}

void ClipBounds(const FunctionParams& p, const Quant& q, int64_t& low, int64_t& high) {
  if (std::isfinite(p[0]))
    low = std::max<int64_t>(low, QuantizeBound(p[0], q.scale(), q.zero_point()));
  if (std::isfinite(p[1]))
    high = std::min<int64_t>(high, QuantizeBound(p[1], q.scale(), q.zero_point()));
}

const std::vector<UnaryRow>& UnaryRows() {
  using P = const FunctionParams&;
  static const AttrsInfo* const none = AttrsInfoOf<NoAttrs>();
  static const std::vector<UnaryRow> rows = {
      {"abs", "|x|", none, [](double x, P) { return std::fabs(x); },
       [](int64_t x, P) { return x < 0 ? WrapNeg(x) : x; }, nullptr,
       {{"onnx", "Abs", 1, {}}, {"tflite", "ABS", 1, {}}, {"coreml", "unary.ABS", 1, {}}}},
      {"neg", "-x", none, [](double x, P) { return -x; }, [](int64_t x, P) { return WrapNeg(x); },
       nullptr, {{"onnx", "Neg", 1, {}}, {"tflite", "NEG", 1, {}}}},
      {"relu", "max(0, x)", none, [](double x, P) { return 0.0 > x ? 0.0 : x; },
       [](int64_t x, P) { return std::max<int64_t>(0, x); }, ReluBounds,
       {{"onnx", "Relu", 1, {}},
        {"tflite", "RELU", 1, {}},
        {"coreml", "activation.ReLU", 1, {}},
        {"nnapi", "RELU", 1, {}}}},
      {"clip", "min(max, max(min, x))", AttrsInfoOf<ClipAttrs>(), nullptr, nullptr, ClipBounds, {}},
      {"leaky_relu", "x < 0 ? alpha * x : x", AttrsInfoOf<LeakyReluAttrs>(), nullptr, nullptr,
       nullptr,
       {{"onnx", "LeakyRelu", 1, {{"alpha", "alpha"}}},
        {"tflite", "LEAKY_RELU", 1, {{"alpha", "alpha"}}},
        {"coreml", "activation.leakyReLU", 1, {{"alpha", "alpha"}}}}},
      {"hard_sigmoid", "max(0, min(1, alpha * x + beta))", AttrsInfoOf<HardSigmoidAttrs>(),
       nullptr, nullptr, nullptr,
       {{"onnx", "HardSigmoid", 1, {{"alpha", "alpha"}, {"beta", "beta"}}},
        {"coreml", "activation.sigmoidHard", 1, {{"alpha", "alpha"}, {"beta", "beta"}}}}},
      {"hard_swish", "x * max(0, min(1, x / 6 + 0.5))", none, nullptr, nullptr, nullptr,
       {{"onnx", "HardSwish", 14, {}}, {"tflite", "HARD_SWISH", 1, {}}}},
      {"exp", "e to the x", none, nullptr, nullptr, nullptr,
       {{"onnx", "Exp", 1, {}}, {"tflite", "EXP", 1, {}}, {"coreml", "unary.EXP", 1, {}}}},
      {"sqrt", "square root", none, [](double x, P) { return std::sqrt(x); }, nullptr, nullptr,
       {{"onnx", "Sqrt", 1, {}}, {"tflite", "SQRT", 1, {}}, {"coreml", "unary.SQRT", 1, {}}}},
  };
  return rows;
}

const UnaryRow& RowOf(const Node& node) {
  static const auto index = [] {
    std::map<std::string_view, const UnaryRow*> m;
    for (const UnaryRow& row : UnaryRows()) m[row.name] = &row;
    return m;
  }();
  return *index.at(node.op_name());
}

Status InferUnary(InferContext& ctx) {
  ctx.set_out(0, ctx.in(0).dims ? Type(ctx.in(0).dtype, *ctx.in(0).dims) : Type());
  return {};
}

std::optional<AxesChange> ChangeUnaryAxes(const Node& node, Operand changed, const AxisMap& map) {
  return AxesChange{node.attrs(), {{Operand{!changed.is_output, 0}, map}}};
}

Status EvalUnary(EvalContext& ctx) {
  const UnaryRow& row = RowOf(ctx.node());
  const FunctionParams params = ParamsOf(ctx.node());
  const Tensor& x = ctx.in(0);
  NN_ASSIGN(TensorBuilder out, ctx.NewOutput());
  const int64_t n = out.elements();
  if (ctx.in_type(0).quantised()) {
    if (row.quant_bounds == nullptr || ctx.out_type().quant == nullptr ||
        !ctx.out_type().quant->SameMapping(*ctx.in_type(0).quant))
      return UnsupportedError("{} of {}", row.name, ctx.in_type(0).ToString());
    int64_t low = MinInteger(x.dtype());
    int64_t high = MaxInteger(x.dtype());
    row.quant_bounds(params, *ctx.in_type(0).quant, low, high);
    for (int64_t i = 0; i < n; ++i) out.SetInt(i, std::min(high, std::max(low, x.GetInt(i))));
  } else if (x.dtype() == DType::kF32) {
    const UnaryFloat fn = UnaryTable().at(row.name);
    const auto in = x.As<float>();
    const auto y = out.As<float>();
    for (size_t i = 0; i < y.size(); ++i) y[i] = fn(in[i], params);
  } else if (x.dtype() == DType::kF16 || x.dtype() == DType::kBF16) {
    const UnaryFloat fn = UnaryTable().at(row.name);
    for (int64_t i = 0; i < n; ++i)
      out.SetDouble(i, fn(static_cast<float>(x.GetDouble(i)), params));
  } else if (x.dtype() == DType::kF64 && row.f64 != nullptr) {
    for (int64_t i = 0; i < n; ++i) out.SetDouble(i, row.f64(x.GetDouble(i), params));
  } else if (IsInteger(x.dtype()) && row.integer != nullptr) {
    for (int64_t i = 0; i < n; ++i) out.SetInt(i, row.integer(x.GetInt(i), params));
  } else {
    return UnsupportedError("{} of {}", row.name, DTypeName(x.dtype()));
  }
  ctx.set_out(0, out.Finish());
  return {};
}

// ---- Binary --------------------------------------------------------------------------------------

struct BinaryRow {
  std::string_view name;
  std::string_view summary;
  double (*f64)(double, double);
  int64_t (*integer)(int64_t, int64_t);
  // Quantised types, by the node's arithmetic; null: not defined.
  Status (*quantised)(EvalContext&);
  std::vector<FormatName> formats;
};

// Integer arithmetic wraps, as the formats' own kernels do.
int64_t WrapAdd(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
int64_t WrapMul(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
// Truncates toward zero; division by zero gives 0 where hardware would trap.
int64_t TruncDiv(int64_t a, int64_t b) {
  if (b == 0) return 0;
  return b == -1 ? WrapNeg(a) : a / b;
}

const std::vector<BinaryRow>& BinaryRows() {
  static const std::vector<BinaryRow> rows = {
      {"add", "a + b", [](double a, double b) { return a + b; }, WrapAdd, nullptr,
       {{"onnx", "Add", 7, {}}}},
      {"sub", "a - b", [](double a, double b) { return a - b; },
       [](int64_t a, int64_t b) { return WrapAdd(a, WrapNeg(b)); }, nullptr,
       {{"onnx", "Sub", 7, {}}}},
      {"mul", "a * b", [](double a, double b) { return a * b; }, WrapMul, nullptr,
       {{"onnx", "Mul", 7, {}}}},
      {"div", "a / b; integers toward zero", [](double a, double b) { return a / b; }, TruncDiv,
       nullptr, {{"onnx", "Div", 7, {}}}},
      {"minimum", "the smaller", [](double a, double b) { return a != a || a < b ? a : b; },
       [](int64_t a, int64_t b) { return std::min(a, b); }, nullptr, {{"tflite", "MINIMUM", 1, {}}}},
      {"maximum", "the larger", [](double a, double b) { return a != a || a > b ? a : b; },
       [](int64_t a, int64_t b) { return std::max(a, b); }, nullptr, {{"tflite", "MAXIMUM", 1, {}}}},
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

// Shape arithmetic: the operators that dimensions are computed with.
std::optional<Dim> DimArithmetic(std::string_view op, const Dim& a, const Dim& b) {
  if (op == "add") return a + b;
  if (op == "sub") return a - b;
  if (op == "mul") return a * b;
  if (op == "minimum") return Dim::Min(a, b);
  if (op == "maximum") return Dim::Max(a, b);
  // Dimensions are not negative, so truncation and floor agree.
  if (op == "div") return b == 0 ? std::nullopt : std::optional(Dim::FloorDiv(a, b));
  return std::nullopt;
}

Status InferBinary(InferContext& ctx) {
  NN_ASSIGN(const DType dtype, SameDType(ctx, {0, 1}));
  const Type& a = ctx.in(0);
  const Type& b = ctx.in(1);
  if (!a.ranked() || !b.ranked()) {
    Type unknown;
    unknown.dtype = dtype;
    ctx.set_out(0, unknown);
    return {};
  }
  NN_ASSIGN(Dims dims, BroadcastDims(*a.dims, *b.dims));
  const bool vector = dims.size() <= 1;
  ctx.set_out(0, Type(dtype, std::move(dims)));
  if (!vector || !IsInteger(dtype)) return {};
  const auto ea = ctx.elements(0);
  const auto eb = ctx.elements(1);
  if (!ea || !eb || ea->empty() || eb->empty()) return {};
  if (ea->size() != eb->size() && ea->size() != 1 && eb->size() != 1) return {};
  Dims out;
  for (size_t i = 0; i < std::max(ea->size(), eb->size()); ++i) {
    const auto d = DimArithmetic(ctx.node().op_name(), (*ea)[ea->size() == 1 ? 0 : i],
                                 (*eb)[eb->size() == 1 ? 0 : i]);
    if (!d || !d->is_valid()) return {};
    out.push_back(*d);
  }
  ctx.set_out_elements(0, std::move(out));
  return {};
}

// Calls fn(output index, index into a, index into b) for a broadcast.
template <typename Fn>
void ForEachBroadcast(const std::vector<int64_t>& out, const std::vector<int64_t>& a,
                      const std::vector<int64_t>& b, Fn fn) {
  const auto steps = [&](const std::vector<int64_t>& dims) {
    std::vector<int64_t> s = Strides(dims);
    for (size_t i = 0; i < dims.size(); ++i)
      if (dims[i] == 1) s[i] = 0;
    s.insert(s.begin(), out.size() - dims.size(), 0);
    return s;
  };
  const auto sa = steps(a);
  const auto sb = steps(b);
  std::vector<int64_t> index(out.size(), 0);
  int64_t ia = 0;
  int64_t ib = 0;
  const int64_t n = Tensor(DType::kU8, out, {}).elements();
  for (int64_t i = 0; i < n; ++i) {
    fn(i, ia, ib);
    for (size_t d = out.size(); d-- > 0;) {
      ia += sa[d];
      ib += sb[d];
      if (++index[d] < out[d]) break;
      ia -= sa[d] * out[d];
      ib -= sb[d] * out[d];
      index[d] = 0;
    }
  }
}

Status EvalBinary(EvalContext& ctx) {
  const BinaryRow& row = BinaryRowOf(ctx.node());
  if (ctx.in_type(0).quantised() || ctx.in_type(1).quantised()) {
    if (row.quantised == nullptr)
      return UnsupportedError("{} of {}", row.name, ctx.in_type(0).ToString());
    return row.quantised(ctx);
  }
  const Tensor& a = ctx.in(0);
  const Tensor& b = ctx.in(1);
  NN_ASSIGN(TensorBuilder out, ctx.NewOutput());
  const auto each = [&](auto fn) { ForEachBroadcast(out.dims(), a.dims(), b.dims(), fn); };
  const BinaryFloat f32 = BinaryTable().at(row.name);
  if (a.dtype() == DType::kF32) {
    const auto x = a.As<float>();
    const auto y = b.As<float>();
    const auto z = out.As<float>();
    each([&](int64_t i, int64_t ia, int64_t ib) {
      z[static_cast<size_t>(i)] = f32(x[static_cast<size_t>(ia)], y[static_cast<size_t>(ib)]);
    });
  } else if (a.dtype() == DType::kF16 || a.dtype() == DType::kBF16) {
    each([&](int64_t i, int64_t ia, int64_t ib) {
      out.SetDouble(i, f32(static_cast<float>(a.GetDouble(ia)), static_cast<float>(b.GetDouble(ib))));
    });
  } else if (a.dtype() == DType::kF64 && row.f64 != nullptr) {
    each([&](int64_t i, int64_t ia, int64_t ib) {
      out.SetDouble(i, row.f64(a.GetDouble(ia), b.GetDouble(ib)));
    });
  } else if (IsInteger(a.dtype()) && row.integer != nullptr) {
    each([&](int64_t i, int64_t ia, int64_t ib) {
      out.SetInt(i, row.integer(a.GetInt(ia), b.GetInt(ib)));
    });
  } else {
    return UnsupportedError("{} of {}", row.name, DTypeName(a.dtype()));
  }
  ctx.set_out(0, out.Finish());
  return {};
}

std::optional<AxesChange> ChangeBinaryAxes(const Node& node, Operand changed, const AxisMap& map) {
  // The map as the output sees it; an input of lower rank follows on the axes that it has.
  const int rank = node.output()->type().rank();
  if (map.source_rank() != rank) return std::nullopt;
  AxesChange change{node.attrs(), {}};
  if (!changed.is_output) change.others.push_back({Operand{true, 0}, map});
  for (size_t i = 0; i < 2; ++i) {
    if (changed == Operand{false, i}) continue;
    const int input_rank = node.input(i)->type().rank();
    if (input_rank == 0) continue;
    change.others.push_back(
        {Operand{false, i}, input_rank == rank ? map : map.ForTrailing(input_rank)});
  }
  return change;
}

}  // namespace

void RegisterElementwiseOps(OpRegistry& ops) {
  for (const BinaryRow& row : BinaryRows()) {
    OpDef op;
    op.name = row.name;
    op.summary = row.summary;
    op.inputs = {{"a"}, {"b"}};
    op.infer = InferBinary;
    op.eval = EvalBinary;
    op.change_axes = ChangeBinaryAxes;
    op.formats = row.formats;
    ops.Add(std::move(op));
  }
  for (const UnaryRow& row : UnaryRows()) {
    OpDef op;
    op.name = row.name;
    op.summary = row.summary;
    op.attrs = row.attrs;
    op.inputs = {{"x"}};
    op.infer = InferUnary;
    op.eval = EvalUnary;
    op.change_axes = ChangeUnaryAxes;
    op.formats = row.formats;
    ops.Add(std::move(op));
  }
}

}  // namespace nn
