// Quantization of values to 8 bits, and export of quantized constants. Their integers have no
// mapping to real numbers of their own, so that all operations may compute with them.
#include <fmt/core.h>

#include "formats/common/blocked_tensor.h"
#include "formats/coreml/program/family.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/quant/quantized.h"
#include "ops/support/term_ops.h"

namespace nn::coreml::program {
namespace {

// The mapping of the inputs scale, zero_point and axis, for a value of this rank.
Result<std::shared_ptr<const Quant>> ReadMapping(const ImportContext& ctx, int rank) {
  auto quant = std::make_shared<Quant>();
  NN_ASSIGN(const std::optional<Tensor> scale, ctx.Contents("scale"));
  NN_ASSIGN(const std::optional<Tensor> zero, ctx.Contents("zero_point"));
  if (!scale) return ModelError("input scale is missing");
  if (zero && zero->dims() != scale->dims())
    return ModelError("input scale has {} elements, but zero_point {}", scale->elements(),
                      zero->elements());
  for (const double v : scale->ToDoubles()) quant->scales.push_back(static_cast<float>(v));
  if (zero) quant->zero_points = zero->ToInts();
  if (!HasZeroPoints(*quant)) quant->zero_points.clear();
  if (scale->rank() > 0) {
    NN_ASSIGN(const int64_t axis, ctx.Axis("axis", rank));
    quant->axis = static_cast<int>(axis);
  }
  return quant;
}

Status ImportQuantize(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Ranked("input"));
  NN_ASSIGN(auto quant, ReadMapping(ctx, x->type().rank()));
  Type type;
  NN_ASSIGN(type.dtype, ctx.NamedType("output_dtype"));
  type.quant = std::move(quant);
  NN_ASSIGN(Value* const y, ctx.Add("quantize", {x}, QuantizeAttrs(), type));
  return ctx.EmitTerm(Cast(y, type.dtype));
}

// The integers with this mapping; null if they have none.
Value* WithMapping(ImportContext& ctx, Value* x, const std::shared_ptr<const Quant>& quant) {
  if (x->is_constant()) return ctx.graph().AddConstant(x->constant(), x->name(), quant);
  if (x->def() == nullptr || !x->def()->Is<CastAttrs>()) return nullptr;
  Value* const from = x->def()->input(0);
  const Type& type = from->type();
  const bool is_same =
      type.quantized() && type.dtype == x->dtype() && type.quant->SameMapping(*quant);
  return is_same ? from : nullptr;
}

Status ImportDequantize(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Ranked("input"));
  NN_ASSIGN(Value* const scale, ctx.In("scale"));
  NN_ASSIGN(const auto quant, ReadMapping(ctx, x->type().rank()));
  if (Value* const integers = WithMapping(ctx, x, quant))
    return ctx.Emit("dequantize", {integers}, DequantizeAttrs{scale->dtype()});
  std::vector<int64_t> dims(static_cast<size_t>(x->type().rank()), 1);
  if (quant->per_axis())
    dims[static_cast<size_t>(quant->axis)] = static_cast<int64_t>(quant->scales.size());
  Term y = Cast(x, DType::kF32);
  if (!quant->zero_points.empty())
    y = y -
        Tensor::Of(dims, std::vector<float>(quant->zero_points.begin(), quant->zero_points.end()));
  // The same integers with the mapping in their type, from which fusions know the operand.
  Type type;
  type.dtype = x->dtype();
  type.quant = quant;
  NN_ASSIGN(Value* const reals, ctx.Build(y * Tensor::Of(dims, quant->scales)));
  NN_ASSIGN(Value* const mapped, ctx.Add("quantize", {reals}, QuantizeAttrs(), type));
  return ctx.Emit("dequantize", {mapped}, DequantizeAttrs{scale->dtype()});
}

// ---- Export -------------------------------------------------------------------------------------

