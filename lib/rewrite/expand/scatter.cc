// scatter_nd and scatter_elements in operators that gather and add.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/op_def.h"
#include "ops/array/arrange/scatter.h"
#include "ops/array/arrange/slice.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/selection.h"
#include "ops/support/movement.h"
#include "ops/support/term_ops.h"
#include "ops/support/types.h"
#include "rewrite/expand/index.h"

namespace nn {
namespace {

// Limit of expansions: updates of one element of a scatter. Each becomes a node.
constexpr size_t kMaxSteps = 16;
// Limit of expansions: elements times updates of a scatter that multiplies or compares. A tensor
// holds every update for every element.
constexpr int64_t kMaxPairs = int64_t{1} << 22;

// A row is what one index vector addresses; the rows of x are in one axis, and so are the updates.
class Scatter {
 public:
  Scatter(Graph& graph, Node& node, int64_t rows, int64_t count)
      : e_(graph, node), node_(node), rows_(rows), count_(count) {}

  // Joins the axes of x that are addressed, and those that hold the index vectors.
  Status Join() {
    const Dims& x = *node_.input(0)->type().dims;
    const Dims& indices = *node_.input(1)->type().dims;
    rest_.assign(x.begin() + indices.back().value(), x.end());
    NN_ASSIGN(x_, e_.Build(Reshaped(node_.input(0), rows_)));
    NN_ASSIGN(updates_, e_.Build(Reshaped(node_.input(2), count_)));
    return {};
  }

  // With constant indices: `to` is the row of each update.
  Result<Term> Constant(const std::vector<int64_t>& to, Reduction reduction) {
    std::vector<std::vector<int32_t>> steps = Steps(to, reduction == Reduction::kNone);
    if (reduction == Reduction::kNone) {
      for (size_t row = 0; row < steps[0].size(); ++row)
        steps[0][row] = static_cast<int32_t>(steps[0][row] < 0 ? static_cast<int32_t>(row)
                                                               : rows_ + steps[0][row]);
      return Taken(Tensor::Of({rows_}, steps[0]));
    }
    Term y = x_;
    for (std::vector<int32_t>& from : steps) {
      NN_ASSIGN(TensorBuilder touched, TensorBuilder::Create(DType::kBool, MaskDims()));
      bool all = true;
      for (int64_t row = 0; row < rows_; ++row) {
        int32_t& i = from[static_cast<size_t>(row)];
        touched.SetInt(row, i >= 0 ? 1 : 0);
        all &= i >= 0;
        i = std::max(i, 0);
      }
      const Term u = Gather(updates_, Tensor::Of({rows_}, from), 0);
      const Term combined = Combined(reduction, y, u);
      NN_ASSIGN(y, e_.Build(all ? combined : Select(touched.Finish(), combined, y)));
    }
    return y;
  }

  // The last update of each row, or the row. In the reversed updates sorted by their rows, the
  // first one of each row is its last update.
  Term Replace(const Term& to) const {
    const Term rows = Ascending(rows_);
    if (count_ == 1) return Taken(Select(Equal(rows, to), rows_, rows));
    const std::vector<Term> sorted =
        ApplyAll("top_k", {Apply("reverse", {to}, ReverseAttrs{{0}}), Tensor::Scalar(count_)},
                 TopKAttrs{.axis = 0, .index_type = DType::kI32}, 2);
    const Term before =
        Concat({Tensor::Of<int32_t>({1}, {-1}), Slice(sorted[0], 0, 0, count_ - 1)}, 0);
    // The updates counted from 1; 0 is none.
    const Term zero = Tensor::Scalar<int32_t>(0);
    const Term last = Apply("not_equal", {sorted[0], before});
    const Term number = Select(last, count_ - sorted[1], zero);
    const Term nowhere = Tensor::Of({rows_}, std::vector<int32_t>(static_cast<size_t>(rows_)));
    const Term of_row = Apply("scatter_nd", {nowhere, Reshape(sorted[0], {count_, 1}), number},
                              ScatterNdAttrs{Reduction::kAdd});
    return Taken(Select(Greater(of_row, zero), of_row + (rows_ - 1), rows));
  }

  // Adds the rows and then the updates to zeros, which is the order of the operator.
  Result<Term> Add(const Term& to) const {
    std::vector<int64_t> dims = {rows_};
    for (const Dim& d : rest_) dims.push_back(d.value());
    NN_ASSIGN(TensorBuilder zeros, TensorBuilder::Create(x_->dtype(), dims));
    for (int64_t i = 0; i < zeros.elements(); ++i) zeros.SetInt(i, 0);
    const Term places = Reshape(Concat({Ascending(rows_), to}, 0), {rows_ + count_, 1});
    return Apply("scatter_nd", {zeros.Finish(), places, Concat({x_, updates_}, 0)},
                 ScatterNdAttrs{Reduction::kAdd});
  }

