#include <doctest/doctest.h>

#include <limits>

#include "support/run_graph.h"

namespace nn::test::det_test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST_CASE("det: by hand") {
  for (const OpCase& c : {
           OpCase{"one element", OneOp("f32[2, 1, 1]", "det(%x)"), {{3, -4}}, {{3, -4}}},
           OpCase{"two rows", OneOp("f32[2, 2]", "det(%x)"), {{1, 2, 3, 4}}, {{-2}}, 1e-6},
           OpCase{"a permutation",
                  OneOp("f32[3, 3]", "det(%x)"),
                  {{0, 1, 0, 0, 0, 1, 1, 0, 0}},
                  {{1}}},
           OpCase{"an exchange of two rows",
                  OneOp("f32[3, 3]", "det(%x)"),
                  {{0, 2, 0, 4, 0, 0, 0, 0, 8}},
                  {{-64}}},
           OpCase{"three rows",
                  OneOp("f64[3, 3]", "det(%x)"),
                  {{2, -1, 0, 1, 3, 5, -2, 4, 7}},
                  {{19}},
                  1e-14},
           OpCase{
               "equal rows", OneOp("f32[3, 3]", "det(%x)"), {{1, 2, 3, 1, 2, 3, 4, 5, 6}}, {{0}}},
           OpCase{"no rows", OneOp("f32[2, 0, 0]", "det(%x)"), {{}}, {{1, 1}}},
           OpCase{"no matrices", OneOp("f32[0, 2, 2]", "det(%x)"), {{}}, {{}}},
           OpCase{"a float16 result overflows",
                  OneOp("f16[2, 2]", "det(%x)"),
                  {{1024, 0, 0, 1024}},
                  {{std::numeric_limits<double>::infinity()}}},
           OpCase{"NaN", OneOp("f32[2, 2]", "det(%x)"), {{0, 1, kNan, 1}}, {{kNan}}},
       })
    CheckCase(c);
}

TEST_CASE("det: operands that do not fit") {
  CHECK(Fails(OneOp("f32[2, 3]", "det(%x)"), "rows and columns: 2 and 3 differ"));
  CHECK(Fails(OneOp("f32[3]", "det(%x)"), "its rank must be at least 2"));
  CHECK(Fails(OneOp("i32[2, 2]", "det(%x)"), "i32"));
}

TEST_CASE("inverse: by hand") {
  for (const OpCase& c : {
           OpCase{"one element", OneOp("f32[2, 1, 1]", "inverse(%x)"), {{4, -0.5}}, {{0.25, -2}}},
           OpCase{"two rows",
                  OneOp("f32[2, 2]", "inverse(%x)"),
                  {{1, 2, 3, 4}},
                  {{-2, 1, 1.5, -0.5}},
                  1e-6},
           OpCase{"a permutation",
                  OneOp("f32[3, 3]", "inverse(%x)"),
                  {{0, 2, 0, 0, 0, 4, 8, 0, 0}},
                  {{0, 0, 0.125, 0.5, 0, 0, 0, 0.25, 0}}},
           OpCase{"three rows",
                  OneOp("f64[3, 3]", "inverse(%x)"),
                  {{2, 0, 0, 1, 4, 0, -2, 4, 8}},
                  {{0.5, 0, 0, -0.125, 0.25, 0, 0.1875, -0.125, 0.125}},
                  1e-15},
           OpCase{"a singular matrix beside a regular one",
                  OneOp("f32[2, 2, 2]", "inverse(%x)"),
                  {{1, 2, 2, 4, 2, 0, 0, 2}},
                  {{kNan, kNan, kNan, kNan, 0.5, 0, 0, 0.5}}},
           OpCase{"no rows", OneOp("f32[2, 0, 0]", "inverse(%x)"), {{}}, {{}}},
           OpCase{"float16", OneOp("f16[1, 1]", "inverse(%x)"), {{3}}, {{0.333251953125}}},
       })
    CheckCase(c);
}

}  // namespace
}  // namespace nn::test::det_test
