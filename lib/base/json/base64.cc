#include "base/json/base64.h"

#include <nettle/base64.h>

namespace nn {

std::string Base64(std::span<const std::byte> bytes) {
  std::string out(BASE64_ENCODE_RAW_LENGTH(bytes.size()), '\0');
  base64_encode_raw(out.data(), bytes.size(), reinterpret_cast<const uint8_t*>(bytes.data()));
  return out;
}

std::optional<Blob> FromBase64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  auto buffer = std::make_shared<Buffer>(BASE64_DECODE_LENGTH(text.size()));
  base64_decode_ctx context;
  base64_decode_init(&context);
  size_t size = buffer->size();
  if (base64_decode_update(&context, &size, reinterpret_cast<uint8_t*>(buffer->data()), text.size(),
                           text.data()) == 0 ||
      base64_decode_final(&context) == 0 || BASE64_ENCODE_RAW_LENGTH(size) != text.size())
    return std::nullopt;
  return Blob({buffer->data(), size}, buffer);
}

}  // namespace nn
