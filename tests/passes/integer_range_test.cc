// Bounds of computed integers.
#include "passes/facts/integer_range.h"

#include <doctest/doctest.h>

#include <limits>
#include <string>

#include "support/run_graph.h"

namespace nn::test::integer_range_test {
namespace {

constexpr double kSize = std::numeric_limits<int32_t>::max();
constexpr double kLeast = std::numeric_limits<int32_t>::min();

TEST_CASE("integer ranges: the bounds of results") {
  struct Row {
    std::string nodes;  // that compute %y from %i: i32[2, 3], %b: u8[2, 3] and %x: f32[2, n]
    double min, max;
  };
  const Row rows[] = {
      {"const %y: i64[3] = [4, -2, 3]", -2, 4},
      {"%y = abs(%b)", 0, 255},
      {"%y = cast(%b) {to = i32}", 0, 255},
      {"%y = neg(%b)", 0, 255},  // wraps
      {"%w = cast(%b) {to = i64} %y = neg(%w)", -255, 0},
      {"%y = sign(%i)", -1, 1},
      {"%y = add(%i, %i)", kLeast, kSize},  // may wrap
      {"%w = cast(%b) {to = i32} %y = sub(%w, %w)", -255, 255},
      {"const %c: i32[] = [7] %y = mod(%i, %c)", 0, 6},
      {"const %c: i32[] = [0] %y = maximum(%i, %c)", 0, kSize},
      {"const %c: i32[] = [-3] %w = cast(%b) {to = i32} %y = mul(%w, %c)", -765, 0},
      {"const %c: i32[] = [2] %w = cast(%b) {to = i32} %y = floor_div(%w, %c)", -1, 255},
      {"%y = arg_max(%i) {axis = 1, keep_dims = false}", 0, 3},
      {"%y = arg_max(%x) {axis = 1, keep_dims = false}", 0, kSize},
      {"%y = non_zero(%x)", 0, kSize},
      {"%y = shape_of(%x)", 0, kSize},
      {"%m = cast(%i) {to = bool} %w = cast(%m) {to = i64} %y = reduce_sum(%w)", 0, 6},
      {"%w = cast(%b) {to = i32} %y = reduce_max(%w) {axes = [0]}", 0, 255},
      {"%w = cast(%b) {to = i32} const %c: i32[1, 3] = [-1, 5, 9]"
       " %y = concat(%w, %c) {axis = 0}",
       -1, 255},
      {"%y = cast(%x) {to = i32}", kLeast, kSize},
  };
  for (const Row& r : rows) {
    CAPTURE(r.nodes);
    const Graph graph = Parse("graph { in %i: i32[2, 3] in %b: u8[2, 3] in %x: f32[2, n] " +
                              r.nodes + " out \"y\" = %y }");
    const auto range = IntegerRanges().Of(graph.outputs()[0].value);
    REQUIRE(range.has_value());
    CHECK(range->min == r.min);
    CHECK(range->max == r.max);
    CHECK(NeverNegative(graph.outputs()[0].value) == (r.min >= 0));
  }
}

TEST_CASE("integer ranges: inputs have the given bounds within their type") {
  const Graph graph = Parse(R"(graph { in %i: i32[2] in %b: u8[2] %w = cast(%b) {to = i32}
      %y = add(%i, %w) out "y" = %y })");
  IntegerRanges ranges(IntegerBounds{-10, 1000});
  const auto range = ranges.Of(graph.outputs()[0].value);
  REQUIRE(range.has_value());
  CHECK(range->min == -10);
  CHECK(range->max == 1255);
}

TEST_CASE("integer ranges: floats have none") {
  const Graph graph = Parse(R"(graph { in %x: f32[2] %y = abs(%x) out "y" = %y })");
  CHECK_FALSE(IntegerRanges().Of(graph.outputs()[0].value).has_value());
  CHECK_FALSE(NeverNegative(graph.outputs()[0].value));
}

}  // namespace
}  // namespace nn::test::integer_range_test
