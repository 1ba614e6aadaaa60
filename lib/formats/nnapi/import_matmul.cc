#include "formats/nnapi/import.h"
#include "ops/matmul.h"
#include "ops/shape.h"

namespace nn::nnapi {
namespace {

// Inputs that are no matrix of the weights' width are flattened to one first.
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
  if (!w.ranked()) return UnsupportedError("weights of unknown rank");
  if (w.rank() != 2) return ModelError("the weights are {}, not a matrix", w.ToString());
  NN_ASSIGN(Value* const rows, AsRows(ctx, x, w.dim(1)));
  return ctx.EmitFused("matmul", {rows, weights, bias}, MatmulAttrs{false, true}, 3);
}

}  // namespace

void AddMatmulImports(ImportTable& t) {
  t[OperationType::kFullyConnected] = ImportFullyConnected;
}

}  // namespace nn::nnapi
