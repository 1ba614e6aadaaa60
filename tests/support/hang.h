// Bounds that only what hangs exceeds: what takes far less than a second is given half a minute.
#pragma once

#include <doctest/doctest.h>

#include <chrono>

namespace nn::test {

inline constexpr double kHangSeconds = 30;

template <typename Fn>
void CheckEnds(Fn fn) {
  const auto begin = std::chrono::steady_clock::now();
  fn();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  CHECK(seconds.count() < kHangSeconds);
}

}  // namespace nn::test