  // Reduces all updates for each row, of which those of other rows are neutral.
  Result<Term> Reduce(const Term& to, Reduction reduction) const {
    int64_t run = 1;
    for (const Dim& d : rest_) run *= d.value();
    const Term x = Reshape(x_, {rows_, run});
    const Term u = Reshape(updates_, {count_, run});
    const bool compares = reduction != Reduction::kMul && IsFloat(x_->dtype());
    Term chosen = Reshape(Equal(Reshape(Ascending(rows_), {rows_, 1}), to), {rows_, count_, 1});
    // A comparison with NaN is false: the update after it replaces it.
    Term last_nan;
    if (compares && MayBeNan(node_.input(2))) {
      const Term at = Reshape(Ascending(count_), {1, count_, 1});
      const Term hit = And(chosen, Apply("not_equal", {u, u}));
      last_nan = Apply("reduce_max", {Select(hit, at, -1)}, ReduceAttrs{{1}, true});
      chosen = And(chosen, Greater(at, last_nan));
    }
    const std::string_view reduce = reduction == Reduction::kMul   ? "reduce_prod"
                                    : reduction == Reduction::kMin ? "reduce_min"
                                                                   : "reduce_max";
    NN_ASSIGN(const Term neutral, Neutral(reduction));
    const Term all = Apply(reduce, {Select(chosen, u, neutral)}, ReduceAttrs{{1}, false});
    const Term y = Combined(reduction, x, all);
    if (!compares) return y;
    // The neutral element would replace NaN.
    const Term touched = Apply("reduce_any", {chosen}, ReduceAttrs{{1}, false});
    if (last_nan.is_absent()) return Select(touched, y, x);
    const Term is_nan = Apply("greater_equal", {Reshape(last_nan, {rows_, run}), 0});
    // Without x, which the first NaN replaced.
    const Term untouched = Select(is_nan, std::numeric_limits<double>::quiet_NaN(), x);
    return Select(touched, Select(is_nan, all, y), untouched);
  }

  // Replaces the node by the rows in the shape of x.
  Result<bool> Finish(const Term& rows) {
    const Dims& dims = *node_.output()->type().dims;
    NN_ASSIGN(Value* const y, e_.Build(rows));
    return e_.Replace(*y->type().dims == dims ? Term(y) : Reshape(y, dims));
  }

  // The row of each update, from index vectors.
  Result<Term> Rows(Value* indices, const std::vector<int64_t>& addressed) {
    if (indices->dtype() != DType::kI32) {
      NN_ASSIGN(indices, e_.Build(Cast(indices, DType::kI32)));
    }
    Term rows = NonNegative(indices, addressed);
    if (addressed.size() > 1) {
      std::vector<int32_t> strides;
      for (const int64_t s : Strides(addressed)) strides.push_back(static_cast<int32_t>(s));
      rows = ReduceSum(rows * Tensor::Of({std::ssize(strides)}, strides), {-1}, false);
    }
    return Reshape(rows, {Dim(count_)});
  }

 private:
  static bool MayBeNan(const Value* v) {
    if (!v->is_constant() || v->dtype() != DType::kF32) return true;
    const Tensor t = v->constant().Aligned();
    return std::ranges::any_of(t.As<float>(), [](float f) { return std::isnan(f); });
  }

  static Term Combined(Reduction reduction, const Term& x, const Term& u) {
    if (reduction == Reduction::kAdd) return x + u;
    if (reduction == Reduction::kMul) return x * u;
    // Unlike `minimum` and `maximum`, NaN is not kept.
    return Select(reduction == Reduction::kMin ? Less(x, u) : Greater(x, u), x, u);
  }

  // For each row its first update, its second, and so on, or only its last; -1 for none.
  std::vector<std::vector<int32_t>> Steps(const std::vector<int64_t>& to, bool only_last) const {
    std::vector<std::vector<int32_t>> steps;
    std::vector<size_t> seen(static_cast<size_t>(rows_), 0);
    for (size_t i = 0; i < to.size(); ++i) {
      const auto row = static_cast<size_t>(to[i]);
      const size_t step = only_last ? 0 : seen[row]++;
      if (step == steps.size()) steps.emplace_back(static_cast<size_t>(rows_), -1);
      steps[step][row] = static_cast<int32_t>(i);
    }
    return steps;
  }

  std::vector<int64_t> MaskDims() const {
    std::vector<int64_t> dims(rest_.size() + 1, 1);
    dims[0] = rows_;
    return dims;
  }

  Term Reshaped(Value* v, int64_t first) const {
    Dims dims = {Dim(first)};
    dims.insert(dims.end(), rest_.begin(), rest_.end());
    return *v->type().dims == dims ? Term(v) : Reshape(v, std::move(dims));
  }

  // Rows `from` of the rows of x and the updates after them.
  Term Taken(const Term& from) const { return Gather(Concat({x_, updates_}, 0), from, 0); }

  Result<Term> Neutral(Reduction reduction) const {
    const DType dtype = x_->dtype();
    if (reduction == Reduction::kMul) return Term(1);
    const bool min = reduction == Reduction::kMin;
    NN_ASSIGN(TensorBuilder number, TensorBuilder::Create(dtype, {}));
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (IsFloat(dtype))
      number.SetDouble(0, min ? kInfinity : -kInfinity);
    else
      number.SetInt(0, min ? MaxInteger(dtype) : MinInteger(dtype));
    return Term(number.Finish());
  }

