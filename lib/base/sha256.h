// SHA-256 (FIPS 180-4).
#pragma once

#include <nettle/sha2.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace nn {

class Sha256 {
 public:
  Sha256() { sha256_init(&context_); }

  void Update(std::span<const std::byte> bytes) {
    sha256_update(&context_, bytes.size(), reinterpret_cast<const uint8_t*>(bytes.data()));
  }
  // The digest in lower-case hexadecimal digits; starts anew.
  std::string Hex();

 private:
  sha256_ctx context_;
};

}  // namespace nn
