#include "base/sha256.h"

#include <fmt/format.h>

#include <array>

namespace nn {

std::string Sha256::Hex() {
  std::array<uint8_t, SHA256_DIGEST_SIZE> digest;
  sha256_digest(&context_, digest.size(), digest.data());
  std::string out;
  for (const uint8_t b : digest) out += fmt::format("{:02x}", b);
  return out;
}

}  // namespace nn
