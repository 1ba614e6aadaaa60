// Bounds of computed integers.
#include "passes/facts/ranges.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

#include "support/run_graph.h"

namespace nn::test::ranges_test {
namespace {

constexpr double kSize = std::numeric_limits<int32_t>::max();
constexpr double kLeast = std::numeric_limits<int32_t>::min();

TEST_CASE("ranges: the bounds of results") {
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
      {"%y = arg_max(%i) {axis = 1, keep_dims = false}", 0, 2},
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
    const Interval range = Ranges().Of(graph.outputs()[0].value);
    CHECK(range.min == r.min);
    CHECK(range.max == r.max);
    CHECK(NeverNegative(graph.outputs()[0].value) == (r.min >= 0));
  }
}

TEST_CASE("ranges: inputs have the given bounds within their type") {
  const Graph graph = Parse(R"(graph { in %i: i32[2] in %b: u8[2] %w = cast(%b) {to = i32}
      %y = add(%i, %w) out "y" = %y })");
  Ranges ranges(Interval{-10, 1000});
  CHECK(ranges.Of(graph.outputs()[0].value) == Interval{-10, 1255});
}

TEST_CASE("ranges: the bounds of floats, which are rounded unless they are elements of operands") {
  struct Row {
    std::string nodes;  // that compute %y from %x and %w: f32[2, 3]
    double min, max;
    bool rounds = true;
  };
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Row rows[] = {
      {"%y = neg(%x)", -kInfinity, kInfinity},
      {"%y = relu(%x)", 0, kInfinity},
      {"%y = mul(%x, %x)", 0, kInfinity},
      {"%y = sigmoid(%x)", 0, 1},
      {"%y = softmax(%x) {axis = 1}", 0, 1},
      {"%y = clip(%x) {min = -2, max = 5}", -2, 5},
      {"%c = clip(%x) {min = -2, max = 5} %y = abs(%c)", 0, 5},
      {"%c = clip(%x) {min = 2, max = 4} %y = reciprocal(%c)", 0.25, 0.5},
      {"%c = clip(%x) {min = 2, max = 4} %y = rsqrt(%c)", 0.5, 0.7071067811865476},
      {"%c = clip(%x) {min = 2, max = 4} %y = div(%c, %c)", 0.5, 2},
      {"%c = clip(%x) {min = 2, max = 4} %y = squared_difference(%c, %c)", 0, 4},
      {"%c = clip(%x) {min = 2, max = 4} %y = reduce_sum(%c)", 2, kInfinity},
      {"%c = clip(%x) {min = 2, max = 4} %y = reduce_mean(%c)", 2, 4},
      {"const %c: f32[2] = [-1, 3] %s = relu(%x) const %i: i64[] = [1] %y = gather(%c, %i)", -1, 3,
       false},
      {"const %c: f32[1, 3] = [-1, 5, 9] %y = reverse(%c) {axes = [1]}", -1, 9, false},
      {"const %c: f32[1, 3] = [4, 5, 9] %y = pad(%c) {pads = [0, 1, 0, 1]}", 0, 9, false},
      {"const %c: f32[2, 3] = [4, 5, 9, 1, 1, 2] %e = exp(%w) %y = minimum(%c, %e)", 0, 9},
  };
  for (const Row& r : rows) {
    CAPTURE(r.nodes);
    const Graph graph =
        Parse("graph { in %x: f32[2, 3] in %w: f32[2, 3] " + r.nodes + " out \"y\" = %y }");
    const Interval range = Ranges().Of(graph.outputs()[0].value);
    const double slack = r.rounds ? 0x1p-14 : 0;
    CHECK(range.min <= r.min);
    CHECK(range.max >= r.max);
    if (std::isfinite(r.min)) CHECK(range.min >= r.min - std::fabs(r.min) * slack);
    if (std::isfinite(r.max)) CHECK(range.max <= r.max + std::fabs(r.max) * slack);
  }
}

TEST_CASE("ranges: numbers are above zero if no rounding makes them 0") {
  const auto above_zero = [](const std::string& nodes) {
    const Graph graph = Parse("graph { in %x: f32[3] " + nodes + " out \"y\" = %y }");
    return IsAboveZero(Ranges().Of(graph.outputs()[0].value));
  };
  CHECK(above_zero("%y = clip(%x) {min = 0.001, max = 5}"));
  CHECK(
      above_zero("%c = clip(%x) {min = 0.001, max = 5} %r = reverse(%c) {axes = [0]}"
                 " %y = tile(%r) {repeats = [2]}"));
  CHECK_FALSE(above_zero("%y = exp(%x)"));
  CHECK_FALSE(above_zero("%y = relu(%x)"));
  CHECK_FALSE(above_zero("%c = clip(%x) {min = 0.001, max = 5} %y = pad(%c) {pads = [1, 0]}"));
}

TEST_CASE("ranges: other types have none") {
  for (const std::string type : {"f16[2]", "u64[2]", "u8[2]{scale=0.5}"}) {
    CAPTURE(type);
    const Graph graph =
        Parse("graph { in %x: " + type + " %y = reverse(%x) {axes = [0]} out \"y\" = %y }");
    CHECK(Ranges().Of(graph.outputs()[0].value) == Interval());
  }
}

}  // namespace
}  // namespace nn::test::ranges_test
