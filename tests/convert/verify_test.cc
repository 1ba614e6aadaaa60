// Verification: detecting drift, and the tolerances.
#include "convert/verify/verify.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "rewrite/interface_axes.h"
#include "support/run_graph.h"

namespace nn::test::verify_test {
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

  // A drift in one run is kept in later runs.
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

TEST_CASE("verification: the tolerance that accepts all runs") {
  const Graph shifted = Parse(R"(graph { in %x: f32[4] const %k: f32[4] = splat(2)
    const %d: f32[] = [0.125] %p = mul(%x, %k) %y = add(%p, %d) out "y" = %y })");
  // The differences are alike, the magnitudes are not.
  VerifyOptions many;
  many.runs = 20;
  many.atol = 0;
  many.rtol = 1e-6;
  const OutputDrift drift = Verify(Scale("2"), shifted, many).outputs[0];
  CHECK(drift.accepting > drift.relative);
  many.rtol = drift.accepting * 0.999;
  CHECK_FALSE(Verify(Scale("2"), shifted, many).passed);
  many.rtol = drift.accepting * 1.001;
  CHECK(Verify(Scale("2"), shifted, many).passed);
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
  CHECK(std::isinf(Verify(shifted("u8[2]", 0), shifted("u8[2]", 1)).outputs[0].accepting));
}

TEST_CASE("verification: quantized outputs are measured by the real numbers") {
  const auto shifted = [](int by) {
    return Parse(
        fmt::format("graph {{ in %x: f32[2]  const %y: i16[2]{{scale=0.5}} = [10, {}]  "
                    "out \"y\" = %y }}",
                    20000 + by));
  };
  const OutputDrift drift = Verify(shifted(0), shifted(4)).outputs[0];
  CHECK_FALSE(drift.worst.agrees);
  CHECK(drift.relative == doctest::Approx(4 / 20000.0));
  CHECK(drift.accepting == doctest::Approx(3 / 20000.0));
  VerifyOptions wide;
  wide.rtol = drift.accepting * 0.999;
  CHECK_FALSE(Verify(shifted(0), shifted(4), wide).passed);
  wide.rtol = drift.accepting;
  CHECK(Verify(shifted(0), shifted(4), wide).passed);
  // An absolute tolerance is a real number, too: 3 steps are 1.5.
  wide.rtol = 0;
  wide.atol = 1.5;
  CHECK(Verify(shifted(0), shifted(4), wide).passed);
  CHECK_FALSE(Verify(shifted(0), shifted(5), wide).passed);
}

TEST_CASE("verification: so may real outputs that are dequantized integers") {
  const auto shifted = [](int by, std::string_view ops, std::string_view out) {
    return Parse(
        fmt::format("graph {{ in %x: f32[2]  const %q: u8[2]{{scale=0.5, zp=3}} = [10, {}]  {}  "
                    "out \"y\" = %{} }}",
                    20 + by, ops, out));
  };
  constexpr std::string_view kReal = "%r = dequantize(%q)";
  CHECK(Verify(shifted(0, kReal, "r"), shifted(1, kReal, "r")).passed);
  CHECK(!Verify(shifted(0, kReal, "r"), shifted(2, kReal, "r")).passed);
  // Moved elements are the same integers, others are not.
  constexpr std::string_view kMoved = "%r = dequantize(%q)  %m = reshape(%r) {dims = [2, 1]}";
  CHECK(Verify(shifted(0, kMoved, "m"), shifted(1, kMoved, "m")).passed);
  CHECK(!Verify(shifted(0, kMoved, "m"), shifted(2, kMoved, "m")).passed);
  constexpr std::string_view kSum = "%r = dequantize(%q)  %s = add(%r, %x)";
  CHECK(!Verify(shifted(0, kSum, "s"), shifted(1, kSum, "s")).passed);
}

TEST_CASE("verification: similarity of the outputs as wholes") {
  const Verification same = Verify(Scale("2"), Scale("2"));
  CHECK(std::isinf(same.outputs[0].worst.snr_db));
  CHECK(same.outputs[0].worst.cosine == 1);
  // The noise is a quarter of the signal in each element: 20 log10(4).
  const Verification off = Verify(Scale("2"), Scale("2.5"));
  CHECK(off.outputs[0].worst.snr_db == doctest::Approx(12.0412));
  CHECK(off.outputs[0].worst.cosine == doctest::Approx(1));
}

