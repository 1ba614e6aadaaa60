#include "formats/tflite/import.h"
#include "ops/matmul.h"
#include "ops/shape.h"

namespace nn::tflite {
namespace {

// kUnsupported for weights of integers under a float input: the kernels quantise the input anew in
// each run.
Status RefuseHybrid(const Value* x, const Value* w) {
  if (!x->type().quantised() && w->type().quantised())
    return UnsupportedError("{} weights for {} input", w->type().ToString(), DTypeName(x->dtype()));
  return {};
}

// [.., K] as a matrix [rows, K], where K is the size that the weights take.
Result<Value*> AsMatrix(ImportContext& ctx, Value* x, const Dim& k) {
  const Dims& dims = *x->type().dims;
  if (dims.size() == 2 && (dims[1] == k || !k.is_const())) return x;
  const auto rows = Dim::ExactDiv(Product(dims), k);
  const Dims shape = {rows ? *rows : Dim(-1), k};
  return ctx.Add("reshape", {x}, ReshapeAttrs{shape, false}, x->type().quant);
}

Status ImportFullyConnected(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::FullyConnectedOptions>());
  NN_ASSIGN(Value * x, ctx.Ranked(0));
  NN_ASSIGN(Value* const w, ctx.Ranked(1));
  NN_RETURN_IF_ERROR(RefuseHybrid(x, w));
  if (o->weights_format() != fb::FullyConnectedOptionsWeightsFormat::DEFAULT)
    return UnsupportedError("shuffled weights");
  if (w->type().rank() != 2) return ModelError("weights {}", w->type().ToString());
  if (!o->keep_num_dims()) {
    NN_ASSIGN(x, AsMatrix(ctx, x, w->type().dim(1)));
  }
  std::vector<Value*> operands = {x, w};
  if (ctx.input(2) != nullptr) operands.push_back(ctx.input(2));
  MatmulAttrs a;
  a.transpose_b = true;
  return ctx.EmitActivated(o->fused_activation_function(), "matmul", std::move(operands), a);
}

Status ImportBatchMatmul(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::BatchMatMulOptions>());
  NN_ASSIGN(Value* const x, ctx.Ranked(0));
  NN_ASSIGN(Value* const y, ctx.Ranked(1));
  NN_RETURN_IF_ERROR(RefuseHybrid(x, y));
  NN_RETURN_IF_ERROR(ctx.Emit("matmul", {x, y}, MatmulAttrs{o->adj_x(), o->adj_y()}));
  Node* node = ctx.outputs()[0]->def();
  if (node->arithmetic() == Arithmetic::kTflite) node->set_arithmetic(Arithmetic::kTfliteFixed);
  return {};
}

}  // namespace

void AddMatmulImports(ImportTable& t) {
  using Op = fb::BuiltinOperator;
  t.Add(Op::FULLY_CONNECTED, ImportFullyConnected);
  t.Add(Op::BATCH_MATMUL, ImportBatchMatmul);
}

}  // namespace nn::tflite
