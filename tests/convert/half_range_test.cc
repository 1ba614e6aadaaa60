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

TEST_CASE("half range: operators whose numbers are all too small") {
  // A constant may have fewer bits, but not vanish; the square of 1e-4 has lost most of its bits.
  const Graph g = Parse(R"(graph { in %x: f32[8] const %k: f32[] = [1e-4] const %e: f32[] = [1e-5]
    const %v: f32[] = [1e-12] %a = mul(%x, %k) %b = mul(%a, %a) %c = add(%x, %e) %d = add(%x, %v)
    out "b" = %b out "c" = %c out "d" = %d })");
  VerifyOptions options;
  options.data = [](const Graph&) -> Result<std::vector<VerifyInputs>> {
    VerifyInputs ones;
    ones.tensors = {Tensor::Of({8}, std::vector<float>(8, 1.0F))};
    return std::vector<VerifyInputs>{ones};
  };
  const auto f16 = OutOfRange(g, DType::kF16, options);
  REQUIRE(f16);
  CHECK(*f16 == std::vector<bool>{false, true, false, true});
}

}  // namespace
}  // namespace nn::test::half_range_test
