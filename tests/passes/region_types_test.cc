// Passes on types, weights and sizes in the regions of loops and branches.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "passes/core/passes.h"
#include "passes/facts/input_domains.h"
#include "passes/qdq/qdq.h"
#include "passes/quantize/quantize.h"
#include "passes/region_runs.h"
#include "passes/simplify/simplify.h"
#include "passes/types/float32.h"
#include "passes/types/half.h"

namespace nn::test::region_types_test {
namespace {

TEST_CASE("regions: float32 in place of other floats") {
  Graph g = Parse(R"(graph { in %x: f16[3]  in %n: i64[]
      %y = loop(%n, _, %x) {carried = 1, why = "test"} regions {
        graph { in %i: i64[]  in %v: f16[3]  const %go: bool[] = [1]  const %a: f16[3] = [1, 2, 3]
          %f = cast(%i) {to = f16}  %s = add(%v, %f)  %w = mul(%s, %a)
          out "go" = %go  out "w" = %w } }
      out "y" = %y })");
  REQUIRE(HasOtherFloats(g));
  REQUIRE(ComputeInFloat32(g).has_value());
  CHECK(!HasOtherFloats(g));
  CHECK(g.outputs()[0].value->dtype() == DType::kF32);
  const auto y = Evaluate(g, {Seeded({3}), Number(2)});
  CHECK(y[0].dtype() == DType::kF32);
}

const char* const kDenseLoop = R"(graph { in %x: f32[2, 16]  in %n: i64[]
      %y = loop(%n, _, %x) {carried = 1, why = "test"} regions {
        graph { in %i: i64[]  in %v: f32[2, 16]  const %go: bool[] = [1]
          const %m: f32[16, 16] = seeded(1, 0.2)
          %p = matmul(%v, %m)  %w = tanh(%p)  out "go" = %go  out "w" = %w } }
      out "y" = %y })";

double LargestChange(const Graph& a, const Graph& b) {
  const std::vector<Tensor> inputs = {Seeded({2, 16}), Number(3)};
  const Tensor x = Evaluate(a, inputs)[0], y = Evaluate(b, inputs)[0];
  double largest = 0;
  for (int64_t i = 0; i < x.elements(); ++i)
    largest = std::max(largest, std::abs(x.GetDouble(i) - y.GetDouble(i)));
  return largest;
}

TEST_CASE("regions: operators and weights of 16 bits") {
  for (const bool weights_only : {false, true}) {
    CAPTURE(weights_only);
    const Graph before = Parse(kDenseLoop);
    Graph g = before.Clone();
    HalfOptions options;
    options.weights_only = weights_only;
    const auto summary = ComputeInHalf(g, options);
    REQUIRE(summary.has_value());
    CHECK(summary->weights == 1);
    CHECK(summary->operators == (weights_only ? 0 : 2));
    CHECK(Count(g, "dequantize") == (weights_only ? 1 : 0));
    const double change = LargestChange(before, g);
    CHECK(change > 0);
    CHECK(change < 4e-3);
  }
}

TEST_CASE("regions: weights as integers") {
  const Graph before = Parse(kDenseLoop);
  Graph g = before.Clone();
  const auto summary = QuantizeWeights(g, {});
  REQUIRE(summary.has_value());
  CHECK(summary->weights == 1);
  CHECK(IsQuantized(g));
  const double change = LargestChange(before, g);
  CHECK(change > 0);
  CHECK(change < 2e-2);
}

TEST_CASE("regions: dequantization") {
  Graph g = Parse(R"(graph { in %x: f32[3]  in %n: i64[]
      %q = quantize(%x) : i8[3]{scale=0.0625, zp=0}
      %y = loop(%n, _, %q) {carried = 1, why = "test"} regions {
        graph { in %i: i64[]  in %v: i8[3]{scale=0.0625, zp=0}  const %go: bool[] = [1]
          %d = dequantize(%v)  %t = tanh(%d)  %w = quantize(%t) : i8[3]{scale=0.0625, zp=0}
          out "go" = %go  out "w" = %w } }
      %z = dequantize(%y)
      out "z" = %z })");
  const auto want = Evaluate(g, {Seeded({3}), Number(2)});
  const auto refused = Dequantize(g);
  REQUIRE(refused.has_value());
  CHECK(refused->empty());
  CHECK(!IsQuantized(g));
  CHECK(Count(g, "quantize") == 0);
  const auto got = Evaluate(g, {Seeded({3}), Number(2)});
  for (int64_t i = 0; i < 3; ++i)
    CHECK(std::abs(want[0].GetDouble(i) - got[0].GetDouble(i)) <= 0.13);
}

TEST_CASE("regions: sizes bound outside reach captured values") {
  Graph g = Parse(R"(graph { in %x: f32[batch, 3]  in %n: i64[]  in %k: f32[batch, 3]
      %y, %all = loop(%n, _, %x, %k) {carried = 1, why = "test"} regions {
        graph { in %i: i64[]  in %v: f32[batch, 3]  in %k: f32[batch, 3]  const %go: bool[] = [1]
          %s = shape_of(%k)  %r = reshape(%v, %s)  %w = add(%r, %k)
          out "go" = %go  out "w" = %w  out "s" = %s } }
      out "y" = %y  out "all" = %all })");
  REQUIRE(BindSymbols(g, {{"batch", 4}}).has_value());
  REQUIRE(FoldConstants(g).has_value());
  const Graph& body = *Only(g, "loop").regions()[0];
  CHECK(body.inputs()[2].value->type().const_dims() == std::vector<int64_t>{4, 3});
  CHECK(Count(g, "shape_of") == 0);
  CHECK(g.outputs()[0].value->type().const_dims() == std::vector<int64_t>{4, 3});
}

TEST_CASE("regions: duplicates and casts are simplified") {
  const Graph g = After(R"(graph { in %x: f32[3]  in %n: i64[]
      %y = loop(%n, _, %x) {carried = 1, why = "test"} regions {
        graph { in %i: i64[]  in %v: f32[3]  const %go: bool[] = [1]
          %a = exp(%v)  %b = exp(%v)  %c = cast(%b) {to = f32}  %w = sub(%a, %c)
          out "go" = %go  out "w" = %w } }
      out "y" = %y })",
                        [](Graph& graph) { return Simplify(graph); }, {{Seeded({3}), Number(2)}});
  CHECK(Count(g, "exp") == 1);
  CHECK(Count(g, "cast") == 0);
}

TEST_CASE("regions: operators in regions limit what inputs hold") {
  const Graph g = Parse(R"(graph { in %i: i64[2]  in %c: bool[]
      %y = branch(%c, %i) {why = "test"} regions {
        graph { in %i: i64[2]  const %t: f32[5, 2] = seeded(1)  %r = gather(%t, %i)  out "r" = %r }
        graph { in %i: i64[2]  const %t: f32[3, 2] = seeded(1)  %r = gather(%t, %i)  out "r" = %r } }
      out "y" = %y })");
  const auto domains = InputDomains(g);
  CHECK(domains[0].min == 0);
  CHECK(domains[0].max == 2);
}

}  // namespace
}  // namespace nn::test::region_types_test
