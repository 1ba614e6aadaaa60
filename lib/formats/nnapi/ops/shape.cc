#include "ops/array/shape.h"
#include "formats/nnapi/family.h"
#include "ops/array/arrange/blocks.h"
#include "ops/array/arrange/concat.h"
#include "ops/nn/resize/resize_alike.h"

namespace nn::nnapi {

// ==== From NNAPI =================================================================================

namespace {

Status ImportReshape(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  NN_ASSIGN(Value* const shape, ctx.Required(1));
  if (shape->dtype() != DType::kI32)
    return ModelError("input 1 must be i32; it is {}", shape->type().ToString());
  if (shape->is_constant())
    return ctx.Emit("reshape", {x}, ReshapeAttrs{ToDims(shape->constant().ToInts()), false});
  return ctx.Emit("reshape", {x, shape}, ReshapeAttrs{});
}

Status ImportConcatenation(ImportContext& ctx) {
  const size_t count = ctx.input_count() - 1;
  NN_ASSIGN(const std::vector<Value*> inputs, ctx.RequiredInputs(count));
  ConcatAttrs a;
  NN_ASSIGN(a.axis, ctx.Int(count));
  if (a.axis < 0) return ModelError("axis must be 0 or more, not {}", a.axis);
  return ctx.Emit("concat", inputs, a);
}

Status EmitBlocks(ImportContext& ctx, std::string_view op) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  DepthToSpaceAttrs a;
  a.layout = Layout::kNxc;
  NN_ASSIGN(a.block, ctx.Int(1));
  return ctx.Emit(op, {x}, a);
}

Status ImportDepthToSpace(ImportContext& ctx) {
  return EmitBlocks(ctx, "depth_to_space");
}
Status ImportSpaceToDepth(ImportContext& ctx) {
  return EmitBlocks(ctx, "space_to_depth");
}

Status ImportResizeBilinear(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  NN_ASSIGN(const int64_t width, ctx.Int(1));
  NN_ASSIGN(const int64_t height, ctx.Int(2));
  if (width < 1 || height < 1)
    return ModelError("the size {} x {} must be positive", width, height);
  ResizeAttrs a;
  a.layout = Layout::kNxc;
  a.mode = ResizeMode::kLinear;
  a.coordinates = Coordinates::kAsymmetric;
  a.sizes = {Dim(height), Dim(width)};
  NN_ASSIGN(Value* const y, ctx.Add("resize", {x}, std::move(a), ctx.result_type()));
  y->def()->set_arithmetic(Arithmetic::kTflite);
  ctx.SetOutput(0, y);
  return {};
}

}  // namespace

// ==== To NNAPI ===================================================================================

