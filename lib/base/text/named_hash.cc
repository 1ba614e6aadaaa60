#include "base/text/named_hash.h"

#include <fmt/format.h>
#include <nettle/nettle-meta.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/file/file.h"

namespace nn {
namespace {

struct NamedHash {
  std::string_view name;
  const nettle_hash* hash;
  bool secure = true;
};

const NamedHash* FindHash(std::string_view name) {
  static const NamedHash kHashes[] = {
      {"sha224", &nettle_sha224},         {"sha256", &nettle_sha256},
      {"sha384", &nettle_sha384},         {"sha512", &nettle_sha512},
      {"sha512_224", &nettle_sha512_224}, {"sha512_256", &nettle_sha512_256},
      {"sha3_224", &nettle_sha3_224},     {"sha3_256", &nettle_sha3_256},
      {"sha3_384", &nettle_sha3_384},     {"sha3_512", &nettle_sha3_512},
      {"sha1", &nettle_sha1, false},      {"md5", &nettle_md5, false}};
  const auto* const it = std::ranges::find(kHashes, name, &NamedHash::name);
  return it == std::end(kHashes) ? nullptr : it;
}

}  // namespace

bool IsSecureHash(const std::string& name) {
  const NamedHash* const hash = FindHash(name);
  return hash != nullptr && hash->secure;
}

std::optional<std::string> HashByName(const std::string& name, const Blob& blob) {
  constexpr size_t kPiece = size_t{16} << 20;
  const NamedHash* const named = FindHash(name);
  if (named == nullptr) return std::nullopt;
  const nettle_hash& hash = *named->hash;
  // Aligned for each context, as memory of operator new is.
  std::vector<uint64_t> context(hash.context_size / sizeof(uint64_t) + 1);
  hash.init(context.data());
  for (size_t at = 0; at < blob.size(); at += kPiece) {
    const Blob piece = blob.Slice(at, std::min(kPiece, blob.size() - at));
    hash.update(context.data(), piece.size(), reinterpret_cast<const uint8_t*>(piece.data()));
    DropResidentPages(piece);
  }
  std::vector<uint8_t> digest(hash.digest_size);
  hash.digest(context.data(), digest.size(), digest.data());
  std::string out;
  for (const uint8_t byte : digest) out += fmt::format("{:02x}", byte);
  return out;
}

}  // namespace nn
