#include "tensorio/compare.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace nn::test::compare_test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

Tensor F(const std::vector<float>& v) {
  return Tensor::Of<float>({static_cast<int64_t>(v.size())}, v);
}

TEST_CASE("compare: floats agree within atol + rtol * |want|") {
  struct Row {
    const char* name;
    float want, got;
    Tolerance tolerance;
    bool agrees;
  };
  for (const Row& r : {
           Row{"equal", 1.5f, 1.5f, {}, true},
           Row{"zeros of two signs", 0.0f, -0.0f, {}, true},
           Row{"not equal", 1.0f, 1.25f, {}, false},
           Row{"at the absolute bound", 1.0f, 1.25f, {0.25, 0, 0}, true},
           Row{"beyond the absolute bound", 1.0f, 1.25f, {0.2499, 0, 0}, false},
           Row{"at the relative bound", -4.0f, -5.0f, {0, 0.25, 0}, true},
           Row{"the bound is relative to what is wanted", -5.0f, -4.0f, {0, 0.19, 0}, false},
           Row{"both bounds add up", 4.0f, 5.5f, {0.5, 0.25, 0}, true},
           Row{"NaN and NaN", kNan, kNan, {}, true},
           Row{"NaN and a number", 1.0f, kNan, {100, 100, 0}, false},
           Row{"a number and NaN", kNan, 1.0f, {100, 100, 0}, false},
           Row{"infinity and itself", kInf, kInf, {}, true},
           Row{"infinity and its negative", kInf, -kInf, {100, 100, 0}, false},
           Row{"infinity and a number", kInf, 1e30f, {1e30, 100, 0}, false},
           Row{"a number and infinity", 1e30f, kInf, {1e30, 100, 0}, false},
       }) {
    CAPTURE(r.name);
    CHECK(Compare(F({r.want}), F({r.got}), r.tolerance).agrees == r.agrees);
    const Tensor want = Tensor::Scalar<double>(r.want), got = Tensor::Scalar<double>(r.got);
    CHECK(Compare(want, got, r.tolerance).agrees == r.agrees);
  }
}

TEST_CASE("compare: means describe tensors that are finite where they differ") {
  CHECK(Compare(F({1, 2}), F({1, 3}), {}).has_means());
  CHECK(Compare(F({kNan, kInf, 2}), F({kNan, kInf, 3}), {}).has_means());
  CHECK(!Compare(F({1, 2}), F({kNan, 2}), {}).has_means());
  CHECK(!Compare(F({kNan, 2}), F({1, 2}), {}).has_means());
  CHECK(!Compare(F({kInf, 2}), F({-kInf, 2}), {}).has_means());
}

TEST_CASE("compare: the largest difference and its place are reported") {
  const Tensor want = Tensor::Of<float>({2, 3}, {1, 2, 3, 4, 0, 6});
  const Tensor got = Tensor::Of<float>({2, 3}, {1, 2.5, 3, 4, 0.25, 7.5});
  const Comparison c = Compare(want, got, {0.3, 0, 0});
  CHECK(!c.agrees);
  CHECK(c.elements == 6);
  CHECK(c.outside == 2);
  CHECK(c.max_absolute == 1.5);
  CHECK(c.max_relative == 0.25);  // elements that should be 0 have none
  CHECK(*c.worst == 5);
  CHECK(Describe(c, want) ==
        "2 of 6 elements differ, largest difference 1.5 absolute, 0.25 relative, at [1, 2]: 7.5, "
        "expected 6.0");
  // Both figures are those of the element that is shown; one that should be 0 has no relative one.
  CHECK(Describe(Compare(F({4, 1}), F({6, 2}), {}), F({4, 1})) ==
        "2 of 2 elements differ, largest difference 2 absolute, 0.5 relative, at [0]: 6.0, "
        "expected 4.0");
  CHECK(Describe(Compare(F({0, 8}), F({1, 8.5}), {}), F({0, 8})) ==
        "2 of 2 elements differ, largest difference 1 absolute, at [0]: 1.0, expected 0.0");
  CHECK(Describe(Compare(F({1000, 1}), F({1010, 2}), {0, 0.5, 0}), F({1000, 1})) ==
        "1 of 2 elements differ, largest difference 1 absolute, 1 relative, at [1]: 2.0, "
        "expected 1.0");
  // Elements that do not agree come before larger differences that do.
  const Comparison relative = Compare(F({1000, 1}), F({1010, 2}), {0, 0.5, 0});
  CHECK(*relative.worst == 1);
  CHECK(relative.max_absolute == 10);
  const Comparison within = Compare(F({1, 2}), F({1.25, 2.5}), {1, 0, 0});
  CHECK(within.agrees);
  CHECK(!within.identical);
  CHECK(*within.worst == 1);
  CHECK(Describe(within, F({1, 2})).starts_with("within tolerance, largest difference 0.5"));
}

