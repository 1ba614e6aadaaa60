#include "inspect/picture/groups.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/text/text.h"

namespace nn::inspect {
namespace {

// Longer edges are drawn only on request.
constexpr size_t kCrossedLayers = 40000;

class Grouper {
 public:
  explicit Grouper(const Panel& panel) : panel_(panel) {
    for (const Repetition& r : panel.expanded) {
      const size_t period = r.last - r.first + 1;
      for (size_t k = 0; k < r.times; ++k)
        repetitions_.emplace(r.first + k * period, Repeated{period, r.times - k});
    }
  }

  std::vector<Group> Run() {
    Add("", true, 0, panel_.boxes.size(), 0);
    parents_.assign(groups_.size(), 0);
    places_.assign(panel_.boxes.size(), {});
    group_places_.assign(groups_.size(), 0);
    for (size_t g = 0; g < groups_.size(); ++g)
      for (size_t k = 0; k < groups_[g].items.size(); ++k) {
        const Group::Item& item = groups_[g].items[k];
        if (item.is_group) {
          parents_[item.index] = g;
          group_places_[item.index] = k;
        } else {
          places_[item.index] = {g, k};
        }
      }
    AddEdges();
    for (Group& g : groups_)
      for (const Group::Edge& e : g.edges) g.has_ports |= std::max(e.from, e.to) >= g.items.size();
    OpenFirst();
    return std::move(groups_);
  }

 private:
  // The operators of a repetition, and how many repetitions follow, this one included.
  struct Repeated {
    size_t period = 0;
    size_t times = 0;
  };

  struct Place {
    size_t group;
    size_t item;
  };

  const std::string* Scope(size_t box, size_t depth) const {
    const auto& scopes = panel_.boxes[box].scopes;
    return depth < scopes.size() ? &scopes[depth] : nullptr;
  }
  bool SameScope(size_t a, size_t b, size_t depth) const {
    const std::string *x = Scope(a, depth), *y = Scope(b, depth);
    return x != nullptr && y != nullptr && *x == *y;
  }

  // The end of the boxes from `first` on that are in one scope.
  size_t EndOfScope(size_t first, size_t end, size_t depth) const {
    size_t i = first + 1;
    while (i < end && SameScope(first, i, depth)) ++i;
    return i;
  }

  // Adds the group of boxes [first, end), which share `depth` scopes. Returns its index.
  size_t Add(std::string title, bool is_named, size_t first, size_t end, size_t depth) {
    // A scope of one scope is one group.
    while (first < end && depth > 0 && EndOfScope(first, end, depth) == end &&
           Scope(first, depth) != nullptr) {
      title += "/" + *Scope(first, depth);
      ++depth;
    }
    const size_t index = groups_.size();
    groups_.push_back({title, is_named, 0, first, end, false, {}, {}, false});
    std::vector<Group::Item> items;
    for (size_t i = first; i < end;) {
      const size_t scope_end = EndOfScope(i, end, depth);
      if (const Repeated r = RepetitionAt(i, end, scope_end, depth); r.times > 1) {
        items.push_back({true, AddRepetition(i, r, depth)});
        i += r.period * r.times;
      } else if (scope_end - i > 1) {
        items.push_back({true, Add(*Scope(i, depth), true, i, scope_end, depth + 1)});
        i = scope_end;
      } else {
        items.push_back({false, i++});
      }
    }
    groups_[index].items = std::move(items);
    return index;
  }

  // The repetitions from the box on that are before `end` and cross no scope; those within the
  // scope are found there.
  Repeated RepetitionAt(size_t box, size_t end, size_t scope_end, size_t depth) const {
    const auto it = repetitions_.find(box);
    if (it == repetitions_.end()) return {};
    Repeated r = it->second;
    r.times = std::min(r.times, (end - box) / r.period);
    const size_t after = box + r.period * r.times;
    if (after <= scope_end && Scope(box, depth) != nullptr) return {};
    for (size_t cut = box + r.period; cut <= after; cut += r.period)
      if (cut < end && SameScope(cut - 1, cut, depth)) return {};
    return r;
  }

