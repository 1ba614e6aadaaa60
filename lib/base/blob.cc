#include "base/blob.h"

#include <cstdlib>
#include <new>

#include "base/checked_math.h"

namespace nn {

Buffer::Buffer(size_t size) : size_(size) {
  // At least one byte, so that data() is never null and empty spans are valid.
  const size_t rounded = (size / kBufferAlignment + 1) * kBufferAlignment;
  auto* p = static_cast<std::byte*>(std::aligned_alloc(kBufferAlignment, rounded));
  if (p == nullptr) throw std::bad_alloc();
  data_.reset(p);
}

void Buffer::Free::operator()(std::byte* p) const {
  std::free(p);
}

Blob::Blob(Buffer buffer) {
  const size_t size = buffer.size_;
  auto owner = std::shared_ptr<std::byte[]>(std::move(buffer.data_));
  bytes_ = {owner.get(), size};
  owner_ = std::move(owner);
}

Blob Blob::Copy(std::span<const std::byte> bytes) {
  Buffer buffer(bytes.size());
  if (!bytes.empty()) std::memcpy(buffer.data(), bytes.data(), bytes.size());
  return Blob(std::move(buffer));
}

}  // namespace nn
