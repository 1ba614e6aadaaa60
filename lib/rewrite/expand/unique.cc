// unique in elementary operators.
#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <vector>

#include "ir/op_def.h"
#include "ops/array/arrange/concat.h"
#include "ops/array/arrange/gather.h"
#include "ops/array/arrange/positions.h"
#include "ops/array/arrange/slice.h"
#include "ops/array/shape.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/scan.h"
#include "ops/reduce/selection.h"
#include "ops/support/types.h"
#include "rewrite/expand.h"
#include "rewrite/expand/index.h"

namespace nn {
namespace {

// The outputs of unique, for elements instead of slices; null if nothing uses them. Indices are
// i32.
struct UniqueResults {
  Value* y = nullptr;
  Value* first = nullptr;
  Value* inverse = nullptr;
  Value* counts = nullptr;
};

class Grouping {
 public:
  Grouping(Graph& graph, Node& node) : graph_(graph), node_(node), e_(graph, node) {}

  // Sorts the elements in descending order, in which NaN is the first one, so that equal elements
  // are neighbors, in the order of their indices.
  Result<UniqueResults> Group(Value* x, int64_t n, bool sorted) {
    n_ = n;
    NN_ASSIGN(const Order by_size, SortedBy(x, true));
    NN_ASSIGN(Value* const starts, Starts(by_size.values));
    NN_ASSIGN(Value* const heads, Positions(starts));
    UniqueResults r;
    if (sorted) {
      NN_RETURN_IF_ERROR(Ascending(by_size, starts, heads, r));
    } else {
      NN_RETURN_IF_ERROR(ByOccurrence(x, by_size, starts, heads, r));
    }
    return r;
  }

  // A number for each slice of x [slices, elements]: that of the slices below it.
  Result<Value*> Ranks(Value* x, int64_t slices, int64_t elements) {
    NN_ASSIGN(Value* const a, Shaped(x, {slices, 1, elements}));
    NN_ASSIGN(Value* const b, Shaped(x, {1, slices, elements}));
    of_slices_ = true;
    NN_ASSIGN(Value * below, e_.Add("less", {a, b}));
    NN_ASSIGN(Value * differ, e_.Add("not_equal", {a, b}));
    if (IsFloat(x->dtype())) {
      // NaN is above all numbers and equal to itself.
      NN_ASSIGN(Value* const a_nan, e_.Add("not_equal", {a, a}));
      NN_ASSIGN(Value* const b_nan, e_.Add("not_equal", {b, b}));
      NN_ASSIGN(Value* const one_nan, e_.Add("xor", {a_nan, b_nan}));
      NN_ASSIGN(Value* const last_nan, e_.Add("and", {one_nan, b_nan}));
      NN_ASSIGN(below, e_.Add("or", {below, last_nan}));
      NN_ASSIGN(Value* const both_nan, e_.Add("and", {a_nan, b_nan}));
      NN_ASSIGN(Value* const no_nan, e_.Add("not", {both_nan}));
      NN_ASSIGN(differ, e_.Add("and", {differ, no_nan}));
    }
    // The first elements that differ decide.
    NN_ASSIGN(differ, e_.Add("cast", {differ}, CastAttrs{.to = DType::kI32}));
    ArgAttrs along;
    along.axis = 2;
    along.output_type = DType::kI32;
    NN_ASSIGN(Value* const place, e_.Add("arg_max", {differ}, along));
    NN_ASSIGN(Value* const places, nn::Ascending(e_, DType::kI32, elements));
    NN_ASSIGN(Value* const decides, e_.Add("equal", {place, places}));
    NN_ASSIGN(below, e_.Add("and", {below, decides}));
    NN_ASSIGN(below, e_.Add("cast", {below}, CastAttrs{.to = DType::kI32}));
    return e_.Add("reduce_sum", {below}, ReduceAttrs{{0, 2}, false});
  }

  Result<bool> Finish(const UniqueResults& r, DType index_type) {
    Value* const more[] = {r.first, r.inverse, r.counts};
    for (size_t i = 0; i < std::size(more); ++i)
      if (more[i] != nullptr && Wants(i + 1)) {
        NN_ASSIGN(Value* const v, e_.Add("cast", {more[i]}, CastAttrs{.to = index_type}));
        e_.ReplaceOutput(i + 1, v);
      }
    return e_.Replace(r.y);
  }