  Expansion e_;
  Node& node_;
  int64_t rows_, count_;
  Dims rest_;  // of a row
  Value* x_ = nullptr;
  Value* updates_ = nullptr;
};

// The row of each update; nullopt if an index is out of range.
std::optional<std::vector<int64_t>> ConstantRows(const Tensor& indices,
                                                 const std::vector<int64_t>& addressed) {
  const std::vector<int64_t> list = indices.ToInts(), strides = Strides(addressed);
  std::vector<int64_t> to(list.size() / addressed.size(), 0);
  for (size_t i = 0; i < list.size(); ++i) {
    const size_t k = i % addressed.size();
    const int64_t at = list[i] < 0 ? list[i] + addressed[k] : list[i];
    if (at < 0 || at >= addressed[k]) return std::nullopt;
    to[i / addressed.size()] += at * strides[k];
  }
  return to;
}

bool FewSteps(const std::vector<int64_t>& to, int64_t rows) {
  std::vector<size_t> updates(static_cast<size_t>(rows), 0);
  return std::all_of(to.begin(), to.end(),
                     [&](int64_t row) { return ++updates[static_cast<size_t>(row)] <= kMaxSteps; });
}

// Whether the node is what Add() and Replace() end in: a sum, into zeros, of a list of rows that
// one index each addresses.
bool AddsRowsToZeros(const Node& node) {
  const Dims& indices = *node.input(1)->type().dims;
  return node.attrs<ScatterNdAttrs>().reduction == Reduction::kAdd && indices.size() == 2 &&
         indices[1] == 1 && IsZeros(*node.input(0));
}

}  // namespace

Result<bool> ExpandScatterNd(Graph& graph, Node& node) {
  const Type& x = node.input(0)->type();
  const Type& indices_type = node.input(1)->type();
  if (!x.ranked() || !indices_type.ranked()) return false;
  const Dims& indices = *indices_type.dims;
  const Reduction reduction = node.attrs<ScatterNdAttrs>().reduction;
  if (indices.empty() || !indices.back().is_const() || indices.back() == 0) return false;
  const auto entries = static_cast<std::ptrdiff_t>(indices.back().value());
  const auto addressed = ConstDims(Dims(x.dims->begin(), x.dims->begin() + entries));
  const auto vectors = ConstDims(Dims(indices.begin(), indices.end() - 1));
  if (!addressed || !vectors) return false;
  const auto rows = ElementsWithin(*addressed, kMaxElements);
  const auto count = ElementsWithin(*vectors, kMaxElements);
  if (!rows || !count) return false;
  Scatter scatter(graph, node, *rows, *count);
  if (node.input(1)->is_constant()) {
    const auto to = ConstantRows(node.input(1)->constant(), *addressed);
    if (!to) return false;
    if (reduction == Reduction::kNone || FewSteps(*to, *rows)) {
      NN_RETURN_IF_ERROR(scatter.Join());
      NN_ASSIGN(const Term y, scatter.Constant(*to, reduction));
      return scatter.Finish(y);
    }
  }
  if (AddsRowsToZeros(node)) return false;
  if (reduction != Reduction::kNone) {
    std::vector<int64_t> pairs = x.const_dims().value_or(std::vector<int64_t>{0});
    if (reduction != Reduction::kAdd) pairs.push_back(*count);
    if (!ElementsWithin(pairs, reduction == Reduction::kAdd ? kMaxElements : kMaxPairs))
      return false;
  }
  NN_RETURN_IF_ERROR(scatter.Join());
  NN_ASSIGN(const Term to, scatter.Rows(node.input(1), *addressed));
  NN_ASSIGN(const Term y, reduction == Reduction::kNone  ? Result<Term>(scatter.Replace(to))
                          : reduction == Reduction::kAdd ? scatter.Add(to)
                                                         : scatter.Reduce(to, reduction));
  return scatter.Finish(y);
}

Result<bool> ExpandScatterElements(Graph& graph, Node& node) {
  const auto& a = node.attrs<ScatterElementsAttrs>();
  const auto x = node.input(0)->type().const_dims();
  if (!x || x->empty()) return false;
  NN_ASSIGN(const int axis, NormalizeAxis(a.axis, static_cast<int>(x->size())));
  const auto elements = ElementsWithin(*x, kMaxElements);
  if (!elements) return false;
  NN_ASSIGN(const Term places, FlatPositions(node.input(1), *x, axis));
  if (places.is_absent()) return false;
  const Dim count = Product(*node.input(1)->type().dims).value();
  const Term y = Apply("scatter_nd",
                       {Reshape(node.input(0), {Dim(*elements)}), Reshape(places, {count, Dim(1)}),
                        Reshape(node.input(2), {count})},
                       ScatterNdAttrs{a.reduction});
  return Expansion(graph, node).Replace(Reshape(y, *node.output()->type().dims));
}

}  // namespace nn
