// Verification: which drift is found, and what it is compared with.
#include "convert/verify.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "passes/interface_axes.h"
#include "support/run_graph.h"

namespace nn::test {
namespace {

// y = x * factor over f32[4] or another type.
Graph Scale(const std::string& factor, const std::string& type = "f32[4]") {
  return Parse("graph { in %x: " + type + "  const %k: " + type + " = splat(" + factor +
               ")  %y = mul(%x, %k)  out \"y\" = %y }");
}

Verification Verify(const Graph& a, const Graph& b, const VerifyOptions& options = {}) {
  auto v = VerifyConversion(
      a.Clone(), [&] { return Result<Graph>(b.Clone()); }, IdentityInterface(a), options);
  REQUIRE_MESSAGE(v.has_value(), v.error().message());
  return *std::move(v);
}

TEST_CASE("verification: the largest drift of all runs decides") {
  const Verification same = Verify(Scale("2"), Scale("2"));
  CHECK(same.passed);
  CHECK(same.seeds == std::vector<uint64_t>{0, 1, 2});
  REQUIRE(same.outputs.size() == 1);
  CHECK(same.outputs[0].worst.identical);
  CHECK(same.outputs[0].where == "bit-identical");

  const Verification off = Verify(Scale("2"), Scale("2.5"));
  CHECK(!off.passed);
  CHECK(off.outputs[0].relative == doctest::Approx(0.25));
  CHECK(off.outputs[0].worst.outside > 0);
  VerifyOptions wide;
  wide.rtol = 0.26;
  CHECK(Verify(Scale("2"), Scale("2.5"), wide).passed);

  // A drift in one run is not forgotten in the next.
  VerifyOptions many;
  many.runs = 20;
  double largest = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    VerifyOptions one;
    one.seed = seed;
    one.runs = 1;
    largest =
        std::max(largest, Verify(Scale("2"), Scale("2.5"), one).outputs[0].worst.max_absolute);
  }
  CHECK(Verify(Scale("2"), Scale("2.5"), many).outputs[0].worst.max_absolute == largest);
}

TEST_CASE("verification: outputs of another shape, interface of another size") {
  const Graph longer = Parse(
      "graph { in %x: f32[4]  %y = reshape(%x) {dims = [2, 2]}  "
      "out \"y\" = %y }");
  const Verification v =
      Verify(Parse("graph { in %x: f32[4]  %y = relu(%x)  out \"y\" = %y }"), longer);
  CHECK(!v.passed);
  CHECK(v.outputs[0].worst.mismatch == "f32[2, 2], expected f32[4]");
  const Graph two = Parse(R"(graph {
    in %a: f32[4]
    in %b: f32[4]
    %sum = add(%a, %b)
    %product = mul(%a, %b)
    out "sum" = %sum
    out "product" = %product
  })");
  const auto wrong = VerifyConversion(Scale("2"), [&] { return Result<Graph>(two.Clone()); },
                                      IdentityInterface(two), {});
  REQUIRE(!wrong.has_value());
  CHECK(wrong.error().message() ==
        "the model has 1 inputs and 1 outputs, but the written model has 2 inputs and 2 outputs");
}

TEST_CASE("verification: interfaces of other number types are compared by value") {
  const auto identity = [](const std::string& type) {
    return Parse("graph { in %x: " + type + "  %y = reshape(%x) {dims = [4]}  out \"y\" = %y }");
  };
  const Verification v = Verify(identity("i64[4]"), identity("i32[4]"));
  CHECK(v.passed);
  CHECK(v.outputs[0].type == "i64 -> i32");
  CHECK(Verify(identity("i32[4]"), identity("f32[4]")).passed);
}

TEST_CASE("verification: quantized outputs may be one step apart, others not") {
  const auto shifted = [](const std::string& type, int by) {
    return Parse(fmt::format("graph {{ in %x: f32[2]  const %y: {} = [10, {}]  out \"y\" = %y }}",
                             type, 20 + by));
  };
  const std::string quantized = "u8[2]{scale=0.5, zp=3}";
  CHECK(Verify(shifted(quantized, 0), shifted(quantized, 1)).passed);
  CHECK(!Verify(shifted(quantized, 0), shifted(quantized, 2)).passed);
  CHECK(!Verify(shifted("u8[2]", 0), shifted("u8[2]", 1)).passed);
}

}  // namespace
}  // namespace nn::test
