// The elementwise functions give the same bits on every SIMD target. ulp_test.cc tests their
// accuracy.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <set>
#include <string>
#include <vector>

#include "base/file/blob.h"
#include "exec/function_cases.h"
#include "exec/kernels/elementwise.h"
#include "exec/program.h"

namespace nn::test::functions_test {
namespace {

// Every `step`-th float32, of all 2^32.
std::vector<float> Arguments(uint32_t step) {
  std::vector<float> x;
  x.reserve((uint64_t{1} << 32) / step + 1);
  for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += step)
    x.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  return x;
}

std::vector<float> Run(const FunctionCase& f, const std::vector<float>& x) {
  const auto id = UnaryFunctionId(f.name);
  REQUIRE(id.has_value());
  std::vector<float> y(x.size());
  RunUnaryF32(*id, f.params, x.data(), y.data(), x.size());
  return y;
}

TEST_CASE("functions: the table has every unary function") {
  std::set<std::string> names;
  for (const FunctionCase& f : FunctionCases()) names.insert(f.name);
#define NN_ROW(name, fn) CHECK_MESSAGE(names.contains(name), name);
  NN_UNARY_FUNCTIONS(NN_ROW)
#undef NN_ROW
}

TEST_CASE("functions: every SIMD target gives the same bits") {
  const std::vector<float> x = Arguments(99991);
  for (const FunctionCase& f : FunctionCases()) {
    CAPTURE(std::string(f.name));
    const std::vector<float> want = Run(f, x);
    for (const std::string& target : SimdTargets()) {
      CAPTURE(target);
      REQUIRE(UseSimdTarget(target).has_value());
      const std::vector<float> got = Run(f, x);
      for (size_t i = 0; i < x.size(); ++i) {
        if (std::bit_cast<uint32_t>(want[i]) == std::bit_cast<uint32_t>(got[i]) ||
            (std::isnan(want[i]) && std::isnan(got[i])))
          continue;
        CAPTURE(x[i]);
        CHECK(std::bit_cast<uint32_t>(want[i]) == std::bit_cast<uint32_t>(got[i]));
      }
    }
    REQUIRE(UseSimdTarget("").has_value());
  }
}

TEST_CASE("functions: rows that are written past the caches") {
  constexpr size_t kLargest = 1000;
  Buffer x_buffer((kLargest + 1) * sizeof(float));
  const auto x = x_buffer.as<float>();
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i) - 300.5f;
  const float other = 3.5f;
  const float* const others = &other;
  for (const std::string& target : SimdTargets()) {
    CAPTURE(target);
    REQUIRE(UseSimdTarget(target).has_value());
    for (const size_t n : {size_t{1}, size_t{15}, size_t{16}, size_t{40}, kLargest})
      for (const size_t offset : {0, 1}) {  // aligned and not
        CAPTURE(n);
        CAPTURE(offset);
        constexpr float kUntouched = -7;
        Buffer y_buffer((kLargest + 2) * sizeof(float));
        const auto y = y_buffer.as<float>();
        std::fill(y.begin(), y.end(), kUntouched);
        RowsF32 rows{.x = x.data(), .y = y.data() + offset, .n = n, .streams = true};
        RunUnaryRowsF32(*UnaryFunctionId("relu"), {}, rows);
        for (size_t i = 0; i < n; ++i) CHECK(y[offset + i] == std::max(0.0f, x[i]));
        CHECK(y[offset + n] == kUntouched);
        RunBinaryRowsF32(*BinaryFunctionId("add"), rows, {.rows = &others, .scalar = true});
        for (size_t i = 0; i < n; ++i) CHECK(y[offset + i] == x[i] + other);
        CHECK(y[offset + n] == kUntouched);
      }
    REQUIRE(UseSimdTarget("").has_value());
  }
}

}  // namespace
}  // namespace nn::test::functions_test
