#include "base/blob.h"

#include <sys/mman.h>

#include <cstdlib>
#include <new>

#include "base/checked_math.h"
#include "base/memory.h"

namespace nn {

namespace {

constexpr size_t kLargePage = size_t{2} << 20;

}  // namespace

Buffer::Buffer(size_t size) : size_(size) {
  // At least one byte, so that data() is never null and empty spans are valid.
  const size_t rounded = (size / kBufferAlignment + 1) * kBufferAlignment;
  const bool large = rounded >= kLargePage;
  void* p = nullptr;
  if (posix_memalign(&p, large ? kLargePage : kBufferAlignment, rounded) != 0)
    throw std::bad_alloc();
  data_.reset(static_cast<std::byte*>(p));
  // Large pages reduce TLB misses in kernels that walk several rows at once, and a page fault per 4
  // KiB of fresh memory is expensive. The last, partial large page is excluded. The advice may be
  // ignored.
  if (large) madvise(p, rounded / kLargePage * kLargePage, MADV_HUGEPAGE);
  Poison({data(), size});
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
