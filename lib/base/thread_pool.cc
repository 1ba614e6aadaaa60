#include "base/thread_pool.h"

#ifdef __linux__
#include <sched.h>
#endif

#include <algorithm>
#include <chrono>
#include <system_error>

namespace nn {
namespace {

// See ThreadPool::Part.
constexpr uint32_t kClosed = UINT32_MAX;

uint32_t JobOf(uint64_t ticket) {
  return static_cast<uint32_t>(ticket >> 32);
}
uint32_t ItemOf(uint64_t ticket) {
  return static_cast<uint32_t>(ticket);
}
uint64_t Ticket(uint32_t job, uint32_t item) {
  return uint64_t{job} << 32 | item;
}

void Pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Spins on a condition for about as long as a step of a model takes.
template <typename Condition>
bool Spin(Condition condition) {
  using Clock = std::chrono::steady_clock;
  constexpr auto kMaxSpin = std::chrono::microseconds(100);
  constexpr int kChecksPerClockRead = 32;
  const auto begin = Clock::now();
  do {
    for (int i = 0; i < kChecksPerClockRead; ++i) {
      if (condition()) return true;
      Pause();
    }
  } while (Clock::now() - begin < kMaxSpin);
  return false;
}

}  // namespace

ThreadPool::ThreadPool(size_t threads) : parts_(threads), spins_(threads <= AvailableProcessors()) {
  try {
    for (size_t i = 1; i < threads; ++i) workers_.emplace_back([this, i] { Worker(i); });
  } catch (const std::system_error&) {
    // Continue with the threads that were created.
  }
}

ThreadPool::~ThreadPool() {
  stop_.store(true);
  job_.fetch_add(1);
  job_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

size_t ThreadPool::Work(uint32_t job, size_t own) {
  size_t done = 0;
  for (size_t k = 0; k < parts_.size(); ++k) {
    const size_t part = (own + k) % parts_.size();
    std::atomic<uint64_t>& place = parts_[part].ticket;
    uint64_t ticket = place.load(std::memory_order_acquire);
    for (;;) {
      const uint32_t item = ItemOf(ticket);
      if (JobOf(ticket) != job || item == kClosed) return done;
      // These belong to this job if the ticket is unchanged below: tickets are closed before the
      // fields change.
      const ItemFn fn = fn_.load(std::memory_order_relaxed);
      void* const context = context_.load(std::memory_order_relaxed);
      const size_t first = first_.load(std::memory_order_relaxed);
      if (item >= BeginOf(part + 1, items_.load(std::memory_order_relaxed))) break;
      if (!place.compare_exchange_weak(ticket, ticket + 1, std::memory_order_acq_rel,
                                       std::memory_order_acquire))
        continue;
      fn(context, first + item);
      ++done;
      ticket = place.load(std::memory_order_acquire);
    }
  }
  return done;
}

void ThreadPool::Worker(size_t own) {
  uint32_t seen = 0;
  for (;;) {
    const auto changed = [&] { return job_.load(std::memory_order_acquire) != seen; };
    if (!(spins_ ? Spin(changed) : changed())) {
      sleepers_.fetch_add(1);
      job_.wait(seen);
      sleepers_.fetch_sub(1);
    }
    // In this order: stopping increments job_ as well and must not be mistaken for a seen job.
    seen = job_.load();
    if (stop_.load()) return;
    const size_t done = Work(seen, own);
    if (done != 0) done_.fetch_add(static_cast<uint32_t>(done), std::memory_order_release);
  }
}

void ThreadPool::RunPart(size_t first, size_t n, ItemFn fn, void* context) {
  const uint32_t job = job_.load(std::memory_order_relaxed) + 1;
  for (Part& part : parts_) part.ticket.store(Ticket(job, kClosed));
  fn_.store(fn);
  context_.store(context);
  first_.store(first);
  items_.store(static_cast<uint32_t>(n));
  done_.store(0);
  for (size_t i = 0; i < parts_.size(); ++i)
    parts_[i].ticket.store(Ticket(job, BeginOf(i, static_cast<uint32_t>(n))));
  job_.store(job);
  if (sleepers_.load() != 0) job_.notify_all();
  const size_t mine = Work(job, 0);
  const auto finished = [&] { return done_.load(std::memory_order_acquire) + mine == n; };
  while (!(spins_ ? Spin(finished) : finished())) std::this_thread::yield();
}

void ThreadPool::Run(size_t n, ItemFn fn, void* context) {
  constexpr size_t kMax = kClosed / 2;  // items per job
  for (size_t first = 0; first < n; first += kMax)
    RunPart(first, std::min(kMax, n - first), fn, context);
}

size_t AvailableProcessors() {
#ifdef __linux__
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    return std::max<size_t>(static_cast<size_t>(CPU_COUNT(&set)), 1);
#endif
  return std::max<size_t>(std::thread::hardware_concurrency(), 1);
}

}  // namespace nn
