// unique in elementary operators.
#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <vector>

#include "ir/op_def.h"
#include "ops/array/arrange/positions.h"
#include "ops/array/arrange/slice.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/scan.h"
#include "ops/reduce/selection.h"
#include "ops/support/term_ops.h"
#include "ops/support/types.h"
#include "rewrite/expand.h"
#include "rewrite/expand/index.h"

namespace nn {
namespace {

// The outputs of unique, for elements instead of slices; absent if nothing uses them. Indices are
// i32.
struct UniqueResults {
  Term y, first, inverse, counts;
};

class Grouping {
 public:
  Grouping(Graph& graph, Node& node) : graph_(graph), node_(node), e_(graph, node) {}

  // Sorts the elements in descending order, in which NaN is the first one, so that equal elements
  // are neighbors, in the order of their indices.
  UniqueResults Group(const Term& x, DType dtype, int64_t n, bool sorted) {
    n_ = n;
    const Order by_size = SortedBy(x, true);
    const Term starts = Starts(by_size.values, IsFloat(dtype));
    const Term heads = Positions(starts);
    return sorted ? Ascending(by_size, starts, heads) : ByOccurrence(x, by_size, starts, heads);
  }

  // A number for each slice of x [slices, elements]: that of the slices below it.
  Term Ranks(const Term& x, DType dtype, int64_t slices, int64_t elements) {
    const Term a = Reshape(x, {slices, 1, elements});
    const Term b = Reshape(x, {1, slices, elements});
    of_slices_ = true;
    Term below = Less(a, b);
    Term differ = Apply("not_equal", {a, b});
    if (IsFloat(dtype)) {
      // NaN is above all numbers and equal to itself.
      const Term a_nan = Apply("not_equal", {a, a}), b_nan = Apply("not_equal", {b, b});
      below = Or(below, And(Apply("xor", {a_nan, b_nan}), b_nan));
      differ = And(differ, Not(And(a_nan, b_nan)));
    }
    // The first elements that differ decide.
    ArgAttrs along;
    along.axis = 2;
    along.output_type = DType::kI32;
    const Term place = Apply("arg_max", {Cast(differ, DType::kI32)}, along);
    const Term decides = And(below, Equal(place, nn::Ascending(elements)));
    return ReduceSum(Cast(decides, DType::kI32), {0, 2}, false);
  }

  Result<bool> Finish(const UniqueResults& r, DType index_type) {
    NN_ASSIGN(Value* const y, e_.Build(r.y));
    const Term* const more[] = {&r.first, &r.inverse, &r.counts};
    for (size_t i = 0; i < std::size(more); ++i)
      if (!more[i]->is_absent() && Wants(i + 1)) {
        NN_ASSIGN(Value* const v, e_.Build(Cast(*more[i], index_type)));
        e_.ReplaceOutput(i + 1, v);
      }
    return e_.Replace(y);
  }

  bool Wants(size_t output) const {
    return output < node_.outputs().size() && graph_.HasUses(node_.output(output));
  }

 private:
  struct Order {
    Term values, indices;
  };

  Order SortedBy(const Term& x, bool descending) const {
    TopKAttrs a;
    a.axis = 0;
    a.largest = descending;
    a.index_type = DType::kI32;
    const std::vector<Term> sorted = ApplyAll("top_k", {x, Tensor::Scalar(n_)}, a, 2);
    return {sorted[0], sorted[1]};
  }

  static Term Pick(const Term& v, const Term& indices) { return Gather(v, indices, 0); }
  static Term Number(int64_t v) { return Tensor::Of<int32_t>({1}, {static_cast<int32_t>(v)}); }

  // 1 where a group starts, otherwise 0.
  Term Starts(const Term& values, bool is_float) const {
    if (n_ == 1) return Number(1);
    const Term after = Slice(values, 0, 1, n_);
    Term differ = Apply("not_equal", {Slice(values, 0, 0, n_ - 1), after});
    // NaN comes first, and only numbers equal themselves.
    if (is_float) differ = And(differ, Equal(after, after));
    return Concat({Number(1), Cast(differ, DType::kI32)}, 0);
  }

