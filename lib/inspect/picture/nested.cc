#include "inspect/picture/nested.h"

#include <algorithm>
#include <utility>

namespace nn::inspect {
namespace {

class Nester {
 public:
  Nester(const std::vector<Group>& groups, const NestedSizes& sizes, bool expand)
      : groups_(groups), sizes_(sizes), expand_(expand), open_(groups.size()) {}

  NestedLayout Run() {
    // Inner groups have higher numbers than those around them.
    for (size_t g = groups_.size(); g-- > 0;)
      if (groups_[g].open) Measure(g);
    out_.width = open_[0].size.box.width;
    out_.height = open_[0].size.box.height;
    Put(0, 0, 0);
    return std::move(out_);
  }

 private:
  using Size = NestedSizes::Size;

  struct Open {
    Size size;
    std::vector<Size> items;
    std::vector<Point> centers;  // of the items that are shown
    std::vector<std::vector<Point>> routes;
  };

  bool Once(const Group& group) const { return group.times > 0 && !expand_; }

  Size SizeOf(const Group::Item& item) const {
    if (!item.is_group) return sizes_.box(item.index);
    return groups_[item.index].open ? open_[item.index].size : sizes_.closed(groups_[item.index]);
  }

  void Measure(size_t g) {
    const Group& group = groups_[g];
    Open& open = open_[g];
    for (const Group::Item& item : group.items) {
      open.items.push_back(SizeOf(item));
      if (Once(group)) break;
    }
    if (Once(group))
      LayFirst(group, open);
    else
      Lay(group, open);
    const double wide = sizes_.title(group);
    const double shift = (wide - open.size.box.width) / 2;
    if (g > 0 && shift > 0) {
      for (Point& p : open.centers) p.x += shift;
      for (auto& route : open.routes)
        for (Point& p : route) p.x += shift;
      open.size.box.width = wide;
    }
    open.size.room = open.size.box.width;
  }

  // The points where lines enter and leave are on the frame, unless boxes are beside them.
  void Lay(const Group& group, Open& open) const {
    std::vector<LayoutBox> boxes;
    for (const Size& s : open.items) {
      boxes.push_back(s.box);
      boxes.back().width = s.room;
    }
    if (group.has_ports) boxes.resize(boxes.size() + 2);
    std::vector<LayoutEdge> edges;
    for (const Group::Edge& e : group.edges) edges.push_back({e.from, e.to});
    Layout layout = LayOut(boxes, edges);
    double top = sizes_.header + sizes_.padding, bottom = sizes_.padding;
    const size_t count = group.items.size();
    if (group.has_ports) {
      const double into = layout.centers[count].y, out_of = layout.centers[count + 1].y;
      const auto beside = [&](double y) {
        for (size_t i = 0; i < count; ++i)
          if (layout.centers[i].y - boxes[i].height / 2 <= y &&
              layout.centers[i].y + boxes[i].height / 2 >= y)
            return true;
        return false;
      };
      if (into == 0 && !beside(into)) top = 0;
      if (out_of == layout.height && !beside(out_of)) bottom = 0;
    }
    const auto moved = [&](const Point& p) { return Point{p.x + sizes_.padding, p.y + top}; };
    for (const Point& p : layout.centers) open.centers.push_back(moved(p));
    for (auto& route : layout.routes) {
      std::transform(route.begin(), route.end(), route.begin(), moved);
      open.routes.push_back(std::move(route));
    }
    LayoutBox& size = open.size.box;
    size = {layout.width + 2 * sizes_.padding, layout.height + top + bottom};
    if (!group.has_ports) return;
    size.into = open.centers[count].x - size.width / 2;
    size.out_of = open.centers[count + 1].x - size.width / 2;
  }

  // A group of repetitions that shows the first one only.
  void LayFirst(const Group& group, Open& open) const {
    const LayoutBox& first = open.items[0].box;
    const double top = sizes_.header + sizes_.padding, bottom = top + first.height;
    LayoutBox& size = open.size.box;
    size = {open.items[0].room + 2 * sizes_.padding, bottom + sizes_.padding, first.into,
            first.out_of};
    const double x = size.width / 2;
    open.centers = {{x, top + first.height / 2}};
    const size_t count = group.items.size();
    for (const Group::Edge& e : group.edges) {
      std::vector<Point> route;
      if (e.from == count && e.to == 0)
        route = {{x + first.into, 0}, {x + first.into, top}};
      else if (e.from == count - 1 && e.to == count + 1)
        route = {{x + first.out_of, bottom}, {x + first.out_of, size.height}};
      open.routes.push_back(std::move(route));
    }
  }

  void Put(size_t g, double left, double top) {
    const Group& group = groups_[g];
    const Open& open = open_[g];
    const double bottom = top + open.size.box.height;
    if (g > 0) out_.frames.push_back({g, left, top, open.size.box.width, open.size.box.height});
    const size_t count = group.items.size();
    for (size_t e = 0; e < group.edges.size(); ++e) {
      const Group::Edge& edge = group.edges[e];
      // Lines between repetitions of which one is shown.
      if (Once(group) && open.routes[e].empty()) continue;
      NestedLayout::Line line{edge.lines, {}, true};
      for (const Point& p : open.routes[e]) line.route.push_back({p.x + left, p.y + top});
      if (!line.route.empty()) {
        if (edge.from == count && line.route.front().y > top)
          line.route.insert(line.route.begin(), {line.route.front().x, top});
        if (edge.to == count + 1 && line.route.back().y < bottom)
          line.route.push_back({line.route.back().x, bottom});
      }
      line.ends = edge.to < count &&
                  (!group.items[edge.to].is_group || !groups_[group.items[edge.to].index].open);
      out_.lines.push_back(std::move(line));
    }
    for (size_t k = 0; k < open.items.size(); ++k) {
      const LayoutBox& size = open.items[k].box;
      const double x = left + open.centers[k].x - size.width / 2;
      const double y = top + open.centers[k].y - size.height / 2;
      const Group::Item& item = group.items[k];
      if (item.is_group && groups_[item.index].open)
        Put(item.index, x, y);
      else
        out_.boxes.push_back({item.is_group, item.index, x, y, size.width, size.height});
    }
  }

  const std::vector<Group>& groups_;
  const NestedSizes& sizes_;
  bool expand_;
  std::vector<Open> open_;  // by group
  NestedLayout out_;
};

}  // namespace

NestedLayout LayOutNested(const std::vector<Group>& groups, const NestedSizes& sizes, bool expand) {
  return Nester(groups, sizes, expand).Run();
}

}  // namespace nn::inspect
