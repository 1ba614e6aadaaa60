#include "inspect/picture/layout.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"

namespace nn::test::layout_test {
namespace {

using inspect::Layout;
using inspect::LayOut;
using inspect::LayoutBox;
using inspect::LayoutEdge;
using inspect::Point;

// Properties of every layout.
void CheckLayout(const std::vector<LayoutBox>& boxes, const std::vector<LayoutEdge>& edges,
                 const Layout& l) {
  REQUIRE(l.centers.size() == boxes.size());
  REQUIRE(l.routes.size() == edges.size());
  for (size_t i = 0; i < boxes.size(); ++i) {
    CHECK(l.centers[i].x - boxes[i].width / 2 >= -0.01);
    CHECK(l.centers[i].x + boxes[i].width / 2 <= l.width + 0.01);
    CHECK(l.centers[i].y + boxes[i].height / 2 <= l.height + 0.01);
    for (size_t k = 0; k < i; ++k) {
      const double dx = std::abs(l.centers[i].x - l.centers[k].x);
      const double dy = std::abs(l.centers[i].y - l.centers[k].y);
      CHECK((dx >= (boxes[i].width + boxes[k].width) / 2 + 10 ||
             dy >= (boxes[i].height + boxes[k].height) / 2 + 10));
    }
  }
  for (size_t e = 0; e < edges.size(); ++e) {
    const auto& route = l.routes[e];
    if (route.empty()) continue;
    // Each end is at its box, or on another line of that box.
    const auto at = [&](const Point& p, size_t box) {
      const auto& c = l.centers[box];
      if (std::abs(p.x - c.x) < 0.01 && std::abs(p.y - c.y) <= boxes[box].height / 2 + 0.01)
        return true;
      for (size_t k = 0; k < edges.size(); ++k)
        if (k != e && (edges[k].from == box || edges[k].to == box))
          for (const Point& q : l.routes[k])
            if (q.x == p.x && q.y == p.y) return true;
      return false;
    };
    CHECK(at(route.front(), edges[e].from));
    CHECK(at(route.back(), edges[e].to));
    // No line passes through a box: where it is not straight, it is between layers.
    for (size_t p = 1; p < route.size(); ++p) {
      const double top = std::min(route[p - 1].y, route[p].y);
      const double bottom = std::max(route[p - 1].y, route[p].y);
      const double left = std::min(route[p - 1].x, route[p].x) - 5;
      const double right = std::max(route[p - 1].x, route[p].x) + 5;
      for (size_t i = 0; i < boxes.size(); ++i)
        CHECK((l.centers[i].y - boxes[i].height / 2 >= bottom - 0.01 ||
               l.centers[i].y + boxes[i].height / 2 <= top + 0.01 ||
               l.centers[i].x - boxes[i].width / 2 >= right ||
               l.centers[i].x + boxes[i].width / 2 <= left));
    }
  }
}

TEST_CASE("layout: a chain is straight, its skip runs beside it") {
  const std::vector<LayoutBox> boxes(5, LayoutBox{100, 30});
  const std::vector<LayoutEdge> edges = {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {0, 4}};
  const Layout l = LayOut(boxes, edges);
  CheckLayout(boxes, edges, l);
  CHECK(l.centers[1].x == doctest::Approx(l.centers[2].x));
  CHECK(l.centers[2].x == doctest::Approx(l.centers[3].x));
  for (size_t i = 1; i < 5; ++i) CHECK(l.centers[i].y > l.centers[i - 1].y);
  CHECK(l.routes[4].size() == 8);
}

TEST_CASE("layout: random graphs, cycles, loops and double edges keep boxes apart") {
  for (uint64_t seed = 0; seed < 30; ++seed) {
    CAPTURE(seed);
    const SeededStream random(seed);
    uint64_t next = 0;
    const auto below = [&](uint64_t n) { return static_cast<size_t>(random.Bits(next++) % n); };
    std::vector<LayoutBox> boxes(1 + below(40));
    for (LayoutBox& b : boxes)
      b = {40.0 + static_cast<double>(below(200)), 20.0 + static_cast<double>(below(60))};
    std::vector<LayoutEdge> edges(below(70));
    for (LayoutEdge& e : edges) e = {below(boxes.size()), below(boxes.size())};
    CheckLayout(boxes, edges, LayOut(boxes, edges));
  }
}

TEST_CASE("layout: beyond the limit the longest edges are not routed") {
  const std::vector<LayoutBox> boxes(10, LayoutBox{50, 20});
  std::vector<LayoutEdge> edges = {{0, 9}, {1, 4}};
  for (size_t i = 1; i < 10; ++i) edges.push_back({i - 1, i});
  inspect::LayoutOptions options;
  options.max_crossed_layers = 5;
  const Layout l = LayOut(boxes, edges, options);
  CHECK(l.routes[0].empty());
  CHECK(l.routes[1].size() == 6);
  CHECK(LayOut({}, {}).height == 0);
}

}  // namespace
}  // namespace nn::test::layout_test
