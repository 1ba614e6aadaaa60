#include <doctest/doctest.h>

#include "support/run_graph.h"

namespace nn::test::gather_test {
namespace {

// An operator on x and indices.
std::string With(std::string_view x, std::string_view indices, std::string_view op) {
  return fmt::format("graph {{ in %x: {}  const %i: {}  %y = {}  out \"y\" = %y }}", x, indices,
                     op);
}

TEST_CASE("gather: by hand") {
  const std::vector<std::vector<double>> six = {{1, 2, 3, 4, 5, 6}};
  for (const OpCase& c : {
           OpCase{
               "rows", With("f32[3, 2]", "i64[2] = [2, 0]", "gather(%x, %i)"), six, {{5, 6, 1, 2}}},
           OpCase{"columns, from the end",
                  With("f32[2, 3]", "i32[2] = [-1, 0]", "gather(%x, %i) {axis = 1}"),
                  six,
                  {{3, 1, 6, 4}}},
           OpCase{"indices of rank 2",
                  With("f32[3, 2]", "i64[1, 2] = [1, 1]", "gather(%x, %i) : f32[1, 2, 2]"),
                  six,
                  {{3, 4, 3, 4}}},
           OpCase{"one index",
                  With("f32[3, 2]", "i64[] = [1]", "gather(%x, %i) : f32[2]"),
                  six,
                  {{3, 4}}},
           OpCase{
               "batches",
               With("f32[2, 3]", "i64[2, 1] = [2, 0]", "gather(%x, %i) {axis = 1, batch_dims = 1}"),
               six,
               {{3, 4}}},
           OpCase{"elements",
                  With("f32[2, 3]", "i64[2, 1] = [2, 0]", "gather_elements(%x, %i) {axis = 1}"),
                  six,
                  {{3, 4}}},
           OpCase{"n-d",
                  With("f32[2, 3]", "i64[2, 2] = [0, 2, 1, 0]", "gather_nd(%x, %i) : f32[2]"),
                  six,
                  {{3, 4}}},
           OpCase{"n-d, rows",
                  With("f32[2, 3]", "i64[1, 1] = [1]", "gather_nd(%x, %i) : f32[1, 3]"),
                  six,
                  {{4, 5, 6}}},
       })
    CheckCase(c);
}

TEST_CASE("gather: errors name what does not fit") {
  CHECK(Fails(With("f32[3, 2]", "i64[1] = [0]", "gather(%x, %i) {axis = 2}"), "axis 2"));
  CHECK(Fails(With("f32[3, 2]", "f32[1] = [0]", "gather(%x, %i)"), "f32"));
  CHECK(Fails(With("f32[2]", "i64[1, 2] = [0, 0]", "gather_nd(%x, %i)"), "2"));
}

}  // namespace
}  // namespace nn::test::gather_test
