// A step that copies memory unchanged.
#pragma once

#include <algorithm>
#include <cstring>

#include "base/checked_math.h"
#include "exec/runtime/step.h"

namespace nn {

class CopyStep : public Step {
 public:
  MemoryView in, out;
  size_t size = 0;  // bytes

  size_t grid() const override { return CeilDiv(size, kItem); }
  void Run(const Memory& memory, size_t item) const override {
    const size_t first = item * kItem;
    std::memcpy(out.As<std::byte>(memory) + first, in.As<const std::byte>(memory) + first,
                std::min(kItem, size - first));
  }

 private:
  static constexpr size_t kItem = size_t{1} << 20;
};

}  // namespace nn
