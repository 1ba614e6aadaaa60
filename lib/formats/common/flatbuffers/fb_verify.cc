#include "formats/common/flatbuffers/fb_verify.h"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace nn {

Status VerifyFlatbuffer(std::span<const std::byte> bytes, std::string_view schema,
                        bool (*verify)(flatbuffers::Verifier& verifier), const ReadLimits& limits) {
  constexpr int kDeepest = 1000;
  const auto is_sound = [&](int max_depth, uint64_t max_tables) {
    constexpr uint64_t kMax = std::numeric_limits<flatbuffers::uoffset_t>::max();
    flatbuffers::Verifier::Options options;
    options.max_depth = static_cast<flatbuffers::uoffset_t>(max_depth);
    options.max_tables = static_cast<flatbuffers::uoffset_t>(std::min(max_tables, kMax));
    flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(),
                                   options);
    return verify(verifier);
  };
  if (is_sound(limits.max_depth, limits.max_items)) return {};
  // The verifier gives no reason, so the file is verified again with larger limits.
  const uint64_t twice = limits.max_items > UINT64_MAX / 2 ? UINT64_MAX : 2 * limits.max_items;
  const uint64_t more = std::max<uint64_t>(uint64_t{1} << 16, twice);
  if (is_sound(limits.max_depth, more))
    return LimitError("the flatbuffer has more than {} tables (max-items)", limits.max_items);
  if (limits.max_depth < kDeepest && is_sound(kDeepest, more))
    return LimitError("tables are nested deeper than {} (max-depth)", limits.max_depth);
  return ParseError("the flatbuffer is damaged: it does not match the schema {}", schema);
}

}  // namespace nn
