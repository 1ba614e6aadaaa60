// Immutable values that copies share, behind one pointer: half the size of std::shared_ptr, for
// members of objects that exist by the million. Reference counts are atomic; as with
// std::shared_ptr, one object must not be changed while another thread uses that object.
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

namespace nn {

// A pointer to a const T, or null.
template <typename T>
class Shared {
 public:
  Shared() = default;
  explicit Shared(T value) : block_(new Block{std::move(value)}) {}
  Shared(const Shared& other) : block_(other.block_) {
    if (block_ != nullptr) block_->references.fetch_add(1, std::memory_order_relaxed);
  }
  Shared(Shared&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  Shared& operator=(Shared other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~Shared() {
    if (block_ != nullptr && block_->references.fetch_sub(1, std::memory_order_acq_rel) == 1)
      delete block_;
  }

  const T* get() const { return block_ == nullptr ? nullptr : &block_->value; }
  // Require a value.
  const T& operator*() const { return block_->value; }
  const T* operator->() const { return &block_->value; }
  explicit operator bool() const { return block_ != nullptr; }
  void reset() { *this = Shared(); }
  // Whether both are the same object or null.
  friend bool operator==(const Shared& a, const Shared& b) { return a.block_ == b.block_; }

 private:
  struct Block {
    explicit Block(T v) : value(std::move(v)) {}
    std::atomic<size_t> references = 1;
    T value;
  };
  Block* block_ = nullptr;
};

// An immutable string; an empty one takes no memory of its own.
class SharedString {
 public:
  SharedString() = default;
  template <std::convertible_to<std::string_view> T>
  SharedString(const T& from) {  // NOLINT(google-explicit-constructor)
    const std::string_view text = from;
    if (text.empty()) return;
    text_ = new (::operator new(sizeof(Text) + text.size())) Text{1, text.size()};
    std::memcpy(reinterpret_cast<char*>(text_ + 1), text.data(), text.size());
  }
  SharedString(const SharedString& other) : text_(other.text_) {
    if (text_ != nullptr) text_->references.fetch_add(1, std::memory_order_relaxed);
  }
  SharedString(SharedString&& other) noexcept : text_(std::exchange(other.text_, nullptr)) {}
  SharedString& operator=(SharedString other) noexcept {
    std::swap(text_, other.text_);
    return *this;
  }
  ~SharedString() {
    if (text_ != nullptr && text_->references.fetch_sub(1, std::memory_order_acq_rel) == 1)
      ::operator delete(text_);
  }

  bool empty() const { return text_ == nullptr; }
  std::string_view view() const {
    return text_ == nullptr
               ? std::string_view()
               : std::string_view(reinterpret_cast<const char*>(text_ + 1), text_->size);
  }

 private:
  struct Text {  // followed by the characters
    std::atomic<size_t> references;
    size_t size;
  };
  Text* text_ = nullptr;
};

}  // namespace nn
