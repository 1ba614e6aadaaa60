#include <algorithm>

#include "formats/onnx/family.h"
#include "formats/onnx/file/tensor.h"
#include "ops/array/arrange/tile.h"
#include "ops/array/reshape_to.h"
#include "ops/array/shape.h"
#include "ops/array/shape_of.h"

namespace nn::onnx {

// ==== From ONNX ==================================================================================

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
    return ModelError("Constant has no value");
  }
  ctx.SetOutput(0, ctx.Constant(std::move(t)));
  return {};
}

Status ImportIdentity(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  ctx.SetOutput(0, x);
  return {};
}

Status ImportTranspose(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  TransposeAttrs a{ctx.Ints("perm")};
  if (!ctx.HasAttr("perm")) {
    if (!x->type().ranked())
      return UnsupportedError("Transpose without perm needs an input of known rank");
    for (int i = x->type().rank(); i-- > 0;) a.perm.push_back(i);
  }
  return ctx.Emit("transpose", {x}, a);
}

// ---- Reshaping ----------------------------------------------------------------------------------

// Flatten to [product of the axes before `axis`, product of the rest].
Status ImportFlatten(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  if (!x->type().ranked()) return UnsupportedError("Flatten needs an input of known rank");
  const int rank = x->type().rank();
  int64_t axis = ctx.Int("axis", 1);
  if (axis < 0 && ctx.opset() >= 11) axis += rank;
  if (axis < 0 || axis > rank)
    return ModelError("axis {} is out of range for rank {}", ctx.Int("axis", 1), rank);
  const Dims& dims = *x->type().dims;
  const Dims head(dims.begin(), dims.begin() + axis);
  const Dims tail(dims.begin() + axis, dims.end());
  return ctx.Emit("reshape", {x}, ReshapeTo(dims, {Product(head), Product(tail)}));
}

// Before operator set 5 the shape is an attribute.
Status ImportReshape1(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  return ctx.Emit("reshape", {x}, ReshapeAttrs{ToDims(ctx.Ints("shape")), true});
}

Status ImportReshape5(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  Value* const shape = ctx.input(1);
  const bool allow_zero = ctx.Int("allowzero", 0) != 0;
  const auto entries = ctx.Elements(1);
  if (allow_zero && entries && std::count(entries->begin(), entries->end(), Dim(0)) > 0 &&
      std::count(entries->begin(), entries->end(), Dim(-1)) > 0)
    return ModelError("with allowzero, the shape cannot have both 0 and -1");
  return ctx.Emit("reshape", {x, shape}, ReshapeAttrs{{}, !allow_zero});
}

// The axes of Squeeze and Unsqueeze are an attribute before operator set 13, then an input.
Status ImportSqueeze1(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  return ctx.Emit("squeeze", {x}, AxesAttrs{ctx.Ints("axes")});
}

Status ImportUnsqueeze1(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  if (!ctx.HasAttr("axes")) return ModelError("attribute axes is missing");
  return ctx.Emit("expand_dims", {x}, AxesAttrs{ctx.Ints("axes")});
}

Status ImportSqueeze13(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  std::vector<Value*> inputs = {x};
  if (Value* axes = ctx.input(1)) inputs.push_back(axes);
  return ctx.Emit("squeeze", std::move(inputs), AxesAttrs{});
}

Status ImportUnsqueeze13(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  Value* const axes = ctx.input(1);
  return ctx.Emit("expand_dims", {x, axes}, AxesAttrs{});
}

// ---- Shapes and repetition ----------------------------------------------------------------------

// `start` and `end` exist from operator set 15 on.
Status ImportShape(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  ShapeOfAttrs a;
  a.start = ctx.Int("start", a.start);
  a.end = ctx.Int("end", a.end);
  return ctx.Emit("shape_of", {x}, a);
}

Status ImportSize(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  return ctx.Emit("size_of", {x}, SizeOfAttrs{});
}

// An input that holds a shape.
Result<Value*> RequiredShape(ImportContext& ctx, size_t i) {
  NN_ASSIGN(Value* const shape, ctx.Required(i));
  if (shape->type().ranked() && shape->type().rank() != 1)
    return ModelError("the shape must be a vector, not {}", shape->type().ToString());
  return shape;
}

