#include "base/file/blob.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
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
  begin_ = owner.get();
  size_ = size;
  owner_ = std::move(owner);
}

struct Blob::DeferredState {
  size_t size = 0;
  std::unique_ptr<const DeferredBytes> source;
  mutable std::once_flag once;
  mutable Buffer bytes;
  mutable std::atomic<bool> is_computed = false;
};

Blob Blob::Deferred(size_t size, std::unique_ptr<const DeferredBytes> source) {
  auto state = std::make_shared<DeferredState>();
  state->size = size;
  state->source = std::move(source);
  Blob out;
  out.size_ = size;
  out.deferred_ = state.get();
  out.owner_ = std::move(state);
  return out;
}

const std::byte* Blob::ComputedBytes() const {
  const DeferredState& state = *deferred_;
  std::call_once(state.once, [&] {
    Buffer buffer(state.size);
    for (size_t at = 0; at < state.size; at += kVisitedBytes)
      state.source->Compute(at, {buffer.data() + at, std::min(kVisitedBytes, state.size - at)});
    state.source->Release();
    state.bytes = std::move(buffer);
    state.is_computed.store(true, std::memory_order_release);
  });
  return state.bytes.data() + offset_;
}

const DeferredBytes* Blob::source() const {
  return deferred_ == nullptr ? nullptr : deferred_->source.get();
}

bool Blob::is_deferred() const {
  return deferred_ != nullptr && !deferred_->is_computed.load(std::memory_order_acquire);
}

void Blob::Visit(const std::function<bool(std::span<const std::byte>)>& fn) const {
  Buffer piece;
  if (is_deferred()) piece = Buffer(std::min(kVisitedBytes, size_));
  const bool computes = piece.size() > 0;
  for (size_t at = 0; at < size_; at += kVisitedBytes) {
    const size_t count = std::min(kVisitedBytes, size_ - at);
    if (computes) deferred_->source->Compute(offset_ + at, {piece.data(), count});
    if (!fn({computes ? piece.data() : data() + at, count})) break;
  }
  if (computes) deferred_->source->Release();
}

Blob Blob::Copy(std::span<const std::byte> bytes) {
  Buffer buffer(bytes.size());
  if (!bytes.empty()) std::memcpy(buffer.data(), bytes.data(), bytes.size());
  return Blob(std::move(buffer));
}

}  // namespace nn
