#include "ops/array/arrange/col2im.h"
#include "formats/onnx/family.h"

namespace nn::onnx {
namespace {

Status ImportCol2Im(ImportContext& ctx) {
  return ctx.Emit("col2im", ctx.Inputs(3),
                  Col2ImAttrs{ctx.Ints("strides"), ctx.Ints("dilations"), ctx.Ints("pads")});
}

Status WriteCol2Im(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<Col2ImAttrs>();
  std::vector<std::string> inputs = {ctx.NameOf(node.input(0))};
  for (const size_t i : {1, 2}) inputs.push_back(ctx.NameAs(node.input(i), DType::kI64));
  pb::NodeProto* out =
      ctx.AddNode(node, "Col2Im", {{ctx.NameOf(node.output())}, std::move(inputs)});
  if (!a.strides.empty()) SetInts(out, "strides", a.strides);
  if (!a.dilations.empty()) SetInts(out, "dilations", a.dilations);
  if (!a.pads.empty()) SetInts(out, "pads", a.pads);
  return {};
}

constexpr ImportRow kCol2ImImports[] = {
    {.op = "Col2Im", .since = 18, .import = ImportCol2Im, .inputs = 3}};

constexpr ExportRow kCol2ImExports[] = {
    {.op = "col2im", .write = WriteCol2Im, .min_opset = Since<18>}};

}  // namespace

Family Col2ImFamily() {
  return {.imports = kCol2ImImports, .exports = kCol2ImExports};
}

}  // namespace nn::onnx