TEST_CASE("verification: dynamic dimensions have three sizes") {
  const Graph open = Parse("graph { in %x: f32[n, k]  %y = relu(%x)  out \"y\" = %y }");
  const Verification v = Verify(open, open);
  CHECK(v.passed);
  CHECK(v.runs == 3);
  REQUIRE(v.symbols.size() == 2);
  CHECK(v.symbols[0].first == "k");
  CHECK(v.symbols[0].second == std::vector<int64_t>{32, 16, 48});
  CHECK(v.symbols[1].first == "n");
  CHECK(v.symbols[1].second == std::vector<int64_t>{2, 1, 3});

  // Only the length 32 fits, with any batch.
  const Graph fixed = Parse(R"(graph {
    in %x: f32[n, k]
    const %w: f32[32, 2] = splat(1)
    %y = matmul(%x, %w)
    out "y" = %y
  })");
  const Verification lengths = Verify(fixed, fixed);
  REQUIRE(!lengths.symbols.empty());
  CHECK(lengths.symbols.back().second == std::vector<int64_t>{2, 1, 3});

  // A drift at one size is found even if the others agree.
  const Graph shifted = Parse(R"(graph {
    in %x: f32[n, k]
    %s = shape_of(%x)
    const %i: i64[1] = [0]
    %b = gather(%s, %i)
    const %three: i64[1] = [3]
    %is = equal(%b, %three)
    %f = cast(%is) {to = f32}
    %r = relu(%x)
    %y = add(%r, %f)
    out "y" = %y
  })");
  CHECK(!Verify(open, shifted).passed);
  VerifyOptions one;
  one.runs = 1;
  CHECK(Verify(open, shifted, one).passed);
  CHECK(Verify(open, open, one).symbols[0].second.size() == 1);
}

TEST_CASE("verification: inputs fit the indices of the model") {
  const Graph table = Parse(R"(graph {
    in %ids: i64[1, 6]
    const %t: f32[2, 4] = seeded(1)
    %y = gather(%t, %ids)
    out "y" = %y
  })");
  const Verification v = Verify(table, table);
  CHECK(v.passed);
  CHECK(!v.narrowed);

  // A requirement that is not found: the index depends on another input.
  const Graph sum = Parse(R"(graph {
    in %a: i64[1, 6]
    in %b: i64[1, 6]
    const %t: f32[3, 4] = seeded(1)
    %i = add(%a, %b)
    %y = gather(%t, %i)
    out "y" = %y
  })");
  const Verification narrowed = Verify(sum, sum);
  CHECK(narrowed.passed);
  CHECK(narrowed.narrowed);

  // No inputs at all.
  const Graph never = Parse(R"(graph {
    in %a: i64[1, 6]
    in %b: i64[1, 6]
    const %t: f32[3, 4] = seeded(1)
    const %k: i64[] = [5]
    %s = add(%a, %b)
    %i = add(%s, %k)
    %y = gather(%t, %i)
    out "y" = %y
  })");
  const auto failed = VerifyConversion(never.Clone(), [&] { return Result<Graph>(never.Clone()); },
                                       IdentityInterface(never), {});
  REQUIRE(!failed.has_value());
  CHECK(failed.error().code() == ErrorCode::kUsage);
  const std::string message = failed.error().message();
  for (const char* part :
       {"is out of range for an axis of size 3", "\"a\" is i64[1, 6]", "--verify-inputs"})
    CHECK_MESSAGE(message.find(part) != std::string::npos, message);
}

TEST_CASE("verification: given inputs") {
  const Graph open = Parse("graph { in %x: f32[n, 2]  %y = relu(%x)  out \"y\" = %y }");
  VerifyOptions options;
  const std::vector<float> four = {1, -2, 3, -4};
  options.data = [&](const Graph& source) -> Result<std::vector<VerifyInputs>> {
    CHECK(source.inputs()[0].name == "x");
    return std::vector<VerifyInputs>{{"a", {Tensor::Of({1, 2}, std::vector<float>{1, 2})}},
                                     {"b", {Tensor::Of({2, 2}, four)}}};
  };
  const Verification v = Verify(open, open, options);
  CHECK(v.passed);
  CHECK(v.runs == 2);
  CHECK(v.labels == std::vector<std::string>{"a", "b"});
  CHECK(v.seeds.empty());
  CHECK(v.symbols.empty());
}

}  // namespace
}  // namespace nn::test::verify_test
