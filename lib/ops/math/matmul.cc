#include "ops/math/matmul.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/arith.h"
#include "base/checked_math.h"
#include "ir/op_def.h"
#include "ops/array/shape.h"
#include "ops/families.h"
#include "ops/quant/quantized.h"
#include "ops/quant/requant.h"
#include "ops/support/broadcast.h"
#include "ops/support/index.h"
#include "ops/support/reals.h"
#include "ops/support/types.h"

namespace nn {

std::span<const AttrField> MatmulAttrs::Fields() {
  static const AttrField fields[] = {Field<&MatmulAttrs::transpose_a>("transpose_a"),
                                     Field<&MatmulAttrs::transpose_b>("transpose_b")};
  return fields;
}

int64_t MatmulGeometry::batch_count() const {
  int64_t count = 1;
  for (const int64_t d : batch) count *= d;
  return count;
}

namespace {

// The last two axes of an operand as rows and columns, after transposition; a vector is one row (a)
// or one column (b).
template <typename T>
struct Matrix {
  T rows, columns;
  std::vector<T> batch;
};
template <typename T>
Matrix<T> MatrixOf(const std::vector<T>& dims, bool transpose, bool is_b) {
  if (dims.size() == 1) return is_b ? Matrix<T>{dims[0], T(1), {}} : Matrix<T>{T(1), dims[0], {}};
  Matrix<T> m{dims[dims.size() - 2], dims.back(), {dims.begin(), dims.end() - 2}};
  if (transpose) std::swap(m.rows, m.columns);
  return m;
}

}  // namespace

Result<MatmulGeometry> GeometryOf(const MatmulAttrs& attrs, const std::vector<int64_t>& a,
                                  const std::vector<int64_t>& b) {
  const auto ma = MatrixOf(a, attrs.transpose_a, false);
  const auto mb = MatrixOf(b, attrs.transpose_b, true);
  NN_ASSIGN(const Dims batch, BroadcastDims(ToDims(ma.batch), ToDims(mb.batch)));
  MatmulGeometry g{ma.rows, mb.columns, ma.columns, *ConstDims(batch), {}, {}, 0, 0, 0, 0};
  const auto steps = [&](const std::vector<int64_t>& dims, const std::vector<int64_t>& own_batch) {
    const auto strides = Strides(dims);
    std::vector<int64_t> s(g.batch.size() - own_batch.size(), 0);
    for (size_t i = 0; i < own_batch.size(); ++i) s.push_back(own_batch[i] == 1 ? 0 : strides[i]);
    return s;
  };
  g.a_batch = steps(a, ma.batch);
  g.b_batch = steps(b, mb.batch);
  g.a_m = attrs.transpose_a ? 1 : ma.columns;
  g.a_k = attrs.transpose_a ? ma.rows : 1;
  g.b_k = attrs.transpose_b ? 1 : mb.columns;
  g.b_n = attrs.transpose_b ? mb.rows : 1;
  return g;
}

namespace {

Status CheckTypes(const InferContext& ctx) {
  const Type& a = ctx.in(0);
  const Type& b = ctx.in(1);
  if (a.quantized()) {
    if (!b.quantized()) return ModelError("a is quantized, but b is not");
    return RequireIntegers(ctx, 2, "a bias of integer sums");
  }
  if (b.quantized())
    return UnsupportedError("a hybrid product of {} by {} is not supported", a.ToString(),
                            b.ToString());
  NN_RETURN_IF_ERROR(SameDType(ctx, {0, 1, 2}));
  return {};
}

// The shape of the product of inputs 0 and 1; checks the length of the bias, if it is present.
Result<Dims> ProductDims(const InferContext& ctx, const MatmulAttrs& attrs, size_t bias) {
  NN_RETURN_IF_ERROR(RequireRank(ctx, 0, 1));
  NN_RETURN_IF_ERROR(RequireRank(ctx, 1, 1));
  const Type& a = ctx.in(0);
  const Type& b = ctx.in(1);
  if ((attrs.transpose_a && a.rank() == 1) || (attrs.transpose_b && b.rank() == 1))
    return ModelError("a vector cannot be transposed");
  const auto ma = MatrixOf(*a.dims, attrs.transpose_a, false);
  const auto mb = MatrixOf(*b.dims, attrs.transpose_b, true);
  if (ma.columns.is_const() && mb.rows.is_const() && ma.columns != mb.rows)
    return ModelError("{} times {}: {} columns do not match {} rows", a.ToString(), b.ToString(),
                      ma.columns.ToString(), mb.rows.ToString());
  NN_ASSIGN(Dims dims, BroadcastDims(ma.batch, mb.batch));
  if (a.rank() > 1) dims.push_back(ma.rows);
  if (b.rank() > 1) dims.push_back(mb.columns);
  if (ctx.has(bias)) {
    NN_RETURN_IF_ERROR(RequireRank(ctx, bias, 1, 1));
    const Dim& n = ctx.in(bias).dim(0);
    if (n.is_const() && mb.columns.is_const() && n != mb.columns)
      return ModelError("bias has {} elements for {} columns", n.ToString(), mb.columns.ToString());
  }
  return dims;
}

Status InferMatmul(InferContext& ctx) {
  NN_ASSIGN(Dims dims, ProductDims(ctx, ctx.attrs<MatmulAttrs>(), 2));
  NN_RETURN_IF_ERROR(CheckTypes(ctx));
  ctx.set_out(0, Type(ctx.in(0).dtype, std::move(dims)));
  return {};
}

inline float MulAdd(float a, float b, float c) {
  return Fma(a, b, c);
}
inline double MulAdd(double a, double b, double c) {
  return Fma(a, b, c);
}
inline uint64_t MulAdd(uint64_t a, uint64_t b, uint64_t c) {
  return a * b + c;
}

// Accumulates kLanes adjacent columns at once; each has its own sum, in order of k. `a_first` and
// `b_first` are the first elements of the row and of the first column; without any (k = 0) the
// operands may have no memory to point into.
template <size_t kLanes, typename T>
std::array<T, kLanes> DotProducts(const MatmulGeometry& g, const T* a, int64_t a_first, const T* b,
                                  int64_t b_first) {
  std::array<T, kLanes> sum{};
  for (int64_t k = 0; k < g.k; ++k) {
    const T av = a[a_first + k * g.a_k];
    const T* row = b + b_first + k * g.b_k;
    for (size_t j = 0; j < kLanes; ++j)
      sum[j] = MulAdd(av, row[static_cast<int64_t>(j) * g.b_n], sum[j]);
  }
  return sum;
}

template <typename T>
void Multiply(const MatmulGeometry& g, const T* a, const T* b, const T* bias, T* y) {
  constexpr int64_t kLanes = 4;
  if (g.m == 0 || g.n == 0) return;
  std::vector<int64_t> b_offsets;
  ForEachOffset(g.batch, g.b_batch, [&](int64_t, int64_t offset) { b_offsets.push_back(offset); });
  ForEachOffset(g.batch, g.a_batch, [&](int64_t i, int64_t a_offset) {
    const int64_t b_offset = b_offsets[static_cast<size_t>(i)];
    for (int64_t m = 0; m < g.m; ++m) {
      const int64_t row = a_offset + m * g.a_m;
      T* out = y + (i * g.m + m) * g.n;
      const auto put = [&](int64_t n, T sum) { out[n] = sum + (bias == nullptr ? T(0) : bias[n]); };
      int64_t n = 0;
      for (; n + kLanes <= g.n; n += kLanes) {
        const auto sums = DotProducts<kLanes>(g, a, row, b, b_offset + n * g.b_n);
        for (int64_t j = 0; j < kLanes; ++j) put(n + j, sums[static_cast<size_t>(j)]);
      }
      for (; n < g.n; ++n) put(n, DotProducts<1>(g, a, row, b, b_offset + n * g.b_n)[0]);
    }
  });
}

// The elements in 64 bits, minus a zero point.
std::vector<uint64_t> Integers(const Tensor& t, int64_t zero_point = 0) {
  std::vector<uint64_t> out(static_cast<size_t>(t.elements()));
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<uint64_t>(t.GetInt(static_cast<int64_t>(i)) - zero_point);
  return out;
}

// ---- TensorFlow Lite

// Rescales accumulators of column n to the output's scale.
class Rescaler {
 public:
  Rescaler(const EvalContext& ctx, int64_t columns) {
    const DType a = ctx.in(0).dtype();
    const DType b = ctx.in(1).dtype();
    wide_ = a == DType::kI16;
    exact_ = ctx.node().arithmetic() == Arithmetic::kTflite && b != DType::kI16;
    const Quant& aq = *ctx.in_type(0).quant;
    const Quant& bq = *ctx.in_type(1).quant;
    const double out = static_cast<double>(ctx.out_type().quant->scale());
    for (int64_t n = 0; n < columns; ++n) {
      const float b_scale = bq.scale(static_cast<size_t>(n));
      const double product = static_cast<double>(aq.scale()) * static_cast<double>(b_scale);
      // The fixed-point forms multiply the scales in float32 if all columns share one.
      const double fixed = bq.per_axis() ? product : static_cast<double>(aq.scale() * b_scale);
      factors_.push_back(product / out);
      multipliers_.push_back(QuantizeMultiplier(fixed / out));
    }
  }
  int64_t operator()(int64_t acc, int64_t column) const {
    const auto n = static_cast<size_t>(column);
    if (exact_) {
      const double v = std::round(static_cast<double>(acc) * factors_[n]);
      return CutToRange(v, -0x1p31, 0x1p31 - 1.0);
    }
    return wide_ ? Rescale64(acc, multipliers_[n])
                 : Rescale(static_cast<int32_t>(acc), multipliers_[n]);
  }

