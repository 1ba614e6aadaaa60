// Bounds that only what hangs exceeds: what takes far less than a second is given half a minute,
// and with the address sanitizer, which multiplies the time of programs that allocate much by ten
// and more, two minutes.
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
