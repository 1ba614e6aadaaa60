#include "ops/array/assume_shape.h"

#include "ir/op_def.h"
#include "ops/families.h"

namespace nn {

std::span<const AttrField> AssumeShapeAttrs::Fields() {
  static const AttrField fields[] = {Field<&AssumeShapeAttrs::dims>("dims")};
  return fields;
}

namespace {

// The declared dims, completed by those of the input. kModel if the two conflict.
Result<Dims> AssumedDims(const AssumeShapeAttrs& a, const TypeDims& actual) {
  Dims dims = ToDims(a.dims);
  const auto contradiction = [&] {
    return ModelError("the declared shape is {}, but the value has shape {}",
                      ToString(ToDims(a.dims)), ToString(*actual));
  };
  if (actual && actual->size() != dims.size()) return contradiction();
  for (size_t i = 0; i < dims.size(); ++i) {
    const bool any = a.dims[i] == AssumeShapeAttrs::kAnySize;
    if (!actual) continue;
    const Dim& d = (*actual)[i];
    if (!any && d.is_const() && d != dims[i]) return contradiction();
    if (any) dims[i] = d;
  }
  return dims;
}

Status InferAssumeShape(InferContext& ctx) {
  const Type& x = ctx.in(0);
  NN_ASSIGN(Dims dims, AssumedDims(ctx.attrs<AssumeShapeAttrs>(), x.dims));
  for (Dim& d : dims)
    if (d == AssumeShapeAttrs::kAnySize) d = ctx.NewSymbol();
  ctx.set_out(0, x.WithDims(std::move(dims)));
  if (auto e = ctx.elements(0)) ctx.set_out_elements(0, std::move(*e));
  return {};
}

Status EvalAssumeShape(EvalContext& ctx) {
  NN_RETURN_IF_ERROR(AssumedDims(ctx.attrs<AssumeShapeAttrs>(), ToDims(ctx.in(0).dims())));
  ctx.set_out(0, ctx.in(0));
  return {};
}

}  // namespace

void RegisterAssumeShapeOps(OpRegistry& ops) {
  OpDef op;
  op.name = "assume_shape";
  op.summary = "checks at run time that a value has the shape that the file declares";
  op.category = Category::kMovement;
  op.movement = Movement::kInOrder;
  op.internal = true;
  op.is_check = true;
  op.attrs = AttrsInfoOf<AssumeShapeAttrs>();
  op.inputs = {{"x", Arity::kRequired, Elements::kAny}};
  op.infer = InferAssumeShape;
  op.eval = EvalAssumeShape;
  // No change_axes: error messages name the axes that the file declares.
  ops.Add(std::move(op));
}

}  // namespace nn
