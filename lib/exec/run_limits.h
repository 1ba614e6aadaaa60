// What a run of a model may take.
#pragma once

#include <cstdint>
#include <limits>

namespace nn {

struct RunLimits {
  // Bytes of its inputs, outputs, intermediate values and packed weights at one time. 0: four
  // fifths of AvailableMemory() when the program is compiled.
  uint64_t max_memory = 0;
  // Operations on elements (WorkOf, ir/eval.h); one of the reference evaluation, which is slower,
  // counts as kReferenceWork.
  uint64_t max_work = kAnyWork;

  static constexpr uint64_t kAnyWork = std::numeric_limits<uint64_t>::max();
  static constexpr uint64_t kReferenceWork = 64;
};

}  // namespace nn
