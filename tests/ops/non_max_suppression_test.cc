#include <doctest/doctest.h>

#include "support/run_graph.h"

namespace nn::test::non_max_suppression_test {
namespace {

std::string Graph(const std::string& boxes, const std::string& scores, const std::string& rest) {
  return "graph {\n  in %b: f32[" + boxes + "]\n  in %s: f32[" + scores + "]\n" + rest +
         "  out \"y\" = %y\n}\n";
}

TEST_CASE("non_max_suppression: order, overlap and limits") {
  const std::vector<double> boxes = {0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 1, 2, 5, 5, 6, 6};
  const std::vector<double> scores = {0.5, 0.75, 0.25, 0.75};
  const auto with = [](const std::string& most, const std::string& iou, const std::string& score) {
    return Graph("1, 4, 4", "1, 1, 4",
                 "  const %m: i64[] = [" + most + "]\n  const %i: f32[] = [" + iou +
                     "]\n  const %t: f32[] = [" + score +
                     "]\n  %y = non_max_suppression(%b, %s, %m, %i, %t)\n");
  };
  // Equal scores are in the order of the boxes; corners may be in any order.
  CheckCase({"overlap", with("9", "0.5", "0"), {boxes, scores}, {{0, 0, 1, 0, 0, 3, 0, 0, 2}}});
  CheckCase({"little", with("9", "0.25", "0"), {boxes, scores}, {{0, 0, 1, 0, 0, 3}}});
  CheckCase({"any", with("9", "1", "0"), {boxes, scores}, {{0, 0, 1, 0, 0, 3, 0, 0, 0, 0, 0, 2}}});
  CheckCase({"score", with("9", "1", "0.5"), {boxes, scores}, {{0, 0, 1, 0, 0, 3}}});
  CheckCase({"most", with("1", "1", "0"), {boxes, scores}, {{0, 0, 1}}});
  CheckCase({"none", with("-1", "1", "0"), {boxes, scores}, {{}}});
}

TEST_CASE("non_max_suppression: centers, batches and rows") {
  CheckCase({"centers",
             Graph("2, 2, 4", "2, 2, 2",
                   "  const %m: i64[] = [2]\n  const %i: f32[] = [0.5]\n"
                   "  %y = non_max_suppression(%b, %s, %m, %i) {center_point_box = true}\n"),
             {{1, 1, 2, 2, 1, 1, 2, 1.5, 1, 1, 2, 2, 4, 4, 2, 2}, {1, 2, 2, 1, 1, 2, -1, -2}},
             {{0, 0, 1, 0, 1, 0, 1, 0, 1, 1, 0, 0, 1, 1, 0, 1, 1, 1}}});
}

}  // namespace
}  // namespace nn::test::non_max_suppression_test
