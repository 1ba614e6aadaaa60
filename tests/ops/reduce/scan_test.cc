#include <doctest/doctest.h>

#include "support/run_graph.h"

namespace nn::test::scan_test {
namespace {

TEST_CASE("cum_sum: by hand") {
  const std::vector<std::vector<double>> x = {{1, 5, 5, 7, 0, 7}};
  for (const OpCase& c : {
           OpCase{"plain", OneOp("f32[2, 3]", "cum_sum(%x) {axis = 1}"), x, {{1, 6, 11, 7, 7, 14}}},
           OpCase{"exclusive",
                  OneOp("f32[2, 3]", "cum_sum(%x) {axis = 1, exclusive = true}"),
                  x,
                  {{0, 1, 6, 0, 7, 7}}},
           OpCase{"reverse",
                  OneOp("f32[2, 3]", "cum_sum(%x) {axis = -1, reverse = true}"),
                  x,
                  {{11, 10, 5, 14, 7, 7}}},
           OpCase{"both",
                  OneOp("f32[2, 3]", "cum_sum(%x) {axis = 1, reverse = true, exclusive = true}"),
                  x,
                  {{10, 5, 0, 7, 7, 0}}},
           OpCase{"another axis",
                  OneOp("i32[2, 3]", "cum_sum(%x) {axis = 0}"),
                  x,
                  {{1, 5, 5, 8, 5, 12}}},
       })
    CheckCase(c);
}

TEST_CASE("cum_prod: by hand") {
  const std::vector<std::vector<double>> x = {{1, 5, 5, 7, 0, 7}};
  for (const OpCase& c : {
           OpCase{"plain", OneOp("f32[2, 3]", "cum_prod(%x) {axis = 1}"), x, {{1, 5, 25, 7, 0, 0}}},
           OpCase{"exclusive",
                  OneOp("f32[2, 3]", "cum_prod(%x) {axis = 1, exclusive = true}"),
                  x,
                  {{1, 1, 5, 1, 7, 0}}},
           OpCase{"reverse",
                  OneOp("f32[2, 3]", "cum_prod(%x) {axis = -1, reverse = true}"),
                  x,
                  {{25, 25, 5, 0, 0, 7}}},
           OpCase{"both",
                  OneOp("f32[2, 3]", "cum_prod(%x) {axis = 1, reverse = true, exclusive = true}"),
                  x,
                  {{25, 5, 1, 0, 7, 1}}},
           OpCase{"integers wrap",
                  OneOp("i32[3]", "cum_prod(%x)"),
                  {{65536, 65536, 3}},
                  {{65536, 0, 0}}},
       })
    CheckCase(c);
}

}  // namespace
}  // namespace nn::test::scan_test