  bool Wants(size_t output) const {
    return output < node_.outputs().size() && graph_.HasUses(node_.output(output));
  }
  Expansion& expansion() { return e_; }

  Result<Value*> Shaped(Value* v, const std::vector<int64_t>& dims) {
    return e_.Add("reshape", {v}, ReshapeAttrs{ToDims(dims), false});
  }
  Result<Value*> Pick(Value* v, Value* indices, int64_t axis = 0) {
    return e_.Add("gather", {v, indices}, GatherAttrs{axis, 0});
  }

 private:
  struct Order {
    Value* values;
    Value* indices;
  };

  Result<Order> SortedBy(Value* x, bool descending) {
    TopKAttrs a;
    a.axis = 0;
    a.largest = descending;
    a.index_type = DType::kI32;
    Value* const count = e_.Constant(Tensor::Scalar(n_));
    NN_ASSIGN(Node* const sorted, e_.AddNode("top_k", {x, count}, a, 2));
    return Order{sorted->output(0), sorted->output(1)};
  }

  Result<Value*> Part(Value* v, int64_t begin, int64_t end) {
    return e_.Add("slice", {v}, SliceAttrs{{0}, {begin}, {end}, {1}});
  }
  Result<Value*> Numbers(int32_t v) { return e_.Constant(Tensor::Of<int32_t>({1}, {v})); }

  // 1 where a group starts, otherwise 0.
  Result<Value*> Starts(Value* values) {
    NN_ASSIGN(Value* const one, Numbers(1));
    if (n_ == 1) return one;
    NN_ASSIGN(Value* const before, Part(values, 0, n_ - 1));
    NN_ASSIGN(Value* const after, Part(values, 1, n_));
    NN_ASSIGN(Value * differ, e_.Add("not_equal", {before, after}));
    if (IsFloat(values->dtype())) {
      // NaN comes first, and only numbers equal themselves.
      NN_ASSIGN(Value* const number, e_.Add("equal", {after, after}));
      NN_ASSIGN(differ, e_.Add("and", {differ, number}));
    }
    NN_ASSIGN(differ, e_.Add("cast", {differ}, CastAttrs{.to = DType::kI32}));
    return e_.Add("concat", {one, differ}, ConcatAttrs{0});
  }

  // Where the numbers of a vector are not 0.
  Result<Value*> Positions(Value* v) {
    NN_ASSIGN(Value * at, e_.Add("non_zero", {v}));
    NN_ASSIGN(at, e_.Add("squeeze", {at}, AxesAttrs{{0}}));
    return e_.Add("cast", {at}, CastAttrs{.to = DType::kI32});
  }

  // For each element the number of its group.
  Result<Value*> Counted(Value* starts) {
    NN_ASSIGN(Value* const sum, e_.Add("cum_sum", {starts}, ScanAttrs{}));
    NN_ASSIGN(Value* const one, Numbers(1));
    return e_.Add("sub", {sum, one});
  }

  Result<Value*> Reversed(Value* v) { return e_.Add("reverse", {v}, ReverseAttrs{{0}}); }

  // The sizes of groups that start at these positions.
  Result<Value*> Sizes(Value* heads) {
    NN_ASSIGN(Value* const end, Numbers(static_cast<int32_t>(n_)));
    NN_ASSIGN(Value * next, e_.Add("concat", {heads, end}, ConcatAttrs{0}));
    NN_ASSIGN(next, Part(next, 1, std::numeric_limits<int64_t>::max()));
    return e_.Add("sub", {next, heads});
  }

  // In the order of x.
  Result<Value*> Unsorted(const Order& order, Value* v) {
    if (back_ == nullptr) {
      NN_ASSIGN(const Order by_index, SortedBy(order.indices, false));
      back_ = by_index.indices;
    }
    return Pick(v, back_);
  }

