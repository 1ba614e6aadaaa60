// Nested groups of the boxes of a panel: scopes, and repetitions of operators.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "inspect/picture/layout.h"
#include "inspect/picture/picture.h"

namespace nn::inspect {

// Consecutive boxes, so that lines between the items of a group form no cycle if the operators are
// in topological order. A scope whose operators are not consecutive has several groups.
struct Group {
  std::string title;
  bool is_named = false;  // the title is that of a scope
  size_t times = 0;       // of a group of repetitions, which are its items; 0: a scope
  size_t first = 0;       // boxes [first, end)
  size_t end = 0;
  bool open = false;  // shown as its items at first; of repetitions, the first one
  struct Item {
    bool is_group;
    size_t index;  // of the box, or of the group in the list
  };
  std::vector<Item> items;  // in the order of the boxes

  // Lines enter and leave the group at two points, which follow the items if there are such lines.
  struct Edge {
    size_t from;  // items, items.size() or items.size() + 1
    size_t to;
    std::vector<size_t> lines;  // of the panel
  };
  std::vector<Edge> edges;
  bool has_ports = false;
};

// As many boxes as a reader can take in at once.
inline constexpr size_t kOpenBoxes = 260;

// All groups; the first one contains the others, and the outermost ones are open as long as at most
// kOpenBoxes boxes are shown. `panel` has all repetitions (DrawModel with
// `expand`).
std::vector<Group> GroupsOf(const Panel& panel);

// The arrangement of the items of a group, followed by the points where lines enter and leave it.
Arrangement ArrangeGroup(const Group& group);

// "conv1"; for repetitions, "× 12  layer.0 – layer.11".
std::string GroupTitle(const std::vector<Group>& groups, const Group& group);
// "9 operators: Conv 4, Clip 3, Add 2".
std::string GroupContents(const Panel& panel, const Group& group);

}  // namespace nn::inspect
