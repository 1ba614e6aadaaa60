// Immutable values that copies share, behind one pointer: half the size of std::shared_ptr, for
// members of objects that exist by the million. Reference counts are atomic; as with
// std::shared_ptr, one object must not be changed while another thread uses that object.
//
// Design: docs/design/011-graph-memory.md.
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

namespace nn {

// A counted reference to a Block, or null. A Block has an atomic count `references`, which begins
// at 1, and a static function Delete, which frees it.
template <typename Block>
class Counted {
 public:
  Counted() = default;
  // Takes over the first reference.
  explicit Counted(Block* block) : block_(block) {}
  Counted(const Counted& other) : block_(other.block_) {
    if (block_ != nullptr) block_->references.fetch_add(1, std::memory_order_relaxed);
  }
  Counted(Counted&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  Counted& operator=(Counted other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~Counted() {
    if (block_ != nullptr && block_->references.fetch_sub(1, std::memory_order_acq_rel) == 1)
      Block::Delete(block_);
  }

  Block* get() const { return block_; }
  // Requires a block.
  Block* operator->() const { return block_; }

 private:
  Block* block_ = nullptr;
};

// A pointer to a const T, or null.
template <typename T>
class Shared {
 public:
  Shared() = default;
  explicit Shared(T value) : block_(new Block(std::move(value))) {}

  const T* get() const { return block_.get() == nullptr ? nullptr : &block_->value; }
  // Require a value.
  const T& operator*() const { return block_->value; }
  const T* operator->() const { return &block_->value; }
  explicit operator bool() const { return block_.get() != nullptr; }
  void reset() { *this = Shared(); }
  // Whether both are the same object or null.
  friend bool operator==(const Shared& a, const Shared& b) {
    return a.block_.get() == b.block_.get();
  }

 private:
  struct Block {
    explicit Block(T v) : value(std::move(v)) {}
    static void Delete(Block* block) { delete block; }
    std::atomic<size_t> references = 1;
    T value;
  };
  Counted<Block> block_;
};

// An immutable string; an empty one takes no memory of its own.
class SharedString {
 public:
  SharedString() = default;
  template <std::convertible_to<std::string_view> T>
  SharedString(const T& from) {  // NOLINT(google-explicit-constructor)
    const std::string_view text = from;
    if (text.empty()) return;
    text_ = Counted(new (::operator new(sizeof(Text) + text.size())) Text{1, text.size()});
    std::memcpy(reinterpret_cast<char*>(text_.get() + 1), text.data(), text.size());
  }

  bool empty() const { return text_.get() == nullptr; }
  std::string_view view() const {
    return empty() ? std::string_view()
                   : std::string_view(reinterpret_cast<const char*>(text_.get() + 1), text_->size);
  }

 private:
  struct Text {  // followed by the characters
    static void Delete(Text* text) { ::operator delete(text); }
    std::atomic<size_t> references;
    size_t size;
  };
  Counted<Text> text_;
};

}  // namespace nn
