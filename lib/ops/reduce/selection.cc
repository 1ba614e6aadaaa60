#include "ops/reduce/selection.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <vector>

#include "ir/op_def.h"
#include "ops/families.h"
#include "ops/reduce/reduction.h"
#include "ops/support/domain.h"
#include "ops/support/movement.h"
#include "ops/support/types.h"

namespace nn {

std::span<const AttrField> ArgAttrs::Fields() {
  static const AttrField fields[] = {
      Field<&ArgAttrs::axis>("axis"),
      Field<&ArgAttrs::keep_dims>("keep_dims"),
      Field<&ArgAttrs::select_last_index>("select_last_index"),
      Field<&ArgAttrs::output_type>("output_type"),
  };
  return fields;
}
std::span<const AttrField> TopKAttrs::Fields() {
  static const AttrField fields[] = {
      Field<&TopKAttrs::axis>("axis"),
      Field<&TopKAttrs::largest>("largest"),
      Field<&TopKAttrs::sorted>("sorted"),
      Field<&TopKAttrs::index_type>("index_type"),
  };
  return fields;
}

namespace {

Status CheckIndexType(DType type) {
  if (type == DType::kI64 || type == DType::kI32) return {};
  return ModelError("the index type is {}; must be i32 or i64", DTypeName(type));
}

// The elements of a tensor for comparison: reals as double, which represents all of them; integers
// in 64 bits, with u64 shifted so that its order is that of int64.
class Ordered {
 public:
  explicit Ordered(const Tensor& t) : real_(IsFloat(t.dtype())) {
    if (real_)
      reals_ = t.ToDoubles();
    else
      integers_ = t.ToInts();
    if (t.dtype() == DType::kU64)
      for (int64_t& v : integers_)
        v = static_cast<int64_t>(static_cast<uint64_t>(v) ^ (uint64_t{1} << 63));
  }
  // Whether element a comes before element b: is larger, or smaller.
  bool Before(int64_t a, int64_t b, bool largest) const {
    if (!real_)
      return largest ? At(integers_, b) < At(integers_, a) : At(integers_, a) < At(integers_, b);
    const double x = At(reals_, a);
    const double y = At(reals_, b);
    if (x != x || y != y) return x != x && y == y;
    return largest ? x > y : x < y;
  }