// The integers of a constant in a type of at least so many bits.
Result<Tensor> WithBits(const Tensor& integers, int bits) {
  const DType type = integers.dtype();
  if (DTypeBits(type) >= bits) return integers;
  const DType wide = bits == 4 ? (IsSigned(type) ? DType::kI4 : DType::kU4)
                               : (IsSigned(type) ? DType::kI8 : DType::kU8);
  NN_ASSIGN(TensorBuilder out, TensorBuilder::Create(wide, integers.dims()));
  for (int64_t i = 0; i < out.elements(); ++i) out.SetInt(i, integers.GetInt(i));
  return out.Finish();
}

// The mapping of a type as operands. Its numbers are scalars, or one for each index of its axis.
class MappingExport {
 public:
  explicit MappingExport(const Type& type) : type_(type), q_(*type.quant) {}

  bool is_vector() const { return q_.per_axis() && q_.scales.size() > 1; }
  int64_t axis() const { return is_vector() ? q_.axis : 0; }
  // For a scalar or a vector; `along_axis`: with all axes of the value.
  std::vector<int64_t> dims(bool along_axis = false) const {
    std::vector<int64_t> out;
    if (along_axis) out.assign(static_cast<size_t>(type_.rank()), 1);
    if (!is_vector()) return out;
    const auto count = static_cast<int64_t>(q_.scales.size());
    if (!along_axis) return {count};
    out[static_cast<size_t>(q_.axis)] = count;
    return out;
  }

  Result<Tensor> Scales(DType type, bool along_axis = false) const {
    NN_ASSIGN(TensorBuilder out, TensorBuilder::Create(type, dims(along_axis)));
    for (int64_t i = 0; i < out.elements(); ++i)
      out.SetDouble(i, static_cast<double>(q_.scale(static_cast<size_t>(i))));
    return out.Finish();
  }
  // Whether the element type holds the scales.
  bool HasScalesIn(DType type) const {
    const auto scales = Scales(type);
    if (!scales) return false;
    for (int64_t i = 0; i < scales->elements(); ++i)
      if (scales->GetDouble(i) != static_cast<double>(q_.scale(static_cast<size_t>(i))))
        return false;
    return true;
  }
  bool has_zeros() const { return HasZeroPoints(q_); }
  Result<Tensor> Zeros(DType type, bool along_axis = false) const {
    NN_ASSIGN(TensorBuilder out, TensorBuilder::Create(type, dims(along_axis)));
    for (int64_t i = 0; i < out.elements(); ++i)
      out.SetInt(i, q_.zero_point(static_cast<size_t>(i)));
    return out.Finish();
  }

 private:
  const Type& type_;
  const Quant& q_;
};

// Why operations between the integers and this type of real numbers do not have the mapping.
std::optional<std::string> WhyNotMapped(const Type& integers, DType reals) {
  const int bits = DTypeBits(integers.dtype);
  if (!IsInteger(integers.dtype) || bits > 16 || (bits > 8 && reals != DType::kF32))
    return fmt::format("ML Programs have scales of integers of up to 8 bits, not of {}",
                       DTypeName(integers.dtype));
  if (!MappingExport(integers).HasScalesIn(reals))
    return fmt::format("{} does not hold its scale", DTypeName(reals));
  return std::nullopt;
}

Status AddMapping(OperationWriter& op, const MappingExport& mapping, DType integers, DType reals) {
  if (mapping.has_zeros()) {
    NN_ASSIGN(const Tensor zeros, mapping.Zeros(integers));
    op.Const("zero_point", zeros);
  }
  NN_ASSIGN(const Tensor scales, mapping.Scales(reals));
  op.Const("scale", scales);
  if (mapping.is_vector()) op.Int("axis", mapping.axis());
  return {};
}

