#include "ops/math/bit_cast.h"
#include "formats/onnx/family.h"
#include "formats/onnx/file/tensor.h"

namespace nn::onnx {
namespace {

// ==== From ONNX ==================================================================================

Status ImportBitCast(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  const DType to = DTypeOf(static_cast<int>(ctx.Int("to", 0)));
  if (DTypeBits(x->dtype()) != DTypeBits(to))
    return ModelError("{} and {} differ in width", DTypeName(x->dtype()), DTypeName(to));
  return ctx.Emit("bit_cast", {x}, BitCastAttrs{to});
}

// ==== To ONNX ====================================================================================

Status WriteBitCast(ExportContext& ctx, const Node& node) {
  SetInt(ctx.AddNode(node, "BitCast"), "to", DataTypeOf(node.attrs<BitCastAttrs>().to));
  return {};
}

std::optional<std::string> WhyNotBitCast(const Node& node) {
  const Type& x = node.input(0)->type();
  const DType to = node.attrs<BitCastAttrs>().to;
  if (x.quantized()) return "its operand is quantized, but BitCast of ONNX needs a real one";
  if (DTypeBits(x.dtype) != DTypeBits(to))
    return fmt::format("BitCast of ONNX keeps the width, but those of {} and {} differ",
                       DTypeName(x.dtype), DTypeName(to));
  return std::nullopt;
}

constexpr ImportRow kBitCastImports[] = {
    {.op = "BitCast", .since = 26, .import = ImportBitCast, .inputs = 1}};

constexpr ExportRow kBitCastExports[] = {
    {.op = "bit_cast", .write = WriteBitCast, .why_not = WhyNotBitCast, .min_opset = Since<26>},
};

}  // namespace

Family BitCastFamily() {
  return {.imports = kBitCastImports, .exports = kBitCastExports};
}

}  // namespace nn::onnx