 private:
  template <typename T>
  static T At(const std::vector<T>& v, int64_t i) {
    return v[static_cast<size_t>(i)];
  }
  bool real_;
  std::vector<double> reals_;
  std::vector<int64_t> integers_;
};

bool Comparable(DType dtype) {
  return IsFloat(dtype) || IsInteger(dtype) || dtype == DType::kBool;
}

// ---- arg_max, arg_min

Status InferArg(InferContext& ctx) {
  const auto& a = ctx.attrs<ArgAttrs>();
  NN_RETURN_IF_ERROR(RequireRank(ctx, 0, 1));
  NN_RETURN_IF_ERROR(CheckIndexType(a.output_type));
  const Type& x = ctx.in(0);
  NN_ASSIGN(const int axis, NormalizeAxis(a.axis, x.rank()));
  if (x.dim(axis) == 0) return ModelError("axis {} has no elements", axis);
  ctx.set_out(0, Type(a.output_type, ReducedDims(*x.dims, std::span(&axis, 1), a.keep_dims)));
  return {};
}

template <bool largest>
Status EvalArg(EvalContext& ctx) {
  const auto& a = ctx.attrs<ArgAttrs>();
  const Tensor& x = ctx.in(0);
  if (!Comparable(x.dtype())) return UnsupportedError("{} is not supported", DTypeName(x.dtype()));
  NN_ASSIGN(const int axis, NormalizeAxis(a.axis, x.rank()));
  NN_ASSIGN(TensorBuilder y, ctx.NewOutput());
  const Ordered values(x);
  const Rows rows(x.dims(), std::span(&axis, 1));
  rows.ForEach([&](int64_t row, int64_t start) {
    int64_t best = 0;
    for (int64_t i = 1; i < rows.length(); ++i) {
      const int64_t at = start + rows.offset(i);
      const int64_t best_at = start + rows.offset(best);
      if (values.Before(at, best_at, largest) ||
          (a.select_last_index && !values.Before(best_at, at, largest)))
        best = i;
    }
    y.SetInt(row, best);
  });
  ctx.set_out(0, y.Finish());
  return {};
}

std::optional<AxesChange> ChangeArgAxes(const Node& node, Operand changed, const AxisMap& map) {
  ArgAttrs a = node.attrs<ArgAttrs>();
  const int rank = node.input(0)->type().rank();
  const auto axis = NormalizeAxis(a.axis, rank);
  if (!axis) return std::nullopt;
  auto change = FollowReduction(rank, std::span(&*axis, 1), a.keep_dims, changed, map);
  if (!change) return std::nullopt;
  a.axis = change->axes[0];
  a.keep_dims = change->keep_dims;
  return AxesChange{a, std::move(change->others)};
}

// ---- top_k

Status InferTopK(InferContext& ctx) {
  const auto& a = ctx.attrs<TopKAttrs>();
  NN_RETURN_IF_ERROR(RequireRank(ctx, 0, 1));
  NN_RETURN_IF_ERROR(CheckIndexType(a.index_type));
  const Type& x = ctx.in(0);
  NN_ASSIGN(const int axis, NormalizeAxis(a.axis, x.rank()));
  NN_RETURN_IF_ERROR(RequireOneNumber(ctx, 1));
  const auto elements = ctx.elements(1);
  const Dim k = elements ? (*elements)[0] : ctx.NewSymbol();
  const Dim& size = x.dim(axis);
  if (k.is_const() && (k.value() < 0 || (size.is_const() && k.value() > size.value())))
    return ModelError("k is {}; must be in [0, {}]", k.ToString(), size.ToString());
  Dims dims = *x.dims;
  dims[static_cast<size_t>(axis)] = k;
  ctx.set_out(0, Type(x.dtype, dims));
  if (ctx.output_count() > 1) ctx.set_out(1, Type(a.index_type, std::move(dims)));
  return {};
}

Status EvalTopK(EvalContext& ctx) {
  const auto& a = ctx.attrs<TopKAttrs>();
  const Tensor& x = ctx.in(0);
  if (!Comparable(x.dtype()) || DTypeBits(x.dtype()) < 8)
    return UnsupportedError("{} is not supported", DTypeName(x.dtype()));
  NN_ASSIGN(const int axis, NormalizeAxis(a.axis, x.rank()));
  const bool wants_indices = ctx.output_count() > 1;
  NN_ASSIGN(TensorBuilder y, ctx.NewOutput());
  TensorBuilder indices;
  if (wants_indices) {
    NN_ASSIGN(indices, ctx.NewOutput(1));
  }
  const int64_t k = y.dims()[static_cast<size_t>(axis)];
  const auto element = static_cast<size_t>(DTypeBits(x.dtype())) / 8;
  const int64_t step = Strides(y.dims())[static_cast<size_t>(axis)];
  const Ordered values(x);
  const Rows rows(x.dims(), std::span(&axis, 1));
  std::vector<int64_t> order(static_cast<size_t>(rows.length()));
  rows.ForEach([&](int64_t row, int64_t start) {
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) {
      return values.Before(start + rows.offset(i), start + rows.offset(j), a.largest);
    });
    const int64_t to = row / step * step * k + row % step;
    for (int64_t i = 0; i < k; ++i) {
      const int64_t from = order[static_cast<size_t>(i)];
      std::copy_n(x.blob().data() + static_cast<size_t>(start + rows.offset(from)) * element,
                  element, y.data() + static_cast<size_t>(to + i * step) * element);
      if (wants_indices) indices.SetInt(to + i * step, from);
    }
  });
  ctx.set_out(0, y.Finish());
  if (wants_indices) ctx.set_out(1, indices.Finish());
  return {};
}

