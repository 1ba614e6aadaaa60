#include "ops/math/matmul.h"
#include "formats/tflite/export/hybrid.h"
#include "formats/tflite/family.h"
#include "ops/array/shape.h"

namespace nn::tflite {

// ==== From TensorFlow Lite =======================================================================

namespace {

// Flattens [.., K] to a matrix [rows, K], where K is the input size of the weights.
Result<Value*> AsMatrix(ImportContext& ctx, Value* x, const Dim& k) {
  const Dims& dims = *x->type().dims;
  if (dims.size() == 2 && (dims[1] == k || !k.is_const())) return x;
  const auto rows = Dim::ExactDiv(Product(dims), k);
  const Dims shape = {rows ? *rows : Dim(-1), k};
  return ctx.Add("reshape", {x}, ReshapeAttrs{shape, false}, x->type().quant);
}

Status ImportFullyConnected(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::FullyConnectedOptions>());
  Value* x = ctx.input(0);
  NN_ASSIGN(Value * w, ctx.Weights(1));
  if (o->weights_format() != fb::FullyConnectedOptionsWeightsFormat::DEFAULT)
    return UnsupportedError("shuffled weights (SHUFFLED4x16INT8) are unsupported");
  if (w->type().rank() != 2)
    return ModelError("the weights must have rank 2; they are {}", w->type().ToString());
  if (!o->keep_num_dims()) {
    NN_ASSIGN(x, AsMatrix(ctx, x, w->type().dim(1)));
  }
  NN_RETURN_IF_ERROR(
      ctx.MakeHybrid(x, w, RowsAlong(x->type().rank() - 1, o->asymmetric_quantize_inputs())));
  std::vector<Value*> operands = {x, w};
  if (ctx.input(2) != nullptr) operands.push_back(ctx.input(2));
  MatmulAttrs a;
  a.transpose_b = true;
  return ctx.EmitActivated(o->fused_activation_function(), "matmul", std::move(operands), a);
}

Status ImportBatchMatmul(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::BatchMatMulOptions>());
  Value* x = ctx.input(0);
  Value* y = ctx.input(1);
  NN_RETURN_IF_ERROR(ctx.MakeHybrid(
      x, y, RowsAlong(x->type().rank() - (o->adj_x() ? 2 : 1), o->asymmetric_quantize_inputs())));
  NN_RETURN_IF_ERROR(ctx.Emit("matmul", {x, y}, MatmulAttrs{o->adj_x(), o->adj_y()}));
  Node* node = ctx.outputs()[0]->def();
  if (node->arithmetic() == Arithmetic::kTflite) node->set_arithmetic(Arithmetic::kTfliteFixed);
  return {};
}

}  // namespace

// ==== To TensorFlow Lite =========================================================================

namespace {

Status WriteMatmul(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<MatmulAttrs>();
  const auto hybrid = HybridOf(node);
  const bool asymmetric = hybrid && hybrid->asymmetric;
  if (!IsFullyConnected(node)) {
    VersionTraits traits;
    traits.asymmetric_inputs = asymmetric;
    ctx.AddOperator(
        fb::BuiltinOperator::BATCH_MATMUL, {ctx.ResultsOf(node), ctx.InputsOf(node)},
        fb::CreateBatchMatMulOptions(ctx.builder(), a.transpose_a, a.transpose_b, asymmetric),
        traits);
    return {};
  }
  VersionTraits traits;
  traits.asymmetric_inputs = asymmetric;
  traits.keep_num_dims = node.output()->type().rank() != 2;
  ctx.AddOperator(fb::BuiltinOperator::FULLY_CONNECTED, {ctx.ResultsOf(node), ctx.InputsOf(node)},
                  fb::CreateFullyConnectedOptions(ctx.builder(), ctx.ActivationOf(node),
                                                  fb::FullyConnectedOptionsWeightsFormat::DEFAULT,
                                                  traits.keep_num_dims, asymmetric,
                                                  ExportContext::BiasTypeOf(node)),
                  traits);
  return {};
}

std::optional<std::string> WhyNotMatmul(const Node& node) {
  const auto& a = node.attrs<MatmulAttrs>();
  if (auto reason = WhyNotBias(node)) return reason;
  const Type& x = node.input(0)->type();
  const Type& w = node.input(1)->type();
  if (!x.ranked() || !w.ranked()) return "its rank must be known";
  if (x.rank() < 2 || w.rank() < 2) return "both operands must have rank 2 or more";
  using enum DType;
  if (IsFullyConnected(node)) return WhyNotWeights(node, {kI8, kI4, kI2}, {kI8, kI4, kI2, kI16});
  if (w.rank() == 2 && node.input(1)->is_constant() && !a.transpose_a && !a.transpose_b)
    return "FULLY_CONNECTED needs transposed weights";
  if (node.input(2) != nullptr) return "BATCH_MATMUL has no bias";
  return std::nullopt;
}

}  // namespace

bool IsFullyConnected(const Node& node) {
  const auto& a = node.attrs<MatmulAttrs>();
  const Type& w = node.input(1)->type();
  if (node.arithmetic() == Arithmetic::kTfliteFixed) return false;
  return !a.transpose_a && a.transpose_b && w.rank() == 2 && node.input(0)->type().rank() >= 2;
}

namespace {

constexpr size_t kDenseWeights[] = {1};
constexpr ImportRow kMatmulImports[] = {
    {.op = Op::FULLY_CONNECTED,
     .import = ImportFullyConnected,
     .inputs = "r",
     .blockwise = kDenseWeights},
    {.op = Op::BATCH_MATMUL, .import = ImportBatchMatmul, .inputs = "rr"},
};

constexpr ExportRow kMatmulExports[] = {
    {.op = "matmul", .write = WriteMatmul, .why_not = WhyNotMatmul, .fuses = IsFullyConnected},
};

}  // namespace

Family MatmulFamily() {
  return {.imports = kMatmulImports, .exports = kMatmulExports};
}

}  // namespace nn::tflite