  // Where the numbers of a vector are not 0.
  static Term Positions(const Term& v) {
    return Cast(Squeeze(Apply("non_zero", {v}), {0}), DType::kI32);
  }

  // For each element the number of its group.
  static Term Counted(const Term& starts) {
    return Apply("cum_sum", {starts}, ScanAttrs{}) - Number(1);
  }

  static Term Reversed(const Term& v) { return Apply("reverse", {v}, ReverseAttrs{{0}}); }

  // The sizes of groups that start at these positions.
  Term Sizes(const Term& heads) const {
    const Term next = Concat({heads, Number(n_)}, 0);
    return Slice(next, 0, 1, std::numeric_limits<int64_t>::max()) - heads;
  }

  // In the order of x.
  Term Unsorted(const Order& order, const Term& v) {
    if (back_.is_absent()) back_ = SortedBy(order.indices, false).indices;
    return Pick(v, back_);
  }

  UniqueResults Ascending(const Order& order, const Term& starts, const Term& heads) {
    UniqueResults r;
    r.y = Reversed(Pick(order.values, heads));
    if (Wants(1) || of_slices_) r.first = Reversed(Pick(order.indices, heads));
    if (Wants(2)) {
      const Term group = Counted(starts);
      r.inverse = Unsorted(order, Slice(group, 0, n_ - 1, n_) - group);
    }
    if (Wants(3)) r.counts = Reversed(Sizes(heads));
    return r;
  }

  UniqueResults ByOccurrence(const Term& x, const Order& order, const Term& starts,
                             const Term& heads) {
    UniqueResults r;
    const Term is_first = Unsorted(order, starts);
    r.first = Positions(is_first);
    r.y = Pick(x, r.first);
    const Term group = Counted(starts);
    if (Wants(2)) {
      const Term of_group = Pick(Counted(is_first), Pick(order.indices, heads));
      r.inverse = Unsorted(order, Pick(of_group, group));
    }
    if (Wants(3)) r.counts = Pick(Unsorted(order, Pick(Sizes(heads), group)), r.first);
    return r;
  }

  Graph& graph_;
  Node& node_;
  Expansion e_;
  int64_t n_ = 0;
  bool of_slices_ = false;  // whose first indices select them
  Term back_;               // the positions of the elements of x in the order
};

}  // namespace

Result<bool> ExpandUnique(Graph& graph, Node& node) {
  const auto& a = node.attrs<UniqueAttrs>();
  const Type& type = node.input(0)->type();
  const auto dims = type.const_dims();
  const bool is_ordered = type.dtype == DType::kF32 || IsInteger(type.dtype);
  if (!dims || type.quantized() || !is_ordered || DTypeBits(type.dtype) < 8) return false;
  // Limit of expansions: elements of the input of Unique.
  constexpr int64_t kMaxIndex = std::numeric_limits<int32_t>::max();
  const auto count = ElementsWithin(*dims, kMaxIndex);
  if (!count) return false;
  Grouping grouping(graph, node);
  Term x = node.input(0);
  if (a.flatten || dims->size() == 1) {
    if (dims->size() != 1) x = Reshape(x, {*count});
    return grouping.Finish(grouping.Group(x, type.dtype, *count, a.sorted), a.index_type);
  }
  // Slices have the order of their ranks.
  NN_ASSIGN(const int axis, NormalizeAxis(a.axis, type.rank()));
  const int64_t slices = (*dims)[static_cast<size_t>(axis)], elements = *count / slices;
  if (!ElementsWithin({slices, slices, elements}, kMaxElements)) return false;
  if (axis != 0) {
    std::vector<int64_t> perm(dims->size());
    std::iota(perm.begin(), perm.end(), 0);
    std::rotate(perm.begin(), perm.begin() + axis, perm.begin() + axis + 1);
    x = Transpose(x, std::move(perm));
  }
  const Term ranks = grouping.Ranks(Reshape(x, {slices, elements}), type.dtype, slices, elements);
  UniqueResults r = grouping.Group(ranks, DType::kI32, slices, a.sorted);
  r.y = Gather(node.input(0), r.first, axis);
  return grouping.Finish(r, a.index_type);
}

}  // namespace nn
