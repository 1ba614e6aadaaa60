// A fork-join pool. Work is cut into a grid of independent items whose outputs do not overlap, so a
// result never depends on the number of threads.
//
// Each thread begins with its own part of the grid, the same part of every grid, because what one
// step leaves in a processor's cache the next one reads there; when it is done it takes over what
// others have not begun.
//
// The caller works too and waits only for items that another thread has begun: one that the system
// does not run, because others need the processor, holds up nothing.
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
  // `threads` >= 1, the calling thread included; it may exceed the number of processors. Fewer are
  // started where the system refuses more.
  explicit ThreadPool(size_t threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  size_t threads() const { return workers_.size() + 1; }

  // Calls fn(i) for every i in [0, n), in any order and on any thread; returns when all are done.
  // fn must not throw and must not call ParallelFor. One call at a time.
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
  // Takes items of a job until none is left, those of part `own` first; how many it did.
  size_t Work(uint32_t job, size_t own);
  void Worker(size_t own);
  // The first item of a part.
  uint32_t BeginOf(size_t part, uint32_t items) const {
    return static_cast<uint32_t>(uint64_t{items} * part / parts_.size());
  }

  // A part of the grid. The ticket holds the number of the job and the next item of the part: an
  // item belongs to the thread that advances the ticket. kClosed in place of an item: the fields
  // below are being set for the next job.
  struct alignas(64) Part {
    std::atomic<uint64_t> ticket{0};
  };
  std::vector<Part> parts_;  // one a thread
  // What is to be done.
  alignas(64) std::atomic<ItemFn> fn_{nullptr};
  std::atomic<void*> context_{nullptr};
  std::atomic<size_t> first_{0};  // of the call, where an item's number does not fit the ticket
  std::atomic<uint32_t> items_{0};
  alignas(64) std::atomic<uint32_t> done_{0};  // by workers
  alignas(64) std::atomic<uint32_t> job_{0};   // its number; workers sleep on it
  std::atomic<uint32_t> sleepers_{0};
  std::atomic<bool> stop_{false};
  bool spins_ = true;  // whether waiting threads may keep a processor busy
  std::vector<std::thread> workers_;
};

// Processors that this process may use (affinity respected), at least 1.
size_t AvailableProcessors();

}  // namespace nn
