#include "formats/onnx/family.h"
#include "formats/onnx/file/tensor.h"
#include "ir/op_def.h"
#include "ops/math/elementwise/elementwise.h"

namespace nn::onnx {
namespace {

// ==== From ONNX ==================================================================================

Status EmitCast(ImportContext& ctx, DType to) {
  Value* const x = ctx.input(0);
  if (to == DType::kUnknown) return ModelError("attribute to is not a known element type");
  if (x->dtype() == to && !x->type().quantized()) {
    ctx.SetOutput(0, x);
    return {};
  }
  CastAttrs a;
  a.to = to;
  a.saturate = ctx.Int("saturate", 1) != 0;
  const std::string round = ctx.String("round_mode", "up");
  const auto mode = ParseEnum<PowerRounding>(round);
  if (!mode) return ModelError("round_mode must be up, down or nearest");
  a.round_mode = *mode;
  return ctx.Emit("cast", {x}, a);
}

// In version 1 the type is given by name.
Status ImportCast1(ImportContext& ctx) {
  pb::TensorProto::DataType type = pb::TensorProto::UNDEFINED;
  if (!pb::TensorProto::DataType_Parse(ctx.String("to", ""), &type))
    return ModelError("attribute to is not the name of an element type");
  return EmitCast(ctx, DTypeOf(type));
}
Status ImportCast6(ImportContext& ctx) {
  NN_ASSIGN(const int64_t to, ctx.RequiredInt("to"));
  return EmitCast(ctx, DTypeOf(static_cast<int>(to)));
}
Status ImportCastLike(ImportContext& ctx) {
  Value* const like = ctx.input(1);
  return EmitCast(ctx, like->dtype());
}

// ==== To ONNX ====================================================================================

Status WriteCast(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<CastAttrs>();
  // It may only change what the integers represent.
  if (a.to == node.input(0)->dtype()) {
    ctx.AddNode(node, "Identity");
    return {};
  }
  pb::NodeProto* out = ctx.AddNode(node, "Cast");
  SetInt(out, "to", DataTypeOf(a.to));
  // The attribute is for float8 only, and ONNX Runtime refuses it elsewhere.
  const bool float8 = IsFloat(a.to) && DTypeBits(a.to) == 8;
  if (!a.saturate && float8 && ctx.opset() >= 19) SetInt(out, "saturate", 0);
  if (a.to == DType::kF8E8M0) SetString(out, "round_mode", EnumName(a.round_mode));
  return {};
}
std::optional<std::string> WhyNotCast(const Node& node) {
  if (DataTypeOf(node.attrs<CastAttrs>().to) == 0 || IsComplex(node.input(0)->dtype()) ||
      IsComplex(node.attrs<CastAttrs>().to))
    return fmt::format("ONNX has no Cast from {} to {}", DTypeName(node.input(0)->dtype()),
                       DTypeName(node.attrs<CastAttrs>().to));
  return std::nullopt;
}

constexpr ImportRow kCastImports[] = {
    {.op = "Cast", .since = 1, .import = ImportCast1, .inputs = 1},
    {.op = "Cast", .since = 6, .import = ImportCast6, .inputs = 1},
    {.op = "CastLike", .since = 15, .import = ImportCastLike, .inputs = 2},
};

constexpr ExportRow kCastExports[] = {
    {.op = "cast", .write = WriteCast, .why_not = WhyNotCast},
};

}  // namespace

Family CastFamily() {
  return {.imports = kCastImports, .exports = kCastExports};
}

}  // namespace nn::onnx
