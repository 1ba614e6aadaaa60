#include "rewrite/expand/index.h"

#include <limits>

#include "ir/op_def.h"
#include "ops/array/arrange/gather.h"
#include "ops/array/shape_of.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/support/types.h"
#include "passes/facts/ranges.h"

namespace nn {

std::optional<int64_t> ElementsWithin(const std::vector<int64_t>& dims, int64_t most) {
  int64_t n = 1;
  for (const int64_t d : dims) {
    if (d == 0 || n > most / d) return std::nullopt;
    n *= d;
  }
  return n;
}

Result<Value*> Ascending(Expansion& e, DType dtype, int64_t n) {
  NN_ASSIGN(TensorBuilder numbers, TensorBuilder::Create(dtype, {n}));
  for (int64_t i = 0; i < n; ++i) numbers.SetInt(i, i);
  return e.Constant(numbers.Finish());
}

namespace {

// Whether a value is the result of CountFromStart() for indices in their range.
bool IsCountedFromStart(const Value* v) {
  while (v->def() != nullptr && v->def()->Is("cast")) v = v->def()->input(0);
  const Node* const select = v->def();
  if (select == nullptr || !select->Is("select")) return false;
  const Node *const less = select->input(0)->def(), *const add = select->input(1)->def();
  const Value* const indices = select->input(2);
  if (less == nullptr || !less->Is("less") || less->input(0) != indices) return false;
  const Value* const zero = less->input(1);
  return add != nullptr && add->Is("add") && add->input(0) == indices && zero->is_constant() &&
         zero->constant().elements() == 1 && zero->constant().GetDouble(0) == 0 &&
         NeverNegative(add->input(1));
}

Result<Value*> CountFromStart(Expansion& e, Value* indices, Value* sizes) {
  NN_ASSIGN(Value* const zero, e.Number(indices->dtype(), 0));
  NN_ASSIGN(Value* const negative, e.Add("less", {indices, zero}));
  NN_ASSIGN(Value* const counted, e.Add("add", {indices, sizes}));
  return e.Add("select", {negative, counted, indices});
}

}  // namespace

Result<Value*> NonNegative(Expansion& e, Value* indices, const std::vector<int64_t>& sizes) {
  if (NeverNegative(indices) || IsCountedFromStart(indices)) return indices;
  std::vector<int64_t> dims;
  if (sizes.size() != 1) dims.push_back(std::ssize(sizes));
  NN_ASSIGN(TensorBuilder size, TensorBuilder::Create(indices->dtype(), dims));
  for (int64_t i = 0; i < std::ssize(sizes); ++i) size.SetInt(i, sizes[static_cast<size_t>(i)]);
  return CountFromStart(e, indices, e.Constant(size.Finish()));
}

Result<Value*> NonNegative(Expansion& e, Value* indices, Value* x, int64_t first, int64_t count) {
  const auto begin = x->type().dims->begin() + static_cast<std::ptrdiff_t>(first);
  const Dims dims(begin, begin + static_cast<std::ptrdiff_t>(count));
  if (const auto sizes = ConstDims(dims)) return NonNegative(e, indices, *sizes);
  if (NeverNegative(indices) || IsCountedFromStart(indices)) return indices;
  NN_ASSIGN(Value * sizes,
            e.Add("shape_of", {x}, ShapeOfAttrs{first, first + count, indices->dtype()}));
  if (indices->type().rank() == 0) {
    NN_ASSIGN(Value* const only, e.Number(DType::kI32, 0));
    NN_ASSIGN(sizes, e.Add("gather", {sizes, only}, GatherAttrs{}));
  }
  return CountFromStart(e, indices, sizes);
}

// index * stride of the axis + a constant of the other axes.
Result<Value*> FlatPositions(Expansion& e, Value* indices, const std::vector<int64_t>& x,
                             int axis) {
  const auto to = indices->type().const_dims();
  const auto at = static_cast<size_t>(axis);
  if (!to || !ElementsWithin(x, std::numeric_limits<int32_t>::max())) return nullptr;
  const std::optional<int64_t> count = ElementsWithin(*to, kMaxElements);
  if (!count) return nullptr;
  const DType dtype = indices->dtype();
  const bool known = indices->is_constant();
  const std::vector<int64_t> strides = Strides(x), steps = Strides(*to);
  NN_ASSIGN(TensorBuilder base, TensorBuilder::Create(known ? DType::kI32 : dtype, *to));
  for (int64_t i = 0; i < *count; ++i) {
    int64_t place = 0;
    for (size_t k = 0; k < x.size(); ++k)
      if (k != at) place += i / steps[k] % (*to)[k] * strides[k];
    if (known) {
      const int64_t given = indices->constant().GetInt(i);
      const int64_t index = given < 0 ? given + x[at] : given;
      if (index < 0 || index >= x[at]) return nullptr;
      place += index * strides[at];
    }
    base.SetInt(i, place);
  }
  if (known) return e.Constant(base.Finish());
  NN_ASSIGN(Value * index, NonNegative(e, indices, {x[at]}));
  NN_ASSIGN(Value* const stride, e.Number(dtype, static_cast<double>(strides[at])));
  NN_ASSIGN(index, e.Add("mul", {index, stride}));
  return e.Add("add", {index, e.Constant(base.Finish())});
}

}  // namespace nn
