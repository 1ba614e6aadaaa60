#include <doctest/doctest.h>

#include "support/run_graph.h"

namespace nn::test::resize_test {
namespace {

TEST_CASE("resize: 1-D by hand") {
  const std::vector<std::vector<double>> two = {{1, 2}};
  const auto resize = [](std::string_view type, std::string_view attrs) {
    return OneOp(type, fmt::format("resize(%x) {}", Braced(attrs)));
  };
  for (const OpCase& c : {
           OpCase{
               "nearest",
               resize("f32[1, 1, 2]", "scales = [2.0], coordinates = asymmetric, rounding = floor"),
               two,
               {{1, 1, 2, 2}}},
           OpCase{"nearest, to a size",
                  resize("f32[1, 1, 4]", "sizes = [2], coordinates = asymmetric, rounding = floor"),
                  {{1, 2, 3, 4}},
                  {{1, 3}}},
           OpCase{"linear, half pixels",
                  resize("f32[1, 1, 2]", "mode = linear, scales = [2.0]"),
                  two,
                  {{1, 1.25, 1.75, 2}}},
           OpCase{"linear, corners",
                  resize("f32[1, 1, 2]", "mode = linear, sizes = [3], coordinates = align_corners"),
                  two,
                  {{1, 1.5, 2}}},
           OpCase{"linear, channels last",
                  resize("f32[1, 2, 2]",
                         "layout = nxc, mode = linear, sizes = [3], coordinates = align_corners"),
                  {{1, 10, 2, 20}},
                  {{1, 10, 1.5, 15, 2, 20}}},
           OpCase{"an aspect that any size keeps",
                  resize("f32[1, 1, 2]", "sizes = [4], aspect = not_larger"),
                  two,
                  {{1, 1, 2, 2}}},
           OpCase{"the same for an empty axis",
                  resize("f32[1, 0, 0]", "layout = nxc, sizes = [5], aspect = not_larger"),
                  {{}},
                  {{}}},
           OpCase{"cubic, corners",
                  resize("f32[1, 1, 2]", "mode = cubic, sizes = [3], coordinates = align_corners"),
                  two,
                  {{1, 1.5, 2}},
                  1e-6},
       })
    CheckCase(c);
}

TEST_CASE("resize: the same everywhere") {
  CheckCase({"bilinear", OneOp("f32[1, 3, 7, 9]", "resize(%x) {mode = linear, sizes = [13, 5]}")});
  CheckCase({"bicubic", OneOp("f32[1, 3, 7, 9]", "resize(%x) {mode = cubic, sizes = [13, 5]}")});
}

TEST_CASE("resize: errors name what does not fit") {
  for (const auto& [type, operands] : {std::pair("f32[]", "%x, _, %n"),
                                       {"f32[2]", "%x, _, %n"},
                                       {"i64[3]", "%x, _, _, %n"},
                                       {"f32[1]", "%x, %n"}})
    CHECK(Fails(fmt::format(R"(graph {{ in %x: f32[1, 1, 4]  in %n: {}
                                        %y = resize({})  out "y" = %y }})",
                            type, operands),
                "must be a vector of "));
}

}  // namespace
}  // namespace nn::test::resize_test
