// Runs pieces of work in child processes, so that a crash or a hang is a result like any other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace nn::test {

struct WorkResult {
  bool died = false;  // by a signal, a sanitizer or the time limit; `text` says how
  uint32_t bits = 0;  // set by the caller
  std::string text;   // set by the caller, at most kMaxText bytes

  static constexpr size_t kMaxText = 600;
};

struct ForkedOptions {
  unsigned seconds = 10;                // of processor time for one piece
  uint64_t memory = uint64_t{2} << 30;  // of private memory; unlimited with a sanitizer
};

// work(i) for all i below `count`, in order, in a child process, which is replaced each time it
// dies. Requires that the calling process has no other threads.
std::vector<WorkResult> RunForked(size_t count, const std::function<WorkResult(size_t)>& work,
                                  const ForkedOptions& options = {});

}  // namespace nn::test
