#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "base/random.h"
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

// Each of many boxes against all that are selected before it, in the order of a sort of all.
TEST_CASE("non_max_suppression: many boxes") {
  constexpr size_t kBoxes = 1500;
  std::vector<double> boxes, scores;
  const SeededStream random(3, 0);
  for (size_t i = 0; i < kBoxes; ++i) {
    const float y = 20 * random.Unit(3 * i), x = 20 * random.Unit(3 * i + 1);
    for (const float v : {y, x, y + 3, x + 2 + random.Unit(3 * i + 2)})
      boxes.push_back(static_cast<double>(v));
    const double score = static_cast<double>(random.Bits(i) % 400) / 512 - 0.25;
    scores.push_back(i % 61 == 0 ? std::numeric_limits<double>::quiet_NaN() : score);
  }
  std::vector<size_t> order(kBoxes);
  std::iota(order.begin(), order.end(), 0);
  const auto key = [&](size_t i) {
    return std::isnan(scores[i]) ? -std::numeric_limits<double>::infinity() : scores[i];
  };
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return key(a) > key(b); });
  const auto corner = [&](size_t box, size_t i) { return static_cast<float>(boxes[4 * box + i]); };
  const auto area = [&](size_t b) {
    return (corner(b, 2) - corner(b, 0)) * (corner(b, 3) - corner(b, 1));
  };
  const auto overlap = [&](size_t a, size_t b) {
    const float height =
        std::min(corner(a, 2), corner(b, 2)) - std::max(corner(a, 0), corner(b, 0));
    const float width = std::min(corner(a, 3), corner(b, 3)) - std::max(corner(a, 1), corner(b, 1));
    if (!(height > 0) || !(width > 0)) return 0.0f;
    return height * width / (area(a) + area(b) - height * width);
  };
  for (const size_t most : {size_t{10}, size_t{100}, kBoxes}) {
    std::vector<double> want;
    std::vector<size_t> selected;
    for (const size_t i : order) {
      if (selected.size() == most) break;
      if (std::ranges::any_of(selected, [&](size_t s) { return overlap(s, i) > 0.25f; })) continue;
      selected.push_back(i);
      want.insert(want.end(), {0, 0, static_cast<double>(i)});
    }
    CHECK(selected.size() > (most == kBoxes ? 100 : most - 1));
    CheckCase({"many",
               Graph("1, 1500, 4", "1, 1, 1500",
                     "  const %m: i64[] = [" + std::to_string(most) +
                         "]\n  const %i: f32[] = [0.25]\n"
                         "  %y = non_max_suppression(%b, %s, %m, %i)\n"),
               {boxes, scores},
               {want}});
  }
}

}  // namespace
}  // namespace nn::test::non_max_suppression_test