TEST_CASE("compare: a tolerance relative to the largest magnitude") {
  CHECK(LargestMagnitude(F({1, -8, kInf, kNan})) == 8);
  CHECK(LargestMagnitude(F({})) == 0);
  CHECK(LargestMagnitude(Tensor::Of<int32_t>({1}, {5})) == 0);
  const Tensor want = F({0, -8}), got = F({0.5f, -8});
  CHECK_FALSE(Compare(want, got, {0.125, 0.046875, 0}).agrees);
  const Tolerance scaled = ScaledTolerance(0.125, 0.046875, want);
  CHECK(scaled.atol == 0.5);
  const Comparison c = Compare(want, got, scaled);
  CHECK(c.agrees);
  CHECK(c.mean_absolute == 0.25);
}

TEST_CASE("compare: identical, equal and of another type") {
  CHECK(Compare(F({1, kNan}), F({1, kNan}), {}).identical);
  const Comparison zeros = Compare(F({0.0f}), F({-0.0f}), {});
  CHECK(!zeros.identical);
  CHECK(zeros.agrees);
  CHECK(!zeros.worst);
  CHECK(Describe(zeros, F({0})) == "equal");
  const Comparison type = Compare(F({1}), Tensor::Of<int32_t>({1}, {1}), {1, 1, 1});
  CHECK(!type.agrees);
  CHECK(type.mismatch == "i32[1], expected f32[1]");
  const Comparison shape = Compare(F({1, 2}), Tensor::Of<float>({2, 1}, {1, 2}), {});
  CHECK(shape.mismatch == "f32[2, 1], expected f32[2]");
  CHECK(!shape.agrees);
}

TEST_CASE("compare: integers differ by steps, exactly") {
  const auto compare = [](auto want, auto got, int64_t steps) {
    using T = decltype(want);
    return Compare(Tensor::Scalar<T>(want), Tensor::Scalar<T>(got), {100, 100, steps});
  };
  CHECK(!compare(int32_t{1}, int32_t{2}, 0).agrees);
  CHECK(compare(int32_t{1}, int32_t{2}, 1).agrees);
  CHECK(!compare(int8_t{-128}, int8_t{127}, 254).agrees);
  CHECK(compare(int8_t{-128}, int8_t{127}, 255).agrees);
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  CHECK(compare(kMin, std::numeric_limits<int64_t>::max(), 5).max_absolute == 0x1p64);
  // Doubles cannot tell these apart.
  CHECK(!compare(int64_t{1} << 60, (int64_t{1} << 60) + 1, 0).agrees);
  CHECK(compare(~uint64_t{0}, uint64_t{0}, 7).max_absolute == 0x1p64);
  CHECK(compare(~uint64_t{0}, ~uint64_t{0} - 1, 1).agrees);
  CHECK(
      Compare(Tensor::Scalar<uint64_t>(~uint64_t{0}), Tensor::Scalar<uint64_t>(0), {}).want_text ==
      "18446744073709551615");
}

TEST_CASE("compare: bool, strings, complex and narrow types") {
  const auto flag = [](uint8_t v) {
    return Tensor(DType::kBool, {}, Blob::CopyOf(std::vector<uint8_t>{v}));
  };
  CHECK(!Compare(flag(0), flag(1), {1, 1, 1}).agrees);
  const Tensor a({2}, {"x", "y"}), b({2}, {"x", "z"});
  const Comparison strings = Compare(a, b, {1, 1, 1});
  CHECK(strings.outside == 1);
  CHECK(strings.got_text == "\"z\"");
  CHECK(Describe(strings, a) == "1 of 2 elements differ, at [1]: \"z\", expected \"y\"");
  CHECK(Compare(a, a, {}).identical);
  const auto complex = [](const std::vector<float>& v) {
    return Tensor(DType::kC64, {static_cast<int64_t>(v.size() / 2)}, Blob::CopyOf(v));
  };
  const Comparison c = Compare(complex({1, 2, 3, 4}), complex({1, 2, 3, 4.5}), {0.25, 0, 0});
  CHECK(*c.worst == 1);
  CHECK(c.max_absolute == 0.5);
  CHECK(c.got_text == "3.0+4.5i");
  CHECK(Compare(complex({1, 2}), complex({1, -2}), {}).got_text == "1.0-2.0i");
  const auto half = [](uint16_t bits) {
    return Tensor(DType::kF16, {}, Blob::CopyOf(std::vector<uint16_t>{bits}));
  };
  CHECK(Compare(half(0x3C00), half(0x3C01), {1e-3, 0, 0}).agrees);
  CHECK(!Compare(half(0x3C00), half(0x3C01), {1e-4, 0, 0}).agrees);
  CHECK(Compare(F({}), F({}), {}).identical);
}

TEST_CASE("compare: indices and elements as text") {
  CHECK(IndexText(0, {}) == "[]");
  CHECK(IndexText(5, {6}) == "[5]");
  CHECK(IndexText(23, {2, 3, 4}) == "[1, 2, 3]");
  CHECK(ElementText(Tensor::Scalar<double>(0.1), 0) == "0.1");
  CHECK(ElementText(Tensor::Scalar<float>(0.1f), 0) == "0.1");
  CHECK(ElementText(Tensor::Scalar<int8_t>(-3), 0) == "-3");
}

}  // namespace
}  // namespace nn::test::compare_test
