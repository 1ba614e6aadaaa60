#include "base/thread_pool.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace nn::thread_pool_test {
namespace {

TEST_CASE("every item of a grid is run once, on any number of threads") {
  for (const size_t threads : {1, 2, 3, 7}) {
    CAPTURE(threads);
    ThreadPool pool(threads);
    CHECK(pool.threads() == threads);
    for (const size_t n : {0, 1, 2, 3, 64, 1000}) {
      std::vector<std::atomic<int>> runs(n);
      pool.ParallelFor(n, [&](size_t i) { ++runs[i]; });
      for (const std::atomic<int>& r : runs) CHECK(r == 1);
    }
  }
}

TEST_CASE("items of a grid see the writes of the previous grid") {
  constexpr size_t kItems = 5;
  constexpr size_t kRounds = 20000;
  ThreadPool pool(4);
  std::vector<size_t> counts(kItems, 0);
  for (size_t round = 0; round < kRounds; ++round)
    pool.ParallelFor(kItems, [&](size_t i) {
      if (counts[i] == round) counts[i] = round + 1;
    });
  for (const size_t c : counts) CHECK(c == kRounds);
}

TEST_CASE("threads that slept take part again") {
  ThreadPool pool(3);
  for (int round = 0; round < 20; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    std::atomic<size_t> sum = 0;
    pool.ParallelFor(100, [&](size_t i) { sum += i; });
    CHECK(sum == 4950);
  }
}

TEST_CASE("a pool can end at any moment") {
  size_t sum = 0;
  for (size_t round = 0; round < 3000; ++round) {
    ThreadPool pool(2 + round % 3);
    std::atomic<size_t> items = 0;
    for (size_t grid = 0; grid < round % 4; ++grid) pool.ParallelFor(3, [&](size_t) { ++items; });
    sum += items;
  }
  CHECK(sum == 3000 / 4 * (0 + 3 + 6 + 9));
}

TEST_CASE("grids of different functions and sizes follow one another") {
  ThreadPool pool(2);
  for (size_t n = 2; n < 300; ++n) {
    std::vector<size_t> squares(n, 0);
    pool.ParallelFor(n, [&](size_t i) { squares[i] = i * i; });
    std::vector<size_t> sums(n + 1, 0);
    pool.ParallelFor(n + 1, [&](size_t i) { sums[i] = i < n ? squares[i] + 1 : n; });
    bool right = sums[n] == n;
    for (size_t i = 0; i < n; ++i) right &= sums[i] == i * i + 1;
    REQUIRE(right);
  }
}

}  // namespace
}  // namespace nn::thread_pool_test
