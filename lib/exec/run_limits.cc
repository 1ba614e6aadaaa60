#include "exec/run_limits.h"

#include <algorithm>

#include "base/thread_pool.h"
#include "exec/runtime/limits.h"

namespace nn {

size_t JobsOf(uint64_t asked, size_t models) {
  return std::clamp<uint64_t>(asked == 0 ? AvailableProcessors() : asked, 1,
                              std::max<size_t>(models, 1));
}

void ShareAmong(size_t jobs, RunLimits& limits, size_t& threads) {
  if (jobs <= 1) return;
  limits.max_memory = (limits.max_memory == 0 ? FreeForRuns() : limits.max_memory) / jobs;
  if (threads == 0) threads = std::max<size_t>(1, AvailableProcessors() / jobs);
}

}  // namespace nn
