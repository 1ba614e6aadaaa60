// scatter_nd and scatter_elements in operators that gather and add.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/op_def.h"
#include "ops/array/arrange/concat.h"
#include "ops/array/arrange/gather.h"
#include "ops/array/arrange/scatter.h"
#include "ops/array/arrange/slice.h"
#include "ops/array/shape.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/selection.h"
#include "ops/support/types.h"
#include "rewrite/expand/index.h"

namespace nn {
namespace {

// The updates of one element that become a node each.
constexpr size_t kMaxSteps = 16;
// The elements of a tensor that holds every update for every element.
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
    NN_ASSIGN(x_, Reshaped(node_.input(0), rows_, rest_));
    NN_ASSIGN(updates_, Reshaped(node_.input(2), count_, rest_));
    return {};
  }

  // With constant indices: `to` is the row of each update.
  Result<Value*> Constant(const std::vector<int64_t>& to, Reduction reduction) {
    std::vector<std::vector<int32_t>> steps = Steps(to, reduction == Reduction::kNone);
    if (reduction == Reduction::kNone) {
      for (size_t row = 0; row < steps[0].size(); ++row)
        steps[0][row] = static_cast<int32_t>(steps[0][row] < 0 ? static_cast<int32_t>(row)
                                                               : rows_ + steps[0][row]);
      return Taken(e_.Constant(Tensor::Of({rows_}, steps[0])));
    }
    Value* y = x_;
    for (std::vector<int32_t>& from : steps) {
      NN_ASSIGN(TensorBuilder touched, TensorBuilder::Create(DType::kBool, MaskDims()));
      bool all = true;
      for (int64_t row = 0; row < rows_; ++row) {
        int32_t& i = from[static_cast<size_t>(row)];
        touched.SetInt(row, i >= 0 ? 1 : 0);
        all &= i >= 0;
        i = std::max(i, 0);
      }
      NN_ASSIGN(Value* const u, e_.Add("gather", {updates_, e_.Constant(Tensor::Of({rows_}, from))},
                                       GatherAttrs{0, 0}));
      NN_ASSIGN(Value* const combined, Combined(reduction, y, u));
      Value* const before = y;
      y = combined;
      if (!all) {
        NN_ASSIGN(y, e_.Add("select", {e_.Constant(touched.Finish()), combined, before}));
      }
    }
    return y;
  }

  // The last update of each row, or the row. In the reversed updates sorted by their rows, the
  // first one of each row is its last update.
  Result<Value*> Replace(Value* to) {
    NN_ASSIGN(Value* const rows, Ascending(e_, DType::kI32, rows_));
    if (count_ == 1) {
      NN_ASSIGN(Value* const update, e_.Number(DType::kI32, static_cast<double>(rows_)));
      NN_ASSIGN(Value* const replaced, e_.Add("equal", {rows, to}));
      NN_ASSIGN(Value* const from, e_.Add("select", {replaced, update, rows}));
      return Taken(from);
    }
    NN_ASSIGN(Value* const reversed, e_.Add("reverse", {to}, ReverseAttrs{{0}}));
    NN_ASSIGN(Value* const k, e_.Number(DType::kI64, static_cast<double>(count_)));
    NN_ASSIGN(Node* const sort, e_.AddNode("top_k", {reversed, k},
                                           TopKAttrs{.axis = 0, .index_type = DType::kI32}, 2));
    Value* const sorted = sort->output(0);
    Value* const none = e_.Constant(Tensor::Of<int32_t>({1}, {-1}));
    NN_ASSIGN(Value * before, e_.Add("slice", {sorted}, SliceAttrs{{0}, {0}, {count_ - 1}, {1}}));
    NN_ASSIGN(before, e_.Add("concat", {none, before}, ConcatAttrs{0}));
    NN_ASSIGN(Value* const last, e_.Add("not_equal", {sorted, before}));
    // The updates counted from 1; 0 is none.
    NN_ASSIGN(Value* const zero, e_.Number(DType::kI32, 0));
    NN_ASSIGN(Value* const count, e_.Number(DType::kI32, static_cast<double>(count_)));
    NN_ASSIGN(Value * number, e_.Add("sub", {count, sort->output(1)}));
    NN_ASSIGN(number, e_.Add("select", {last, number, zero}));
    NN_ASSIGN(Value* const nowhere, ZeroRows(DType::kI32, {rows_}));
    NN_ASSIGN(Value* const places, e_.Add("reshape", {sorted}, ReshapeAttrs{{count_, 1}, false}));
    NN_ASSIGN(number,
              e_.Add("scatter_nd", {nowhere, places, number}, ScatterNdAttrs{Reduction::kAdd}));
    NN_ASSIGN(Value* const updated, e_.Add("greater", {number, zero}));
    NN_ASSIGN(Value* const first, e_.Number(DType::kI32, static_cast<double>(rows_ - 1)));
    NN_ASSIGN(number, e_.Add("add", {number, first}));
    NN_ASSIGN(Value* const from, e_.Add("select", {updated, number, rows}));
    return Taken(from);
  }

