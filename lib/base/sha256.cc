#include "base/sha256.h"

#include <array>

namespace nn {

Sha256::Sha256() {
  sha256_init(&context_);
}

void Sha256::Bytes(std::span<const std::byte> bytes) {
  sha256_update(&context_, bytes.size(), reinterpret_cast<const uint8_t*>(bytes.data()));
}

void Sha256::Contents(const Blob& blob) {
  blob.Visit([&](std::span<const std::byte> piece) {
    Bytes(piece);
    return true;
  });
}

void Sha256::Number(uint64_t v) {
  std::array<uint8_t, 8> bytes;
  for (uint8_t& b : bytes) {
    b = static_cast<uint8_t>(v);
    v >>= 8;
  }
  sha256_update(&context_, bytes.size(), bytes.data());
}

void Sha256::Text(std::string_view text) {
  Number(text.size());
  Bytes(text);
}

std::string Sha256::Finish() {
  std::array<uint8_t, SHA256_DIGEST_SIZE> digest;
  sha256_digest(&context_, digest.size(), digest.data());
  std::string out = "sha256:";
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (const uint8_t b : digest) {
    out += kDigits[b >> 4];
    out += kDigits[b & 15];
  }
  return out;
}

}  // namespace nn