std::optional<AxesChange> ChangeTopKAxes(const Node& node, Operand changed, const AxisMap& map) {
  if (!changed.is_output && changed.index != 0) return std::nullopt;
  TopKAttrs a = node.attrs<TopKAttrs>();
  const auto axis = MapAxis(a.axis, node.input(0)->type().rank(), map);
  if (!axis) return std::nullopt;
  a.axis = *axis;
  AxesChange change{a, {}};
  for (const Operand other : {Operand{false, 0}, Operand{true, 0}, Operand{true, 1}})
    if (!(other == changed) && (!other.is_output || other.index < node.outputs().size()))
      change.others.emplace_back(other, map);
  return change;
}

// The declared k, or any.
Domain TopKDomain(const Node& node, size_t input, std::span<const Domain> y) {
  if (input == 0) return y[0].contents ? Domain() : y[0];
  const auto x = DimsOf(node.input(0)), out = DimsOf(node.output());
  const int64_t axis = node.attrs<TopKAttrs>().axis;
  const auto rank = x ? std::ssize(*x) : 0;
  if (!x || axis < -rank || axis >= rank) return {};
  const auto at = static_cast<size_t>(axis < 0 ? axis + rank : axis);
  const auto most = static_cast<double>((*x)[at]);
  if (!out || out->size() != x->size()) return Between(1, most);
  const auto k = static_cast<double>((*out)[at]);
  return Between(k, k);
}

// Positions along an axis.
template <typename A>
Interval PositionRange(RangeContext& ctx) {
  const Type& x = ctx.node().input(0)->type();
  if (!x.ranked()) return {0, kLargestSize};
  const auto axis = NormalizeAxis(ctx.attrs<A>().axis, x.rank());
  if (!axis || !x.dim(*axis).is_const()) return {0, kLargestSize};
  return {0, std::max(static_cast<double>(x.dim(*axis).value()) - 1, 0.0)};
}
Interval ArgRange(RangeContext& ctx, size_t) {
  return PositionRange<ArgAttrs>(ctx);
}
Interval TopKRange(RangeContext& ctx, size_t output) {
  return output == 0 ? Interval() : PositionRange<TopKAttrs>(ctx);
}

}  // namespace

void RegisterSelectionOps(OpRegistry& ops) {
  for (auto [name, summary, eval] :
       {std::tuple("arg_max", "index of the largest element along an axis", &EvalArg<true>),
        std::tuple("arg_min", "index of the smallest element along an axis", &EvalArg<false>)}) {
    OpDef op;
    op.name = name;
    op.summary = summary;
    op.category = Category::kReduction;
    op.quant_rule = QuantRule::kFree;
    op.wraps_integers = true;
    op.exact_integers = true;
    op.range = ArgRange;
    op.attrs = AttrsInfoOf<ArgAttrs>();
    op.inputs = {{"x"}};
    op.infer = InferArg;
    op.eval = eval;
    op.change_axes = ChangeArgAxes;
    ops.Add(std::move(op));
  }
  OpDef top_k;
  top_k.name = "top_k";
  top_k.summary = "the k largest or smallest elements along an axis and their indices";
  top_k.category = Category::kReduction;
  top_k.wraps_integers = true;
  top_k.exact_integers = true;
  top_k.selects = Selection{.by_value = true};
  top_k.range = TopKRange;
  top_k.attrs = AttrsInfoOf<TopKAttrs>();
  // Elements of fewer bits share bytes.
  const Elements whole_bytes =
      Elements::kReals | Elements::kBool |
      Elements{DType::kI8,       DType::kI16,        DType::kI32,    DType::kI64,
               DType::kU8,       DType::kU16,        DType::kU32,    DType::kU64,
               DType::kF8E4M3FN, DType::kF8E4M3FNUZ, DType::kF8E5M2, DType::kF8E5M2FNUZ,
               DType::kF8E8M0};
  top_k.inputs = {{"x", Arity::kRequired, whole_bytes}, {"k"}};
  top_k.outputs = {{"values"}, {"indices"}};
  top_k.infer = InferTopK;
  top_k.eval = EvalTopK;
  top_k.change_axes = ChangeTopKAxes;
  ops.Add(std::move(top_k));
}

void AddSelectionDomains(DomainTable& domains) {
  domains["top_k"] = TopKDomain;
}

}  // namespace nn
