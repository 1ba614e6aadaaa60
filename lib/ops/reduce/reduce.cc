#include "ops/reduce/reduce.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>

#include "ir/op_def.h"
#include "ops/families.h"
#include "ops/quant/quantized.h"
#include "ops/reduce/quant_reduce.h"
#include "ops/reduce/reduction.h"
#include "ops/support/declared_axes.h"
#include "ops/support/domain.h"
#include "ops/support/movement.h"
#include "ops/support/reals.h"
#include "ops/support/types.h"

namespace nn {

std::span<const AttrField> ReduceAttrs::Fields() {
  static const AttrField fields[] = {Field<&ReduceAttrs::axes>("axes"),
                                     Field<&ReduceAttrs::keep_dims>("keep_dims")};
  return fields;
}

namespace {

// One row of a tensor, computed in T.
template <typename T>
struct Row {
  const T* x;  // of the tensor, which may be empty
  const Rows* rows;
  int64_t start;
  int64_t size() const { return rows->length(); }
  T operator[](int64_t i) const { return x[start + rows->offset(i)]; }
};

template <typename T>
T SumOf(const Row<T>& r) {
  return LaneSum<T>(r.size(), [&](int64_t i) { return r[i]; });
}
template <typename T>
T SumSquareOf(const Row<T>& r) {
  return LaneSum<T>(r.size(), [&](int64_t i) { return r[i] * r[i]; });
}
// Adding +0 changes only the sign of a zero.
template <typename T>
T MaxOf(const Row<T>& r) {
  T m = -std::numeric_limits<T>::infinity();
  for (int64_t i = 0; i < r.size(); ++i) m = Larger(m, r[i]);
  return m + T(0);
}
template <typename T>
T MinOf(const Row<T>& r) {
  T m = std::numeric_limits<T>::infinity();
  for (int64_t i = 0; i < r.size(); ++i) m = Smaller(m, r[i]);
  return m + T(0);
}
template <typename T>
T LogSumOf(const Row<T>& r) {
  return RealLog(SumOf(r));
}
template <typename T>
T LogSumExpOf(const Row<T>& r) {
  const T m = MaxOf(r);
  const T shift = std::isfinite(m) ? m : T(0);
  return RealLog(LaneSum<T>(r.size(), [&](int64_t i) { return RealExp(r[i] - shift); })) + shift;
}

// ---- Integers -----------------------------------------------------------------------------------
// 64-bit arithmetic that wraps; a result is truncated to its type when it is stored.

struct IntegerRow {
  const std::vector<int64_t>* x;
  const Rows* rows;
  int64_t start;
  bool is_unsigned;  // 64 bits that do not fit int64
  DType dtype;
  int64_t size() const { return rows->length(); }
  int64_t operator[](int64_t i) const { return (*x)[static_cast<size_t>(start + rows->offset(i))]; }
};

template <typename Fn>
int64_t WrapSum(const IntegerRow& r, Fn element) {
  uint64_t sum = 0;
  for (int64_t i = 0; i < r.size(); ++i) sum += element(static_cast<uint64_t>(r[i]));
  return static_cast<int64_t>(sum);
}

int64_t IntegerSum(const IntegerRow& r) {
  return WrapSum(r, [](uint64_t v) { return v; });
}
int64_t IntegerSumSquare(const IntegerRow& r) {
  return WrapSum(r, [](uint64_t v) { return v * v; });
}
int64_t IntegerL1(const IntegerRow& r) {
  const bool keep = r.is_unsigned;
  return WrapSum(
      r, [keep](uint64_t v) { return keep || static_cast<int64_t>(v) >= 0 ? v : uint64_t{0} - v; });
}
int64_t IntegerMean(const IntegerRow& r) {
  if (r.size() == 0) return 0;
  const int64_t sum = IntegerSum(r);
  if (r.is_unsigned)
    return static_cast<int64_t>(static_cast<uint64_t>(sum) / static_cast<uint64_t>(r.size()));
  return sum / r.size();
}
int64_t IntegerProd(const IntegerRow& r) {
  uint64_t product = 1;
  for (int64_t i = 0; i < r.size(); ++i) product *= static_cast<uint64_t>(r[i]);
  return static_cast<int64_t>(product);
}
int64_t IntegerL2(const IntegerRow& r) {
  return static_cast<int64_t>(std::sqrt(static_cast<double>(IntegerSumSquare(r))));
}
template <bool largest>
int64_t IntegerExtreme(const IntegerRow& r) {
  const auto less = [&](int64_t a, int64_t b) {
    return r.is_unsigned ? static_cast<uint64_t>(a) < static_cast<uint64_t>(b) : a < b;
  };
  int64_t m = largest ? MinInteger(r.dtype) : r.is_unsigned ? -1 : MaxInteger(r.dtype);
  for (int64_t i = 0; i < r.size(); ++i)
    if (largest ? less(m, r[i]) : less(r[i], m)) m = r[i];
  return m;
}

// ---- Bounds

// The number of elements, or the largest that tensors have.
double CountOf(const Type& x) {
  const auto dims = x.const_dims();
  if (!dims) return kLargestSize;
  double count = 1;
  for (const int64_t d : *dims) count *= static_cast<double>(d);
  return count;
}

// Rounding accumulates in sums of floats, but keeps their order: a sum of numbers that are not
// negative is at least as large as each of them. The bounds hold for partial sums, too.
Interval SumRange(RangeContext& ctx, size_t) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Interval x = ctx.in(0);
  if (IsFloat(ctx.node().output()->dtype()))
    return {x.min >= 0 ? x.min : -kInfinity, x.max <= 0 ? x.max : kInfinity};
  const double count = CountOf(ctx.node().input(0)->type());
  return Interval{count, count} * Union(x, {0, 0});
}

// Integers are added in 64 bits.
Interval MeanRange(RangeContext& ctx, size_t) {
  const Interval x = ctx.in(0);
  const bool wraps = IsInteger(ctx.node().output()->dtype()) && Magnitude(x).max > 0x1p31;
  return wraps ? Interval() : x;
}

Interval NormRange(RangeContext&, size_t) {
  return {.min = 0};
}

bool HasElements(const Node& node) {
  const auto dims = node.input(0)->type().const_dims();
  return !dims || std::ranges::find(*dims, 0) == dims->end();
}

constexpr Selection kExtremeElement = {.by_value = true, .applies = HasElements};

// ---- The operators

struct ReduceRow {
  std::string_view name;
  std::string_view summary;
  float (*f32)(const Row<float>&);
  double (*f64)(const Row<double>&);
  int64_t (*integer)(const IntegerRow&);           // null: not defined
  Status (*quantized)(EvalContext&, const Rows&);  // by the node's arithmetic; null: not defined
  QuantRule quant_rule = QuantRule::kNone;
  Interval (*range)(RangeContext&, size_t) = nullptr;
  std::optional<Selection> selects = std::nullopt;
  bool exact_integers = false;
};

const std::vector<ReduceRow>& ReduceRows() {
  constexpr bool exact = true;
  static const std::vector<ReduceRow> rows = {
      {"reduce_sum", "sum over axes", SumOf<float>, SumOf<double>, IntegerSum, QuantizedSum,
       QuantRule::kFree, SumRange, std::nullopt, exact},
      {"reduce_mean", "mean over axes",
       [](const Row<float>& r) { return SumOf(r) / static_cast<float>(r.size()); },
       [](const Row<double>& r) { return SumOf(r) / static_cast<double>(r.size()); }, IntegerMean,
       QuantizedMean, QuantRule::kFree, MeanRange},
      {"reduce_max", "largest element over axes", MaxOf<float>, MaxOf<double>, IntegerExtreme<true>,
       nullptr, QuantRule::kSame, nullptr, kExtremeElement, exact},
      {"reduce_min", "smallest element over axes", MinOf<float>, MinOf<double>,
       IntegerExtreme<false>, nullptr, QuantRule::kSame, nullptr, kExtremeElement, exact},
      {"reduce_prod", "product over axes",
       [](const Row<float>& r) {
         return LaneReduce(
             r.size(), 1.0f, [&](int64_t i) { return r[i]; }, std::multiplies<>());
       },
       [](const Row<double>& r) {
         return LaneReduce(
             r.size(), 1.0, [&](int64_t i) { return r[i]; }, std::multiplies<>());
       },
       IntegerProd, QuantizedProd},
      {"reduce_l1", "sum of absolute values over axes",
       [](const Row<float>& r) {
         return LaneSum<float>(r.size(), [&](int64_t i) { return std::fabs(r[i]); });
       },
       [](const Row<double>& r) {
         return LaneSum<double>(r.size(), [&](int64_t i) { return std::fabs(r[i]); });
       },
       IntegerL1, nullptr, QuantRule::kNone, NormRange},
      {"reduce_l2", "square root of the sum of squares over axes",
       [](const Row<float>& r) { return std::sqrt(SumSquareOf(r)); },
       [](const Row<double>& r) { return std::sqrt(SumSquareOf(r)); }, IntegerL2, nullptr,
       QuantRule::kNone, NormRange},
      {"reduce_sum_square", "sum of squares over axes", SumSquareOf<float>, SumSquareOf<double>,
       IntegerSumSquare, nullptr, QuantRule::kNone, NormRange},
      {"reduce_log_sum", "logarithm of the sum over axes", LogSumOf<float>, LogSumOf<double>,
       nullptr, nullptr},
      {"reduce_log_sum_exp", "logarithm of the sum of exponentials over axes", LogSumExpOf<float>,
       LogSumExpOf<double>, nullptr, nullptr},
  };
  return rows;
}

const ReduceRow& RowOf(const Node& node) {
  static const auto index = [] {
    std::map<std::string_view, const ReduceRow*> m;
    for (const ReduceRow& row : ReduceRows()) m[row.name] = &row;
    return m;
  }();
  return *index.at(node.op_name());
}

// The axes that an input holds, in ascending order.
Result<std::vector<int>> SortedAxes(const std::vector<int64_t>& axes, int rank) {
  NN_ASSIGN(auto sorted, ReducedAxes(axes, rank));
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

// The output's type if the axes are not known.
Type OpenType(InferContext& ctx, bool keep_dims) {
  const Type& x = ctx.in(0);
  const Type& axes = ctx.in(1);
  Type y;
  y.dtype = x.dtype;
  int rank = x.rank();
  if (!keep_dims) {
    if (!axes.ranked() || axes.rank() != 1 || !axes.dim(0).is_const()) return y;
    const int64_t count = axes.dim(0).value();
    rank = count == 0 || count > rank ? 0 : rank - static_cast<int>(count);
  }
  Dims dims;
  for (int i = 0; i < rank; ++i) dims.push_back(ctx.NewSymbol());
  y.dims = std::move(dims);
  return y;
}

Status InferReduce(InferContext& ctx) {
  const auto& a = ctx.attrs<ReduceAttrs>();
  NN_RETURN_IF_ERROR(RequireRank(ctx, 0, 0));
  const Type& x = ctx.in(0);
  if (!ctx.has(1)) {
    NN_ASSIGN(const auto axes, ReducedAxes(a.axes, x.rank()));
    ctx.set_out(0, Type(x.dtype, ReducedDims(*x.dims, axes, a.keep_dims)));
    return {};
  }
  if (!a.axes.empty()) return ModelError("axes is given both as an attribute and as an input");
  const auto elements = ctx.elements(1);
  const auto numbers = elements ? ConstDims(*elements) : std::nullopt;
  if (!numbers) {
    ctx.set_out(0, OpenType(ctx, a.keep_dims));
    return {};
  }
  NN_ASSIGN(const auto axes, SortedAxes(*numbers, x.rank()));
  ctx.set_out(0, Type(x.dtype, ReducedDims(*x.dims, axes, a.keep_dims)));
  return {};
}

Status InferLogical(InferContext& ctx) {
  const DType dtype = ctx.in(0).dtype;
  if (dtype != DType::kBool && dtype != DType::kUnknown)
    return ModelError("{} of {}: the input must be bool", ctx.node().op_name(), DTypeName(dtype));
  return InferReduce(ctx);
}

Result<Rows> RowsOf(const EvalContext& ctx) {
  const Tensor& x = ctx.in(0);
  NN_ASSIGN(const auto axes, ctx.has(1) ? SortedAxes(ctx.in(1).ToInts(), x.rank())
                                        : ReducedAxes(ctx.attrs<ReduceAttrs>().axes, x.rank()));
  return Rows(x.dims(), axes);
}

template <typename T, typename Fn>
Status EvalReals(EvalContext& ctx, const Rows& rows, Fn fn) {
  NN_ASSIGN(auto y, RealOutput<T>::Create(ctx));
  const Reals<T> x(ctx.in(0));
  rows.ForEach([&](int64_t row, int64_t start) { y[row] = fn(Row<T>{x.data(), &rows, start}); });
  y.Finish();
  return {};
}

// Also for bool (false < true) and quantized types, which are ordered as integers.
Status EvalIntegers(EvalContext& ctx, const Rows& rows, int64_t (*fn)(const IntegerRow&)) {
  const Tensor& x = ctx.in(0);
  NN_ASSIGN(TensorBuilder y, ctx.NewOutput());
  const std::vector<int64_t> values = x.ToInts();
  const bool is_unsigned = x.dtype() == DType::kU64;
  rows.ForEach([&](int64_t row, int64_t start) {
    y.SetInt(row, fn(IntegerRow{&values, &rows, start, is_unsigned, x.dtype()}));
  });
  ctx.set_out(0, y.Finish());
  return {};
}

Status EvalReduce(EvalContext& ctx) {
  const ReduceRow& row = RowOf(ctx.node());
  const DType dtype = ctx.in(0).dtype();
  NN_ASSIGN(const Rows rows, RowsOf(ctx));
  const bool extreme = row.selects.has_value();
  if (ctx.in_type(0).quantized()) {
    if (extreme) {
      NN_RETURN_IF_ERROR(RequireSameQuant(ctx));
      return EvalIntegers(ctx, rows, row.integer);
    }
    if (row.quantized == nullptr)
      return UnsupportedError("{} is not supported", ctx.in_type(0).ToString());
    return row.quantized(ctx, rows);
  }
  if (IsInteger(dtype) || (dtype == DType::kBool && extreme)) {
    if (row.integer == nullptr) return UnsupportedError("{} is not supported", DTypeName(dtype));
    return EvalIntegers(ctx, rows, row.integer);
  }
  return WithReals(dtype, [&](auto zero) -> Status {
    if constexpr (sizeof(zero) == sizeof(float)) {
      return EvalReals<float>(ctx, rows, row.f32);
    } else {
      return EvalReals<double>(ctx, rows, row.f64);
    }
  });
}

template <bool any>
Status EvalLogical(EvalContext& ctx) {
  NN_ASSIGN(const Rows rows, RowsOf(ctx));
  if (ctx.in(0).dtype() != DType::kBool)
    return UnsupportedError("{} is not supported", DTypeName(ctx.in(0).dtype()));
  return EvalIntegers(ctx, rows, IntegerExtreme<any>);
}

std::optional<AxesChange> ChangeReduceAxes(const Node& node, Operand changed, const AxisMap& map) {
  const auto& a = node.attrs<ReduceAttrs>();
  const int rank = node.input(0)->type().rank();
  if (node.input(1) != nullptr) return std::nullopt;  // becomes the attribute first
  const auto axes = ReducedAxes(a.axes, rank);
  if (!axes) return std::nullopt;
  auto change = FollowReduction(rank, *axes, a.keep_dims, changed, map);
  if (!change) return std::nullopt;
  return AxesChange{ReduceAttrs{std::move(change->axes), change->keep_dims},
                    std::move(change->others)};
}

// Moves an axes input with known contents to the attribute. An empty list is not moved: as an
// attribute it means all axes.
Result<bool> AbsorbAxes(Graph& graph, Node& node) {
  if (node.input(1) == nullptr || !node.input(0)->type().ranked()) return false;
  const auto contents = Contents(InferContext(node), 1);
  if (!contents || contents->empty()) return false;
  auto axes = ConstDims(*contents);
  if (!axes) return false;
  for (int64_t& axis : *axes) axis += axis < 0 ? node.input(0)->type().rank() : 0;
  std::sort(axes->begin(), axes->end());
  ReduceAttrs attrs = node.attrs<ReduceAttrs>();
  attrs.axes = *std::move(axes);
  graph.SetInputs(&node, {node.input(0)});
  node.set_attrs(std::move(attrs));
  return true;
}

Elements TypesOf(const ReduceRow& row) {
  Elements types = Elements::kReals;
  if (row.integer != nullptr) types = types | Elements::kIntegers;
  return row.selects ? types | Elements::kBool : types;
}

OpDef ReduceDef(std::string_view name, std::string_view summary) {
  OpDef op;
  op.name = name;
  op.summary = summary;
  op.category = Category::kReduction;
  op.attrs = AttrsInfoOf<ReduceAttrs>();
  op.inputs = {{"x"}, {"axes", Arity::kOptional}};
  op.infer = InferReduce;
  op.eval = EvalReduce;
  op.change_axes = ChangeReduceAxes;
  op.absorb_inputs = AbsorbAxes;
  return op;
}

// Axes whose reduction results in the declared shape, or the first ones.
Domain ReducedAxesDomain(const Node& node, size_t input) {
  const auto count = LengthOf(node.input(input));
  if (input == 0 || !count || *count < 0) return {};
  if (const auto x = DimsOf(node.input(0)), y = DimsOf(node.output()); x && y) {
    const auto choices = AxesThatReduce(*x, *y, *count, node.attrs<ReduceAttrs>().keep_dims);
    if (!choices.empty()) return Exactly(choices.front());
  }
  std::vector<int64_t> axes(static_cast<size_t>(*count));
  std::iota(axes.begin(), axes.end(), 0);
  return Exactly(axes);
}

Domain ReduceDomain(const Node& node, size_t input, std::span<const Domain>) {
  return ReducedAxesDomain(node, input);
}

// Every result is one of the elements.
Domain ExtremumDomain(const Node& node, size_t input, std::span<const Domain> y) {
  if (input == 0) return y[0].contents ? Domain() : y[0];
  return ReducedAxesDomain(node, input);
}

Domain LogSumDomain(const Node& node, size_t input, std::span<const Domain>) {
  Domain positive;
  positive.min = kDomainMargin;
  return input == 0 ? positive : ReducedAxesDomain(node, input);
}

}  // namespace

void RegisterReduceOps(OpRegistry& ops) {
  for (const ReduceRow& row : ReduceRows()) {
    OpDef op = ReduceDef(row.name, row.summary);
    op.quant_rule = row.quant_rule;
    op.range = row.range;
    op.selects = row.selects;
    op.exact_integers = row.exact_integers;
    op.inputs[0].elements = TypesOf(row);
    op.wraps_integers = row.integer != nullptr;
    ops.Add(std::move(op));
  }
  for (auto [name, summary, eval] :
       {std::tuple("reduce_any", "whether any element over axes is true", &EvalLogical<true>),
        std::tuple("reduce_all", "whether all elements over axes are true", &EvalLogical<false>)}) {
    OpDef op = ReduceDef(name, summary);
    op.inputs[0].elements = Elements::kBool;
    op.infer = InferLogical;
    op.eval = eval;
    ops.Add(std::move(op));
  }
}

void AddReduceDomains(DomainTable& domains) {
  for (const ReduceRow& row : ReduceRows()) domains[row.name] = ReduceDomain;
  for (const std::string_view logical : {"reduce_any", "reduce_all"})
    domains[logical] = ReduceDomain;
  for (const std::string_view extremum : {"reduce_max", "reduce_min"})
    domains[extremum] = ExtremumDomain;
  domains["reduce_log_sum"] = LogSumDomain;
}

}  // namespace nn
