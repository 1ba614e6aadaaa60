// Time limits that only a hang exceeds: for work that takes far less than a second, half a minute,
// and two minutes with the address sanitizer, which makes programs with many allocations ten times
// slower or more.
#pragma once

#include <doctest/doctest.h>

#include <chrono>

#include "support/sanitizer.h"

namespace nn::test {

inline constexpr double kHangSeconds = NN_ADDRESS_SANITIZER ? 120 : 30;

template <typename Fn>
void CheckEnds(Fn fn) {
  const auto begin = std::chrono::steady_clock::now();
  fn();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  CHECK(seconds.count() < kHangSeconds);
}

}  // namespace nn::test
