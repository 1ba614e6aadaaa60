// The limits of a run.
#pragma once

#include <cstdint>
#include <limits>

namespace nn {

struct RunLimits {
  // The limit on the bytes of inputs, outputs, intermediate values and packed weights that exist at
  // the same time. 0: four fifths of AvailableMemory() when the program is compiled.
  uint64_t max_memory = 0;
  // The limit on operations on elements (WorkOf, ir/eval.h). An operation of the reference
  // evaluation, which is slower, counts as kReferenceWork.
  uint64_t max_work = kAnyWork;

  static constexpr uint64_t kAnyWork = std::numeric_limits<uint64_t>::max();
  static constexpr uint64_t kReferenceWork = 64;
};

}  // namespace nn
