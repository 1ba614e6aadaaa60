#include "rewrite/expand/index.h"

#include <limits>
#include <numeric>

#include "ir/op_def.h"
#include "ops/array/shape_of.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/support/term_ops.h"
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

Tensor Ascending(int64_t n) {
  std::vector<int32_t> numbers(static_cast<size_t>(n));
  std::iota(numbers.begin(), numbers.end(), 0);
  return Tensor::Of({n}, numbers);
}

namespace {

// Whether a value is the result of CountFromStart() for indices in their range.
bool IsCountedFromStart(const Value* v) {
  while (v->def() != nullptr && v->def()->Is<CastAttrs>()) v = v->def()->input(0);
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

Term CountFromStart(const Term& indices, const Term& sizes) {
  return Select(Less(indices, 0), indices + sizes, indices);
}

}  // namespace

Term NonNegative(Value* indices, const std::vector<int64_t>& sizes) {
  if (NeverNegative(indices) || IsCountedFromStart(indices)) return indices;
  if (sizes.size() == 1) return CountFromStart(indices, sizes[0]);
  if (indices->dtype() == DType::kI64) return CountFromStart(indices, Vector(sizes));
  return CountFromStart(
      indices, Tensor::Of({std::ssize(sizes)}, std::vector<int32_t>(sizes.begin(), sizes.end())));
}

Term NonNegative(Value* indices, Value* x, int64_t first, int64_t count) {
  const auto begin = x->type().dims->begin() + static_cast<std::ptrdiff_t>(first);
  const Dims dims(begin, begin + static_cast<std::ptrdiff_t>(count));
  if (const auto sizes = ConstDims(dims)) return NonNegative(indices, *sizes);
  if (NeverNegative(indices) || IsCountedFromStart(indices)) return indices;
  const Term sizes = Apply("shape_of", {x}, ShapeOfAttrs{first, first + count, indices->dtype()});
  if (indices->type().rank() != 0) return CountFromStart(indices, sizes);
  return CountFromStart(indices, Gather(sizes, Tensor::Scalar<int32_t>(0), 0));
}

// index * stride of the axis + a constant of the other axes.
Result<Term> FlatPositions(Value* indices, const std::vector<int64_t>& x, int axis) {
  const auto to = indices->type().const_dims();
  const auto at = static_cast<size_t>(axis);
  if (!to || !ElementsWithin(x, std::numeric_limits<int32_t>::max())) return Term();
  const std::optional<int64_t> count = ElementsWithin(*to, kMaxElements);
  if (!count) return Term();
  // Positions may exceed a narrow type of the indices.
  const bool is_narrow = DTypeBits(indices->dtype()) < 32;
  const DType dtype = is_narrow ? DType::kI32 : indices->dtype();
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
      if (index < 0 || index >= x[at]) return Term();
      place += index * strides[at];
    }
    base.SetInt(i, place);
  }
  if (known) return Term(base.Finish());
  const Term wide = is_narrow ? Cast(indices, dtype) : Term(indices);
  const Term given =
      NeverNegative(indices) || IsCountedFromStart(indices) ? wide : CountFromStart(wide, x[at]);
  return given * strides[at] + base.Finish();
}

}  // namespace nn
