// A fork-join thread pool. Work is split into a grid of independent work items with disjoint
// outputs, so results do not depend on the number of threads.
//
// Each thread starts with its own part of the grid, which is the same part in every grid, because
// the data that a step leaves in a core's cache is read by the next step. A thread that finishes
// early takes items from the other parts.
//
// The caller also executes items and waits only for items that another thread has started. A thread
// that the system does not schedule therefore delays nothing.
//
// Design: docs/design/048-thread-pool.md.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <type_traits>
#include <vector>

namespace nn {

class ThreadPool {
 public:
  // `threads` >= 1 includes the calling thread and may exceed the number of processors. Starts
  // fewer threads if the system refuses to create more.
  explicit ThreadPool(size_t threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  size_t threads() const { return workers_.size() + 1; }

  // Calls fn(i) for every i in [0, n), in any order and on any thread, and returns when all calls
  // have returned. fn must not throw and must not call ParallelFor. Not reentrant: one call at a
  // time.
  template <typename Fn>
  void ParallelFor(size_t n, Fn&& fn) {
    if (n <= 1 || workers_.empty()) {
      for (size_t i = 0; i < n; ++i) fn(i);
      return;
    }
    using F = std::remove_reference_t<Fn>;
    Run(
        n, [](void* f, size_t i) { (*static_cast<F*>(f))(i); },
        const_cast<void*>(static_cast<const void*>(&fn)));
  }

 private:
  using ItemFn = void (*)(void*, size_t);

  void Run(size_t n, ItemFn fn, void* context);
  void RunPart(size_t first, size_t n, ItemFn fn, void* context);
  // Executes items of a job until none is left, starting with part `own`; returns the number of
  // items executed.
  size_t Work(uint32_t job, size_t own);
  void Worker(size_t own);
  // The first item of a part.
  uint32_t BeginOf(size_t part, uint32_t items) const {
    return static_cast<uint32_t>(uint64_t{items} * part / parts_.size());
  }

  // A part of the grid. The ticket holds the job number and the next item of the part; the thread
  // that increments the ticket owns the item. kClosed in place of an item means that the fields
  // below are being set for the next job.
  struct alignas(64) Part {
    std::atomic<uint64_t> ticket{0};
  };
  std::vector<Part> parts_;  // one per thread
  // The current job.
  alignas(64) std::atomic<ItemFn> fn_{nullptr};
  std::atomic<void*> context_{nullptr};
  std::atomic<size_t> first_{0};  // first item of this job; a long loop is split into jobs
  std::atomic<uint32_t> items_{0};
  alignas(64) std::atomic<uint32_t> done_{0};  // items executed by workers
  alignas(64) std::atomic<uint32_t> job_{0};   // job number; workers wait on it
  std::atomic<uint32_t> sleepers_{0};
  std::atomic<bool> stop_{false};
  bool spins_ = true;  // whether waiting threads spin
  std::vector<std::thread> workers_;
};

// The number of processors available to this process (respects affinity), at least 1.
size_t AvailableProcessors();

}  // namespace nn
