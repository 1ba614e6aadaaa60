#include <doctest/doctest.h>

#include <limits>

#include "support/run_graph.h"

namespace nn::test::bit_cast_test {
namespace {

TEST_CASE("bit_cast: by hand") {
  for (const OpCase& c : {
           OpCase{"the same width",
                  OneOp("f32[2]", "bit_cast(%x) {to = i32}"),
                  {{1, -2}},
                  {{1065353216, -1073741824}}},
           OpCase{"narrower elements are a last axis",
                  OneOp("i32[2]", "bit_cast(%x) {to = u8} : u8[2, 4]"),
                  {{1, 258}},
                  {{1, 0, 0, 0, 2, 1, 0, 0}}},
           OpCase{"a last axis becomes one element",
                  OneOp("u8[2, 4]", "bit_cast(%x) {to = i32} : i32[2]"),
                  {{1, 0, 0, 0, 2, 1, 0, 0}},
                  {{1, 258}}},
           OpCase{"the one NaN",
                  OneOp("f64[1]", "bit_cast(%x) {to = u64}"),
                  {{-std::numeric_limits<double>::quiet_NaN()}},
                  {{0x7FF8000000000000}}},
           OpCase{"a bool is true if any bit is set",
                  OneOp("u8[3]", "bit_cast(%x) {to = bool}"),
                  {{0, 2, 255}},
                  {{0, 1, 1}}},
           OpCase{"packed elements",
                  OneOp("i4[3]", "bit_cast(%x) {to = u4}"),
                  {{-1, 0, 7}},
                  {{15, 0, 7}}},
           OpCase{
               "no elements", OneOp("f32[0, 2]", "bit_cast(%x) {to = i64} : i64[0]"), {{}}, {{}}},
       })
    CheckCase(c);
}

TEST_CASE("bit_cast: types whose elements do not fit into each other are errors") {
  CHECK(Fails(R"(graph { in %x: u8[2, 3]  %y = bit_cast(%x) {to = i32}  out "y" = %y })",
              "the last axis of u8[2, 3] has 3 elements; 4 of them are one i32"));
  CHECK(Fails(R"(graph { in %x: u4[2]  %y = bit_cast(%x) {to = u8}  out "y" = %y })",
              "elements of 4 bits cannot become elements of 8 bits"));
  CHECK(Fails(R"(graph { in %x: str[2]  %y = bit_cast(%x) {to = u8}  out "y" = %y })",
              "str has no bits that can be u8"));
}

}  // namespace
}  // namespace nn::test::bit_cast_test