namespace {

// ---- RESHAPE: operators that keep the elements in order -----------------------------------------

Status WriteReshape(ExportContext& ctx, const Node& node) {
  NN_ASSIGN(const uint32_t x, ctx.OperandOf(node.input(0)));
  NN_ASSIGN(const uint32_t to, ctx.Ints(*node.output()->type().dims));
  return ctx.AddOperation(node, OperationType::kReshape, {x, to});
}

std::optional<std::string> WhyNotTranspose(const Node& node) {
  const auto map = AxisMapOf(node);
  if (map && map->KeepsOrder(*node.input(0)->type().dims)) return std::nullopt;
  return "NNAPI 1.0 has no transpose operation";
}

// ---- The others ---------------------------------------------------------------------------------

Status WriteConcat(ExportContext& ctx, const Node& node) {
  std::vector<uint32_t> inputs;
  for (const Value* v : node.inputs()) {
    NN_ASSIGN(const uint32_t operand, ctx.OperandOf(v));
    inputs.push_back(operand);
  }
  const int64_t axis = node.attrs<ConcatAttrs>().axis;
  NN_ASSIGN(const uint32_t operand, ctx.Int(axis < 0 ? axis + node.output()->type().rank() : axis));
  inputs.push_back(operand);
  return ctx.AddOperation(node, OperationType::kConcatenation, std::move(inputs));
}

Status WriteBlocks(ExportContext& ctx, const Node& node, OperationType type) {
  NN_ASSIGN(const uint32_t x, ctx.OperandOf(node.input(0), ChannelsLastMap(node)));
  NN_ASSIGN(const uint32_t block, ctx.Int(node.attrs<DepthToSpaceAttrs>().block));
  return ctx.AddOperation(node, type, {x, block});
}

Status WriteDepthToSpace(ExportContext& ctx, const Node& node) {
  return WriteBlocks(ctx, node, OperationType::kDepthToSpace);
}
Status WriteSpaceToDepth(ExportContext& ctx, const Node& node) {
  return WriteBlocks(ctx, node, OperationType::kSpaceToDepth);
}

std::optional<std::string> WhyNotBlocks(const Node& node) {
  const auto& a = node.attrs<DepthToSpaceAttrs>();
  if (auto reason = WhyNotWindow(node, {})) return reason;
  if (a.mode != DepthOrder::kDcr) return "the order must be DCR";
  return std::nullopt;
}

Status WriteResize(ExportContext& ctx, const Node& node) {
  const Type& y = node.output()->type();
  const int first = FirstSpatialAxis(node.attrs<ResizeAttrs>().layout);
  NN_ASSIGN(const uint32_t x, ctx.OperandOf(node.input(0), ChannelsLastMap(node)));
  NN_ASSIGN(const uint32_t width, ctx.Int(y.dim(first + 1)));
  NN_ASSIGN(const uint32_t height, ctx.Int(y.dim(first)));
  return ctx.AddOperation(node, OperationType::kResizeBilinear, {x, width, height});
}

// Scales must be the quotients of the sizes where both are known.
bool ScalesFitSizes(const Node& node, const std::vector<float>& scales) {
  const auto from = node.input(0)->type().const_dims();
  const auto to = node.output()->type().const_dims();
  if (!from || !to || scales.size() != 2) return false;
  const auto first = static_cast<size_t>(FirstSpatialAxis(node.attrs<ResizeAttrs>().layout));
  for (size_t i = 0; i < 2; ++i)
    if (scales[i] != static_cast<float>((*to)[first + i]) / static_cast<float>((*from)[first + i]))
      return false;
  return true;
}

std::optional<std::string> WhyNotResize(const Node& node) {
  const auto& a = node.attrs<ResizeAttrs>();
  if (auto reason = WhyNotWindow(node, {})) return reason;
  const ResizeAttrs bilinear{
      .layout = a.layout, .mode = ResizeMode::kLinear, .coordinates = Coordinates::kAsymmetric};
  if (!node.input(0)->type().quantized() && ResizesAs(node, bilinear)) return std::nullopt;
  if (a.mode != ResizeMode::kLinear)
    return fmt::format("NNAPI 1.0 has no {} resize", EnumName(a.mode));
  if (a.coordinates != Coordinates::kAsymmetric)
    return fmt::format("RESIZE_BILINEAR needs asymmetric coordinates, not {}",
                       EnumName(a.coordinates));
  if (node.inputs().size() > 1) return "its output size must be constant";
  if (a.aspect != AspectPolicy::kStretch || (a.sizes.empty() && !ScalesFitSizes(node, a.scales)))
    return "its scales must be the quotient of its sizes";
  if (a.antialias) return "NNAPI 1.0 has no antialiased resize";
  return std::nullopt;
}

}  // namespace

namespace {

constexpr ImportRow kShapeImports[] = {
    {.operation = OperationType::kReshape, .import = ImportReshape},
    {.operation = OperationType::kConcatenation, .import = ImportConcatenation},
    {.operation = OperationType::kDepthToSpace, .import = ImportDepthToSpace},
    {.operation = OperationType::kSpaceToDepth, .import = ImportSpaceToDepth},
    {.operation = OperationType::kResizeBilinear, .import = ImportResizeBilinear},
};

constexpr ExportRow kShapeExports[] = {
    {.op = "reshape", .write = WriteReshape},
    {.op = "squeeze", .write = WriteReshape},
    {.op = "expand_dims", .write = WriteReshape},
    {.op = "transpose", .write = WriteReshape, .why_not = WhyNotTranspose},
    {.op = "concat", .write = WriteConcat},
    {.op = "depth_to_space",
     .write = WriteDepthToSpace,
     .why_not = WhyNotBlocks,
     .why_not_layout = WhyNotLayout},
    {.op = "space_to_depth",
     .write = WriteSpaceToDepth,
     .why_not = WhyNotBlocks,
     .why_not_layout = WhyNotLayout},
    {.op = "resize", .write = WriteResize, .why_not = WhyNotResize, .why_not_layout = WhyNotLayout},
};

}  // namespace

Family ShapeFamily() {
  return {.imports = kShapeImports, .exports = kShapeExports};
}

}  // namespace nn::nnapi
