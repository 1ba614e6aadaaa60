// Lists of tensors of one type: a tensor with the elements along axis 0.
#include <algorithm>

#include "formats/coreml/program/family.h"
#include "formats/coreml/program/import/values.h"
#include "ops/array/arrange/scatter.h"
#include "ops/array/arrange/tile.h"
#include "ops/reduce/reduce.h"
#include "ops/support/term_ops.h"

namespace nn::coreml::program {
namespace {

// Elements of zeros. A list without a dynamic length has the same number of elements, too.
Status ImportMakeList(ImportContext& ctx) {
  NN_ASSIGN(const int64_t length, ctx.Int("init_length"));
  NN_ASSIGN(const DType dtype, ctx.NamedType("dtype"));
  std::vector<int64_t> dims = {length};
  NN_ASSIGN(const std::vector<Value*> sizes, ctx.List("elem_shape"));
  for (const Value* size : sizes) {
    if (!size->is_constant() || size->dtype() == DType::kString)
      return UnsupportedError("elem_shape has a size that only a run knows");
    const std::vector<int64_t> numbers = size->constant().ToInts();
    dims.insert(dims.end(), numbers.begin(), numbers.end());
  }
  if (std::ranges::any_of(dims, [](int64_t d) { return d < 0; }))
    return ModelError("a size of the list is negative");
  NN_ASSIGN(Tensor zeros, UniformTensor(dtype, std::move(dims), 0));
  ctx.SetOutput(0, ctx.Constant(std::move(zeros)));
  return {};
}

// The list, with elements of zeros at its end up to this length.
Result<Term> Grown(ImportContext& ctx, const Value* list, const Term& x, const Term& length) {
  NN_ASSIGN(Tensor zero, UniformTensor(list->dtype(), {}, 0));
  std::vector<Term> sizes = {Maximum(length - SizeOfAxis(x, 0), 0)};
  for (int axis = 1; axis < list->type().rank(); ++axis) sizes.push_back(SizeOfAxis(x, axis));
  const Term more = Apply("expand", {std::move(zero), Concat(std::move(sizes), 0)}, ExpandAttrs{});
  NN_ASSIGN(Value* const rest, ctx.Build(more));
  // A known length that the list has already.
  if (rest->type().ranked() && rest->type().dim(0) == 0) return x;
  return Concat({x, rest}, 0);
}

Result<Value*> ListOf(ImportContext& ctx) {
  return ctx.Ranked("ls");
}

// `indices`: [n], of the elements that `values`, [n, ...], replace. The list grows if it has none.
Status WriteElements(ImportContext& ctx, const Term& indices, const Term& values) {
  NN_ASSIGN(const Value* const list, ListOf(ctx));
  NN_ASSIGN(Term x, ctx.In("ls"));
  const Term last = Apply("reduce_max", {indices}, ReduceAttrs{{0}, true});
  NN_ASSIGN(x, Grown(ctx, list, x, last + 1));
  return ctx.EmitTerm(Apply("scatter_nd", {x, ExpandDims(indices, {1}), values}, ScatterNdAttrs{}));
}

Status ImportListWrite(ImportContext& ctx) {
  NN_ASSIGN(Value* const index, ctx.In("index"));
  NN_ASSIGN(Value* const value, ctx.In("value"));
  return WriteElements(ctx, Cast(Reshape(index, {Dim(1)}), DType::kI64), ExpandDims(value, {0}));
}

Status ImportListScatter(ImportContext& ctx) {
  NN_ASSIGN(Value* const indices, ctx.In("indices"));
  NN_ASSIGN(Value* const values, ctx.In("value"));
  return WriteElements(ctx, Cast(indices, DType::kI64), values);
}

Status ImportListGather(ImportContext& ctx) {
  NN_ASSIGN(Value* const list, ListOf(ctx));
  NN_ASSIGN(Value* const indices, ctx.In("indices"));
  return ctx.EmitTerm(Gather(list, indices, 0));
}

Status ImportListRead(ImportContext& ctx) {
  NN_ASSIGN(Value* const list, ListOf(ctx));
  NN_ASSIGN(Value* const index, ctx.In("index"));
  return ctx.EmitTerm(Gather(list, Reshape(index, {}), 0));
}

Status ImportListLength(ImportContext& ctx) {
  NN_ASSIGN(Value* const list, ListOf(ctx));
  return ctx.EmitCast(Reshape(SizeOfAxis(list, 0), {}));
}

}  // namespace

Family ListFamily() {
  static constexpr ImportRow kImports[] = {
      {"list_gather", ImportListGather}, {"list_length", ImportListLength},
      {"list_read", ImportListRead},     {"list_scatter", ImportListScatter},
      {"list_write", ImportListWrite},   {"make_list", ImportMakeList},
  };
  return {kImports};
}

}  // namespace nn::coreml::program