Status ImportExpand(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  NN_ASSIGN(Value* const shape, RequiredShape(ctx, 1));
  return ctx.Emit("expand", {x, shape}, ExpandAttrs{});
}

Status ImportConstantOfShape(ImportContext& ctx) {
  NN_ASSIGN(Value* const shape, RequiredShape(ctx, 0));
  Tensor value = Tensor::Scalar(0.0f);
  if (ctx.HasAttr("value")) {
    NN_ASSIGN(value, ctx.TensorAttr("value"));
    if (value.elements() != 1)
      return ModelError("value must have 1 element; it has {}", value.elements());
    NN_ASSIGN(value, value.Reshaped({}));
  }
  return ctx.Emit("expand", {ctx.Constant(std::move(value)), shape}, ExpandAttrs{});
}

// Tile-1 repeats one axis; its operands are scalars.
Status ImportTile1(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  const Tensor* tiles = ctx.Constant(1);
  const Tensor* axis = ctx.Constant(2);
  if (tiles == nullptr || axis == nullptr || !x->type().ranked())
    return UnsupportedError("Tile-1 needs constant tiles and axis");
  if (tiles->elements() != 1 || axis->elements() != 1)
    return ModelError("tiles and axis must be scalars; they have {} and {} elements",
                      tiles->elements(), axis->elements());
  const int64_t rank = x->type().rank();
  const int64_t at = axis->GetInt(0);
  if (at < 0 || at >= rank) return ModelError("axis {} is out of range for rank {}", at, rank);
  TileAttrs a{Dims(static_cast<size_t>(rank), Dim(1))};
  a.repeats[static_cast<size_t>(at)] = Dim(tiles->GetInt(0));
  return ctx.Emit("tile", {x}, std::move(a));
}

Status ImportTile6(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  Value* const repeats = ctx.input(1);
  return ctx.Emit("tile", {x, repeats}, TileAttrs{});
}

}  // namespace

// ==== To ONNX ====================================================================================

