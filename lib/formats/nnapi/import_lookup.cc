#include "formats/nnapi/import.h"
#include "ops/gather.h"

namespace nn::nnapi {
namespace {

Status ImportEmbeddingLookup(ImportContext& ctx) {
  NN_ASSIGN(Value* const lookups, ctx.Required(0));
  NN_ASSIGN(Value* const values, ctx.Required(1));
  if (lookups->dtype() != DType::kI32 || (lookups->type().ranked() && lookups->type().rank() != 1))
    return ModelError("input 0 is {}, not a vector of i32", lookups->type().ToString());
  if (values->type().ranked() && values->type().rank() < 2)
    return ModelError("input 1 is {}, of rank below 2", values->type().ToString());
  return ctx.Emit("gather", {values, lookups}, GatherAttrs{});
}

}  // namespace

void AddLookupImports(ImportTable& t) {
  t[OperationType::kEmbeddingLookup] = ImportEmbeddingLookup;
}

}  // namespace nn::nnapi
