#include "base/file/same_bytes.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace nn {
namespace {

// The bytes of a file that is written in parts.
class PartReader {
 public:
  explicit PartReader(std::span<const Blob> parts) : parts_(parts) { Skip(0); }

  // The rest of a part; empty at the end.
  std::span<const std::byte> Rest() const {
    if (part_ == parts_.size()) return {};
    return {parts_[part_].data() + at_, parts_[part_].size() - at_};
  }
  void Skip(size_t bytes) {
    at_ += bytes;
    while (part_ < parts_.size() && at_ == parts_[part_].size()) ++part_, at_ = 0;
  }

 private:
  std::span<const Blob> parts_;
  size_t part_ = 0, at_ = 0;
};

}  // namespace

bool HaveSameBytes(std::span<const Blob> a, std::span<const Blob> b) {
  PartReader x(a), y(b);
  while (!x.Rest().empty() && !y.Rest().empty()) {
    const size_t size = std::min(x.Rest().size(), y.Rest().size());
    const std::byte *const p = x.Rest().data(), *const q = y.Rest().data();
    if (p != q && std::memcmp(p, q, size) != 0) return false;
    x.Skip(size);
    y.Skip(size);
  }
  return x.Rest().empty() && y.Rest().empty();
}

}  // namespace nn