  size_t AddRepetition(size_t box, const Repeated& r, size_t depth) {
    const size_t index = groups_.size();
    groups_.push_back({{}, true, r.times, box, box + r.period * r.times, false, {}, {}, false});
    std::vector<Group::Item> items;
    for (size_t k = 0; k < r.times; ++k) {
      const size_t first = box + k * r.period, end = first + r.period;
      const bool named = Scope(first, depth) != nullptr && EndOfScope(first, end, depth) == end;
      items.push_back(
          {true, named ? Add(*Scope(first, depth), true, first, end, depth + 1)
                       : Add(fmt::format("{} of {}", k + 1, r.times), false, first, end, depth)});
    }
    groups_[index].items = std::move(items);
    return index;
  }

  // Each line is an edge of the smallest group that contains both ends, and leads to and from them
  // through the groups in it.
  void AddEdges() {
    numbers_.resize(groups_.size());
    for (size_t l = 0; l < panel_.lines.size(); ++l) {
      Place from = places_[panel_.lines[l].from], to = places_[panel_.lines[l].to];
      // Inner groups have higher numbers than those around them.
      while (from.group != to.group) {
        if (from.group > to.group) {
          AddEdge(from.group, from.item, groups_[from.group].items.size() + 1, l);
          from = {parents_[from.group], group_places_[from.group]};
        } else {
          AddEdge(to.group, groups_[to.group].items.size(), to.item, l);
          to = {parents_[to.group], group_places_[to.group]};
        }
      }
      if (from.item != to.item) AddEdge(from.group, from.item, to.item, l);
    }
  }

  void AddEdge(size_t group, size_t from, size_t to, size_t line) {
    auto& edges = groups_[group].edges;
    const auto [it, added] = numbers_[group].emplace(std::pair(from, to), edges.size());
    if (added) edges.push_back({from, to, {}});
    edges[it->second].lines.push_back(line);
  }

  void OpenFirst() {
    size_t shown = groups_[0].items.size();
    groups_[0].open = true;
    for (std::vector<size_t> level = {0}, next; !level.empty(); level = std::move(next)) {
      next.clear();
      for (const size_t g : level)
        for (size_t k = 0; k < (groups_[g].times > 0 ? 1 : groups_[g].items.size()); ++k)
          if (groups_[g].items[k].is_group) next.push_back(groups_[g].items[k].index);
      std::erase_if(next, [&](size_t g) {
        const size_t more = groups_[g].times > 0 ? 0 : groups_[g].items.size() - 1;
        if (shown + more > kOpenBoxes) return true;
        shown += more;
        groups_[g].open = true;
        return false;
      });
    }
  }

  const Panel& panel_;
  std::map<size_t, Repeated> repetitions_;  // by first box
  std::vector<Group> groups_;
  std::vector<size_t> parents_;
  std::vector<Place> places_;                                         // of boxes
  std::vector<size_t> group_places_;                                  // items in their parents
  std::vector<std::map<std::pair<size_t, size_t>, size_t>> numbers_;  // of edges, by ends
};

}  // namespace

std::vector<Group> GroupsOf(const Panel& panel) {
  return Grouper(panel).Run();
}

Arrangement ArrangeGroup(const Group& group) {
  std::vector<LayoutEdge> edges;
  edges.reserve(group.edges.size());
  for (const Group::Edge& e : group.edges) edges.push_back({e.from, e.to});
  return Arrange(group.items.size() + (group.has_ports ? 2 : 0), edges, kCrossedLayers);
}

std::string GroupTitle(const std::vector<Group>& groups, const Group& group) {
  if (group.times == 0) return group.title;
  std::string out = fmt::format("× {}", group.times);
  const Group &first = groups[group.items.front().index], &last = groups[group.items.back().index];
  if (first.is_named) out += fmt::format("  {} – {}", first.title, last.title);
  return out;
}

std::string GroupContents(const Panel& panel, const Group& group) {
  constexpr size_t kShown = 3;
  std::map<std::string, size_t> counts;
  for (size_t b = group.first; b < group.end; ++b) ++counts[panel.boxes[b].title];
  std::vector<std::pair<std::string, size_t>> most(counts.begin(), counts.end());
  std::stable_sort(most.begin(), most.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string out = fmt::format("{} operators", WithThousands(group.end - group.first));
  for (size_t i = 0; i < std::min(most.size(), kShown); ++i)
    out += fmt::format("{}{} {}", i == 0 ? ": " : ", ", most[i].first, most[i].second);
  return out + (most.size() > kShown ? ", …" : "");
}

}  // namespace nn::inspect
