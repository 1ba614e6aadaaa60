#include "base/thread_pool.h"

#include <pthreadpool.h>
#include <sched.h>

#include <algorithm>
#include <thread>

namespace nn {

ThreadPool::ThreadPool(size_t threads) : threads_(std::max<size_t>(threads, 1)) {
  if (threads_ > 1) pool_.reset(pthreadpool_create(threads_));
  if (pool_ == nullptr) threads_ = 1;
}

ThreadPool::~ThreadPool() = default;

void ThreadPool::Deleter::operator()(pthreadpool* pool) const {
  pthreadpool_destroy(pool);
}

void ThreadPool::Run(size_t n, void (*fn)(void*, size_t), void* context) {
  // Workers that wait for the next item by spinning would take the processors from those that work.
  const uint32_t flags = threads_ > AvailableProcessors() ? PTHREADPOOL_FLAG_YIELD_WORKERS : 0;
  pthreadpool_parallelize_1d(pool_.get(), fn, context, n, flags);
}

size_t AvailableProcessors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    return std::max<size_t>(static_cast<size_t>(CPU_COUNT(&set)), 1);
  return std::max<size_t>(std::thread::hardware_concurrency(), 1);
}

}  // namespace nn
