#include "formats/onnx/import.h"
#include "ops/shape.h"

namespace nn::onnx {
namespace {

Status ImportConstant(ImportContext& ctx) {
  Value* v = nullptr;
  if (ctx.HasAttr("value")) {
    NN_ASSIGN(Tensor t, ctx.TensorAttr("value"));
    v = ctx.Constant(std::move(t));
  } else if (ctx.HasAttr("value_float")) {
    v = ctx.Constant(Tensor::Scalar(ctx.Float("value_float", 0)));
  } else if (ctx.HasAttr("value_int")) {
    v = ctx.Constant(Tensor::Scalar(ctx.Int("value_int", 0)));
  } else if (ctx.HasAttr("value_ints")) {
    v = ctx.Constant(Tensor::Ints(ctx.Ints("value_ints")));
  } else if (ctx.HasAttr("value_floats")) {
    const auto values = ctx.Floats("value_floats");
    v = ctx.Constant(Tensor::Of({static_cast<int64_t>(values.size())}, values));
  } else {
    return UnsupportedError("Constant without a dense numeric value");
  }
  ctx.SetOutput(0, v);
  return {};
}

Status ImportTranspose(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  TransposeAttrs a{ctx.Ints("perm")};
  if (!ctx.HasAttr("perm")) {
    if (!x->type().ranked()) return UnsupportedError("Transpose of a tensor of unknown rank");
    for (int i = x->type().rank(); i-- > 0;) a.perm.push_back(i);
  }
  return ctx.Emit("transpose", {x}, a);
}

// Flatten to [product of the axes before `axis`, product of the rest].
Status ImportFlatten(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  if (!x->type().ranked()) return UnsupportedError("Flatten of a tensor of unknown rank");
  const int rank = x->type().rank();
  int64_t axis = ctx.Int("axis", 1);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis > rank) return ModelError("axis {} for rank {}", ctx.Int("axis", 1), rank);
  const Dims& dims = *x->type().dims;
  const Dims head(dims.begin(), dims.begin() + axis);
  const Dims tail(dims.begin() + axis, dims.end());
  return ctx.Emit("reshape", {x}, ReshapeAttrs{{Product(head), Product(tail)}, false});
}

}  // namespace

void AddShapeImports(ImportTable& t) {
  t.Add("", "Constant", 1, ImportConstant);
  t.Add("", "Transpose", 1, ImportTranspose);
  t.Add("", "Flatten", 1, ImportFlatten);
}

}  // namespace nn::onnx
