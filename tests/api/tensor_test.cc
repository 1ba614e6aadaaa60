#include <nnsuite/tensor.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "support.h"

namespace nnsuite::test::tensor_test {

TEST_CASE("api: a tensor has the contents that it was created from") {
  const Tensor t = Take(Tensor::Of<float>({2, 2}, {1, 2, 3, 4}));
  CHECK(t.dtype() == DType::kF32);
  CHECK(t.shape() == std::vector<int64_t>{2, 2});
  CHECK(t.elements() == 4);
  CHECK(Take(t.As<float>())[3] == 4);
  CHECK(t.bytes().size() == 16);
  CHECK(t.strings().empty());
  CHECK(t.Identical(Take(Tensor::Of<float>({2, 2}, {1, 2, 3, 4}))));
  CHECK_FALSE(t.Identical(Take(Tensor::Of<float>({4}, {1, 2, 3, 4}))));

  const Tensor strings = Take(Tensor::OfStrings({2}, {"a", "b"}));
  CHECK(strings.dtype() == DType::kString);
  CHECK(strings.strings() == std::vector<std::string>{"a", "b"});
  CHECK(Tensor().elements() == 0);
}

TEST_CASE("api: a view keeps its owner, and is copied only if it is not aligned") {
  const auto owner = std::make_shared<std::vector<int32_t>>(std::vector<int32_t>{1, 2, 3, 4, 5});
  std::weak_ptr<std::vector<int32_t>> watched = owner;
  const auto bytes = std::as_bytes(std::span(*owner));
  auto view = std::make_optional(Take(Tensor::View(DType::kI32, {5}, bytes, owner)));
  CHECK(Take(view->As<int32_t>())[4] == 5);
  const auto rest = Tensor::View(DType::kI32, {4}, bytes.subspan(4), owner);
  REQUIRE(rest.has_value());
  CHECK(Take(rest->As<int32_t>())[0] == 2);
  CHECK(reinterpret_cast<uintptr_t>(rest->bytes().data()) % 16 == 0);
  view.reset();
  CHECK_FALSE(watched.expired());  // `owner` still exists
}

TEST_CASE("api: errors of tensors name what is wrong") {
  const auto wrong_size = Tensor::Of<float>({3}, {1, 2});
  REQUIRE_FALSE(wrong_size.has_value());
  CHECK(wrong_size.error().code() == ErrorCode::kModel);
  CHECK(wrong_size.error().message() == "3 elements of f32 take 12 bytes, but the data has 8");
  CHECK(Tensor::Of<float>({-1}, {1.0f}).error().code() == ErrorCode::kModel);
  CHECK(Tensor::Copy(DType::kString, {0}, {}).error().code() == ErrorCode::kUsage);
  CHECK(Tensor::OfStrings({3}, {"a"}).error().code() == ErrorCode::kModel);
  const Tensor t = Take(Tensor::Of<int8_t>({1}, {7}));
  CHECK(t.As<float>().error().message() == "the tensor has elements of type i8, not f32");
}

TEST_CASE("api: archives return what was written") {
  const TestFolder folder;
  const std::vector<NamedTensor> tensors = {{"a", Take(Tensor::Of<float>({2}, {0.5f, -1}))},
                                            {"b", Take(Tensor::Of<int64_t>({}, {42}))}};
  for (const std::string name : {"t.npz", "t.safetensors"}) {
    CAPTURE(name);
    REQUIRE(WriteTensors(folder / name, tensors).has_value());
    std::vector<NamedTensor> read = Take(ReadTensors(folder / name));
    // .safetensors files are ordered by alignment.
    std::sort(read.begin(), read.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
    CHECK(Digest(read) == Digest(tensors));
  }
  CHECK(WriteTensors(folder / "t.txt", tensors).error().code() == ErrorCode::kUsage);
  CHECK(ReadTensors(folder / "missing.npz").error().code() == ErrorCode::kIo);
}

TEST_CASE("api: comparisons") {
  const Tensor a = Take(Tensor::Of<float>({2}, {1, 2}));
  const Tensor b = Take(Tensor::Of<float>({2}, {1, 2.5}));
  CHECK(Compare(a, a).identical);
  const Comparison c = Compare(a, b);
  CHECK_FALSE(c.agrees);
  CHECK(c.outside == 1);
  CHECK(c.max_absolute == 0.5);
  CHECK(c.max_relative == 0.25);
  CHECK(Compare(a, b, {.atol = 0.5}).agrees);
}

}  // namespace nnsuite::test::tensor_test
