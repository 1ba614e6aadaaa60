#include "ops/math/matmul.h"
#include "formats/nnapi/family.h"
#include "ops/array/shape.h"

namespace nn::nnapi {

// ==== From NNAPI =================================================================================

namespace {

// Inputs are flattened to a matrix of the weights' width first.
Result<Value*> AsRows(ImportContext& ctx, Value* x, const Dim& width) {
  const Type& type = x->type();
  if (type.ranked() && type.rank() == 2 && (type.dim(1) == width || !type.dim(1).is_const()))
    return x;
  return ctx.Add("reshape", {x}, ReshapeAttrs{{Dim(-1), width}, false},
                 Type(type.dtype, Dims{}, type.quant));
}

Status ImportFullyConnected(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  NN_ASSIGN(Value* const weights, ctx.Required(1));
  NN_ASSIGN(Value* const bias, ctx.Required(2));
  const Type& w = weights->type();
  if (!w.ranked()) return UnsupportedError("the rank of the weights must be known");
  if (w.rank() != 2) return ModelError("the weights must be a matrix; they are {}", w.ToString());
  NN_ASSIGN(Value* const rows, AsRows(ctx, x, w.dim(1)));
  return ctx.EmitFused("matmul", {rows, weights, bias}, MatmulAttrs{false, true}, 3);
}

}  // namespace

// ==== To NNAPI ===================================================================================

namespace {

Status WriteMatmul(ExportContext& ctx, const Node& node) {
  NN_ASSIGN(const uint32_t x, ctx.OperandOf(node.input(0)));
  NN_ASSIGN(const uint32_t weights, ctx.OperandOf(node.input(1)));
  NN_ASSIGN(const uint32_t bias, BiasOf(ctx, node, node.output()->type().dim(1)));
  NN_ASSIGN(const uint32_t activation, ctx.Activation(node));
  return ctx.AddOperation(node, OperationType::kFullyConnected, {x, weights, bias, activation});
}

std::optional<std::string> WhyNotMatmul(const Node& node) {
  const auto& a = node.attrs<MatmulAttrs>();
  const int x = node.input(0)->type().rank();
  const int w = node.input(1)->type().rank();
  if (x != 2 || w != 2)
    return fmt::format("FULLY_CONNECTED needs operands of rank 2, not {} and {}", x, w);
  if (a.transpose_a) return "FULLY_CONNECTED cannot transpose its input";
  if (!a.transpose_b) return "FULLY_CONNECTED needs transposed weights";
  return WhyNotArithmetic(node);
}

}  // namespace

namespace {

constexpr ImportRow kMatmulImports[] = {
    {.operation = OperationType::kFullyConnected, .import = ImportFullyConnected},
};

constexpr ExportRow kMatmulExports[] = {
    {.op = "matmul", .write = WriteMatmul, .why_not = WhyNotMatmul, .fuses = true},
};

}  // namespace

Family MatmulFamily() {
  return {.imports = kMatmulImports, .exports = kMatmulExports};
}

}  // namespace nn::nnapi
