// SHA-256 over a stream of bytes.
#pragma once

#include <nettle/sha2.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace nn {

class Sha256 {
 public:
  Sha256() { sha256_init(&context_); }

  void Bytes(std::span<const std::byte> bytes);
  void Bytes(std::string_view text) { Bytes(std::as_bytes(std::span(text))); }
  // 8 bytes, little-endian.
  void Number(uint64_t v);
  // The length as a number, then the bytes.
  void Text(std::string_view text);

  // "sha256:" and 64 hexadecimal digits. Starts anew.
  std::string Finish();

 private:
  sha256_ctx context_;
};

}  // namespace nn
