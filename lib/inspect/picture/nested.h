// The layout of nested groups: each open group is laid out on its own and is a box in the group
// around it. lib/inspect/page/html/layout.js does the same in a browser.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "inspect/picture/groups.h"
#include "inspect/picture/layout.h"

namespace nn::inspect {

struct NestedSizes {
  // The size of a box, and the room that it needs, which is not less wide.
  struct Size {
    LayoutBox box;
    double room = 0;
  };
  std::function<Size(size_t box)> box;
  std::function<Size(const Group& group)> closed;
  std::function<double(const Group& group)> title;  // the width that the title of an open one needs
  double header = 22;                               // the height of the title
  double padding = 14;                              // around the items
};

// Points are relative to the left top corner of all.
struct NestedLayout {
  struct Box {
    bool is_group;  // a closed one
    size_t index;
    double x, y, width, height;  // left top corner
  };
  struct Frame {
    size_t group;
    double x, y, width, height;
  };
  struct Line {
    std::vector<size_t> lines;  // of the panel
    std::vector<Point> route;   // empty: not routed
    bool ends = true;           // at a box, not at the frame of a group
  };
  std::vector<Box> boxes;
  std::vector<Frame> frames;  // outer ones first
  std::vector<Line> lines;
  double width = 0;
  double height = 0;
};

// Of groups of repetitions, the first one is shown, or all with `expand`.
NestedLayout LayOutNested(const std::vector<Group>& groups, const NestedSizes& sizes, bool expand);

}  // namespace nn::inspect
