#include <algorithm>

#include "formats/onnx/import.h"
#include "formats/onnx/tensor.h"
#include "ops/shape.h"
#include "ops/shape_of.h"
#include "ops/tile.h"

namespace nn::onnx {
namespace {

Status ImportConstant(ImportContext& ctx) {
  Tensor t;
  if (ctx.HasAttr("value")) {
    NN_ASSIGN(t, ctx.TensorAttr("value"));
  } else if (ctx.HasAttr("sparse_value")) {
    NN_ASSIGN(t, ctx.SparseTensorAttr("sparse_value"));
  } else if (ctx.HasAttr("value_float")) {
    t = Tensor::Scalar(ctx.Float("value_float", 0));
  } else if (ctx.HasAttr("value_int")) {
    t = Tensor::Scalar(ctx.Int("value_int", 0));
  } else if (ctx.HasAttr("value_ints")) {
    t = Tensor::Ints(ctx.Ints("value_ints"));
  } else if (ctx.HasAttr("value_floats")) {
    const auto values = ctx.Floats("value_floats");
    t = Tensor::Of({static_cast<int64_t>(values.size())}, values);
  } else if (ctx.HasAttr("value_string")) {
    t = Tensor({}, {ctx.String("value_string", "")});
  } else if (const auto* a = ctx.FindAttr("value_strings")) {
    t = Tensor({a->strings_size()}, {a->strings().begin(), a->strings().end()});
  } else {
    return ModelError("Constant without a value");
  }
  ctx.SetOutput(0, ctx.Constant(std::move(t)));
  return {};
}

Status ImportIdentity(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  ctx.SetOutput(0, x);
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

// ---- Reshaping ----------------------------------------------------------------------------------

// Flatten to [product of the axes before `axis`, product of the rest].
Status ImportFlatten(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  if (!x->type().ranked()) return UnsupportedError("Flatten of a tensor of unknown rank");
  const int rank = x->type().rank();
  int64_t axis = ctx.Int("axis", 1);
  if (axis < 0 && ctx.opset() >= 11) axis += rank;
  if (axis < 0 || axis > rank) return ModelError("axis {} for rank {}", ctx.Int("axis", 1), rank);
  const Dims& dims = *x->type().dims;
  const Dims head(dims.begin(), dims.begin() + axis);
  const Dims tail(dims.begin() + axis, dims.end());
  return ctx.Emit("reshape", {x}, ReshapeAttrs{{Product(head), Product(tail)}, false});
}

// Before operator set 5 the shape is an attribute.
Status ImportReshape1(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  return ctx.Emit("reshape", {x}, ReshapeAttrs{ToDims(ctx.Ints("shape")), true});
}

Status ImportReshape5(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  NN_ASSIGN(Value* const shape, ctx.Required(1));
  const bool allow_zero = ctx.Int("allowzero", 0) != 0;
  const auto entries = ctx.Elements(1);
  if (allow_zero && entries && std::count(entries->begin(), entries->end(), Dim(0)) > 0 &&
      std::count(entries->begin(), entries->end(), Dim(-1)) > 0)
    return ModelError("allowzero with a shape that has both 0 and -1");
  return ctx.Emit("reshape", {x, shape}, ReshapeAttrs{{}, !allow_zero});
}

// The axes of Squeeze and Unsqueeze are an attribute before operator set 13, then an input.
Status ImportSqueeze1(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  return ctx.Emit("squeeze", {x}, AxesAttrs{ctx.Ints("axes")});
}

Status ImportUnsqueeze1(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  if (!ctx.HasAttr("axes")) return ModelError("attribute axes is missing");
  return ctx.Emit("expand_dims", {x}, AxesAttrs{ctx.Ints("axes")});
}

Status ImportSqueeze13(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  std::vector<Value*> inputs = {x};
  if (Value* axes = ctx.input(1)) inputs.push_back(axes);
  return ctx.Emit("squeeze", std::move(inputs), AxesAttrs{});
}

Status ImportUnsqueeze13(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  NN_ASSIGN(Value* const axes, ctx.Required(1));
  return ctx.Emit("expand_dims", {x, axes}, AxesAttrs{});
}

// ---- Shapes and repetition ----------------------------------------------------------------------

// `start` and `end` came with operator set 15.
Status ImportShape(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  ShapeOfAttrs a;
  a.start = ctx.Int("start", a.start);
  a.end = ctx.Int("end", a.end);
  return ctx.Emit("shape_of", {x}, a);
}

Status ImportSize(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  return ctx.Emit("size_of", {x}, SizeOfAttrs{});
}

// An input that holds a shape.
Result<Value*> RequiredShape(ImportContext& ctx, size_t i) {
  NN_ASSIGN(Value* const shape, ctx.Required(i));
  if (shape->type().ranked() && shape->type().rank() != 1)
    return ModelError("the shape is {}, not a list", shape->type().ToString());
  return shape;
}

Status ImportExpand(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  NN_ASSIGN(Value* const shape, RequiredShape(ctx, 1));
  return ctx.Emit("expand", {x, shape}, ExpandAttrs{});
}

Status ImportConstantOfShape(ImportContext& ctx) {
  NN_ASSIGN(Value* const shape, RequiredShape(ctx, 0));
  Tensor value = Tensor::Scalar(0.0f);
  if (ctx.HasAttr("value")) {
    NN_ASSIGN(value, ctx.TensorAttr("value"));
    if (value.elements() != 1) return ModelError("a value of {} elements", value.elements());
    NN_ASSIGN(value, value.Reshaped({}));
  }
  return ctx.Emit("expand", {ctx.Constant(std::move(value)), shape}, ExpandAttrs{});
}

// Tile-1 repeats one axis; its operands are scalars.
Status ImportTile1(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  const Tensor* tiles = ctx.Constant(1);
  const Tensor* axis = ctx.Constant(2);
  if (tiles == nullptr || axis == nullptr || !x->type().ranked())
    return UnsupportedError("Tile-1 with tiles or an axis that is not constant");
  if (tiles->elements() != 1 || axis->elements() != 1)
    return ModelError("{} tiles and {} axes", tiles->elements(), axis->elements());
  const int64_t rank = x->type().rank();
  const int64_t at = axis->GetInt(0);
  if (at < 0 || at >= rank) return ModelError("axis {} for rank {}", at, rank);
  TileAttrs a{Dims(static_cast<size_t>(rank), Dim(1))};
  a.repeats[static_cast<size_t>(at)] = Dim(tiles->GetInt(0));
  return ctx.Emit("tile", {x}, std::move(a));
}

Status ImportTile6(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  NN_ASSIGN(Value* const repeats, ctx.Required(1));
  return ctx.Emit("tile", {x, repeats}, TileAttrs{});
}

}  // namespace

void AddShapeImports(ImportTable& t) {
  t.Add("", "Constant", 1, ImportConstant);
  t.Add("", "Identity", 1, ImportIdentity);
  t.Add("", "Transpose", 1, ImportTranspose);
  t.Add("", "Flatten", 1, ImportFlatten);
  t.Add("", "Reshape", 1, ImportReshape1);
  t.Add("", "Reshape", 5, ImportReshape5);
  t.Add("", "Squeeze", 1, ImportSqueeze1);
  t.Add("", "Squeeze", 13, ImportSqueeze13);
  t.Add("", "Unsqueeze", 1, ImportUnsqueeze1);
  t.Add("", "Unsqueeze", 13, ImportUnsqueeze13);
  t.Add("", "Shape", 1, ImportShape);
  t.Add("", "Size", 1, ImportSize);
  t.Add("", "Expand", 8, ImportExpand);
  t.Add("", "ConstantOfShape", 9, ImportConstantOfShape);
  t.Add("", "Tile", 1, ImportTile1);
  t.Add("", "Tile", 6, ImportTile6);
}

}  // namespace nn::onnx
