// The steps of a plan and the memory they work on.
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

// Where a value lies: in a buffer, from a byte offset on, its innermost rows `row_stride` elements
// apart. A dense value has rows as far apart as they are long; a value that is part of a wider one
// (an input of a concatenation) has them further apart.
struct Place {
  BufferId buffer = 0;
  size_t offset = 0;      // bytes
  size_t row_stride = 0;  // elements

  template <typename T>
  T* As(const Memory& memory) const {
    return reinterpret_cast<T*>(memory.data(buffer) + offset);
  }
};

// How many pieces of size `each` make an item of about size `budget`; at least one.
inline size_t FitIn(size_t budget, size_t each) {
  return std::max<size_t>(1, budget / std::max<size_t>(1, each));
}

// One step: a grid of independent items. The grid depends on shapes only, never on the number of
// threads; items write disjoint memory. A step of several rounds runs its grid so many times, each
// when the one before is done; items are numbered through.
class Step {
 public:
  virtual ~Step() = default;
  virtual size_t grid() const = 0;
  virtual size_t rounds() const { return 1; }
  virtual void Run(const Memory& memory, size_t item) const = 0;
  // What went wrong in the run that has ended, which is then forgotten. A step that fails leaves
  // its results in any state.
  virtual std::optional<Error> TakeError() const { return std::nullopt; }

  std::string label;
  int64_t multiply_adds = 0;
  uint64_t bytes = 0;
  // Of weights in the kernel's own order. A planning function sets what the step itself keeps;
  // AddStep adds the packed constants that it reads.
  uint64_t packed_bytes = 0;
  bool reference = false;          // see StepInfo
  std::vector<const Node*> nodes;  // that it is for, the tail's included
  std::vector<BufferId> reads;
  std::vector<BufferId> writes;
};

}  // namespace nn
