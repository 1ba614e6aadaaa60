// A vector of few elements: the first kInline ones are stored in the object itself.
// Design: docs/design/011-graph-memory.md.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace nn {

template <typename T, uint32_t kInline>
class InlineVector {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_default_constructible_v<T>);

 public:
  InlineVector() = default;
  InlineVector(const InlineVector&) = delete;
  InlineVector& operator=(const InlineVector&) = delete;
  ~InlineVector() {
    if (capacity_ > kInline) delete[] heap_;
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return capacity_ > kInline ? heap_ : inline_; }
  const T* data() const { return capacity_ > kInline ? heap_ : inline_; }
  T& operator[](size_t i) { return data()[i]; }
  const T& operator[](size_t i) const { return data()[i]; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  operator std::span<const T>() const { return {data(), size_}; }  // NOLINT

  void push_back(T value) {
    if (size_ == capacity_) Reserve(2 * capacity_);
    data()[size_++] = value;
  }
  void assign(size_t size, T value) {
    if (size > capacity_) Reserve(static_cast<uint32_t>(size));
    size_ = static_cast<uint32_t>(size);
    std::fill_n(data(), size, value);
  }

 private:
  void Reserve(uint32_t capacity) {
    T* const grown = new T[capacity];
    std::copy_n(data(), size_, grown);
    if (capacity_ > kInline) delete[] heap_;
    heap_ = grown;
    capacity_ = capacity;
  }

  union {
    T inline_[kInline] = {};
    T* heap_;  // if capacity_ > kInline
  };
  uint32_t size_ = 0;
  uint32_t capacity_ = kInline;
};

}  // namespace nn
