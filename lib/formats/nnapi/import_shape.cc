#include "formats/nnapi/import.h"
#include "ops/blocks.h"
#include "ops/concat.h"
#include "ops/resize.h"
#include "ops/shape.h"

namespace nn::nnapi {
namespace {

Status ImportReshape(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  NN_ASSIGN(Value* const shape, ctx.Required(1));
  if (shape->dtype() != DType::kI32)
    return ModelError("input 1 is {}, not of i32", shape->type().ToString());
  if (shape->is_constant())
    return ctx.Emit("reshape", {x}, ReshapeAttrs{ToDims(shape->constant().ToInts()), false});
  return ctx.Emit("reshape", {x, shape}, ReshapeAttrs{});
}

Status ImportConcatenation(ImportContext& ctx) {
  const size_t count = ctx.input_count() - 1;
  std::vector<Value*> inputs;
  for (size_t i = 0; i < count; ++i) {
    NN_ASSIGN(Value* const v, ctx.Required(i));
    inputs.push_back(v);
  }
  ConcatAttrs a;
  NN_ASSIGN(a.axis, ctx.Int(count));
  if (a.axis < 0) return ModelError("axis {}", a.axis);
  return ctx.Emit("concat", std::move(inputs), a);
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
  if (width < 1 || height < 1) return ModelError("{} x {} as its size", width, height);
  ResizeAttrs a;
  a.layout = Layout::kNxc;
  a.mode = ResizeMode::kLinear;
  a.coordinates = Coordinates::kAsymmetric;
  a.sizes = {Dim(height), Dim(width)};
  NN_ASSIGN(Node* const node, ctx.AddNode("resize", {x}, std::move(a), ctx.output_type()));
  node->set_arithmetic(Arithmetic::kTflite);
  ctx.SetOutput(0, node->output());
  return {};
}

}  // namespace

void AddShapeImports(ImportTable& t) {
  t[OperationType::kReshape] = ImportReshape;
  t[OperationType::kConcatenation] = ImportConcatenation;
  t[OperationType::kDepthToSpace] = ImportDepthToSpace;
  t[OperationType::kSpaceToDepth] = ImportSpaceToDepth;
  t[OperationType::kResizeBilinear] = ImportResizeBilinear;
}

}  // namespace nn::nnapi
