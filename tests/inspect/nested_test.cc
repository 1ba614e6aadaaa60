#include "inspect/picture/nested.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "inspect/report/tree.h"

namespace nn::test::nested_test {
namespace {

using inspect::Group;
using inspect::NestedLayout;
using inspect::NestedSizes;
using inspect::Panel;

// Stages of blocks of three operators; each block also reads what the one before it reads.
Panel Stages(size_t stages, size_t blocks) {
  Panel panel;
  panel.boxes.push_back({inspect::BoxKind::kInput, "x", {}, "x"});
  size_t last = 0;
  for (size_t s = 0; s < stages; ++s)
    for (size_t b = 0; b < blocks; ++b) {
      const size_t first = panel.boxes.size();
      for (size_t i = 0; i < 3; ++i)
        panel.boxes.push_back({inspect::BoxKind::kActivation,
                               "Op",
                               {},
                               "",
                               first + i,
                               {fmt::format("s{}", s), fmt::format("b{}", b)}});
      panel.lines.push_back({last, first, "a", ""});
      panel.lines.push_back({last, first + 2, "a", ""});
      panel.lines.push_back({first, first + 1, "b", ""});
      panel.lines.push_back({first + 1, first + 2, "c", ""});
      last = first + 2;
    }
  panel.lines.push_back({last, panel.boxes.size(), "y", ""});
  panel.boxes.push_back({inspect::BoxKind::kOutput, "y", {}, "y"});
  panel.expanded = {{1, 3, stages * blocks}};
  return panel;
}

NestedLayout LayOutStages(const std::vector<Group>& groups, bool expand) {
  NestedSizes sizes;
  sizes.box = [](size_t box) {
    const double width = 60 + 10 * static_cast<double>(box % 3);
    return NestedSizes::Size{{width, 30}, width + 20};
  };
  sizes.closed = [](const Group&) { return NestedSizes::Size{{100, 40}, 100}; };
  sizes.title = [](const Group& g) { return g.times > 0 ? 400.0 : 50.0; };
  return inspect::LayOutNested(groups, sizes, expand);
}

void CheckNested(const NestedLayout& layout) {
  constexpr double kClose = 0.01;
  for (const NestedLayout::Box& a : layout.boxes) {
    CHECK(a.x >= -kClose);
    CHECK(a.x + a.width <= layout.width + kClose);
    CHECK(a.y + a.height <= layout.height + kClose);
    for (const NestedLayout::Box& b : layout.boxes)
      if (&a != &b)
        CHECK((a.x >= b.x + b.width || b.x >= a.x + a.width || a.y >= b.y + b.height ||
               b.y >= a.y + a.height));
    // Inside a frame or beside it.
    for (const NestedLayout::Frame& f : layout.frames) {
      const bool within = a.x >= f.x && a.x + a.width <= f.x + f.width && a.y >= f.y + 22 &&
                          a.y + a.height <= f.y + f.height;
      CHECK((within || a.x >= f.x + f.width || f.x >= a.x + a.width || a.y >= f.y + f.height ||
             f.y >= a.y + a.height));
    }
  }
  // Lines begin and end at boxes, or where others do: at frames.
  for (const NestedLayout::Line& line : layout.lines) {
    REQUIRE(line.route.size() > 1);
    const inspect::Point& end = line.route.back();
    const auto meets = [&](const NestedLayout::Line& l) {
      return std::abs(l.route.front().x - end.x) < kClose &&
             std::abs(l.route.front().y - end.y) < kClose;
    };
    const auto touches = [&](const NestedLayout::Box& b) {
      return std::abs(b.y - end.y) < kClose && end.x >= b.x && end.x <= b.x + b.width;
    };
    if (line.ends)
      CHECK(std::any_of(layout.boxes.begin(), layout.boxes.end(), touches));
    else
      CHECK(std::any_of(layout.lines.begin(), layout.lines.end(), meets));
  }
}

TEST_CASE("nested layouts: open groups, repetitions once and all") {
  const Panel panel = Stages(2, 3);
  std::vector<Group> groups = inspect::GroupsOf(panel);
  const NestedLayout once = LayOutStages(groups, false);
  CheckNested(once);
  // Input, output, and a block of each stage; around each, the frames of stage, repetition and
  // block.
  CHECK(once.boxes.size() == 8);
  CHECK(once.frames.size() == 6);
  for (Group& g : groups) g.open = true;
  const NestedLayout all = LayOutStages(groups, true);
  CheckNested(all);
  CHECK(all.boxes.size() == 20);
  CHECK(all.height > 2 * once.height);
  // Large models are closed, from the inside.
  const Panel large = Stages(100, 40);
  const std::vector<Group> closed = inspect::GroupsOf(large);
  const NestedLayout first = LayOutStages(closed, false);
  CheckNested(first);
  CHECK(first.boxes.size() <= inspect::kOpenBoxes);
  CHECK(first.boxes.size() >= 100);
  CHECK(inspect::GroupTitle(closed, closed[2]) == "× 40  b0 – b39");
  CHECK(inspect::GroupContents(large, closed[1]) == "120 operators: Op 120");
}

}  // namespace
}  // namespace nn::test::nested_test
