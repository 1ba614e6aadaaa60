// Indices that are computed at run time.
#pragma once

#include <cstdint>
#include <string>

#include "exec/runtime/planning/plan.h"
#include "exec/runtime/step.h"

namespace nn {

// A dense list of i32 or i64.
class Indices {
 public:
  // Whether the value can be used as indices.
  static bool Takes(const Value* value);
  Indices(PlanContext& ctx, const Value* value);

  BufferId buffer() const { return view_.buffer; }

  // Entry i as an index on an axis of `size`; a negative entry counts from the end. If it is out of
  // range the result is 0 and the step fails. Thread-safe.
  int64_t At(const Memory& memory, size_t i, int64_t size) const {
    const int64_t index =
        wide_ ? view_.As<const int64_t>(memory)[i] : view_.As<const int32_t>(memory)[i];
    if (index >= 0 && index < size) return index;
    if (index < 0 && index >= -size) return index + size;
    Report(memory, i, index, size);
    return 0;
  }

 private:
  void Report(const Memory& memory, size_t i, int64_t index, int64_t size) const;

  std::string node_;
  MemoryView view_;
  bool wide_ = false;
};

}  // namespace nn