 private:
  bool wide_;
  bool exact_;
  std::vector<double> factors_;
  std::vector<FixedMultiplier> multipliers_;
};

Status CheckQuantized(const EvalContext& ctx, int64_t columns) {
  NN_RETURN_IF_ERROR(RequireTflite(ctx));
  const Type& a = ctx.in_type(0);
  const Type& b = ctx.in_type(1);
  const bool small = b.dtype == DType::kI8 || b.dtype == DType::kI4 || b.dtype == DType::kI2;
  const bool known = (a.dtype == DType::kU8 && b.dtype == DType::kU8) ||
                     (a.dtype == DType::kI8 && small) ||
                     (a.dtype == DType::kI16 && (small || b.dtype == DType::kI16));
  const int columns_axis = ctx.attrs<MatmulAttrs>().transpose_b ? b.rank() - 2 : b.rank() - 1;
  if (!known || (b.quant->per_axis() && (b.quant->axis != columns_axis || b.rank() < 2)))
    return UnsupportedError("{} by {} is not supported", a.ToString(), b.ToString());
  const size_t scales = b.quant->scales.size();
  if (scales != (b.quant->per_axis() ? static_cast<size_t>(columns) : 1))
    return ModelError("b has {} scales for {} columns", scales, columns);
  return {};
}

// Source: tflite/kernels/fully_connected.cc (EvalQuantized with kernel_type kReference) with
// internal/reference/fully_connected.h and integer_ops/fully_connected.h; tflite/kernels/
// batch_matmul.cc with internal/reference/batch_matmul.h.
Status EvalQuantized(EvalContext& ctx, const MatmulGeometry& g) {
  NN_RETURN_IF_ERROR(CheckQuantized(ctx, g.n));
  const Quant& bq = *ctx.in_type(1).quant;
  const int64_t y_zero = ctx.out_type().quant->zero_point();
  NN_ASSIGN(TensorBuilder y, ctx.NewOutput());
  const auto a = Integers(ctx.in(0), ctx.in_type(0).quant->zero_point());
  const auto b = Integers(ctx.in(1), bq.per_axis() ? 0 : bq.zero_point());
  const auto bias = ctx.has(2) ? Integers(ctx.in(2)) : std::vector<uint64_t>();
  std::vector<uint64_t> acc(static_cast<size_t>(y.elements()));
  Multiply(g, a.data(), b.data(), ctx.has(2) ? bias.data() : nullptr, acc.data());
  const Rescaler rescale(ctx, g.n);
  for (int64_t i = 0; i < y.elements(); ++i) {
    const auto sum = static_cast<int64_t>(acc[static_cast<size_t>(i)]);
    y.SetInt(i, ClampTo(y.dtype(), rescale(sum, i % g.n) + y_zero));
  }
  ctx.set_out(0, y.Finish());
  return {};
}

Status EvalIntegers(EvalContext& ctx, const MatmulGeometry& g) {
  NN_ASSIGN(TensorBuilder y, ctx.NewOutput());
  const auto a = Integers(ctx.in(0));
  const auto b = Integers(ctx.in(1));
  const auto bias = ctx.has(2) ? Integers(ctx.in(2)) : std::vector<uint64_t>();
  std::vector<uint64_t> out(static_cast<size_t>(y.elements()));
  Multiply(g, a.data(), b.data(), ctx.has(2) ? bias.data() : nullptr, out.data());
  for (int64_t i = 0; i < y.elements(); ++i)
    y.SetInt(i, static_cast<int64_t>(out[static_cast<size_t>(i)]));
  ctx.set_out(0, y.Finish());
  return {};
}

Status EvalMatmul(EvalContext& ctx) {
  NN_ASSIGN(const MatmulGeometry g,
            GeometryOf(ctx.attrs<MatmulAttrs>(), ctx.in(0).dims(), ctx.in(1).dims()));
  if (ctx.in_type(0).quantized()) return EvalQuantized(ctx, g);
  const DType dtype = ctx.in(0).dtype();
  if (IsInteger(dtype)) return EvalIntegers(ctx, g);
  return WithReals(dtype, [&](auto zero) -> Status {
    using T = decltype(zero);
    NN_ASSIGN(auto y, RealOutput<T>::Create(ctx));
    const Reals<T> a(ctx.in(0));
    const Reals<T> b(ctx.in(1));
    std::optional<Reals<T>> bias;
    if (ctx.has(2)) bias.emplace(ctx.in(2));
    Multiply(g, a.data(), b.data(), bias ? bias->data() : nullptr, y.data());
    y.Finish();
    return {};
  });
}

// ---- matmul_integer

// kModel unless the zero points in input `zero` broadcast to the shape of input `operand`.
Status CheckZeroPoints(const InferContext& ctx, size_t operand, size_t zero) {
  if (!ctx.has(zero) || !ctx.in(zero).ranked()) return {};
  const Dims& of = *ctx.in(operand).dims;
  const Dims& z = *ctx.in(zero).dims;
  const auto fits = [&](size_t i) {
    const Dim& own = z[z.size() - 1 - i];
    const Dim& other = of[of.size() - 1 - i];
    return own == 1 || !own.is_const() || !other.is_const() || own == other;
  };
  bool all = z.size() <= of.size();
  for (size_t i = 0; all && i < z.size(); ++i) all = fits(i);
  if (all) return {};
  return ModelError("zero points {} do not broadcast to {}", ctx.in(zero).ToString(),
                    ctx.in(operand).ToString());
}

Status InferMatmulInteger(InferContext& ctx) {
  NN_ASSIGN(Dims dims, ProductDims(ctx, {}, 4));
  NN_RETURN_IF_ERROR(RequireIntegerProduct(ctx));
  NN_RETURN_IF_ERROR(CheckZeroPoints(ctx, 0, 2));
  NN_RETURN_IF_ERROR(CheckZeroPoints(ctx, 1, 3));
  ctx.set_out(0, Type(DType::kI32, std::move(dims)));
  return {};
}

// The elements of input `operand` minus its zero points, in 64 bits.
Result<std::vector<uint64_t>> MinusZeroPoints(const EvalContext& ctx, size_t operand, size_t zero) {
  const Tensor& t = ctx.in(operand);
  if (!ctx.has(zero)) return Integers(t);
  const Tensor& z = ctx.in(zero);
  if (z.elements() == 1) return Integers(t, z.GetInt(0));
  NN_ASSIGN(const Dims broadcast, BroadcastDims(ToDims(t.dims()), ToDims(z.dims())));
  if (broadcast != ToDims(t.dims())) return ModelError("zero points do not match their operand");
  std::vector<uint64_t> out(static_cast<size_t>(t.elements()));
  ForEachBroadcast<2>(t.dims(), {t.dims(), z.dims()}, [&](int64_t i, const auto& at) {
    out[static_cast<size_t>(i)] = static_cast<uint64_t>(t.GetInt(at[0]) - z.GetInt(at[1]));
  });
  return out;
}

Status EvalMatmulInteger(EvalContext& ctx) {
  NN_ASSIGN(const MatmulGeometry g, GeometryOf(MatmulAttrs{}, ctx.in(0).dims(), ctx.in(1).dims()));
  NN_ASSIGN(TensorBuilder y, ctx.NewOutput());
  NN_ASSIGN(const auto a, MinusZeroPoints(ctx, 0, 2));
  NN_ASSIGN(const auto b, MinusZeroPoints(ctx, 1, 3));
  const auto bias = ctx.has(4) ? Integers(ctx.in(4)) : std::vector<uint64_t>();
  std::vector<uint64_t> out(static_cast<size_t>(y.elements()));
  Multiply(g, a.data(), b.data(), ctx.has(4) ? bias.data() : nullptr, out.data());
  for (int64_t i = 0; i < y.elements(); ++i)
    y.SetInt(i, static_cast<int64_t>(out[static_cast<size_t>(i)]));
  ctx.set_out(0, y.Finish());
  return {};
}

// The leading axes are independent rows: if b is a matrix they can be permuted freely, otherwise
// all three values must have them and permute them equally.
std::optional<AxesChange> ChangeMatmulAxes(const Node& node, Operand changed, const AxisMap& map) {
  const auto& attrs = node.attrs<MatmulAttrs>();
  const int a = node.input(0)->type().rank();
  const int b = node.input(1)->type().rank();
  if (!changed.is_output && changed.index == 2) return std::nullopt;
  const bool to_b = !changed.is_output && changed.index == 1;
  if (b == 2 && a >= 2 && !attrs.transpose_a) {
    if (to_b || map.result_rank() < 2 || map.from().back() != a - 1) return std::nullopt;
    return AxesChange{attrs, {{Operand{!changed.is_output, 0}, map}}};
  }
  if (a != b || a < 2 || !map.IsPermutation() || map.source_rank() != a ||
      map.from()[static_cast<size_t>(a - 1)] != a - 1 ||
      map.from()[static_cast<size_t>(a - 2)] != a - 2)
    return std::nullopt;
  AxesChange change{attrs, {}};
  for (const Operand other : {Operand{false, 0}, Operand{false, 1}, Operand{true, 0}})
    if (!(other == changed)) change.others.emplace_back(other, map);
  return change;
}

std::optional<int64_t> MultiplyAdds(const Node& node, const MatmulAttrs& attrs) {
  const auto a = node.input(0)->type().const_dims();
  const auto b = node.input(1)->type().const_dims();
  if (!a || !b) return std::nullopt;
  const auto g = GeometryOf(attrs, *a, *b);
  if (!g) return std::nullopt;
  std::vector<int64_t> factors = g->batch;
  factors.insert(factors.end(), {g->m, g->n, g->k});
  return CheckedElements(factors);
}

std::optional<int64_t> MatmulMultiplyAdds(const Node& node) {
  return MultiplyAdds(node, node.attrs<MatmulAttrs>());
}
std::optional<int64_t> MatmulIntegerMultiplyAdds(const Node& node) {
  return MultiplyAdds(node, {});
}

// Swaps the last two axes.
Result<Value*> Transposed(Graph& graph, Value* v) {
  std::vector<int> from = AxisMap::Identity(v->type().rank()).from();
  std::swap(from[from.size() - 1], from[from.size() - 2]);
  return Rearrange(graph, v, AxisMap(v->type().rank(), std::move(from)));
}

// Lowers the bias to an addition. A sum of a scalar and a bias, which has one axis, would not be a
// scalar.
Result<bool> DecomposeMatmul(Graph& graph, Node& node) {
  Value* bias = node.input(2);
  const Type &b = node.input(1)->type(), &y = node.output()->type();
  if (bias == nullptr || node.input(0)->type().quantized() || !b.ranked() ||
      (b.rank() == 1 && (!y.ranked() || y.rank() == 0)))
    return false;
  NN_ASSIGN(Node* const product, graph.Append("matmul", {node.input(0), node.input(1)},
                                              node.attrs<MatmulAttrs>(), 1, &node));
  graph.SetInputs(&node, {product->output(), bias});
  graph.SetOp(&node, *Ops().Find("add"), {});
  return true;
}

}  // namespace

Result<bool> TransposeMatmulOperands(Graph& graph, Node& node) {
  const MatmulAttrs attrs = node.attrs<MatmulAttrs>();
  const Type& a_type = node.input(0)->type();
  const Type& b_type = node.input(1)->type();
  if (a_type.quantized() || !a_type.ranked() || !b_type.ranked() || b_type.rank() == 1 ||
      (!attrs.transpose_a && !attrs.transpose_b))
    return false;
  if (attrs.transpose_a) {
    NN_ASSIGN(Value* const a, Transposed(graph, node.input(0)));
    graph.SetInput(&node, 0, a);
  }
  if (attrs.transpose_b) {
    NN_ASSIGN(Value* const b, Transposed(graph, node.input(1)));
    graph.SetInput(&node, 1, b);
  }
  node.set_attrs(MatmulAttrs{});
  return true;
}

namespace {

// TensorFlow Lite has two operators, which rescale differently.
Arithmetic QuantizedMatmulArithmetic(const Node& node) {
  return node.input(1)->is_constant() ? Arithmetic::kTflite : Arithmetic::kTfliteFixed;
}

}  // namespace

void RegisterMatmulOps(OpRegistry& ops) {
  OpDef op;
  op.name = "matmul";
  op.summary = "matrix product over the last two axes, with broadcasting and a bias";
  op.category = Category::kMatmul;
  op.quant_rule = QuantRule::kProduct;
  op.quantized_arithmetic = QuantizedMatmulArithmetic;
  op.attrs = AttrsInfoOf<MatmulAttrs>();
  op.inputs = {{"a"}, {"b"}, {"bias", Arity::kOptional}};
  op.infer = InferMatmul;
  op.eval = EvalMatmul;
  op.change_axes = ChangeMatmulAxes;
  op.multiply_adds = MatmulMultiplyAdds;
  op.decompose = DecomposeMatmul;
  ops.Add(std::move(op));

  OpDef integer;
  integer.name = "matmul_integer";
  integer.summary = "matrix product of 8-bit integers less their zero points, in 32 bits";
  integer.category = Category::kMatmul;
  integer.quant_rule = QuantRule::kStored;
  integer.inputs = {{"a"},
                    {"b"},
                    {"a_zero_point", Arity::kOptional},
                    {"b_zero_point", Arity::kOptional},
                    {"bias", Arity::kOptional}};
  integer.infer = InferMatmulInteger;
  integer.eval = EvalMatmulInteger;
  integer.multiply_adds = MatmulIntegerMultiplyAdds;
  ops.Add(std::move(integer));
}

}  // namespace nn
