#include "ir/tensor.h"

#include <doctest/doctest.h>

#include <limits>
#include <vector>

#include "ir/tensor_bounds.h"

namespace nn::tensor_test {
namespace {

TEST_CASE("tensor: every byte of a boolean but 0 is 1") {
  const std::vector<uint8_t> bytes = {0, 1, 2, 255};
  const auto t = Tensor::Make(DType::kBool, {4}, Blob::CopyOf(bytes));
  REQUIRE(t.has_value());
  CHECK(t->ToInts() == std::vector<int64_t>{0, 1, 1, 1});
  // Booleans in order stay where they are.
  const Blob in_order = Blob::CopyOf(std::vector<uint8_t>{0, 1, 1});
  CHECK(Tensor::Make(DType::kBool, {3}, in_order)->blob().data() == in_order.data());
  CHECK(Tensor::Make(DType::kU8, {4}, Blob::CopyOf(bytes))->ToInts() ==
        std::vector<int64_t>{0, 1, 2, 255});
}

TEST_CASE("tensor: elements of unknown type cannot be made") {
  const auto b = TensorBuilder::Create(DType::kUnknown, {2});
  REQUIRE_FALSE(b.has_value());
  CHECK(b.error().code() == ErrorCode::kUnsupported);
}

TEST_CASE("tensor: bounds of the elements") {
  const auto bounds_of = [](const Tensor& t) {
    const auto bounds = BoundsOf(t);
    REQUIRE(bounds.has_value());
    return *bounds;
  };
  CHECK(bounds_of(Tensor::Of<int8_t>({3}, {5, -128, 7})) == Interval{-128, 7});
  CHECK(bounds_of(Tensor::Of<uint8_t>({2}, {255, 3})) == Interval{3, 255});
  CHECK(bounds_of(Tensor::Of<int16_t>({2}, {-300, -200})) == Interval{-300, -200});
  CHECK(bounds_of(Tensor::Ints({int64_t{1} << 40, 0})) == Interval{0, 0x1p40});
  CHECK(bounds_of(Tensor::Of<uint64_t>({1}, {uint64_t{1} << 63})) == Interval{0x1p63, 0x1p63});
  CHECK(bounds_of(Tensor::Of<float>({2}, {0.5f, -2})) == Interval{-2, 0.5});
  const auto half = Tensor::Make(DType::kF16, {1}, Blob::CopyOf(std::vector<uint16_t>{0x3c00}));
  CHECK(bounds_of(half.value()) == Interval{1, 1});
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  CHECK_FALSE(BoundsOf(Tensor::Of<float>({2}, {kNan, 1})).has_value());
  CHECK_FALSE(BoundsOf(Tensor::Of<double>({2}, {1, kNan})).has_value());
  CHECK_FALSE(BoundsOf(Tensor::Of<float>({0}, {})).has_value());
}

}  // namespace
}  // namespace nn::tensor_test