  // Adds the rows and then the updates to zeros, which is the order of the operator.
  Result<Value*> Add(Value* to) {
    std::vector<int64_t> dims = {rows_};
    for (const Dim& d : rest_) dims.push_back(d.value());
    NN_ASSIGN(Value* const zeros, ZeroRows(x_->dtype(), dims));
    NN_ASSIGN(Value* const rows, Ascending(e_, DType::kI32, rows_));
    NN_ASSIGN(Value * places, e_.Add("concat", {rows, to}, ConcatAttrs{0}));
    NN_ASSIGN(places, e_.Add("reshape", {places}, ReshapeAttrs{{rows_ + count_, 1}, false}));
    NN_ASSIGN(Value* const all, e_.Add("concat", {x_, updates_}, ConcatAttrs{0}));
    return e_.Add("scatter_nd", {zeros, places, all}, ScatterNdAttrs{Reduction::kAdd});
  }

  // Reduces all updates for each row, of which those of other rows are neutral.
  Result<Value*> Reduce(Value* to, Reduction reduction) {
    int64_t run = 1;
    for (const Dim& d : rest_) run *= d.value();
    NN_ASSIGN(Value* const x, e_.Add("reshape", {x_}, ReshapeAttrs{{rows_, run}, false}));
    NN_ASSIGN(Value* const u, e_.Add("reshape", {updates_}, ReshapeAttrs{{count_, run}, false}));
    NN_ASSIGN(Value * rows, Ascending(e_, DType::kI32, rows_));
    NN_ASSIGN(rows, e_.Add("reshape", {rows}, ReshapeAttrs{{rows_, 1}, false}));
    NN_ASSIGN(Value * chosen, e_.Add("equal", {rows, to}));
    NN_ASSIGN(chosen, e_.Add("reshape", {chosen}, ReshapeAttrs{{rows_, count_, 1}, false}));
    NN_ASSIGN(Value* const neutral, Neutral(reduction));
    // A comparison with NaN is false: the update after it replaces it.
    Value* last_nan = nullptr;
    if (reduction != Reduction::kMul && IsFloat(x->dtype()) && MayBeNan(node_.input(2))) {
      NN_ASSIGN(Value * at, Ascending(e_, DType::kI32, count_));
      NN_ASSIGN(at, e_.Add("reshape", {at}, ReshapeAttrs{{1, count_, 1}, false}));
      NN_ASSIGN(Value* const nan, e_.Add("not_equal", {u, u}));
      NN_ASSIGN(Value* const hit, e_.Add("and", {chosen, nan}));
      NN_ASSIGN(Value* const none, e_.Number(DType::kI32, -1));
      NN_ASSIGN(last_nan, e_.Add("select", {hit, at, none}));
      NN_ASSIGN(last_nan, e_.Add("reduce_max", {last_nan}, ReduceAttrs{{1}, true}));
      NN_ASSIGN(Value* const behind, e_.Add("greater", {at, last_nan}));
      NN_ASSIGN(chosen, e_.Add("and", {chosen, behind}));
    }
    NN_ASSIGN(Value * all, e_.Add("select", {chosen, u, neutral}));
    const std::string_view reduce = reduction == Reduction::kMul   ? "reduce_prod"
                                    : reduction == Reduction::kMin ? "reduce_min"
                                                                   : "reduce_max";
    NN_ASSIGN(all, e_.Add(reduce, {all}, ReduceAttrs{{1}, false}));
    NN_ASSIGN(Value * y, Combined(reduction, x, all));
    if (reduction != Reduction::kMul && IsFloat(x->dtype())) {
      // The neutral element would replace NaN.
      NN_ASSIGN(Value* const touched, e_.Add("reduce_any", {chosen}, ReduceAttrs{{1}, false}));
      Value* untouched = x;
      if (last_nan != nullptr) {
        NN_ASSIGN(Value* const nan,
                  e_.Number(x->dtype(), std::numeric_limits<double>::quiet_NaN()));
        NN_ASSIGN(Value* const none, e_.Number(DType::kI32, 0));
        NN_ASSIGN(last_nan, e_.Add("reshape", {last_nan}, ReshapeAttrs{{rows_, run}, false}));
        NN_ASSIGN(Value* const is_nan, e_.Add("greater_equal", {last_nan, none}));
        // Without x, which the first NaN replaced.
        NN_ASSIGN(y, e_.Add("select", {is_nan, all, y}));
        NN_ASSIGN(untouched, e_.Add("select", {is_nan, nan, x}));
      }
      NN_ASSIGN(y, e_.Add("select", {touched, y, untouched}));
    }
    return y;
  }

  // Replaces the node by the rows in the shape of x.
  Result<bool> Finish(Value* y) {
    const Dims& dims = *node_.output()->type().dims;
    if (*y->type().dims != dims) {
      NN_ASSIGN(y, e_.Add("reshape", {y}, ReshapeAttrs{dims, false}));
    }
    return e_.Replace(y);
  }

