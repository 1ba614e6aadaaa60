// A fork-join pool. Work is cut into a grid of independent items whose outputs do not overlap, so a
// result never depends on the number of threads.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>

struct pthreadpool;

namespace nn {

class ThreadPool {
 public:
  // `threads` >= 1, the calling thread included; it may exceed the number of processors.
  explicit ThreadPool(size_t threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  size_t threads() const { return threads_; }

  // Calls fn(i) for every i in [0, n), in any order and on any thread; returns when all are done.
  // fn must not throw and must not call ParallelFor.
  template <typename Fn>
  void ParallelFor(size_t n, Fn&& fn) {
    if (n == 1 || threads_ == 1) {
      for (size_t i = 0; i < n; ++i) fn(i);
      return;
    }
    using F = std::remove_reference_t<Fn>;
    Run(
        n, [](void* f, size_t i) { (*static_cast<F*>(f))(i); }, &fn);
  }

 private:
  void Run(size_t n, void (*fn)(void*, size_t), void* context);

  size_t threads_;
  struct Deleter {
    void operator()(pthreadpool* pool) const;
  };
  std::unique_ptr<pthreadpool, Deleter> pool_;
};

// Processors that this process may use (affinity respected), at least 1.
size_t AvailableProcessors();

}  // namespace nn
