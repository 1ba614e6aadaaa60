#include "exec/steps/indices.h"

#include "ops/array/gather.h"

namespace nn {

bool Indices::Takes(const Value* value) {
  return value->dtype() == DType::kI32 || value->dtype() == DType::kI64;
}

Indices::Indices(PlanContext& ctx, const Value* value)
    : node_(ctx.node().Describe()),
      place_(ctx.PlaceOf(value)),
      wide_(value->dtype() == DType::kI64) {}

std::optional<Error> Indices::TakeError() const {
  const std::lock_guard lock(mutex_);
  if (!bad_) return std::nullopt;
  const auto checked = CheckIndex(bad_->index, bad_->size);
  bad_.reset();
  return checked.error().In(node_);
}

void Indices::Note(const Bad& bad) const {
  const std::lock_guard lock(mutex_);
  if (!bad_ || bad.place < bad_->place) bad_ = bad;
}

}  // namespace nn