  // The row of each update, from index vectors.
  Result<Value*> Rows(Value* indices, const std::vector<int64_t>& addressed) {
    if (indices->dtype() != DType::kI32) {
      NN_ASSIGN(indices, e_.Add("cast", {indices}, CastAttrs{.to = DType::kI32}));
    }
    NN_ASSIGN(indices, NonNegative(e_, indices, addressed));
    if (addressed.size() > 1) {
      std::vector<int32_t> strides;
      for (const int64_t s : Strides(addressed)) strides.push_back(static_cast<int32_t>(s));
      NN_ASSIGN(indices,
                e_.Add("mul", {indices, e_.Constant(Tensor::Of({std::ssize(strides)}, strides))}));
      NN_ASSIGN(indices, e_.Add("reduce_sum", {indices}, ReduceAttrs{{-1}, false}));
    }
    return e_.Add("reshape", {indices}, ReshapeAttrs{{Dim(count_)}, false});
  }

 private:
  static bool MayBeNan(const Value* v) {
    if (!v->is_constant() || v->dtype() != DType::kF32) return true;
    const Tensor t = v->constant().Aligned();
    return std::ranges::any_of(t.As<float>(), [](float f) { return std::isnan(f); });
  }

  Result<Value*> Combined(Reduction reduction, Value* x, Value* u) {
    if (reduction == Reduction::kAdd) return e_.Add("add", {x, u});
    if (reduction == Reduction::kMul) return e_.Add("mul", {x, u});
    // Unlike `minimum` and `maximum`, NaN is not kept.
    NN_ASSIGN(Value* const kept, e_.Add(reduction == Reduction::kMin ? "less" : "greater", {x, u}));
    return e_.Add("select", {kept, x, u});
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

  Result<Value*> Reshaped(Value* v, int64_t first, const Dims& rest) {
    Dims dims = {Dim(first)};
    dims.insert(dims.end(), rest.begin(), rest.end());
    if (*v->type().dims == dims) return v;
    return e_.Add("reshape", {v}, ReshapeAttrs{std::move(dims), false});
  }

  // Rows `from` of the rows of x and the updates after them.
  Result<Value*> Taken(Value* from) {
    NN_ASSIGN(Value* const all, e_.Add("concat", {x_, updates_}, ConcatAttrs{0}));
    return e_.Add("gather", {all, from}, GatherAttrs{0, 0});
  }

  Result<Value*> ZeroRows(DType dtype, const std::vector<int64_t>& dims) {
    NN_ASSIGN(TensorBuilder zeros, TensorBuilder::Create(dtype, dims));
    for (int64_t i = 0; i < zeros.elements(); ++i) zeros.SetInt(i, 0);
    return e_.Constant(zeros.Finish());
  }

  Result<Value*> Neutral(Reduction reduction) {
    const DType dtype = x_->dtype();
    if (reduction == Reduction::kMul) return e_.Number(dtype, 1);
    const bool min = reduction == Reduction::kMin;
    NN_ASSIGN(TensorBuilder number, TensorBuilder::Create(dtype, {}));
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (IsFloat(dtype))
      number.SetDouble(0, min ? kInfinity : -kInfinity);
    else
      number.SetInt(0, min ? MaxInteger(dtype) : MinInteger(dtype));
    return e_.Constant(number.Finish());
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
      NN_ASSIGN(Value* const y, scatter.Constant(*to, reduction));
      return scatter.Finish(y);
    }
  }
  if (reduction != Reduction::kNone) {
    std::vector<int64_t> pairs = x.const_dims().value_or(std::vector<int64_t>{0});
    if (reduction != Reduction::kAdd) pairs.push_back(*count);
    if (!ElementsWithin(pairs, reduction == Reduction::kAdd ? kMaxElements : kMaxPairs))
      return false;
  }
  NN_RETURN_IF_ERROR(scatter.Join());
  NN_ASSIGN(Value* const to, scatter.Rows(node.input(1), *addressed));
  NN_ASSIGN(Value* const y, reduction == Reduction::kNone  ? scatter.Replace(to)
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
  Expansion e(graph, node);
  NN_ASSIGN(Value * places, FlatPositions(e, node.input(1), *x, axis));
  if (places == nullptr) return false;
  const int64_t count = Product(*node.input(1)->type().dims).value();
  NN_ASSIGN(places, e.Add("reshape", {places}, ReshapeAttrs{{Dim(count), Dim(1)}, false}));
  NN_ASSIGN(Value* const flat,
            e.Add("reshape", {node.input(0)}, ReshapeAttrs{{Dim(*elements)}, false}));
  NN_ASSIGN(Value* const updates,
            e.Add("reshape", {node.input(2)}, ReshapeAttrs{{Dim(count)}, false}));
  NN_ASSIGN(Value * y, e.Add("scatter_nd", {flat, places, updates}, ScatterNdAttrs{a.reduction}));
  NN_ASSIGN(y, e.Add("reshape", {y}, ReshapeAttrs{*node.output()->type().dims, false}));
  return e.Replace(y);
}

}  // namespace nn
