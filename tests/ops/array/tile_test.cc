#include <doctest/doctest.h>

#include "support/run_graph.h"

namespace nn::test::tile_test {
namespace {

TEST_CASE("tile: repeats along axes") {
  CheckCase({"columns",
             OneOp("f32[2, 1]", "tile(%x) {repeats = [1, 3]}"),
             {{1, 2}},
             {{1, 1, 1, 2, 2, 2}}});
  CheckCase({"both",
             OneOp("f32[1, 2]", "tile(%x) {repeats = [2, 2]}"),
             {{1, 2}},
             {{1, 2, 1, 2, 1, 2, 1, 2}}});
  CheckCase({"not at all",
             OneOp("f32[1, 2]", "tile(%x) {repeats = [0, 1]} : f32[0, 2]"),
             {{1, 2}},
             {{}}});
  CheckCase({"operand",
             R"(graph { in %x: f32[2]  const %r: i64[1] = [2]  %y = tile(%x, %r) : f32[4]
                                   out "y" = %y })",
             {{1, 2}},
             {{1, 2, 1, 2}}});
  CHECK(Fails(OneOp("f32[2]", "tile(%x) {repeats = [-1]}"), "-1"));
  CHECK(Fails(OneOp("f32[2]", "tile(%x) {repeats = [1, 2]}"), "2"));
}

TEST_CASE("expand: broadcasting to a shape") {
  CheckCase({"new axes",
             OneOp("f32[2, 1]", "expand(%x) {dims = [2, 1, 2]} : f32[2, 2, 2]"),
             {{1, 2}},
             {{1, 1, 2, 2, 1, 1, 2, 2}}});
  CheckCase({"sizes of x stay",
             OneOp("f32[2, 2]", "expand(%x) {dims = [2, 1]} : f32[2, 2]"),
             {{1, 2, 3, 4}},
             {{1, 2, 3, 4}}});
  CHECK(Fails(OneOp("f32[2]", "expand(%x) {dims = [3]}"), "3"));
}

}  // namespace
}  // namespace nn::test::tile_test
