// Ranges of ranks and of numbers of operands.
#pragma once

#include <cstdint>
#include <string>

namespace nn::spec {

// Ranks, or numbers of operands.
struct Range {
  int low = 0;
  int high = -1;           // -1: no limit
  bool ends_only = false;  // `low` or `high`

  constexpr Range() = default;
  constexpr Range(int n) : low(n), high(n) {}  // NOLINT(google-explicit-constructor)
  constexpr Range(int least, int most) : low(least), high(most) {}

  constexpr bool Has(int64_t n) const {
    if (ends_only) return n == low || n == high;
    return n >= low && (high < 0 || n <= high);
  }
  constexpr bool is_any() const { return low == 0 && high < 0; }
  std::string ToString() const;  // "3", "1 to 4", "2 or 4", "2 or more"

  bool operator==(const Range&) const = default;
};
constexpr Range AtLeast(int n) {
  return {n, -1};
}

}  // namespace nn::spec
