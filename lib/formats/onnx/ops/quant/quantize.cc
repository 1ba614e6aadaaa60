// QuantizeLinear and DequantizeLinear, of ONNX and of com.microsoft. Scales and zero points that
// are constant become part of the quantized value's type (Type::quant).
#include <algorithm>

#include "formats/onnx/export/quant/linear_quant.h"
#include "formats/onnx/family.h"
#include "formats/onnx/file/tensor.h"
#include "ops/math/elementwise/elementwise.h"

namespace nn::onnx {

// ==== From ONNX ==================================================================================

namespace {

// The mapping of inputs 1 and 2.
Result<LinearQuant> ReadMapping(ImportContext& ctx) {
  NN_ASSIGN(LinearQuant q, ReadLinearQuant(ctx, 1, 2));
  q.axis = ctx.Int("axis", 1);
  q.block = ctx.Int("block_size", 0);
  if (q.block < 0) return ModelError("block_size is {}", q.block);
  const Type& scale = q.scale->type();
  if (ctx.opset() < 13 && NormalDomain(ctx.node().domain()).empty() && scale.ranked() &&
      scale.rank() == 1 && scale.dim(0).is_const() && scale.dim(0) != 1)
    return ModelError("operator set {} has no scales along an axis; they are {}", ctx.opset(),
                      scale.ToString());
  if (q.block == 0 && scale.ranked() && scale.rank() > 1 &&
      std::ranges::any_of(*scale.dims, [](const Dim& d) { return d.is_const() && d != 1; }))
    return ModelError("the scale is {}; without block_size it has one element or one axis",
                      scale.ToString());
  return q;
}

// Computation is in float32; another requested precision is unsupported.
Status CheckPrecision(const ImportContext& ctx) {
  const int64_t precision = ctx.Int("precision", 0);
  if (precision != 0 && precision != pb::TensorProto::FLOAT)
    return UnsupportedError("{} with precision = {}", ctx.node().op_type(), precision);
  return {};
}

Status ImportQuantizeLinear(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  NN_RETURN_IF_ERROR(CheckPrecision(ctx));
  DType dtype = DType::kU8;
  if (const int64_t wanted = ctx.Int("output_dtype", 0); wanted != 0)
    dtype = DTypeOf(static_cast<int>(wanted));
  if (ctx.input(2) != nullptr) dtype = ctx.input(2)->dtype();
  NN_ASSIGN(const LinearQuant q, ReadMapping(ctx));
  NN_ASSIGN(Value* const y, AddQuantize(ctx, x, q, dtype, ctx.Int("saturate", 1) != 0));
  ctx.SetOutput(0, y);
  return {};
}

Status ImportDequantizeLinear(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  DType to = ctx.input(1) == nullptr ? DType::kF32 : ctx.input(1)->dtype();
  if (const int64_t wanted = ctx.Int("output_dtype", 0); wanted != 0)
    to = DTypeOf(static_cast<int>(wanted));
  NN_ASSIGN(const LinearQuant q, ReadMapping(ctx));
  if (ctx.input(2) != nullptr && ctx.input(2)->dtype() != x->dtype())
    return ModelError("the zero point is {}, but the input is {}", DTypeName(ctx.input(2)->dtype()),
                      DTypeName(x->dtype()));
  NN_ASSIGN(Value* const y, AddDequantize(ctx, x, q, to));
  ctx.SetOutput(0, y);
  return {};
}

}  // namespace

// ==== To ONNX ====================================================================================

namespace {

// Why the scales of a quantized type cannot be written.
std::optional<std::string> WhyNotScales(const Type& type) {
  if (type.dtype == DType::kUnknown) return "the element type of the integers is not known";
  if (type.quant->per_axis() && !type.ranked()) return "scales per axis require a known rank";
  return std::nullopt;
}

// One element, or one for each index of an axis: as small as the type's own lists.
std::vector<int64_t> QuantDims(const Quant& q) {
  if (!q.per_axis()) return {};
  return {static_cast<int64_t>(q.scales.size())};
}

std::string WriteScale(ExportContext& ctx, const Type& type, const std::string& hint) {
  const Quant& q = *type.quant;
  auto scale = TensorBuilder::Create(DType::kF32, QuantDims(q));
  for (size_t i = 0; i < q.scales.size(); ++i)
    scale->SetDouble(static_cast<int64_t>(i), static_cast<double>(q.scales[i]));
  return ctx.AddTensor(scale->Finish(), hint + "_scale");
}

// A zero point of 0 is written too, because QuantizeLinear takes the element type from it.
std::string WriteZeroPoint(ExportContext& ctx, const Type& type, const std::string& hint) {
  const Quant& q = *type.quant;
  auto zero = TensorBuilder::Create(type.dtype, QuantDims(q));
  for (size_t i = 0; i < q.scales.size(); ++i) {
    if (IsInteger(type.dtype))
      zero->SetInt(static_cast<int64_t>(i), q.zero_point(i));
    else
      zero->SetDouble(static_cast<int64_t>(i), 0);
  }
  return ctx.AddTensor(zero->Finish(), hint + "_zero_point");
}

void SetQuantAxis(pb::NodeProto* out, const Type& type) {
  if (type.quant->per_axis()) SetInt(out, "axis", type.quant->axis);
}

Status WriteQuantize(ExportContext& ctx, const Node& node) {
  const Value* y = node.output();
  // Scales are float32 numbers, which a scale of 16 bits would round.
  std::vector<std::string> inputs = {ctx.NameAs(node.input(0), DType::kF32)};
  inputs.push_back(WriteScale(ctx, y->type(), ctx.NameOf(y)));
  inputs.push_back(WriteZeroPoint(ctx, y->type(), ctx.NameOf(y)));
  pb::NodeProto* out = ctx.AddNode(node, "QuantizeLinear", {{ctx.NameOf(y)}, std::move(inputs)});
  SetQuantAxis(out, y->type());
  if (!node.attrs<QuantizeAttrs>().saturate && ctx.opset() >= 19) SetInt(out, "saturate", 0);
  return {};
}
std::optional<std::string> WhyNotQuantize(const Node& node) {
  if (node.input(0)->type().quantized())
    return "it requantizes; QuantizeLinear needs real operands";
  const Type& y = node.output()->type();
  if (!y.quantized()) return "its result is not quantized";
  return WhyNotScales(y);
}

Status WriteDequantize(ExportContext& ctx, const Node& node) {
  const Value* x = node.input(0);
  const DType to = node.attrs<DequantizeAttrs>().to;
  if (!x->type().quantized()) {
    SetInt(ctx.AddNode(node, "Cast"), "to", DataTypeOf(to));
    return {};
  }
  std::vector<std::string> inputs = {ctx.NameOf(x)};
  inputs.push_back(WriteScale(ctx, x->type(), ctx.NameOf(x)));
  // The zero point of 32-bit integers must be 0, and is not written.
  if (x->dtype() != DType::kI32) inputs.push_back(WriteZeroPoint(ctx, x->type(), ctx.NameOf(x)));
  const std::string y = to == DType::kF32 ? ctx.NameOf(node.output()) : ctx.NewName("real");
  SetQuantAxis(ctx.AddNode(node, "DequantizeLinear", {{y}, std::move(inputs)}), x->type());
  if (to != DType::kF32) ctx.AddCast(y, ctx.NameOf(node.output()), to);
  return {};
}
std::optional<std::string> WhyNotDequantize(const Node& node) {
  const Type& x = node.input(0)->type();
  if (!x.quantized()) return std::nullopt;
  if (auto why = WhyNotScales(x); why || x.dtype != DType::kI32) return why;
  for (const int64_t v : x.quant->zero_points)
    if (v != 0) return "an i32 zero point must be 0";
  return std::nullopt;
}

}  // namespace

namespace {

constexpr ImportRow kQuantizeImports[] = {
    {.op = "QuantizeLinear", .since = 10, .import = ImportQuantizeLinear, .inputs = 1},
    {.op = "DequantizeLinear", .since = 10, .import = ImportDequantizeLinear, .inputs = 1},
    {.op = "QuantizeLinear", .import = ImportQuantizeLinear, .inputs = 1, .domain = kMicrosoft},
    {.op = "DequantizeLinear", .import = ImportDequantizeLinear, .inputs = 1, .domain = kMicrosoft},
};

constexpr ExportRow kQuantizeExports[] = {
    {.op = "quantize", .write = WriteQuantize, .why_not = WhyNotQuantize},
    {.op = "dequantize", .write = WriteDequantize, .why_not = WhyNotDequantize},
};

}  // namespace

Family QuantizeFamily() {
  return {.imports = kQuantizeImports, .exports = kQuantizeExports};
}

}  // namespace nn::onnx
