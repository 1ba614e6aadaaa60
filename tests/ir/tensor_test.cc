#include "ir/tensor.h"

#include <doctest/doctest.h>

#include <vector>

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

}  // namespace
}  // namespace nn::tensor_test
