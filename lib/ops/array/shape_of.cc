#include "ops/array/shape_of.h"

#include <algorithm>

#include "ir/op_def.h"
#include "ops/array/arrange/slice.h"
#include "ops/families.h"
#include "ops/reduce/reduce.h"
#include "ops/support/types.h"

namespace nn {

std::span<const AttrField> ShapeOfAttrs::Fields() {
  static const AttrField fields[] = {Field<&ShapeOfAttrs::start>("start"),
                                     Field<&ShapeOfAttrs::end>("end"),
                                     Field<&ShapeOfAttrs::dtype>("dtype")};
  return fields;
}
std::span<const AttrField> SizeOfAttrs::Fields() {
  static const AttrField fields[] = {Field<&SizeOfAttrs::dtype>("dtype")};
  return fields;
}

namespace {

Status CheckDType(DType dtype) {
  if (dtype == DType::kI32 || dtype == DType::kI64) return {};
  return ModelError("the output type is {}; must be i32 or i64", DTypeName(dtype));
}

// The requested part of a shape.
template <typename T>
std::vector<T> Part(const std::vector<T>& dims, const ShapeOfAttrs& a) {
  const auto r = *RangeOf(a.start, a.end, 1, static_cast<int64_t>(dims.size()));
  return {dims.begin() + r.start, dims.begin() + r.start + r.count};
}

Status InferShapeOf(InferContext& ctx) {
  const auto& a = ctx.attrs<ShapeOfAttrs>();
  NN_RETURN_IF_ERROR(CheckDType(a.dtype));
  const Type& x = ctx.in(0);
  if (!x.ranked()) {
    ctx.set_out(0, Type(a.dtype, {ctx.NewSymbol()}));
    return {};
  }
  Dims part = Part(*x.dims, a);
  ctx.set_out(0, Type(a.dtype, {Dim(static_cast<int64_t>(part.size()))}));
  ctx.set_out_elements(0, std::move(part));
  return {};
}

Status EvalShapeOf(EvalContext& ctx) {
  const auto part = Part(ctx.in(0).dims(), ctx.attrs<ShapeOfAttrs>());
  NN_ASSIGN(TensorBuilder out,
            TensorBuilder::Create(ctx.out_type().dtype, {static_cast<int64_t>(part.size())}));
  for (size_t i = 0; i < part.size(); ++i) out.SetInt(static_cast<int64_t>(i), part[i]);
  ctx.set_out(0, out.Finish());
  return {};
}

Status InferSizeOf(InferContext& ctx) {
  const DType dtype = ctx.attrs<SizeOfAttrs>().dtype;
  NN_RETURN_IF_ERROR(CheckDType(dtype));
  ctx.set_out(0, Type(dtype, Dims()));
  if (ctx.in(0).ranked()) ctx.set_out_elements(0, {Product(*ctx.in(0).dims)});
  return {};
}

Status EvalSizeOf(EvalContext& ctx) {
  NN_ASSIGN(TensorBuilder out, ctx.NewOutput());
  out.SetInt(0, ctx.in(0).elements());
  ctx.set_out(0, out.Finish());
  return {};
}

// The product of the dimensions.
Result<bool> DecomposeSizeOf(Graph& graph, Node& node) {
  NN_ASSIGN(Node* const shape,
            graph.Append("shape_of", {node.input(0)},
                         ShapeOfAttrs{.dtype = node.attrs<SizeOfAttrs>().dtype}, 1, &node));
  NN_ASSIGN(Node* const product,
            graph.Append("reduce_prod", {shape->output()}, ReduceAttrs{{0}, false}, 1, &node));
  for (Node* const n : {shape, product}) n->set_source(node.source());
  graph.Replace(&node, {{product->output()}});
  return true;
}

Interval SizeRange(RangeContext&, size_t) {
  return {0, kLargestSize};
}

}  // namespace

void RegisterShapeOfOps(OpRegistry& ops) {
  OpDef shape;
  shape.name = "shape_of";
  shape.summary = "the dimensions of a tensor";
  shape.category = Category::kMovement;
  shape.wraps_integers = true;
  shape.range = SizeRange;
  shape.attrs = AttrsInfoOf<ShapeOfAttrs>();
  shape.inputs = {{"x", Arity::kRequired, Elements::kAny}};
  shape.infer = InferShapeOf;
  shape.eval = EvalShapeOf;
  ops.Add(std::move(shape));

  OpDef size;
  size.name = "size_of";
  size.summary = "the number of elements of a tensor";
  size.category = Category::kMovement;
  size.range = SizeRange;
  size.attrs = AttrsInfoOf<SizeOfAttrs>();
  size.inputs = {{"x", Arity::kRequired, Elements::kAny}};
  size.infer = InferSizeOf;
  size.eval = EvalSizeOf;
  size.decompose = DecomposeSizeOf;
  ops.Add(std::move(size));
}

}  // namespace nn