namespace {

Status WriteTranspose(ExportContext& ctx, const Node& node) {
  SetInts(ctx.AddNode(node, "Transpose"), "perm", node.attrs<TransposeAttrs>().perm);
  return {};
}

// ---- Reshape ------------------------------------------------------------------------------------

// A constant target shape: sizes, 0 for a dimension copied from the input, at most one -1.
std::optional<std::vector<int64_t>> TargetShape(const Node& node) {
  if (!node.input(0)->type().ranked()) return ConstDims(node.attrs<ReshapeAttrs>().dims);
  const Dims& in = *node.input(0)->type().dims;
  const Dims& out = *node.output()->type().dims;
  std::vector<int64_t> shape;
  bool rest = false;
  for (size_t i = 0; i < out.size(); ++i) {
    if (out[i].is_const()) {
      if (out[i].value() == 0 && !(i < in.size() && in[i] == 0)) return std::nullopt;
      shape.push_back(out[i].value());
    } else if (i < in.size() && in[i] == out[i]) {
      shape.push_back(0);
    } else if (!rest) {
      rest = true;
      shape.push_back(-1);
    } else {
      return std::nullopt;
    }
  }
  // Without elements, -1 could be any size.
  if (rest && std::count(out.begin(), out.end(), Dim(0)) > 0) return std::nullopt;
  return shape;
}

// Whether an entry 0 of the shape means an empty dimension, not one copied from the input.
bool NeedsAllowZero(const Node& node) {
  const auto& a = node.attrs<ReshapeAttrs>();
  if (node.input(1) != nullptr) return !a.zero_copies;
  if (!node.input(0)->type().ranked())
    return !a.zero_copies && std::count(a.dims.begin(), a.dims.end(), Dim(0)) > 0;
  if (!node.output()->type().ranked()) return false;
  const Dims& out = *node.output()->type().dims;
  return std::count(out.begin(), out.end(), Dim(0)) > 0 && !TargetShape(node);
}

Status WriteReshape(ExportContext& ctx, const Node& node) {
  std::string shape;
  if (node.input(1) != nullptr) {
    shape = ctx.NameAs(node.input(1), DType::kI64);
  } else if (const auto target = TargetShape(node)) {
    shape = ctx.AddInts(*target, "shape");
  } else {
    NN_ASSIGN(shape, ctx.AddDims(*node.output()->type().dims, "shape"));
  }
  pb::NodeProto* out = ctx.AddNode(
      node, "Reshape", {{ctx.NameOf(node.output())}, {ctx.NameOf(node.input(0)), shape}});
  if (NeedsAllowZero(node)) SetInt(out, "allowzero", 1);
  return {};
}

std::optional<std::string> WhyNotReshape(const Node& node) {
  if (node.input(1) != nullptr) return std::nullopt;
  if (!node.input(0)->type().ranked() && !TargetShape(node)) return "its rank must be known";
  return std::nullopt;
}

int64_t ReshapeOpset(const Node& node) {
  return NeedsAllowZero(node) ? 14 : 5;
}

// ---- Squeeze, Unsqueeze -------------------------------------------------------------------------

// The axes are an attribute before operator set 13.
template <bool squeeze>
Status WriteAxes(ExportContext& ctx, const Node& node) {
  std::vector<int64_t> axes = node.attrs<AxesAttrs>().axes;
  const std::string_view op = squeeze ? "Squeeze" : "Unsqueeze";
  if (node.input(1) != nullptr) {
    ctx.AddNode(node, op,
                {{ctx.NameOf(node.output())},
                 {ctx.NameOf(node.input(0)), ctx.NameAs(node.input(1), DType::kI64)}});
    return {};
  }
  for (int64_t& axis : axes) axis = FrontAxis(axis, squeeze ? node.input(0) : node.output());
  if (ctx.opset() < 13) {
    pb::NodeProto* out = ctx.AddNode(node, op);
    if (!axes.empty() || !squeeze) SetInts(out, "axes", axes);
    return {};
  }
  std::vector<std::string> inputs = {ctx.NameOf(node.input(0))};
  if (!axes.empty() || !squeeze) inputs.push_back(ctx.AddInts(axes, "axes"));
  ctx.AddNode(node, op, {{ctx.NameOf(node.output())}, std::move(inputs)});
  return {};
}

std::optional<std::string> WhyNotAxes(const Node& node) {
  if (!node.input(0)->type().ranked() || !node.output()->type().ranked())
    return node.input(1) == nullptr ? std::optional<std::string>("its rank must be known")
                                    : std::nullopt;
  return std::nullopt;
}

int64_t AxesOpset(const Node& node) {
  return node.input(1) != nullptr ? 13 : 1;
}

// ---- Shape, Size --------------------------------------------------------------------------------

// Writes a node with an i64 result through `write`, and a Cast where the result must be i32.
template <typename Fn>
void WriteInt64(ExportContext& ctx, const Node& node, Fn write) {
  const Value* y = node.output();
  if (y->dtype() == DType::kI64) {
    write(ctx.NameOf(y));
    return;
  }
  const std::string wide = ctx.NewName(y->name());
  write(wide);
  ctx.AddCast(wide, ctx.NameOf(y), y->dtype());
}

// Before operator set 15, a part of the shape needs a Slice.
Status WriteShapeOf(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<ShapeOfAttrs>();
  const bool part = a.start != 0 || a.end != ShapeOfAttrs().end;
  const std::string x = ctx.NameOf(node.input(0));
  WriteInt64(ctx, node, [&](const std::string& y) {
    if (!part || ctx.opset() >= 15) {
      pb::NodeProto* out = ctx.AddNode(node, "Shape", {{y}, {x}});
      if (a.start != 0) SetInt(out, "start", a.start);
      if (a.end != ShapeOfAttrs().end) SetInt(out, "end", a.end);
      return;
    }
    const std::string whole = ctx.AddValue("Shape", {x}, "shape");
    if (ctx.opset() < 10) {
      pb::NodeProto* slice = ctx.AddNode(node, "Slice", {{y}, {whole}});
      SetInts(slice, "axes", {0});
      SetInts(slice, "starts", {a.start});
      SetInts(slice, "ends", {a.end});
      return;
    }
    ctx.AddNode(node, "Slice",
                {{y},
                 {whole, ctx.AddInts({a.start}, "starts"), ctx.AddInts({a.end}, "ends"),
                  ctx.AddInts({0}, "axes")}});
  });
  return {};
}

Status WriteSizeOf(ExportContext& ctx, const Node& node) {
  const std::string x = ctx.NameOf(node.input(0));
  WriteInt64(ctx, node, [&](const std::string& y) { ctx.AddNode(node, "Size", {{y}, {x}}); });
  return {};
}

// ---- Tile, Expand -------------------------------------------------------------------------------

// The second operand: the input, or the attribute as a tensor.
Result<std::string> Numbers(ExportContext& ctx, const Node& node, const Dims& attr,
                            std::string_view hint) {
  if (node.input(1) == nullptr) return ctx.AddDims(attr, hint);
  return ctx.NameAs(node.input(1), DType::kI64);
}

Status WriteTile(ExportContext& ctx, const Node& node) {
  NN_ASSIGN(const std::string repeats,
            Numbers(ctx, node, node.attrs<TileAttrs>().repeats, "repeats"));
  ctx.AddNode(node, "Tile", {{ctx.NameOf(node.output())}, {ctx.NameOf(node.input(0)), repeats}});
  return {};
}

Status WriteExpand(ExportContext& ctx, const Node& node) {
  NN_ASSIGN(const std::string shape, Numbers(ctx, node, node.attrs<ExpandAttrs>().dims, "shape"));
  ctx.AddNode(node, "Expand", {{ctx.NameOf(node.output())}, {ctx.NameOf(node.input(0)), shape}});
  return {};
}

}  // namespace

