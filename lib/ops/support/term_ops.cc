#include "ops/support/term_ops.h"

#include <utility>

#include "ops/array/arrange/concat.h"
#include "ops/array/arrange/gather.h"
#include "ops/array/arrange/slice.h"
#include "ops/array/shape.h"
#include "ops/array/shape_of.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/reduce/reduce.h"

namespace nn {

Term Vector(const std::vector<int64_t>& numbers) {
  return Tensor::Of({static_cast<int64_t>(numbers.size())}, numbers);
}

Term Cast(Term x, DType to) {
  return Apply("cast", {std::move(x)}, CastAttrs{.to = to});
}

Term Select(Term condition, Term yes, Term no) {
  return Apply("select", {std::move(condition), std::move(yes), std::move(no)});
}

Term Less(Term a, Term b) {
  return Apply("less", {std::move(a), std::move(b)});
}

Term Greater(Term a, Term b) {
  return Apply("greater", {std::move(a), std::move(b)});
}

Term LessEqual(Term a, Term b) {
  return Apply("less_equal", {std::move(a), std::move(b)});
}

Term GreaterEqual(Term a, Term b) {
  return Apply("greater_equal", {std::move(a), std::move(b)});
}

Term Equal(Term a, Term b) {
  return Apply("equal", {std::move(a), std::move(b)});
}

Term And(Term a, Term b) {
  return Apply("and", {std::move(a), std::move(b)});
}

Term Or(Term a, Term b) {
  return Apply("or", {std::move(a), std::move(b)});
}

Term Not(Term a) {
  return Apply("not", {std::move(a)});
}

Term Minimum(Term a, Term b) {
  return Apply("minimum", {std::move(a), std::move(b)});
}

Term Maximum(Term a, Term b) {
  return Apply("maximum", {std::move(a), std::move(b)});
}

Term Clip(Term x, float min, float max) {
  return Apply("clip", {std::move(x)}, ClipAttrs{.min = min, .max = max});
}

Term SizeOfAxis(Term x, int64_t axis) {
  return Apply("shape_of", {std::move(x)}, ShapeOfAttrs{.start = axis, .end = axis + 1});
}

Term Reshape(Term x, Dims dims) {
  return Apply("reshape", {std::move(x)}, ReshapeAttrs{.dims = std::move(dims)});
}

Term Transpose(Term x, std::vector<int64_t> perm) {
  return Apply("transpose", {std::move(x)}, TransposeAttrs{.perm = std::move(perm)});
}

Term ExpandDims(Term x, std::vector<int64_t> axes) {
  return Apply("expand_dims", {std::move(x)}, AxesAttrs{.axes = std::move(axes)});
}

Term Squeeze(Term x, std::vector<int64_t> axes) {
  return Apply("squeeze", {std::move(x)}, AxesAttrs{.axes = std::move(axes)});
}

Term Slice(Term x, int64_t axis, int64_t begin, int64_t end) {
  return Apply("slice", {std::move(x)},
               SliceAttrs{.axes = {axis}, .starts = {begin}, .ends = {end}, .steps = {}});
}

Term Concat(std::vector<Term> parts, int64_t axis) {
  if (parts.size() == 1) return std::move(parts.front());
  return Apply("concat", std::move(parts), ConcatAttrs{.axis = axis});
}

Term Gather(Term x, Term indices, int64_t axis) {
  return Apply("gather", {std::move(x), std::move(indices)}, GatherAttrs{.axis = axis});
}

Term ReduceSum(Term x, std::vector<int64_t> axes, bool keep_dims) {
  return Apply("reduce_sum", {std::move(x)},
               ReduceAttrs{.axes = std::move(axes), .keep_dims = keep_dims});
}

Term Matmul(Term a, Term b) {
  return Apply("matmul", {std::move(a), std::move(b)});
}

Term ShiftLeft(Term x, Term bits) {
  return Apply("shift_left", {std::move(x), std::move(bits)});
}

Term ShiftRight(Term x, Term bits) {
  return Apply("shift_right", {std::move(x), std::move(bits)});
}

}  // namespace nn
