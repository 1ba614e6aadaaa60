// Immutable bytes with shared ownership. Tensor data is a Blob, so weights can be views of the
// mapped model file and copying a tensor is cheap.
#pragma once

#include <cstddef>
#include <cstring>
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

class Blob {
 public:
  Blob() = default;
  // Takes ownership of the buffer.
  explicit Blob(Buffer buffer);
  // A view of `bytes`, which must remain valid for the lifetime of `owner`.
  Blob(std::span<const std::byte> bytes, std::shared_ptr<const void> owner)
      : bytes_(bytes), owner_(std::move(owner)) {}

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

  size_t size() const { return bytes_.size(); }
  bool empty() const { return bytes_.empty(); }
  const std::byte* data() const { return bytes_.data(); }
  std::span<const std::byte> bytes() const { return bytes_; }

  // Requires offset + length <= size().
  Blob Slice(size_t offset, size_t length) const {
    return Blob(bytes_.subspan(offset, length), owner_);
  }

  bool IsAligned(size_t alignment) const {
    return reinterpret_cast<uintptr_t>(bytes_.data()) % alignment == 0;
  }

 private:
  std::span<const std::byte> bytes_;
  std::shared_ptr<const void> owner_;
};

}  // namespace nn