namespace {

constexpr ImportRow kShapeImports[] = {
    {.op = "Constant", .since = 1, .import = ImportConstant},
    {.op = "Identity", .since = 1, .import = ImportIdentity, .inputs = 1},
    {.op = "Transpose", .since = 1, .import = ImportTranspose, .inputs = 1},
    {.op = "Flatten", .since = 1, .import = ImportFlatten, .inputs = 1},
    {.op = "Reshape", .since = 1, .import = ImportReshape1, .inputs = 1},
    {.op = "Reshape", .since = 5, .import = ImportReshape5, .inputs = 2},
    {.op = "Squeeze", .since = 1, .import = ImportSqueeze1, .inputs = 1},
    {.op = "Squeeze", .since = 13, .import = ImportSqueeze13, .inputs = 1},
    {.op = "Unsqueeze", .since = 1, .import = ImportUnsqueeze1, .inputs = 1},
    {.op = "Unsqueeze", .since = 13, .import = ImportUnsqueeze13, .inputs = 2},
    {.op = "Shape", .since = 1, .import = ImportShape, .inputs = 1},
    {.op = "Size", .since = 1, .import = ImportSize, .inputs = 1},
    {.op = "Expand", .since = 8, .import = ImportExpand, .inputs = 1},
    {.op = "ConstantOfShape", .since = 9, .import = ImportConstantOfShape},
    {.op = "Tile", .since = 1, .import = ImportTile1, .inputs = 1},
    {.op = "Tile", .since = 6, .import = ImportTile6, .inputs = 2},
};

constexpr ExportRow kShapeExports[] = {
    {.op = "transpose", .write = WriteTranspose},
    {.op = "reshape", .write = WriteReshape, .why_not = WhyNotReshape, .min_opset = ReshapeOpset},
    {.op = "expand_dims", .write = WriteAxes<false>, .why_not = WhyNotAxes, .min_opset = AxesOpset},
    {.op = "squeeze", .write = WriteAxes<true>, .why_not = WhyNotAxes, .min_opset = AxesOpset},
    {.op = "shape_of", .write = WriteShapeOf},
    {.op = "size_of", .write = WriteSizeOf},
    {.op = "tile", .write = WriteTile},
    {.op = "expand", .write = WriteExpand, .min_opset = Since<8>},
};

}  // namespace

Family ShapeFamily() {
  return {.imports = kShapeImports, .exports = kShapeExports};
}

}  // namespace nn::onnx