std::optional<std::string> WhyNotQuantize(const Node& node) {
  const Type& y = node.output()->type();
  if (node.input(0)->type().quantized()) return "ML Programs have a quantize of real numbers only";
  if (DTypeBits(y.dtype) < 8)
    return fmt::format("ML Programs have a quantize to i8 and u8, not {}", DTypeName(y.dtype));
  return WhyNotMapped(y, node.input(0)->dtype());
}

// clip(round(x / scale) + zero point)
Status WriteQuantizeSteps(ExportContext& ctx, const Node& node) {
  const Type &x = node.input(0)->type(), &y = node.output()->type();
  const MappingExport mapping(y);
  NN_ASSIGN(const Tensor scales, mapping.Scales(x.dtype, true));
  NN_ASSIGN(const std::string scaled,
            ctx.Add("real_div").In("x", node.input(0)).Const("y", scales).Helper(x, node));
  NN_ASSIGN(std::string rounded, ctx.Add("round").In("x", scaled).Helper(x, node));
  if (mapping.has_zeros()) {
    NN_ASSIGN(const Tensor zeros, mapping.Zeros(x.dtype, true));
    NN_ASSIGN(rounded, ctx.Add("add").In("x", rounded).Const("y", zeros).Helper(x, node));
  }
  NN_ASSIGN(const std::string bounded,
            ctx.Add("clip")
                .In("x", rounded)
                .Number("alpha", static_cast<double>(MinInteger(y.dtype)))
                .Number("beta", static_cast<double>(MaxInteger(y.dtype)))
                .Helper(x, node));
  return ctx.Add("cast").In("x", bounded).Text("dtype", NameInPrograms(y.dtype)).To(node);
}

// (x - zero point) * scale
Status WriteDequantizeSteps(ExportContext& ctx, const Node& node) {
  const Type& y = node.output()->type();
  const MappingExport mapping(node.input(0)->type());
  NN_ASSIGN(std::string reals, ctx.Add("cast")
                                   .In("x", node.input(0))
                                   .Text("dtype", NameInPrograms(y.dtype))
                                   .Helper(y, node));
  if (mapping.has_zeros()) {
    NN_ASSIGN(const Tensor zeros, mapping.Zeros(y.dtype, true));
    NN_ASSIGN(reals, ctx.Add("sub").In("x", reals).Const("y", zeros).Helper(y, node));
  }
  NN_ASSIGN(const Tensor scales, mapping.Scales(y.dtype, true));
  return ctx.Add("mul").In("x", reals).Const("y", scales).To(node);
}

// Halves become even numbers, as in ONNX.
Status WriteQuantize(ExportContext& ctx, const Node& node) {
  const Type& y = node.output()->type();
  if (DTypeBits(y.dtype) > 8) return WriteQuantizeSteps(ctx, node);
  OperationWriter op = ctx.Add("quantize");
  op.In("input", node.input(0));
  NN_RETURN_IF_ERROR(AddMapping(op, MappingExport(y), y.dtype, node.input(0)->dtype()));
  return op.Text("output_dtype", NameInPrograms(y.dtype)).To(node);
}

// Integers of few bits keep them in operation sets that have such constants.
Status WriteQuantizedConstant(ExportContext& ctx, const Node& node) {
  const Value* const x = node.input(0);
  const DType reals = node.output()->dtype();
  const MappingExport mapping(x->type());
  NN_ASSIGN(const Tensor integers, ContentsOf(*x));
  if (DTypeBits(x->dtype()) < 8 && ctx.opset() >= Opset::kIos18) {
    OperationWriter op = ctx.Add("constexpr_blockwise_shift_scale");
    NN_ASSIGN(const Tensor data, WithBits(integers, 4));
    NN_ASSIGN(const Tensor scales, mapping.Scales(reals, true));
    op.Const("data", data).Const("scale", scales);
    if (mapping.has_zeros()) {
      NN_ASSIGN(const Tensor zeros, mapping.Zeros(data.dtype(), true));
      op.Const("offset", zeros);
    }
    return op.To(node);
  }
  NN_ASSIGN(const Tensor data, WithBits(integers, 8));
  NN_ASSIGN(const Tensor zeros, mapping.Zeros(data.dtype()));
  NN_ASSIGN(const Tensor scales, mapping.Scales(reals));
  return ctx.Add("constexpr_affine_dequantize")
      .Const("quantized_data", data)
      .Const("zero_point", zeros)
      .Const("scale", scales)
      .Int("axis", mapping.axis())
      .To(node);
}

