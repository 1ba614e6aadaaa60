// Tensors with other axes and types.
#include "against/align.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "ir/seeded.h"
#include "ops/array/shape.h"

namespace nn::test::align_test {
namespace {

using against::CompareAligned;

std::vector<std::string> Maps(const std::vector<int64_t>& from, const std::vector<int64_t>& to) {
  std::vector<std::string> out;
  for (const AxisMap& m : against::MapsBetween(from, to, 24)) {
    CHECK(m.Apply(from) == to);
    out.push_back(m.ToString());
  }
  return out;
}

using Texts = std::vector<std::string>;

TEST_CASE("axes: the maps that the sizes allow, in order first") {
  CHECK(Maps({2, 3}, {2, 3}) == Texts{"[0, 1]"});
  CHECK(Maps({2, 3}, {3, 2}) == Texts{"[1, 0]"});
  CHECK(Maps({2, 3}, {2, 4}).empty());
  CHECK(Maps({2, 3}, {6}).empty());
  CHECK(Maps({}, {}) == Texts{"[]"});
  CHECK(Maps({}, {1}) == Texts{"[new]"});
  CHECK(Maps({4, 4}, {4, 4}) == Texts{"[0, 1]", "[1, 0]"});
  CHECK(Maps({1, 8, 5, 5}, {1, 5, 5, 8}) == Texts{"[0, 2, 3, 1]", "[0, 3, 2, 1]"});
  CHECK(Maps({1, 8, 1, 1}, {1, 8}) == Texts{"[0, 1]"});
  CHECK(Maps({1, 1}, {1, 1}) == Texts{"[0, 1]"});
  CHECK(against::MapsBetween({2, 2, 2, 2, 2}, {2, 2, 2, 2, 2}, 24).size() == 24);
  const auto type = [](const Dims& dims) { return Type(DType::kF32, dims); };
  CHECK(against::SameAxes(type({1, 8, 5, 5}), type({5, 5, 8})));
  CHECK_FALSE(against::SameAxes(type({8, 5, 5}), type({8, 25})));
  CHECK(against::SameAxes(type({Dim::Symbol("n"), 8}), type({4, 8})));
  CHECK_FALSE(against::SameAxes(type({Dim::Symbol("n"), 8}), type({4, 8, 2})));
}

Tensor Floats(std::vector<int64_t> dims, const std::vector<float>& values) {
  return Tensor::Of(std::move(dims), values);
}

TEST_CASE("alignment: of axes with equal sizes, those with equal contents") {
  const Tensor want = Floats({1, 1, 2, 2}, {1, 2, 3, 4});
  const auto same = CompareAligned(want, Floats({1, 2, 2, 1}, {1, 2, 3, 4}), 0, 0, 0);
  REQUIRE(same.has_value());
  CHECK(same->comparison.identical);
  CHECK(same->axes->ToString() == "[0, 2, 3, 1]");
  const auto swapped = CompareAligned(want, Floats({1, 2, 2, 1}, {1, 3, 2, 4}), 0, 0, 0);
  REQUIRE(swapped.has_value());
  CHECK(swapped->comparison.identical);
  CHECK(swapped->axes->ToString() == "[0, 3, 2, 1]");
  // The closest, if none is equal.
  const auto close = CompareAligned(want, Floats({2, 2}, {1, 3, 2, 4.5F}), 0.1, 0, 0);
  REQUIRE(close.has_value());
  CHECK(close->comparison.outside == 1);
  CHECK(close->comparison.max_absolute == 0.5);
}

TEST_CASE("alignment: joined axes, other numbers of elements, other types") {
  const Tensor want = Floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto joined = CompareAligned(want, Floats({6}, {1, 2, 3, 4, 5, 6}), 0, 0, 0);
  REQUIRE(joined.has_value());
  CHECK(joined->comparison.identical);
  CHECK_FALSE(joined->axes.has_value());
  const auto fewer = CompareAligned(want, Floats({2}, {1, 2}), 0, 0, 0);
  REQUIRE(fewer.has_value());
  CHECK(fewer->comparison.mismatch == "f32[2], expected f32[2, 3]");
  CHECK(CompareAligned(Tensor::Ints({1, 2}), Tensor::Of<int32_t>({2}, {1, 2}), 0, 0, 0)
            ->comparison.agrees);
  CHECK(CompareAligned(Tensor::Ints({1, 2}), Floats({2}, {1, 2}), 0, 0, 0)->comparison.agrees);
  const auto text =
      CompareAligned(Tensor({1}, std::vector<std::string>{"a"}), Floats({1}, {1}), 0, 0, 0);
  CHECK(text.error().code() == ErrorCode::kUnsupported);
  // A step of a quantized type is added to the tolerance.
  CHECK(CompareAligned(want, Floats({2, 3}, {1.5, 2, 3, 4, 5, 6}), 0, 0, 0.5)->comparison.agrees);
  CHECK_FALSE(
      CompareAligned(want, Floats({2, 3}, {1.6F, 2, 3, 4, 5, 6}), 0, 0, 0.5)->comparison.agrees);
}

TEST_CASE("alignment: counts what is not finite") {
  const float inf = std::numeric_limits<float>::infinity();
  const against::NotFinite n = against::CountNotFinite(Floats({4}, {1, inf, -inf, NAN}));
  CHECK(n.infinite == 2);
  CHECK(n.nan == 1);
  CHECK(against::CountNotFinite(Tensor::Ints({1})).nan == 0);
  CHECK(against::CountNotFinite(Tensor::Of<double>({2}, {NAN, 1})).nan == 1);
}

}  // namespace
}  // namespace nn::test::align_test
