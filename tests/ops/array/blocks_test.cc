#include <doctest/doctest.h>

#include "support/run_graph.h"

namespace nn::test::blocks_test {
namespace {

TEST_CASE("depth_to_space, space_to_depth: orders and layouts") {
  const std::vector<std::vector<double>> eight = {{1, 2, 3, 4, 5, 6, 7, 8}};
  for (const OpCase& c : {
           OpCase{"dcr",
                  OneOp("f32[1, 8, 1, 1]", "depth_to_space(%x) : f32[1, 2, 2, 2]"),
                  eight,
                  {{1, 3, 5, 7, 2, 4, 6, 8}}},
           OpCase{"crd", OneOp("f32[1, 8, 1, 1]", "depth_to_space(%x) {mode = crd}"), eight, eight},
           OpCase{"channels last",
                  OneOp("f32[1, 1, 1, 8]", "depth_to_space(%x) {layout = nxc} : f32[1, 2, 2, 2]"),
                  eight, eight},
           OpCase{"to depth",
                  OneOp("f32[1, 2, 2, 2]", "space_to_depth(%x) : f32[1, 8, 1, 1]"),
                  {{1, 3, 5, 7, 2, 4, 6, 8}},
                  eight},
           OpCase{"to depth, crd", OneOp("f32[1, 2, 2, 2]", "space_to_depth(%x) {mode = crd}"),
                  eight, eight},
       })
    CheckCase(c);
  CHECK(Fails(OneOp("f32[1, 6, 1, 1]", "depth_to_space(%x)"), "6"));
  CHECK(Fails(OneOp("f32[1, 1, 3, 2]", "space_to_depth(%x)"), "3"));
}

TEST_CASE("space_to_batch_nd, batch_to_space_nd") {
  CheckCase({"to batch",
             OneOp("f32[1, 1, 4]", "space_to_batch_nd(%x) {blocks = [2], pads = [0, 0]}"),
             {{1, 2, 3, 4}},
             {{1, 3, 2, 4}}});
  CheckCase(
      {"to batch, padded",
       OneOp("f32[1, 1, 3]", "space_to_batch_nd(%x) {blocks = [2], pads = [1, 0]} : f32[2, 1, 2]"),
       {{1, 2, 3}},
       {{0, 2, 1, 3}}});
  CheckCase({"from batch",
             OneOp("f32[2, 1, 2]", "batch_to_space_nd(%x) {blocks = [2], pads = [0, 0]}"),
             {{1, 3, 2, 4}},
             {{1, 2, 3, 4}}});
  CheckCase(
      {"from batch, cropped",
       OneOp("f32[2, 1, 2]", "batch_to_space_nd(%x) {blocks = [2], pads = [1, 1]} : f32[1, 1, 2]"),
       {{1, 3, 2, 4}},
       {{2, 3}}});
}

}  // namespace
}  // namespace nn::test::blocks_test
