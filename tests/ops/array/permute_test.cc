#include "ops/array/arrange/permute.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "ops/array/shape.h"

namespace nn::test::permute_test {
namespace {

// Bytes with few repetitions.
Tensor Numbered(DType dtype, const std::vector<int64_t>& dims) {
  int64_t elements = 1;
  for (const int64_t d : dims) elements *= d;
  Buffer buffer(ByteSize(dtype, elements));
  std::mt19937 random(7);
  for (std::byte& b : buffer.as<std::byte>()) b = static_cast<std::byte>(random());
  return Tensor(dtype, dims, Blob(std::move(buffer)));
}

struct Case {
  DType dtype;
  std::vector<int64_t> dims;
  std::vector<int64_t> perm;
};

TEST_CASE("permute: any piece of a deferred permutation has the bytes of the whole") {
  const std::vector<Case> cases = {
      {DType::kF32, {700, 611}, {1, 0}},
      {DType::kF32, {1, 64, 70, 3, 31}, {0, 2, 3, 4, 1}},
      {DType::kF32, {33, 65, 13, 17}, {2, 0, 3, 1}},
      {DType::kF32, {40, 50, 300}, {1, 0, 2}},  // rows stay together
      {DType::kI8, {1031, 1033}, {1, 0}},
      {DType::kF16, {9, 257, 11, 31}, {3, 2, 1, 0}},
      {DType::kI64, {371, 401}, {1, 0}},
      {DType::kC64, {419, 403}, {1, 0}},
      {DType::kF32, {2, 3, 4, 5, 6, 7, 8, 9, 2}, {8, 0, 7, 1, 6, 2, 5, 3, 4}},
      {DType::kF32, {600, 5, 100}, {2, 0, 1}},  // two axes that stay neighbors
  };
  std::mt19937 random(11);
  for (const Case& c : cases) {
    CAPTURE(c.dims);
    CAPTURE(c.perm);
    const Tensor source = Numbered(c.dtype, c.dims);
    REQUIRE(source.byte_size() >= kDeferredPermutationBytes);
    const AxisMap map = AxisMap::Permutation(c.perm);
    const Tensor expected = RearrangeTensor(source, map).value();
    const Tensor deferred = RearrangeConstant(source, map).value();
    REQUIRE(deferred.blob().is_deferred());
    for (int i = 0; i < 50; ++i) {
      const size_t begin = random() % expected.byte_size();
      const size_t most = expected.byte_size() - begin;
      const size_t count = 1 + random() % (i % 2 == 0 ? most : std::min<size_t>(most, 100));
      size_t at = begin;
      bool equal = true;
      deferred.blob().Slice(begin, count).Visit([&](std::span<const std::byte> piece) {
        equal = std::memcmp(piece.data(), expected.blob().data() + at, piece.size()) == 0;
        at += piece.size();
        return equal;
      });
      CHECK(equal);
      CHECK(at == begin + count);
    }
    CHECK(deferred.blob().is_deferred());
    CHECK(deferred.Identical(expected));
    CHECK_FALSE(deferred.blob().is_deferred());
  }
}

TEST_CASE("permute: small, packed or unmoved tensors are not deferred") {
  const AxisMap swap = AxisMap::Permutation({1, 0});
  CHECK_FALSE(RearrangeConstant(Numbered(DType::kF32, {64, 64}), swap)->blob().is_deferred());
  CHECK_FALSE(RearrangeConstant(Numbered(DType::kI4, {2048, 2048}), swap)->blob().is_deferred());
  const Tensor row = Numbered(DType::kF32, {1, 1 << 20});
  const Tensor column = RearrangeConstant(row, swap).value();
  CHECK(column.dims() == std::vector<int64_t>{1 << 20, 1});
  CHECK(column.blob().data() == row.blob().data());
}

}  // namespace
}  // namespace nn::test::permute_test
