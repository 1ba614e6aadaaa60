// The suite's reproducible random numbers: splitmix64, indexed by position, so any element can be
// computed independently.
#pragma once

#include <cstdint>

namespace nn {

class SeededStream {
 public:
  // Different (seed, stream) pairs give unrelated streams.
  explicit constexpr SeededStream(uint64_t seed, uint64_t stream = 0)
      : state_(Mix(seed + stream * 0xD1342543DE82EF95u)) {}

  // 64 random bits for position i.
  constexpr uint64_t Bits(uint64_t i) const { return Mix(state_ + (i + 1) * 0x9E3779B97F4A7C15u); }
  // Uniform in [-1, 1), a multiple of 2^-23: exact in float.
  constexpr float Unit(uint64_t i) const {
    return static_cast<float>(static_cast<int64_t>(Bits(i) >> 40) - (int64_t{1} << 23)) * 0x1p-23f;
  }

 private:
  static constexpr uint64_t Mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  uint64_t state_;
};

}  // namespace nn
