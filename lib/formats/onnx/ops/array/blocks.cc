#include "ops/array/arrange/blocks.h"
#include "base/text/text.h"
#include "formats/onnx/family.h"

namespace nn::onnx {

// ==== From ONNX ==================================================================================

namespace {

// SpaceToDepth has a mode from version 28 on.
Result<DepthToSpaceAttrs> ReadBlocks(const ImportContext& ctx) {
  DepthToSpaceAttrs a;
  NN_ASSIGN(a.block, ctx.RequiredInt("blocksize"));
  const std::string mode = ctx.String("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") return ModelError("unknown mode {}", Quote(mode));
  if (mode == "CRD") a.mode = DepthOrder::kCrd;
  return a;
}

Status ImportDepthToSpace(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  NN_ASSIGN(const DepthToSpaceAttrs a, ReadBlocks(ctx));
  return ctx.Emit("depth_to_space", {x}, a);
}

Status ImportSpaceToDepth(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  NN_ASSIGN(const DepthToSpaceAttrs a, ReadBlocks(ctx));
  return ctx.Emit("space_to_depth", {x}, a);
}

}  // namespace

// ==== To ONNX ====================================================================================

namespace {

Status WriteDepthToSpace(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<DepthToSpaceAttrs>();
  pb::NodeProto* out = ctx.AddNode(node, "DepthToSpace");
  SetInt(out, "blocksize", a.block);
  if (ctx.opset() >= 11) SetString(out, "mode", a.mode == DepthOrder::kDcr ? "DCR" : "CRD");
  return {};
}

Status WriteSpaceToDepth(ExportContext& ctx, const Node& node) {
  SetInt(ctx.AddNode(node, "SpaceToDepth"), "blocksize", node.attrs<DepthToSpaceAttrs>().block);
  return {};
}

std::optional<std::string> WhyNotBlocks(const Node& node) {
  if (node.attrs<DepthToSpaceAttrs>().layout != Layout::kNcx) return "the channels must be axis 1";
  if (!node.input(0)->type().ranked() || node.input(0)->type().rank() != 4)
    return "ONNX has it for two spatial axes only";
  return std::nullopt;
}

std::optional<std::string> WhyNotSpaceToDepth(const Node& node) {
  if (node.attrs<DepthToSpaceAttrs>().mode != DepthOrder::kDcr)
    return "SpaceToDepth supports DCR order only";
  return WhyNotBlocks(node);
}

int64_t DepthToSpaceOpset(const Node& node) {
  return node.attrs<DepthToSpaceAttrs>().mode == DepthOrder::kDcr ? 1 : 11;
}

}  // namespace

namespace {

constexpr ImportRow kBlocksImports[] = {
    {.op = "DepthToSpace", .since = 1, .import = ImportDepthToSpace, .inputs = 1},
    {.op = "SpaceToDepth", .since = 1, .import = ImportSpaceToDepth, .inputs = 1},
};

constexpr ExportRow kBlocksExports[] = {
    {.op = "depth_to_space",
     .write = WriteDepthToSpace,
     .why_not = WhyNotBlocks,
     .min_opset = DepthToSpaceOpset},
    {.op = "space_to_depth", .write = WriteSpaceToDepth, .why_not = WhyNotSpaceToDepth},
};

}  // namespace

Family BlocksFamily() {
  return {.imports = kBlocksImports, .exports = kBlocksExports};
}

}  // namespace nn::onnx
