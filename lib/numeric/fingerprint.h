// FarmHash's Fingerprint64, a hash of bytes that never changes between versions and processors.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

namespace nn {

namespace fingerprint {

inline constexpr uint64_t kOne = 0xc3a5c85c97cb3127, kTwo = 0xb492b66fbe98f273,
                          kThree = 0x9ae16a3b2f90404f;

// A little-endian number at a position.
template <typename T>
uint64_t At(const std::byte* p) {
  T v;
  std::memcpy(&v, p, sizeof(v));
  return v;
}
inline uint64_t Word(const std::byte* p) {
  return At<uint64_t>(p);
}

inline uint64_t Rotated(uint64_t v, int bits) {
  return std::rotr(v, bits);
}

inline uint64_t Folded(uint64_t v) {
  return v ^ (v >> 47);
}

inline uint64_t Mixed(uint64_t a, uint64_t b, uint64_t factor) {
  const uint64_t first = Folded((a ^ b) * factor);
  return Folded((b ^ first) * factor) * factor;
}

inline uint64_t UpTo16(const std::byte* p, size_t size) {
  const uint64_t factor = kThree + size * 2;
  if (size >= 8) {
    const uint64_t a = Word(p) + kThree, b = Word(p + size - 8);
    return Mixed(Rotated(b, 37) * factor + a, (Rotated(a, 25) + b) * factor, factor);
  }
  if (size >= 4) return Mixed(size + (At<uint32_t>(p) << 3), At<uint32_t>(p + size - 4), factor);
  if (size == 0) return kThree;
  const uint64_t low = At<uint8_t>(p) + (At<uint8_t>(p + size / 2) << 8);
  const uint64_t high = size + (At<uint8_t>(p + size - 1) << 2);
  return Folded(low * kThree ^ high * kOne) * kThree;
}

// The two numbers that the first and the last 16 bytes of a longer text determine, and the
// words that enter the next step.
struct Ends {
  uint64_t factor, first, sum, hash;
};

// `first`: the factor of the first word.
inline Ends EndsOf(const std::byte* p, size_t size, uint64_t first) {
  Ends e{};
  e.factor = kThree + size * 2;
  e.first = Word(p) * first;
  const uint64_t b = Word(p + 8), c = Word(p + size - 8) * e.factor,
                 d = Word(p + size - 16) * kThree;
  e.sum = Rotated(e.first + b, 43) + Rotated(c, 30) + d;
  e.hash = Mixed(e.sum, e.first + Rotated(b + kThree, 18) + c, e.factor);
  return e;
}

inline uint64_t UpTo64(const std::byte* p, size_t size) {
  const Ends ends = EndsOf(p, size, kThree);
  const uint64_t e = Word(p + 16) * ends.factor, f = Word(p + 24);
  const uint64_t g = (ends.sum + Word(p + size - 32)) * ends.factor;
  const uint64_t h = (ends.hash + Word(p + size - 24)) * ends.factor;
  return Mixed(Rotated(e + f, 43) + Rotated(g, 30) + h, e + Rotated(f + ends.first, 18) + g,
               ends.factor);
}

using Pair = std::pair<uint64_t, uint64_t>;

// The hash of 32 bytes and two seeds.
inline Pair Of32(const std::byte* p, uint64_t a, uint64_t b) {
  const uint64_t last = Word(p + 24);
  a += Word(p);
  b = Rotated(b + a + last, 21);
  const uint64_t start = a;
  a += Word(p + 8) + Word(p + 16);
  b += Rotated(a, 44);
  return {a + last, b + start};
}

// The state of the hash of more than 64 bytes.
struct State {
  uint64_t x, y, z;
  Pair v{0, 0}, w{0, 0};

  // Adds 64 bytes. `scale`: of two words that enter a second time.
  void Add(const std::byte* p, uint64_t factor, uint64_t scale) {
    x = Rotated(x + y + v.first + Word(p + 8), 37) * factor;
    y = Rotated(y + v.second + Word(p + 48), 42) * factor;
    x ^= w.second * scale;
    y += v.first * scale + Word(p + 40);
    z = Rotated(z + w.first, 33) * factor;
    v = Of32(p, v.second * factor, x + w.first);
    w = Of32(p + 32, z + w.second, y + Word(p + 16));
    std::swap(z, x);
  }
};

inline uint64_t Over64(const std::byte* p, size_t size) {
  constexpr uint64_t kSeed = 81, kStep = 113;
  State s{kSeed * kThree + Word(p), kSeed * kTwo + kStep, 0};
  s.z = Folded(s.y * kThree + kStep) * kThree;
  const size_t rest = (size - 1) % 64;
  for (size_t at = 0; at < size - 1 - rest; at += 64) s.Add(p + at, kTwo, 1);
  const uint64_t factor = kTwo + ((s.z & 0xff) << 1);
  s.w.first += rest;
  s.v.first += s.w.first;
  s.w.first += s.v.first;
  s.Add(p + size - 64, factor, 9);
  return Mixed(Mixed(s.v.first, s.w.first, factor) + Folded(s.y) * kOne + s.z,
               Mixed(s.v.second, s.w.second, factor) + s.x, factor);
}

}  // namespace fingerprint

inline uint64_t Fingerprint64(std::span<const std::byte> bytes) {
  const std::byte* const p = bytes.data();
  const size_t size = bytes.size();
  if (size <= 16) return fingerprint::UpTo16(p, size);
  if (size <= 32) return fingerprint::EndsOf(p, size, fingerprint::kTwo).hash;
  if (size <= 64) return fingerprint::UpTo64(p, size);
  return fingerprint::Over64(p, size);
}

}  // namespace nn