  Status Ascending(const Order& order, Value* starts, Value* heads, UniqueResults& r) {
    NN_ASSIGN(r.y, Pick(order.values, heads));
    NN_ASSIGN(r.y, Reversed(r.y));
    if (Wants(1) || of_slices_) {
      NN_ASSIGN(r.first, Pick(order.indices, heads));
      NN_ASSIGN(r.first, Reversed(r.first));
    }
    if (Wants(2)) {
      NN_ASSIGN(Value* const group, Counted(starts));
      NN_ASSIGN(Value* const last, Part(group, n_ - 1, n_));
      NN_ASSIGN(Value* const from_end, e_.Add("sub", {last, group}));
      NN_ASSIGN(r.inverse, Unsorted(order, from_end));
    }
    if (Wants(3)) {
      NN_ASSIGN(r.counts, Sizes(heads));
      NN_ASSIGN(r.counts, Reversed(r.counts));
    }
    return {};
  }

  Status ByOccurrence(Value* x, const Order& order, Value* starts, Value* heads, UniqueResults& r) {
    NN_ASSIGN(Value* const is_first, Unsorted(order, starts));
    NN_ASSIGN(r.first, Positions(is_first));
    NN_ASSIGN(r.y, Pick(x, r.first));
    if (!Wants(2) && !Wants(3)) return {};
    NN_ASSIGN(Value* const group, Counted(starts));
    if (Wants(2)) {
      NN_ASSIGN(Value* const number, Counted(is_first));
      NN_ASSIGN(Value * of_group, Pick(order.indices, heads));
      NN_ASSIGN(of_group, Pick(number, of_group));
      NN_ASSIGN(Value* const of_element, Pick(of_group, group));
      NN_ASSIGN(r.inverse, Unsorted(order, of_element));
    }
    if (Wants(3)) {
      NN_ASSIGN(Value * sizes, Sizes(heads));
      NN_ASSIGN(sizes, Pick(sizes, group));
      NN_ASSIGN(sizes, Unsorted(order, sizes));
      NN_ASSIGN(r.counts, Pick(sizes, r.first));
    }
    return {};
  }

  Graph& graph_;
  Node& node_;
  Expansion e_;
  int64_t n_ = 0;
  bool of_slices_ = false;  // whose first indices select them
  Value* back_ = nullptr;   // the positions of the elements of x in the order
};

}  // namespace

Result<bool> ExpandUnique(Graph& graph, Node& node) {
  const auto& a = node.attrs<UniqueAttrs>();
  const Type& type = node.input(0)->type();
  const auto dims = type.const_dims();
  const bool is_ordered = type.dtype == DType::kF32 || IsInteger(type.dtype);
  if (!dims || type.quantized() || !is_ordered || DTypeBits(type.dtype) < 8) return false;
  constexpr int64_t kMaxIndex = std::numeric_limits<int32_t>::max();
  const auto count = ElementsWithin(*dims, kMaxIndex);
  if (!count) return false;
  Grouping grouping(graph, node);
  Value* x = node.input(0);
  if (a.flatten || dims->size() == 1) {
    if (dims->size() != 1) {
      NN_ASSIGN(x, grouping.Shaped(x, {*count}));
    }
    NN_ASSIGN(const UniqueResults r, grouping.Group(x, *count, a.sorted));
    return grouping.Finish(r, a.index_type);
  }
  // Slices have the order of their ranks.
  NN_ASSIGN(const int axis, NormalizeAxis(a.axis, type.rank()));
  const int64_t slices = (*dims)[static_cast<size_t>(axis)], elements = *count / slices;
  if (!ElementsWithin({slices, slices, elements}, kMaxElements)) return false;
  if (axis != 0) {
    TransposeAttrs order;
    order.perm.resize(dims->size());
    std::iota(order.perm.begin(), order.perm.end(), 0);
    std::rotate(order.perm.begin(), order.perm.begin() + axis, order.perm.begin() + axis + 1);
    NN_ASSIGN(x, grouping.expansion().Add("transpose", {x}, order));
  }
  NN_ASSIGN(x, grouping.Shaped(x, {slices, elements}));
  NN_ASSIGN(x, grouping.Ranks(x, slices, elements));
  NN_ASSIGN(UniqueResults r, grouping.Group(x, slices, a.sorted));
  NN_ASSIGN(r.y, grouping.Pick(node.input(0), r.first, axis));
  return grouping.Finish(r, a.index_type);
}

}  // namespace nn
