// Incremental SHA-256.
#pragma once

#include <nettle/sha2.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/file/blob.h"

namespace nn {

class Sha256 {
 public:
  Sha256();

  void Bytes(std::span<const std::byte> bytes);
  void Bytes(std::string_view text) { Bytes(std::as_bytes(std::span(text))); }
  // The same bytes, without keeping those of a deferred blob.
  void Contents(const Blob& blob);
  // 8 bytes, little-endian.
  void Number(uint64_t v);
  // The length as a Number(), then the bytes.
  void Text(std::string_view text);

  // Returns "sha256:" and 64 hexadecimal digits, and resets the hash.
  std::string Finish();

 private:
  sha256_ctx context_;
};

}  // namespace nn
