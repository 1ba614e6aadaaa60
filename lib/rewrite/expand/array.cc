// Expansions that arrange or generate elements.
#include <algorithm>
#include <limits>
#include <numeric>

#include "ir/op_def.h"
#include "ops/array/arrange/pad.h"
#include "ops/array/arrange/positions.h"
#include "ops/array/generate.h"
#include "ops/support/term_ops.h"
#include "ops/support/types.h"
#include "rewrite/expand/index.h"

namespace nn {

Result<bool> ExpandSplitOfOne(Graph& graph, Node& node) {
  return node.outputs().size() == 1 && Expansion(graph, node).Replace(node.input(0));
}

// A gather along each axis that is padded.
Result<bool> ExpandPad(Graph& graph, Node& node) {
  const auto& a = node.attrs<PadAttrs>();
  const Type& x = node.input(0)->type();
  const auto rank = static_cast<size_t>(x.rank());
  if (a.mode == PadMode::kConstant || a.pads.size() != 2 * rank) return false;
  for (size_t axis = 0; axis < rank; ++axis) {
    if (a.pads[axis] == 0 && a.pads[rank + axis] == 0) continue;
    const Dim &from = x.dim(static_cast<int>(axis)),
              &to = node.output()->type().dim(static_cast<int>(axis));
    if (!from.is_const() || !to.is_const() || from == 0 || to.value() > kMaxElements) return false;
  }
  if (std::all_of(a.pads.begin(), a.pads.end(), [](int64_t n) { return n == 0; })) {
    node.set_attrs(PadAttrs{a.pads, PadMode::kConstant});
    return true;
  }
  Term y = node.input(0);
  for (size_t axis = 0; axis < rank; ++axis) {
    const int64_t begin = a.pads[axis], end = a.pads[rank + axis];
    if (begin == 0 && end == 0) continue;
    const int64_t size = x.dim(static_cast<int>(axis)).value();
    std::vector<int32_t> indices;
    for (int64_t i = 0; i < node.output()->type().dim(static_cast<int>(axis)).value(); ++i)
      indices.push_back(static_cast<int32_t>(PaddedIndex(i, begin, end, size, a.mode).value_or(0)));
    y = Gather(y, Tensor::Of({std::ssize(indices)}, indices), static_cast<int64_t>(axis));
  }
  return Expansion(graph, node).Replace(y);
}

Result<bool> ExpandEyeLike(Graph& graph, Node& node) {
  const auto dims = node.output()->type().const_dims();
  const DType dtype = node.output()->dtype();
  if (!dims || dims->size() != 2 || !ElementsWithin(*dims, kMaxElements)) return false;
  if (!IsInteger(dtype) && !IsFloat(dtype) && dtype != DType::kBool) return false;
  const int64_t k = node.attrs<EyeLikeAttrs>().k;
  NN_ASSIGN(TensorBuilder eye, TensorBuilder::Create(dtype, *dims));
  for (int64_t i = 0; i < eye.elements(); ++i) {
    // Compared without a sum, which could overflow.
    const bool one = i % (*dims)[1] - i / (*dims)[1] == k;
    if (IsFloat(dtype))
      eye.SetDouble(i, one ? 1 : 0);
    else
      eye.SetInt(i, one ? 1 : 0);
  }
  return Expansion(graph, node).Replace(Term(eye.Finish()));
}

// A comparison of the indices with 0, 1, ... depth - 1, and a selection.
Result<bool> ExpandOneHot(Graph& graph, Node& node) {
  const auto& a = node.attrs<OneHotAttrs>();
  const Term values = node.input(2);
  if (!node.output()->type().ranked() || node.input(2)->type().quantized()) return false;
  const int rank = node.output()->type().rank();
  NN_ASSIGN(const int axis, NormalizeAxis(a.axis, rank));
  const auto as_i32 = [](Value* v) {
    return v->dtype() == DType::kI32 ? Term(v) : Cast(v, DType::kI32);
  };
  Term indices = as_i32(node.input(0));
  const Term depth = Reshape(as_i32(node.input(1)), {});
  const Term zero = Tensor::Scalar<int32_t>(0);
  if (a.wrap) indices = Select(Less(indices, zero), indices + depth, indices);
  Term places = Apply("range", {zero, depth, 1});
  if (axis < rank - 1) {
    std::vector<int64_t> after(static_cast<size_t>(rank - 1 - axis));
    std::iota(after.begin(), after.end(), 1);
    places = ExpandDims(places, std::move(after));
  }
  const Term hot = Equal(ExpandDims(indices, {axis}), places);
  const Term off = Slice(values, 0, 0, 1), on = Slice(values, 0, 1, 2);
  return Expansion(graph, node).Replace(Select(hot, Reshape(on, {}), Reshape(off, {})));
}

Result<bool> ExpandCompress(Graph& graph, Node& node) {
  const auto& a = node.attrs<CompressAttrs>();
  const Type& type = node.input(1)->type();
  if (!type.ranked() || type.rank() != 1) return false;
  Term x = node.input(0);
  int64_t axis = 0;
  if (a.flatten) {
    x = Reshape(x, {Dim(-1)});
  } else {
    NN_ASSIGN(axis, NormalizeAxis(a.axis, node.input(0)->type().rank()));
  }
  const Term places = Squeeze(Apply("non_zero", {node.input(1)}), {0});
  return Expansion(graph, node).Replace(Gather(x, places, axis));
}

}  // namespace nn
