// Products of 8-bit integers: MatMulInteger and ConvInteger, and the operators that contain one:
// QLinearMatMul, QLinearConv, and QGemm, MatMulIntegerToFloat and DynamicQuantizeMatMul of
// com.microsoft.
#include <algorithm>
#include <memory>
#include <utility>

#include "formats/onnx/export/bias.h"
#include "formats/onnx/export/quant/linear_quant.h"
#include "formats/onnx/family.h"
#include "formats/onnx/spec/window_attrs.h"
#include "ops/nn/conv.h"
#include "ops/quant/quantized.h"
#include "ops/support/term_ops.h"

namespace nn::onnx {

// ==== From ONNX ==================================================================================

namespace {

// Integers with their mapping, of which only the zero point is needed for a product of integers.
struct Factor {
  Value* v = nullptr;
  LinearQuant q;
};

// Input `x` with the scale `scale` and the zero point `zero`, whose vectors belong to `axis`.
Result<Factor> ReadFactor(ImportContext& ctx, size_t x, size_t scale, size_t zero, int64_t axis) {
  Factor factor;
  NN_ASSIGN(factor.v, ctx.Required(x));
  NN_ASSIGN(factor.q, ReadLinearQuant(ctx, scale, zero));
  factor.q.axis = axis;
  return factor;
}

// Zero points of a matrix, in a vector or with its rank, shaped to broadcast to it.
Result<Value*> MatrixZeros(ImportContext& ctx, Value* zero, const Value* of, int64_t axis) {
  if (zero == nullptr) return zero;
  LinearQuant q;
  q.scale = zero;
  q.axis = axis;
  return AlongAxis(ctx, zero, q, of->type());
}

Result<Node*> AddMatmul(ImportContext& ctx, const Factor& a, const Factor& b, Value* bias) {
  NN_ASSIGN(Value* const a_zero, MatrixZeros(ctx, a.q.zero, a.v, -2));
  NN_ASSIGN(Value* const b_zero, MatrixZeros(ctx, b.q.zero, b.v, -1));
  return ctx.AddNode("matmul_integer", {a.v, b.v, a_zero, b_zero, bias});
}

Result<ConvAttrs> ReadConv(ImportContext& ctx, const Value* filter) {
  NN_RETURN_IF_ERROR(CheckKernelShape(ctx, filter));
  ConvAttrs a;
  NN_RETURN_IF_ERROR(ReadWindow(ctx, a));
  a.groups = ctx.Int("group", 1);
  if (ctx.Int("channels_last", 0) != 0) a.layout = Layout::kNxc;
  return a;
}

Result<Node*> AddConv(ImportContext& ctx, const Factor& x, const Factor& w, Value* bias) {
  NN_ASSIGN(ConvAttrs a, ReadConv(ctx, w.v));
  return ctx.AddNode("conv_integer", {x.v, w.v, x.q.zero, w.q.zero, bias}, std::move(a));
}

// A product of integers with their zero points, by AddMatmul or AddConv.
template <Result<Node*> (*add)(ImportContext&, const Factor&, const Factor&, Value*)>
Status ImportInteger(ImportContext& ctx) {
  Factor a, b;
  a.v = ctx.input(0);
  b.v = ctx.input(1);
  a.q.zero = ctx.input(2);
  b.q.zero = ctx.input(3);
  NN_ASSIGN(Node* const y, add(ctx, a, b, nullptr));
  ctx.SetOutput(0, y->output());
  return {};
}

// The scales of a product, per tensor or per `axis` of it, if all are constant and those of `a` are
// one.
std::shared_ptr<const Quant> ProductScales(const Factor& a, const Factor& b, int axis) {
  if (!a.q.scale->is_constant() || !b.q.scale->is_constant() || a.q.scale->dtype() != DType::kF32 ||
      b.q.scale->dtype() != DType::kF32)
    return nullptr;
  const std::vector<double> first = a.q.scale->constant().ToDoubles();
  const std::vector<double> second = b.q.scale->constant().ToDoubles();
  if (first.size() != 1 || (second.size() != 1 && b.q.scale->type().rank() != 1)) return nullptr;
  auto q = std::make_shared<Quant>();
  for (const double s : second)
    q->scales.push_back(static_cast<float>(first[0]) * static_cast<float>(s));
  if (q->scales.size() != 1) q->axis = axis;
  return q;
}

// The real numbers of the product `node` of integers, whose scales of `a` belong to axis `a_axis`
// of the result, and those of `b` to `b_axis`.
Result<Value*> RealProduct(ImportContext& ctx, Node* node, const Factor& a, const Factor& b,
                           int64_t a_axis, int64_t b_axis) {
  Value* const y = node->output();
  const int rank = y->type().rank();
  auto quant = ProductScales(a, b, static_cast<int>(b_axis < 0 ? b_axis + rank : b_axis));
  if (quant != nullptr && (!quant->per_axis() || quant->axis >= 0)) {
    Type type = y->type();
    type.quant = std::move(quant);
    y->set_type(std::move(type));
    return ctx.Add("dequantize", {y}, DequantizeAttrs{});
  }
  std::vector<Term> scales;
  for (const auto& [factor, axis] : {std::pair(&a, a_axis), std::pair(&b, b_axis)}) {
    LinearQuant q = factor->q;
    q.axis = axis;
    NN_ASSIGN(scales.emplace_back(), AlongAxis(ctx, As(q.scale, DType::kF32), q, y->type()));
  }
  return ctx.Build(As(y, DType::kF32) * (scales[0] * scales[1]));
}

// Quantizes the result by the mapping of the inputs `scale` and `zero`.
Status SetQuantized(ImportContext& ctx, Value* y, size_t scale, size_t zero, int64_t axis,
                    DType fallback) {
  NN_ASSIGN(LinearQuant q, ReadLinearQuant(ctx, scale, zero));
  q.axis = axis;
  NN_ASSIGN(Value* const quantized,
            AddQuantize(ctx, y, q, q.zero == nullptr ? fallback : q.zero->dtype()));
  ctx.SetOutput(0, quantized);
  return {};
}

// The mappings of integers in the types of the operands, where that is possible.
Status KeepMappings(ImportContext& ctx, Factor& a, Factor& b) {
  NN_ASSIGN(a.v, WithMapping(ctx, a.v, a.q));
  NN_ASSIGN(b.v, WithMapping(ctx, b.v, b.q));
  return {};
}

Status ImportQLinearMatMul(ImportContext& ctx) {
  NN_ASSIGN(Factor a, ReadFactor(ctx, 0, 1, 2, -2));
  NN_ASSIGN(Factor b, ReadFactor(ctx, 3, 4, 5, -1));
  NN_RETURN_IF_ERROR(KeepMappings(ctx, a, b));
  NN_ASSIGN(Node* const node, AddMatmul(ctx, a, b, nullptr));
  NN_ASSIGN(Value* const y, RealProduct(ctx, node, a, b, -2, -1));
  return SetQuantized(ctx, y, 6, 7, -2, a.v->dtype());
}

Status ImportQLinearConv(ImportContext& ctx) {
  NN_ASSIGN(Factor x, ReadFactor(ctx, 0, 1, 2, 0));
  NN_ASSIGN(Factor w, ReadFactor(ctx, 3, 4, 5, 0));
  NN_RETURN_IF_ERROR(KeepMappings(ctx, x, w));
  NN_ASSIGN(Node* const node, AddConv(ctx, x, w, ctx.input(8)));
  const int64_t channels = ctx.Int("channels_last", 0) != 0 ? -1 : 1;
  NN_ASSIGN(Value* const y, RealProduct(ctx, node, x, w, 0, channels));
  return SetQuantized(ctx, y, 6, 7, channels, x.v->dtype());
}

// alpha * A * B + C: the integers of C have the scale of the product.
Status ImportQGemm(ImportContext& ctx) {
  NN_ASSIGN(Factor a, ReadFactor(ctx, 0, 1, 2, -2));
  NN_ASSIGN(Factor b, ReadFactor(ctx, 3, 4, 5, -1));
  for (const Value* v : {a.v, b.v})
    if (v->type().ranked() && v->type().rank() != 2)
      return ModelError("QGemm needs matrices; an operand is {}", v->type().ToString());
  if (a.q.scale->type().rank() == 1 && !(a.q.scale->type().dim(0) == 1))
    return UnsupportedError("QGemm with scales {} of A", a.q.scale->type().ToString());
  const bool transpose_b = ctx.Int("transB", 0) != 0;
  if (ctx.Int("transA", 0) != 0) {
    NN_ASSIGN(a.v, ctx.Build(Transpose(a.v, {1, 0})));
  }
  if (transpose_b && b.v->is_constant()) {
    NN_ASSIGN(Tensor t, RearrangeTensor(b.v->constant(), AxisMap(2, {1, 0})));
    b.v = ctx.Constant(std::move(t));
  } else if (transpose_b) {
    NN_ASSIGN(b.v, ctx.Build(Transpose(b.v, {1, 0})));
  }
  NN_RETURN_IF_ERROR(KeepMappings(ctx, a, b));
  if (const float alpha = ctx.Float("alpha", 1.0f); alpha != 1.0f) {
    NN_ASSIGN(Value* const scale, ctx.Build(a.q.scale * Term(Tensor::Scalar(alpha))));
    NN_ASSIGN(a.q.scale, Folded(ctx, scale));
  }
  Value* c = ctx.input(6);
  Value* bias = nullptr;
  if (c != nullptr && c->type().ranked() && b.v->type().ranked()) {
    NN_ASSIGN(bias, AsBias(ctx, c, b.v->type().dim(1)));
  }
  NN_ASSIGN(Node* const node, AddMatmul(ctx, a, b, bias));
  Value* y = nullptr;
  if (c != nullptr && bias == nullptr) {
    const Term sum = node->output() + Term(c);
    NN_ASSIGN(y, ctx.Build(Cast(sum, DType::kF32) * (a.q.scale * Term(b.q.scale))));
  } else {
    NN_ASSIGN(y, RealProduct(ctx, node, a, b, -2, -1));
  }
  if (ctx.input(7) != nullptr) return SetQuantized(ctx, y, 7, 8, -1, a.v->dtype());
  ctx.SetOutput(0, y);
  return {};
}

Status EmitWithBias(ImportContext& ctx, const Term& y, Value* bias) {
  return ctx.EmitTerm(bias == nullptr ? y : y + bias);
}

Status ImportMatMulIntegerToFloat(ImportContext& ctx) {
  NN_ASSIGN(const Factor a, ReadFactor(ctx, 0, 2, 4, -2));
  NN_ASSIGN(const Factor b, ReadFactor(ctx, 1, 3, 5, -1));
  NN_ASSIGN(Node* const node, AddMatmul(ctx, a, b, nullptr));
  NN_ASSIGN(Value* const y, RealProduct(ctx, node, a, b, -2, -1));
  return EmitWithBias(ctx, As(y, a.q.scale->dtype()), ctx.input(6));
}

Status ImportDynamicQuantizeMatMul(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  NN_ASSIGN(const Factor b, ReadFactor(ctx, 1, 2, 3, -1));
  NN_ASSIGN(Node* const quantized, ctx.AddNode("dynamic_quantize", {x}, {}, 3));
  Factor a;
  a.v = quantized->output(0);
  a.q.scale = quantized->output(1);
  a.q.zero = quantized->output(2);
  NN_ASSIGN(Node* const node, AddMatmul(ctx, a, b, nullptr));
  NN_ASSIGN(Value* const y, RealProduct(ctx, node, a, b, -2, -1));
  return EmitWithBias(ctx, y, ctx.input(4));
}

}  // namespace

// ==== To ONNX ====================================================================================

namespace {

// The operator with the names of its operands, and an Add of the bias, which has one number for
// each index of `axis` from the end.
pb::NodeProto* WriteProduct(ExportContext& ctx, const Node& node, std::string_view op,
                            std::vector<std::string> inputs, int axis) {
  const std::string y = ctx.NameOf(node.output());
  const Value* bias = node.input(4);
  if (bias == nullptr) return ctx.AddNode(node, op, {{y}, std::move(inputs)});
  const std::string product = ctx.NewName("product");
  pb::NodeProto* out = ctx.AddNode(node, op, {{product}, std::move(inputs)});
  ctx.SetType(product, DType::kI32);
  std::string addend = ctx.NameOf(bias);
  if (axis > 0) {
    std::vector<int64_t> shape(static_cast<size_t>(axis) + 1, 1);
    shape[0] = -1;
    addend = ctx.AddValue("Reshape", {addend, ctx.AddInts(shape, "shape")}, "bias");
    ctx.SetType(addend, DType::kI32);
  }
  ctx.AddHelper("Add", {{y}, {product, addend}});
  return out;
}

// The zero points of operand `of` of a matrix product, as MatMulInteger takes them: one number, a
// vector for a matrix, or the dimensions of the operand with 1 for `summed`, which counts from the
// end.
Result<std::string> MatrixZerosName(ExportContext& ctx, const Value* zero, const Value* of,
                                    size_t summed) {
  std::string name = ctx.NameOf(zero);
  if (zero == nullptr ||
      std::ranges::all_of(*zero->type().dims, [](const Dim& d) { return d == 1; }))
    return name;
  Dims dims = *of->type().dims;
  dims[dims.size() - summed] = 1;
  const Dims& own = *zero->type().dims;
  if (own == dims || (own.size() == 1 && dims.size() <= 2)) return name;
  NN_ASSIGN(std::string shape, ctx.AddDims(dims, "shape"));
  name = ctx.AddValue("Expand", {std::move(name), std::move(shape)}, "zero_points");
  ctx.SetType(name, zero->dtype());
  return name;
}

Status WriteMatmulInteger(ExportContext& ctx, const Node& node) {
  const Value* const a = node.input(0);
  const Value* const b = node.input(1);
  NN_ASSIGN(std::string a_zero, MatrixZerosName(ctx, node.input(2), a, 1));
  NN_ASSIGN(std::string b_zero,
            MatrixZerosName(ctx, node.input(3), b, b->type().rank() == 1 ? 1 : 2));
  WriteProduct(ctx, node, "MatMulInteger",
               {ctx.NameOf(a), ctx.NameOf(b), std::move(a_zero), std::move(b_zero)}, 0);
  return {};
}

// The zero points of a filter: one number if all are equal, which is all that ONNX Runtime takes.
Result<std::string> FilterZerosName(ExportContext& ctx, const Value* zero) {
  if (zero == nullptr || !zero->is_constant() || zero->constant().elements() < 2)
    return ctx.NameOf(zero);
  const Tensor& all = zero->constant();
  const int64_t first = all.GetInt(0);
  for (int64_t i = 1; i < all.elements(); ++i)
    if (all.GetInt(i) != first) return ctx.NameOf(zero);
  NN_ASSIGN(TensorBuilder one, TensorBuilder::Create(all.dtype(), {}));
  one.SetInt(0, first);
  return ctx.AddTensor(one.Finish(), "zero_point");
}

Status WriteConvInteger(ExportContext& ctx, const Node& node) {
  std::vector<std::string> inputs;
  for (size_t i = 0; i < 3; ++i) inputs.push_back(ctx.NameOf(node.input(i)));
  NN_ASSIGN(std::string zeros, FilterZerosName(ctx, node.input(3)));
  inputs.push_back(std::move(zeros));
  pb::NodeProto* const out =
      WriteProduct(ctx, node, "ConvInteger", std::move(inputs), node.output()->type().rank() - 2);
  const auto& a = node.attrs<ConvAttrs>();
  if (const auto filter = node.input(1)->type().const_dims())
    SetInts(out, "kernel_shape", {filter->begin() + 2, filter->end()});
  SetConvWindow(out, node, a);
  if (a.groups != 1) SetInt(out, "group", a.groups);
  return {};
}

// Zero points that are not a single number have the size 1 on `axis` from the end, along which the
// products are summed.
bool AreOutside(const Value* zero, size_t axis) {
  if (zero == nullptr) return true;
  const Type& type = zero->type();
  if (!type.ranked()) return false;
  const Dims& dims = *type.dims;
  if (dims.size() >= axis) return dims[dims.size() - axis] == 1;
  return dims.empty() || axis == 2;
}

std::optional<std::string> WhyNotMatmulInteger(const Node& node) {
  const auto is_vector = [&](size_t i) { return node.input(i)->type().rank() == 1; };
  if (!AreOutside(node.input(2), 1))
    return "the first operand must have one zero point, or one for each row";
  if (!AreOutside(node.input(3), is_vector(1) ? 1 : 2))
    return "the second operand must have one zero point, or one for each column";
  return std::nullopt;
}

std::optional<std::string> WhyNotConvInteger(const Node& node) {
  const auto& a = node.attrs<ConvAttrs>();
  if (a.layout != Layout::kNcx) return "the channels must be axis 1";
  if (a.filter_layout != FilterLayout::kOix) return "the filter layout must be OIX";
  return std::nullopt;
}

}  // namespace

namespace {

constexpr ImportRow kIntegerImports[] = {
    {.op = "MatMulInteger", .since = 10, .import = ImportInteger<AddMatmul>, .inputs = 2},
    {.op = "ConvInteger", .since = 10, .import = ImportInteger<AddConv>, .inputs = 2},
    {.op = "QLinearMatMul", .since = 10, .import = ImportQLinearMatMul},
    {.op = "QLinearConv", .since = 10, .import = ImportQLinearConv},
    {.op = "QLinearConv", .import = ImportQLinearConv, .domain = kMicrosoft},
    {.op = "QGemm", .import = ImportQGemm, .domain = kMicrosoft},
    {.op = "MatMulIntegerToFloat", .import = ImportMatMulIntegerToFloat, .domain = kMicrosoft},
    {.op = "DynamicQuantizeMatMul",
     .import = ImportDynamicQuantizeMatMul,
     .inputs = 1,
     .domain = kMicrosoft},
};

constexpr ExportRow kIntegerExports[] = {
    {.op = "matmul_integer", .write = WriteMatmulInteger, .why_not = WhyNotMatmulInteger},
    {.op = "conv_integer", .write = WriteConvInteger, .why_not = WhyNotConvInteger},
};

}  // namespace

Family IntegerFamily() {
  return {.imports = kIntegerImports, .exports = kIntegerExports};
}

}  // namespace nn::onnx
