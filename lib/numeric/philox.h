// Philox4x32-10, the counter-based generator of Salmon, Moraes, Dror and Shaw, "Parallel random
// numbers: as easy as 1, 2, 3" (SC 2011).
#pragma once

#include <array>
#include <cstdint>

namespace nn {

// Random bits indexed by position, so any of them can be computed independently.
class Philox {
 public:
  using Words = std::array<uint32_t, 4>;

  // `key` is the key of the generator, `stream` the high half of its counter.
  constexpr explicit Philox(uint64_t key, uint64_t stream = 0) : key_(key), stream_(stream) {}

  // The words of the counter whose low half is `block`.
  constexpr Words Block(uint64_t block) const {
    Words c = {Low(block), High(block), Low(stream_), High(stream_)};
    uint32_t k0 = Low(key_), k1 = High(key_);
    for (int round = 0; round < 10; ++round) {
      const uint64_t a = uint64_t{0xD2511F53} * c[0];
      const uint64_t b = uint64_t{0xCD9E8D57} * c[2];
      c = {High(b) ^ c[1] ^ k0, Low(b), High(a) ^ c[3] ^ k1, Low(a)};
      k0 += 0x9E3779B9;
      k1 += 0xBB67AE85;
    }
    return c;
  }

 private:
  static constexpr uint32_t Low(uint64_t v) { return static_cast<uint32_t>(v); }
  static constexpr uint32_t High(uint64_t v) { return static_cast<uint32_t>(v >> 32); }
  uint64_t key_;
  uint64_t stream_;
};

}  // namespace nn
