#include <doctest/doctest.h>
#include <fmt/core.h>

#include <limits>
#include <string>
#include <vector>

#include "support/run_graph.h"

namespace nn::test::deform_conv_test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Without offsets and masks, the operator is conv.
TEST_CASE("deform_conv: offsets of zero") {
  for (const char* attrs : {"groups = 1", "strides = [2, 1], pads = [1, 0, 2, 1]",
                            "dilations = [1, 2], pads = [1, 1, 1, 1]"}) {
    CAPTURE(attrs);
    const std::string head = fmt::format(
        "graph {{ in %x: f32[2, 3, 5, 6]  const %w: f32[4, 3, 2, 3] = seeded(1)  "
        "const %b: f32[4] = seeded(2)  %c = conv(%x, %w, %b) {{{}}}  ",
        attrs);
    const Graph conv = Parse(head + "out \"y\" = %c }");
    const auto dims = conv.outputs()[0].value->type().const_dims();
    REQUIRE(dims.has_value());
    const Graph deformed = Parse(fmt::format(
        "{} const %o: f32[2, 12, {}, {}] = splat(0)  %y = deform_conv(%x, %w, %o, %b) {{{}}}  "
        "out \"y\" = %y }}",
        head, (*dims)[2], (*dims)[3], attrs));
    CHECK(LargestDifference(conv, deformed) == 0);
  }
}

TEST_CASE("deform_conv: by hand") {
  const auto graph = [](const std::string& x, const std::string& filter, const std::string& offset,
                        const std::string& rest) {
    return fmt::format("graph {{ in %x: {}  in %w: {}  in %o: {}  {}  out \"y\" = %y }}", x, filter,
                       offset, rest);
  };
  for (const OpCase& c : {
           // Positions 0.5, 1 + 1, 2 - 2.5 and 3 + 0.25 of 1, 2, 4, 8.
           OpCase{"a line",
                  graph("f32[1, 1, 4]", "f32[1, 1, 1]", "f32[1, 1, 4]",
                        "%y = deform_conv(%x, %w, %o)"),
                  {{1, 2, 4, 8}, {10}, {0.5, 1, -2.5, 0.25}},
                  {{15, 40, 5, 60}}},
           // Row 0.5, column 0.25 of 0, 4; 8, 12.
           OpCase{"rows and columns",
                  graph("f32[1, 1, 2, 2]", "f32[1, 1, 2, 2]", "f32[1, 8, 1, 1]",
                        "%y = deform_conv(%x, %w, %o)"),
                  {{0, 4, 8, 12}, {1, 0, 0, 0}, {0.5, 0.25, 0, 0, 0, 0, 0, 0}},
                  {{5}}},
           OpCase{"the mask and the bias",
                  graph("f32[1, 1, 2]", "f32[1, 1, 2]", "f32[1, 2, 1]",
                        "const %b: f32[1] = [7]  const %m: f32[1, 2, 1] = [0.5, 2] "
                        "%y = deform_conv(%x, %w, %o, %b, %m)"),
                  {{3, 5}, {2, 4}, {0, 0}},
                  {{50}}},
           // The second channel reads the next element.
           OpCase{"offset groups",
                  graph("f32[1, 2, 2]", "f32[1, 2, 1]", "f32[1, 2, 2]",
                        "%y = deform_conv(%x, %w, %o) {offset_groups = 2}"),
                  {{1, 2, 10, 20}, {1, 1}, {0, 0, 1, 1}},
                  {{21, 2}}},
           OpCase{"NaN is outside",
                  graph("f32[1, 1, 2]", "f32[1, 1, 1]", "f32[1, 1, 2]",
                        "%y = deform_conv(%x, %w, %o)"),
                  {{1, 2}, {1}, {kNan, 0}},
                  {{0, 2}}},
       })
    CheckCase(c);
}

TEST_CASE("deform_conv: operands that do not fit") {
  const auto fails = [](const char* w, const char* o, const std::string& call, const char* why) {
    return Fails(fmt::format("graph {{ in %x: f32[1, 4, 4, 4]  in %w: {}  in %o: {}  "
                             "%y = deform_conv({}  out \"y\" = %y }}",
                             w, o, call),
                 why);
  };
  CHECK(fails("f32[2, 3, 2, 2]", "f32[1, 8, 3, 3]", "%x, %w, %o)",
              "the number of input channels is 4; must be 3"));
  CHECK(fails("f32[2, 4, 2, 2]", "f32[1, 9, 3, 3]", "%x, %w, %o)",
              "axis 1 of the offset is 9; must be 8"));
  CHECK(fails("f32[2, 4, 2, 2]", "f32[1, 8, 3, 4]", "%x, %w, %o)",
              "axis 3 of the offset is 4; must be 3"));
  CHECK(fails("f32[2, 4, 2, 2]", "f32[1, 24, 3, 3]", "%x, %w, %o) {offset_groups = 3}",
              "4 input channels are not divisible by 3 groups"));
  CHECK(fails("f32[3, 2, 2, 2]", "f32[1, 8, 3, 3]", "%x, %w, %o) {groups = 2}",
              "3 output channels are not divisible by 2 groups"));
  CHECK(fails("f32[2, 4, 2]", "f32[1, 8, 3, 3]", "%x, %w, %o)", "does not match"));
}

}  // namespace
}  // namespace nn::test::deform_conv_test
