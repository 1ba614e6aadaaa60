#include <doctest/doctest.h>

#include "support/run_graph.h"

namespace nn::test::pad_test {
namespace {

TEST_CASE("pad: every mode") {
  const std::vector<std::vector<double>> x = {{1, 2, 3}};
  for (const OpCase& c : {
           OpCase{"zeros", OneOp("f32[3]", "pad(%x) {pads = [2, 1]}"), x, {{0, 0, 1, 2, 3, 0}}},
           OpCase{"reflect",
                  OneOp("f32[3]", "pad(%x) {pads = [2, 2], mode = reflect}"),
                  x,
                  {{3, 2, 1, 2, 3, 2, 1}}},
           OpCase{"edge",
                  OneOp("f32[3]", "pad(%x) {pads = [2, 2], mode = edge}"),
                  x,
                  {{1, 1, 1, 2, 3, 3, 3}}},
           OpCase{"symmetric",
                  OneOp("f32[3]", "pad(%x) {pads = [2, 2], mode = symmetric}"),
                  x,
                  {{2, 1, 1, 2, 3, 3, 2}}},
           OpCase{"wrap",
                  OneOp("f32[3]", "pad(%x) {pads = [2, 2], mode = wrap}"),
                  x,
                  {{2, 3, 1, 2, 3, 1, 2}}},
           OpCase{
               "elements taken away", OneOp("f32[3]", "pad(%x) {pads = [-1, 1]}"), x, {{2, 3, 0}}},
           OpCase{"two axes",
                  OneOp("f32[1, 2]", "pad(%x) {pads = [1, 0, 0, 1]}"),
                  {{1, 2}},
                  {{0, 0, 0, 1, 2, 0}}},
           OpCase{"the zero point of quantized values",
                  OneOp("u8[2]{scale=0.5, zp=7}", "pad(%x) {pads = [1, 0]}"),
                  {{1, 2}},
                  {{7, 1, 2}}},
           OpCase{"a value",
                  R"(graph { in %x: f32[1]  const %v: f32[] = [9]
                                        %y = pad(%x, %v) {pads = [1, 1]}  out "y" = %y })",
                  {{1}},
                  {{9, 1, 9}}},
       })
    CheckCase(c);
  CHECK(Fails(OneOp("f32[3]", "pad(%x) {pads = [-2, -2]}"), "pad"));
  CHECK(Fails(OneOp("f32[3]", "pad(%x) {pads = [1]}"), "pads"));
}

}  // namespace
}  // namespace nn::test::pad_test
