// The steps of a plan and the memory that they use.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"

namespace nn {

class Node;

using BufferId = uint32_t;

// The buffers of one run.
class Memory {
 public:
  explicit Memory(std::vector<std::byte*> buffers) : buffers_(std::move(buffers)) {}

  std::byte* data(BufferId id) const { return buffers_[id]; }
  void set(BufferId id, std::byte* data) { buffers_[id] = data; }

 private:
  std::vector<std::byte*> buffers_;
};

// The place of a value: a buffer, a byte offset, and the stride of its innermost rows in elements.
// The row stride of a dense value is the row length; a value that is part of a wider one (an input
// of a concatenation) has strided rows, with a larger row stride.
struct Place {
  BufferId buffer = 0;
  size_t offset = 0;      // bytes
  size_t row_stride = 0;  // elements

  template <typename T>
  T* As(const Memory& memory) const {
    return reinterpret_cast<T*>(memory.data(buffer) + offset);
  }
};

// The number of pieces of size `each` in a work item of about size `budget`; at least 1.
inline size_t FitIn(size_t budget, size_t each) {
  return std::max<size_t>(1, budget / std::max<size_t>(1, each));
}

// One step: a grid of independent work items. The grid depends on shapes only, never on the number
// of threads; work items write disjoint memory. A step of several rounds runs its grid once per
// round, each after the previous one has finished; work items are numbered through all rounds.
class Step {
 public:
  virtual ~Step() = default;
  virtual size_t grid() const = 0;
  virtual size_t rounds() const { return 1; }
  virtual void Run(const Memory& memory, size_t item) const = 0;
  // Returns the error of the last run and clears it. A step that fails leaves its results
  // unspecified.
  virtual std::optional<Error> TakeError() const { return std::nullopt; }

  std::string label;
  int64_t multiply_adds = 0;
  uint64_t bytes = 0;
  // Bytes of weights in the kernel's own order. A planning function sets those kept by the step
  // itself; AddStep adds the packed constants that it reads.
  uint64_t packed_bytes = 0;
  bool reference = false;          // see StepInfo
  std::vector<const Node*> nodes;  // computed by the step, including post-ops
  std::vector<BufferId> reads;
  std::vector<BufferId> writes;
};

}  // namespace nn
