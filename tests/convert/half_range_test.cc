#include "convert/half_range.h"

#include <doctest/doctest.h>

#include <vector>

#include "support/run_graph.h"

namespace nn::test::half_range_test {
namespace {

TEST_CASE("half range: operators with a number that float16 does not hold") {
  const Graph g = Parse(R"(graph { in %x: f32[batch, 8] const %k: f32[] = [1000]
    %a = mul(%x, %k) %b = mul(%a, %k) %c = mul(%b, %x) %d = div(%b, %k) %y = exp(%x)
    out "c" = %c out "d" = %d out "y" = %y })");
  const auto f16 = OutOfRange(g, DType::kF16, VerifyOptions());
  REQUIRE(f16);
  CHECK(*f16 == std::vector<bool>{false, true, true, true, false});
  const auto bf16 = OutOfRange(g, DType::kBF16, VerifyOptions());
  REQUIRE(bf16);
  CHECK(*bf16 == std::vector<bool>(5, false));
}

}  // namespace
}  // namespace nn::test::half_range_test
