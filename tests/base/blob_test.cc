#include "base/file/blob.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace nn::test::blob_test {
namespace {

std::byte ByteAt(size_t i) {
  return static_cast<std::byte>(i * 7 + i / 251);
}

// Counts the bytes that are computed.
class Counting : public DeferredBytes {
 public:
  explicit Counting(std::atomic<size_t>& computed) : computed_(computed) {}
  void Compute(size_t offset, std::span<std::byte> to) const override {
    for (size_t i = 0; i < to.size(); ++i) to[i] = ByteAt(offset + i);
    computed_ += to.size();
    is_held = true;
  }
  void Release() const override { is_held = false; }

  static inline std::atomic<bool> is_held = false;

 private:
  std::atomic<size_t>& computed_;
};

constexpr size_t kSize = 2 * Blob::kVisitedBytes + 12'345;

bool HoldsBytesFrom(size_t offset, std::span<const std::byte> bytes) {
  for (size_t i = 0; i < bytes.size(); ++i)
    if (bytes[i] != ByteAt(offset + i)) return false;
  return true;
}

TEST_CASE("blob: deferred bytes are computed once, for all copies and slices") {
  std::atomic<size_t> computed = 0;
  const Blob blob = Blob::Deferred(kSize, std::make_unique<Counting>(computed));
  const Blob slice = Blob(blob).Slice(1'000, 5'000).Slice(10, 100);
  CHECK(blob.size() == kSize);
  CHECK(blob.is_deferred());
  CHECK(computed == 0);

  std::vector<std::thread> threads;
  std::atomic<int> equal = 0;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] { equal += HoldsBytesFrom(0, blob.bytes()) ? 1 : 0; });
  for (std::thread& t : threads) t.join();
  CHECK(equal == 4);
  CHECK(computed == kSize);
  CHECK_FALSE(slice.is_deferred());
  CHECK(slice.size() == 100);
  CHECK(HoldsBytesFrom(1'010, slice.bytes()));
  CHECK(computed == kSize);
}

TEST_CASE("blob: a visit computes its pieces and keeps none") {
  std::atomic<size_t> computed = 0;
  const Blob slice = Blob::Deferred(kSize, std::make_unique<Counting>(computed)).Slice(99, 6 << 20);
  size_t at = 99;
  int pieces = 0;
  slice.Visit([&](std::span<const std::byte> piece) {
    CHECK(piece.size() == std::min(Blob::kVisitedBytes, 99 + slice.size() - at));
    CHECK(HoldsBytesFrom(at, piece));
    at += piece.size();
    ++pieces;
    return true;
  });
  CHECK(pieces == 2);
  CHECK(at == 99 + slice.size());
  CHECK(slice.is_deferred());
  CHECK(computed == slice.size());
  CHECK_FALSE(Counting::is_held);

  pieces = 0;
  slice.Visit([&](std::span<const std::byte>) { return ++pieces == 0; });
  CHECK(pieces == 1);
  CHECK_FALSE(Counting::is_held);
}

TEST_CASE("blob: bytes in memory are visited in the same pieces") {
  std::vector<std::byte> bytes(kSize);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = ByteAt(i);
  const Blob blob = Blob::Copy(bytes);
  std::vector<size_t> sizes;
  size_t at = 0;
  blob.Visit([&](std::span<const std::byte> piece) {
    CHECK(HoldsBytesFrom(at, piece));
    at += piece.size();
    sizes.push_back(piece.size());
    return true;
  });
  CHECK(sizes == std::vector<size_t>{Blob::kVisitedBytes, Blob::kVisitedBytes, 12'345});
}

}  // namespace
}  // namespace nn::test::blob_test
