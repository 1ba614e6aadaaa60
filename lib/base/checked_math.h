// Integer arithmetic that reports overflow instead of wrapping. Required for all sizes and offsets
// that come from a file.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace nn {

template <std::integral T>
std::optional<T> CheckedAdd(T a, T b) {
  T r;
  if (__builtin_add_overflow(a, b, &r)) return std::nullopt;
  return r;
}

template <std::integral T>
std::optional<T> CheckedSub(T a, T b) {
  T r;
  if (__builtin_sub_overflow(a, b, &r)) return std::nullopt;
  return r;
}

template <std::integral T>
std::optional<T> CheckedMul(T a, T b) {
  T r;
  if (__builtin_mul_overflow(a, b, &r)) return std::nullopt;
  return r;
}

// Product of non-negative dimensions; nullopt on overflow or a negative dimension.
inline std::optional<int64_t> CheckedElements(std::span<const int64_t> dims) {
  int64_t n = 1;
  bool empty = false;
  for (int64_t d : dims) {
    if (d < 0) return std::nullopt;
    if (d == 0) {
      empty = true;
    } else if (__builtin_mul_overflow(n, d, &n)) {
      return std::nullopt;
    }
  }
  return empty ? 0 : n;
}

// True when [offset, offset + length) lies inside [0, size).
inline bool InRange(uint64_t offset, uint64_t length, uint64_t size) {
  return offset <= size && length <= size - offset;
}

// Division that rounds down or up. The divisor must be positive; the dividend may be negative.
constexpr int64_t FloorDiv(int64_t a, int64_t b) {
  const int64_t q = a / b;
  return q - ((a % b != 0) && ((a < 0) != (b < 0)));
}
constexpr int64_t CeilDiv(int64_t a, int64_t b) {
  return -FloorDiv(-a, b);
}
constexpr size_t CeilDiv(size_t a, size_t b) {
  return a / b + (a % b != 0);
}
constexpr int64_t RoundUp(int64_t a, int64_t multiple) {
  return CeilDiv(a, multiple) * multiple;
}
constexpr size_t RoundUp(size_t a, size_t multiple) {
  return CeilDiv(a, multiple) * multiple;
}

}  // namespace nn

#if SIZE_MAX < UINT64_MAX
// Sizes of files have 64 bits where those of memory have 32.
namespace nn {

template <std::unsigned_integral A, std::unsigned_integral B>
requires(sizeof(A) == 8 || sizeof(B) == 8) constexpr uint64_t CeilDiv(A a, B b) {
  return a / b + (a % b != 0);
}
template <std::unsigned_integral A, std::unsigned_integral B>
requires(sizeof(A) == 8 || sizeof(B) == 8) constexpr uint64_t RoundUp(A a, B multiple) {
  return CeilDiv(uint64_t{a}, uint64_t{multiple}) * multiple;
}

}  // namespace nn
#endif
