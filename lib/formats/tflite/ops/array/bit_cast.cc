#include "ops/math/bit_cast.h"
#include "formats/tflite/family.h"
#include "formats/tflite/file/tensor.h"

namespace nn::tflite {
namespace {

// ==== From TensorFlow Lite =======================================================================

Status ImportBitCast(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  if (ctx.output_type().quantized()) return UnsupportedError("its result is quantized");
  return ctx.Emit("bit_cast", {x}, BitCastAttrs{ctx.output_type().dtype});
}

// ==== To TensorFlow Lite =========================================================================

Status WriteBitCast(ExportContext& ctx, const Node& node) {
  ctx.AddOperator(fb::BuiltinOperator::BITCAST, {ctx.ResultsOf(node), ctx.InputsOf(node)},
                  fb::CreateBitcastOptions(ctx.builder()));
  return {};
}

std::optional<std::string> WhyNotBitCast(const Node& node) {
  if (node.input(0)->type().quantized()) return "its operand is quantized";
  if (DTypeBits(node.input(0)->dtype()) < 8) return "BITCAST needs elements of whole bytes";
  return std::nullopt;
}

constexpr ImportRow kBitCastImports[] = {
    {.op = fb::BuiltinOperator::BITCAST, .import = ImportBitCast, .inputs = "a"}};

constexpr ExportRow kBitCastExports[] = {
    {.op = "bit_cast", .write = WriteBitCast, .why_not = WhyNotBitCast, .any_type = true},
};

}  // namespace

Family BitCastFamily() {
  return {.imports = kBitCastImports, .exports = kBitCastExports};
}

}  // namespace nn::tflite
