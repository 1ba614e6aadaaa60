#include "ops/array/arrange/join_axes.h"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/op_def.h"
#include "ops/array/shape.h"
#include "ops/support/insert_before.h"
#include "ops/support/term_ops.h"

namespace nn {
namespace {

// Permutations of more axes move one axis at a time.
constexpr size_t kMaxJoinedAxes = 5;

AxisPermutation WithoutUnitAxes(const Dims& dims, const std::vector<int64_t>& perm) {
  AxisPermutation out;
  std::vector<int64_t> number(dims.size(), -1);
  for (size_t k = 0; k < dims.size(); ++k) {
    if (dims[k] == 1) continue;
    number[k] = std::ssize(out.dims);
    out.dims.push_back(dims[k]);
  }
  for (const int64_t axis : perm)
    if (const int64_t n = number[static_cast<size_t>(axis)]; n >= 0) out.perm.push_back(n);
  return out;
}

// Joins axes that are neighbors in the same order before and after.
AxisPermutation WithJoinedAxes(const AxisPermutation& p) {
  AxisPermutation out;
  std::vector<int64_t> group(p.dims.size(), 0);  // of each axis of the input
  std::vector<size_t> place(p.dims.size());      // of each axis in the result
  for (size_t i = 0; i < p.perm.size(); ++i) place[static_cast<size_t>(p.perm[i])] = i;
  for (size_t k = 0; k < p.dims.size(); ++k) {
    const bool joined = k > 0 && place[k] == place[k - 1] + 1;
    if (joined)
      out.dims.back() = out.dims.back() * p.dims[k];
    else
      out.dims.push_back(p.dims[k]);
    group[k] = std::ssize(out.dims) - 1;
  }
  for (const int64_t axis : p.perm) {
    const int64_t g = group[static_cast<size_t>(axis)];
    if (out.perm.empty() || out.perm.back() != g) out.perm.push_back(g);
  }
  return out;
}

Term ReshapedTo(Value* v, const Dims& dims) {
  return v->type().dims == dims ? v : Reshape(v, dims);
}

// `v` has as many elements as p.dims.
Term TransposedBy(Value* v, const AxisPermutation& p) {
  return Transpose(ReshapedTo(v, p.dims), p.perm);
}

// Moves the axes to their places one by one, the first first.
Result<Value*> MoveAxes(NodeInserter& graph, Value* v, const AxisPermutation& p) {
  std::vector<int64_t> order(p.dims.size());
  std::iota(order.begin(), order.end(), 0);
  const auto size = [&](size_t begin, size_t end) {
    Dim product(1);
    for (size_t k = begin; k < end; ++k) product = product * p.dims[static_cast<size_t>(order[k])];
    return product;
  };
  for (size_t to = 0; to < order.size(); ++to) {
    const auto at = std::find(order.begin(), order.end(), p.perm[to]);
    const auto from = static_cast<size_t>(at - order.begin());
    if (from == to) continue;
    NN_ASSIGN(v, graph.Build(TransposedBy(v, {{size(0, to), size(to, from), size(from, from + 1),
                                               size(from + 1, order.size())},
                                              {0, 2, 1, 3}})));
    std::rotate(order.begin() + static_cast<std::ptrdiff_t>(to), at, at + 1);
  }
  return v;
}

}  // namespace

AxisPermutation JoinedPermutation(const Dims& dims, const std::vector<int64_t>& perm) {
  return WithJoinedAxes(WithoutUnitAxes(dims, perm));
}

Result<bool> JoinTransposedAxes(Graph& graph, Node& node) {
  const Node* const from = node.input(0)->def();
  Value* const y = node.output();
  if (from == nullptr || !from->Is<ReshapeAttrs>() || graph.IsOutput(y) || y->uses().empty())
    return false;
  for (const Use& use : y->uses())
    if (!use.node->Is<ReshapeAttrs>() || use.index != 0 || !use.node->output()->type().ranked())
      return false;
  const Type& type = node.input(0)->type();
  if (!type.ranked() || (type.quantized() && type.quant->per_axis())) return false;
  const AxisPermutation p = JoinedPermutation(*type.dims, node.attrs<TransposeAttrs>().perm);
  if (p.dims.size() == type.dims->size() && p.dims.size() <= kMaxJoinedAxes) return false;
  InsertBefore before(graph, node);
  Value* moved = from->input(0);
  if (p.dims.size() > kMaxJoinedAxes) {
    NN_ASSIGN(moved, MoveAxes(before, moved, p));
  } else if (p.dims.size() > 1) {
    NN_ASSIGN(moved, before.Build(TransposedBy(moved, p)));
  }
  while (!y->uses().empty()) {
    Node* const user = y->uses().front().node;
    NN_ASSIGN(Value* const result, before.Build(ReshapedTo(moved, *user->output()->type().dims)));
    graph.Replace(user, result);
  }
  return true;
}

}  // namespace nn
