#include "formats/onnx/export/bias.h"

#include "ops/array/shape.h"

namespace nn::onnx {

Result<Value*> AsBias(ImportContext& ctx, Value* c, const Dim& columns) {
  const Type& type = c->type();
  if (!type.ranked() || type.rank() == 0 || type.rank() > 2) return nullptr;
  if (!(type.dims->back() == columns)) return nullptr;
  if (type.rank() == 1) return c;
  if (!(type.dim(0) == 1)) return nullptr;
  return ctx.Add("reshape", {c}, ReshapeAttrs{{columns}, false});
}

}  // namespace nn::onnx
