// Immutable bytes with shared ownership. Tensor data is a Blob, so weights can be views of the
// mapped model file and copying a tensor is cheap.
// Design: docs/design/044-deferred-data.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace nn {

// Alignment, in bytes, of buffers for tensor data.
inline constexpr size_t kBufferAlignment = 64;

// Writable, aligned, uniquely owned bytes. Convert to a Blob when complete.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(size_t size);  // uninitialized

  size_t size() const { return size_; }
  std::byte* data() { return data_.get(); }
  const std::byte* data() const { return data_.get(); }
  template <typename T>
  std::span<T> as() {
    return {reinterpret_cast<T*>(data_.get()), size_ / sizeof(T)};
  }
  void Clear() { std::memset(data_.get(), 0, size_); }

 private:
  friend class Blob;
  struct Free {
    void operator()(std::byte* p) const;
  };
  std::unique_ptr<std::byte[], Free> data_;
  size_t size_ = 0;
};

// Bytes that are computed when they are needed.
class DeferredBytes {
 public:
  virtual ~DeferredBytes() = default;
  // Computes the bytes from `offset` on. May be called from several threads.
  virtual void Compute(size_t offset, std::span<std::byte> to) const = 0;
  // The caller of Compute() needs no more bytes for now: frees memory of the sources.
  virtual void Release() const {}
};

class Blob {
 public:
  Blob() = default;
  // Takes ownership of the buffer.
  explicit Blob(Buffer buffer);
  // A view of `bytes`, which must remain valid for the lifetime of `owner`.
  Blob(std::span<const std::byte> bytes, std::shared_ptr<const void> owner)
      : begin_(bytes.data()), size_(bytes.size()), owner_(std::move(owner)) {}

  // `size` bytes, more than 0, that `source` computes. The first call of data() or bytes() of the
  // blob, or of a copy or a slice, computes all of them and keeps them; Visit() does not.
  static Blob Deferred(size_t size, std::unique_ptr<const DeferredBytes> source);

  static Blob Copy(std::span<const std::byte> bytes);
  template <typename T>
  static Blob CopyOf(std::span<const T> values) {
    static_assert(std::is_trivially_copyable_v<T>);
    return Copy(std::as_bytes(values));
  }
  template <typename T>
  static Blob CopyOf(const std::vector<T>& values) {
    return CopyOf(std::span<const T>(values));
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const std::byte* data() const { return deferred_ == nullptr ? begin_ : ComputedBytes(); }
  std::span<const std::byte> bytes() const { return {data(), size_}; }

  static constexpr size_t kVisitedBytes = size_t{4} << 20;

  // Whether the bytes are not in memory or in a mapped file yet.
  bool is_deferred() const;

  // Calls fn(bytes) for consecutive pieces of kVisitedBytes (the last may be smaller) until fn
  // returns false. Deferred bytes are computed piece by piece and not kept.
  void Visit(const std::function<bool(std::span<const std::byte>)>& fn) const;

  // Requires offset + length <= size().
  Blob Slice(size_t offset, size_t length) const {
    Blob out = *this;
    out.size_ = length;
    if (deferred_ == nullptr)
      out.begin_ = begin_ + offset;
    else
      out.offset_ += offset;
    return out;
  }

  // `alignment` is at most kBufferAlignment, which computed bytes have.
  bool IsAligned(size_t alignment) const {
    const size_t address = deferred_ == nullptr ? reinterpret_cast<uintptr_t>(begin_) : offset_;
    return address % alignment == 0;
  }

  // What computes the bytes and where they begin in them, if that is a T; else null. T derives from
  // DeferredBytes.
  template <typename T>
  const T* SourceAs(size_t& offset) const {
    offset = offset_;
    return dynamic_cast<const T*>(source());
  }

 private:
  struct DeferredState;
  const std::byte* ComputedBytes() const;
  const DeferredBytes* source() const;

  const std::byte* begin_ = nullptr;  // unless deferred_
  size_t size_ = 0;
  std::shared_ptr<const void> owner_;
  const DeferredState* deferred_ = nullptr;  // owned by owner_
  size_t offset_ = 0;                        // in the deferred bytes
};

}  // namespace nn
