// Expansions that arrange or generate elements.
#include <algorithm>
#include <limits>
#include <numeric>

#include "ir/op_def.h"
#include "ops/array/arrange/gather.h"
#include "ops/array/arrange/pad.h"
#include "ops/array/arrange/positions.h"
#include "ops/array/arrange/slice.h"
#include "ops/array/generate.h"
#include "ops/array/shape.h"
#include "ops/math/elementwise/elementwise.h"
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
  Expansion e(graph, node);
  Value* y = node.input(0);
  for (size_t axis = 0; axis < rank; ++axis) {
    const int64_t begin = a.pads[axis], end = a.pads[rank + axis];
    if (begin == 0 && end == 0) continue;
    const int64_t size = x.dim(static_cast<int>(axis)).value();
    std::vector<int32_t> indices;
    for (int64_t i = 0; i < node.output()->type().dim(static_cast<int>(axis)).value(); ++i)
      indices.push_back(static_cast<int32_t>(PaddedIndex(i, begin, end, size, a.mode).value_or(0)));
    NN_ASSIGN(y, e.Add("gather", {y, e.Constant(Tensor::Of({std::ssize(indices)}, indices))},
                       GatherAttrs{static_cast<int64_t>(axis), 0}));
  }
  return e.Replace(y);
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
  Expansion e(graph, node);
  return e.Replace(e.Constant(eye.Finish()));
}

// A comparison of the indices with 0, 1, ... depth - 1, and a selection.
Result<bool> ExpandOneHot(Graph& graph, Node& node) {
  const auto& a = node.attrs<OneHotAttrs>();
  Value *indices = node.input(0), *depth = node.input(1), *values = node.input(2);
  if (!node.output()->type().ranked() || values->type().quantized()) return false;
  const int rank = node.output()->type().rank();
  NN_ASSIGN(const int axis, NormalizeAxis(a.axis, rank));
  Expansion e(graph, node);
  const auto scalar = [&](Value* v) { return e.Add("reshape", {v}, ReshapeAttrs{{}, false}); };
  const auto as_i32 = [&](Value* v) -> Result<Value*> {
    return v->dtype() == DType::kI32 ? v : e.Add("cast", {v}, CastAttrs{.to = DType::kI32});
  };
  NN_ASSIGN(indices, as_i32(indices));
  NN_ASSIGN(depth, as_i32(depth));
  NN_ASSIGN(depth, scalar(depth));
  NN_ASSIGN(Value* const zero, e.Number(DType::kI32, 0));
  NN_ASSIGN(Value* const one, e.Number(DType::kI32, 1));
  if (a.wrap) {
    NN_ASSIGN(Value* const negative, e.Add("less", {indices, zero}));
    NN_ASSIGN(Value* const counted, e.Add("add", {indices, depth}));
    NN_ASSIGN(indices, e.Add("select", {negative, counted, indices}));
  }
  NN_ASSIGN(indices, e.Add("expand_dims", {indices}, AxesAttrs{{axis}}));
  NN_ASSIGN(Value * places, e.Add("range", {zero, depth, one}));
  if (axis < rank - 1) {
    std::vector<int64_t> after(static_cast<size_t>(rank - 1 - axis));
    std::iota(after.begin(), after.end(), 1);
    NN_ASSIGN(places, e.Add("expand_dims", {places}, AxesAttrs{after}));
  }
  NN_ASSIGN(Value* const hot, e.Add("equal", {indices, places}));
  NN_ASSIGN(Value * off, e.Add("slice", {values}, SliceAttrs{{0}, {0}, {1}, {1}}));
  NN_ASSIGN(Value * on, e.Add("slice", {values}, SliceAttrs{{0}, {1}, {2}, {1}}));
  NN_ASSIGN(off, scalar(off));
  NN_ASSIGN(on, scalar(on));
  NN_ASSIGN(Value* const y, e.Add("select", {hot, on, off}));
  return e.Replace(y);
}

Result<bool> ExpandCompress(Graph& graph, Node& node) {
  const auto& a = node.attrs<CompressAttrs>();
  Value *x = node.input(0), *condition = node.input(1);
  const Type& type = condition->type();
  if (!type.ranked() || type.rank() != 1) return false;
  Expansion e(graph, node);
  int64_t axis = 0;
  if (a.flatten) {
    NN_ASSIGN(x, e.Add("reshape", {x}, ReshapeAttrs{{Dim(-1)}, false}));
  } else {
    NN_ASSIGN(axis, NormalizeAxis(a.axis, x->type().rank()));
  }
  NN_ASSIGN(Value * places, e.Add("non_zero", {condition}));
  NN_ASSIGN(places, e.Add("squeeze", {places}, AxesAttrs{{0}}));
  NN_ASSIGN(Value* const y, e.Add("gather", {x, places}, GatherAttrs{axis, 0}));
  return e.Replace(y);
}

}  // namespace nn
