// Protocol Buffers wire form, written by hand, for models that our exporters do not write.
#pragma once

#include <cstdint>
#include <string>

namespace nn::test {

inline std::string Varint(uint64_t v) {
  std::string out;
  for (; v >= 0x80; v >>= 7) out += static_cast<char>(v | 0x80);
  return out + static_cast<char>(v);
}
inline std::string Int(int field, uint64_t v) {
  return Varint(static_cast<uint64_t>(field) << 3) + Varint(v);
}
// A length-delimited field: bytes, text or a message.
inline std::string Bytes(int field, const std::string& v) {
  return Varint(static_cast<uint64_t>(field) << 3 | 2) + Varint(v.size()) + v;
}

}  // namespace nn::test
