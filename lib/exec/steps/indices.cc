#include "exec/steps/indices.h"

#include "ops/array/arrange/gather.h"

namespace nn {

bool Indices::Takes(const Value* value) {
  return value->dtype() == DType::kI32 || value->dtype() == DType::kI64;
}

Indices::Indices(PlanContext& ctx, const Value* value)
    : node_(ctx.node().Describe()),
      view_(ctx.ViewOf(value)),
      wide_(value->dtype() == DType::kI64) {}

void Indices::Report(const Memory& memory, size_t i, int64_t index, int64_t size) const {
  memory.error().Report(i, [&] { return CheckIndex(index, size).error().In(node_); });
}

}  // namespace nn
