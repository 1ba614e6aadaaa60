// Indices that a run computes.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "exec/plan.h"
#include "exec/step.h"

namespace nn {

// A dense list of i32 or i64, and the first of its entries that a run found to be wrong.
class Indices {
 public:
  // Whether the value can be one.
  static bool Takes(const Value* value);
  Indices(PlanContext& ctx, const Value* value);

  BufferId buffer() const { return place_.buffer; }

  // Entry i, a place on an axis of `size`: from the end where it is negative. Outside of the axis
  // it is 0, and the run has failed.
  int64_t At(const Memory& memory, size_t i, int64_t size) const {
    const int64_t index =
        wide_ ? place_.As<const int64_t>(memory)[i] : place_.As<const int32_t>(memory)[i];
    if (index >= 0 && index < size) return index;
    if (index < 0 && index >= -size) return index + size;
    Note({i, index, size});
    return 0;
  }

  // What Step::TakeError() of their step says.
  std::optional<Error> TakeError() const;

 private:
  struct Bad {
    size_t place;
    int64_t index, size;
  };
  void Note(const Bad& bad) const;

  std::string node_;
  Place place_;
  bool wide_ = false;
  mutable std::mutex mutex_;
  mutable std::optional<Bad> bad_;
};

}  // namespace nn