// Numbers of 16 bits that stay so in the file.
Status WriteWidened(ExportContext& ctx, const Node& node) {
  const Value* const x = node.input(0);
  const DType to = node.output()->dtype();
  if (x->dtype() == to) return ctx.Alias(node, x);
  if (x->is_constant() && ctx.opset() >= Opset::kIos16)
    return ctx.Add("constexpr_cast")
        .Const("source_val", x->constant())
        .Text("output_dtype", NameInPrograms(to))
        .To(node);
  return ctx.Add("cast").In("x", x).Text("dtype", NameInPrograms(to)).To(node);
}

std::optional<std::string> WhyNotDequantize(const Node& node) {
  const Value* const x = node.input(0);
  if (!x->type().quantized()) return std::nullopt;
  if (x->is_constant() && DTypeBits(x->dtype()) > 8)
    return fmt::format("compressed constants of ML Programs have up to 8 bits, not {}",
                       DTypeName(x->dtype()));
  if (x->is_constant() && x->type().rank() == 0)
    return "compressed constants of ML Programs have axes";
  return WhyNotMapped(x->type(), node.output()->dtype());
}

Status WriteDequantize(ExportContext& ctx, const Node& node) {
  const Value* const x = node.input(0);
  if (!x->type().quantized()) return WriteWidened(ctx, node);
  if (DTypeBits(x->dtype()) > 8) return WriteDequantizeSteps(ctx, node);
  if (x->is_constant()) return WriteQuantizedConstant(ctx, node);
  OperationWriter op = ctx.Add("dequantize");
  op.In("input", x);
  NN_RETURN_IF_ERROR(AddMapping(op, MappingExport(x->type()), x->dtype(), node.output()->dtype()));
  return op.To(node);
}

}  // namespace

// Blocks are of one size.
bool HasBlocks(const Tensor& tensor, Opset opset) {
  if (opset < Opset::kIos18 || tensor.dtype() == DType::kBF16) return false;
  const auto blocks = ScalesAlongAxis(tensor);
  return blocks && tensor.dim(static_cast<int>(blocks->axis)) % blocks->block == 0;
}

Result<std::string> AddBlocks(ExportContext& ctx, const Value& value) {
  std::string name = ctx.NewIdentifier(value.name());
  if (!ctx.trial()) {
    const auto blocks = BlocksAlongAxis(value.constant());
    if (!blocks) return LimitError("the memory for {} is exhausted", value.name());
    OperationWriter op = ctx.Add("constexpr_blockwise_shift_scale");
    NN_ASSIGN(const Tensor data, WithBits(blocks->integers, 4));
    op.Const("data", data).Const("scale", blocks->scales);
    if (blocks->zeros) {
      NN_ASSIGN(const Tensor offset, WithBits(*blocks->zeros, 4));
      op.Const("offset", offset);
    }
    NN_RETURN_IF_ERROR(op.To(std::span(&name, 1), std::span(&value.type(), 1), Node()));
  }
  ctx.Declare(name, ValueTypeOf(value.type()), value.constant());
  return name;
}

Family QuantizeFamily() {
  static constexpr ImportRow kImports[] = {
      {"dequantize", ImportDequantize},
      {"quantize", ImportQuantize},
  };
  static constexpr ExportRow kExports[] = {
      {"dequantize", WriteDequantize, WhyNotDequantize},
      {"quantize", WriteQuantize, WhyNotQuantize},
  };
  return {kImports, kExports};
}

}  // namespace nn::coreml::program
