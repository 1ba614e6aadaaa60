#include "ops/nn/deform_conv.h"
#include "formats/onnx/family.h"
#include "formats/onnx/spec/window_attrs.h"

namespace nn::onnx {
namespace {

// ==== From ONNX ==================================================================================

Status ImportDeformConv(ImportContext& ctx) {
  std::vector<Value*> inputs;
  for (size_t i = 0; i < 5; ++i) inputs.push_back(ctx.input(i));
  NN_RETURN_IF_ERROR(CheckKernelShape(ctx, inputs[1]));
  DeformConvAttrs a;
  a.strides = ctx.Ints("strides");
  a.dilations = ctx.Ints("dilations");
  a.pads = ctx.Ints("pads");
  a.groups = ctx.Int("group", 1);
  a.offset_groups = ctx.Int("offset_group", 1);
  return ctx.Emit("deform_conv", std::move(inputs), std::move(a));
}

// ==== To ONNX ====================================================================================

Status WriteDeformConv(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<DeformConvAttrs>();
  pb::NodeProto* out = ctx.AddNode(node, "DeformConv");
  const auto filter = node.input(1)->type().const_dims();
  if (filter) SetInts(out, "kernel_shape", {filter->begin() + 2, filter->end()});
  if (!a.strides.empty()) SetInts(out, "strides", a.strides);
  if (!a.dilations.empty()) SetInts(out, "dilations", a.dilations);
  if (!a.pads.empty()) SetInts(out, "pads", a.pads);
  SetInt(out, "group", a.groups);
  SetInt(out, "offset_group", a.offset_groups);
  return {};
}

constexpr ImportRow kDeformConvImports[] = {
    {.op = "DeformConv", .since = 19, .import = ImportDeformConv, .inputs = 3}};

constexpr ExportRow kDeformConvExports[] = {
    {.op = "deform_conv", .write = WriteDeformConv, .min_opset = Since<19>}};

}  // namespace

Family DeformConvFamily() {
  return {.imports = kDeformConvImports, .exports = kDeformConvExports};
}

}  // namespace nn::onnx
