// The steps of a plan and the memory that they use.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"

namespace nn {

class Node;
class NodeRunner;
struct EvalBudget;

using BufferId = uint32_t;

// The error of a step. Of several errors, the one with the lowest position is kept, so that the
// result does not depend on the number of threads. Thread-safe.
class StepError {
 public:
  // `make` returns the Error; it is called only for one that is kept.
  template <typename Make>
  void Report(size_t position, Make make) {
    const std::lock_guard lock(mutex_);
    if (!first_ || position < first_->first) first_.emplace(position, make());
  }
  // Returns the error, if any, and clears it.
  std::optional<Error> Take() {
    const std::lock_guard lock(mutex_);
    if (!first_) return std::nullopt;
    return std::exchange(first_, std::nullopt)->second;
  }

 private:
  std::mutex mutex_;
  std::optional<std::pair<size_t, Error>> first_;
};

// The state of one run: its buffers and the error of its current step. A plan has no state of its
// own, so several runs may use it at the same time.
class Memory {
 public:
  // `error`, and `runner` and `budget`, which may be null, must outlive this object.
  Memory(std::vector<std::byte*> buffers, StepError& error, NodeRunner* runner, EvalBudget* budget)
      : buffers_(std::move(buffers)), error_(&error), runner_(runner), budget_(budget) {}

  std::byte* data(BufferId id) const { return buffers_[id]; }
  // For a buffer outside of the arena.
  void set_data(BufferId id, std::byte* data) { buffers_[id] = data; }
  StepError& error() const { return *error_; }
  // For regions. Only steps with nodes that have some may use them: they run alone.
  NodeRunner* runner() const { return runner_; }
  EvalBudget* budget() const { return budget_; }

 private:
  std::vector<std::byte*> buffers_;
  StepError* error_;
  NodeRunner* runner_;
  EvalBudget* budget_;
};

// The view of a value: a buffer, a byte offset, and the stride of its innermost rows in elements.
// The row stride of a dense value is the row length; a value that is part of a wider one (an input
// of a concatenation) has strided rows, with a larger row stride.
struct MemoryView {
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
  // A step that fails reports to memory.error() and leaves its results unspecified.
  virtual void Run(const Memory& memory, size_t item) const = 0;

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
