#include "inspect/picture/groups.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>

#include "inspect/report/tree.h"

namespace nn::test::groups_test {
namespace {

using inspect::Group;
using inspect::Panel;

// A chain of operators with these names, between an input and an output.
struct Chain {
  Panel panel;

  explicit Chain(const std::vector<std::string>& names) {
    panel.boxes.push_back({inspect::BoxKind::kInput, "x", {}, "x"});
    for (size_t i = 0; i < names.size(); ++i) {
      const OperatorSummary op{"Relu", names[i], "", {}, {}, {}};
      panel.boxes.push_back(
          {inspect::BoxKind::kActivation, "Relu", {}, "", i, inspect::BranchesTo(op)});
    }
    panel.boxes.push_back({inspect::BoxKind::kOutput, "y", {}, "y"});
    for (size_t b = 0; b + 1 < panel.boxes.size(); ++b) panel.lines.push_back({b, b + 1, "v", ""});
  }
};

// "x a(1 2) y": the items of a group, groups with their titles.
std::string Text(const std::vector<Group>& groups, const Group& group) {
  std::string out;
  for (const Group::Item& item : group.items) {
    if (!out.empty()) out += ' ';
    if (!item.is_group) {
      out += std::to_string(item.index);
      continue;
    }
    const Group& inner = groups[item.index];
    out += fmt::format("{}{}({})", inner.title,
                       inner.times > 0 ? fmt::format("*{}", inner.times) : "", Text(groups, inner));
  }
  return out;
}

std::string GroupsText(const Chain& chain) {
  const std::vector<Group> groups = inspect::GroupsOf(chain.panel);
  return Text(groups, groups[0]);
}

TEST_CASE("groups: scopes of consecutive operators") {
  struct Row {
    std::vector<std::string> names;
    std::string groups;
  };
  for (const Row& r : {
           Row{{"one", "two"}, "0 1 2 3"},
           Row{{"a/one", "a/two", "b/three"}, "0 a(1 2) 3 4"},
           Row{{"a/b/one", "a/b/two", "a/three"}, "0 a(b(1 2) 3) 4"},
           // A scope of one scope is one group.
           Row{{"a/b/one", "a/b/two"}, "0 a/b(1 2) 3"},
           // Not consecutive: two groups, so that no line leads back.
           Row{{"a/1", "a/2", "b/1", "b/2", "a/3", "a/4"}, "0 a(1 2) b(3 4) a(5 6) 7"},
           Row{{"m.0.one", "m.0.two", "m.1.one", "m.1.two"}, "0 m(0(1 2) 1(3 4)) 5"},
       }) {
    CAPTURE(r.groups);
    CHECK(GroupsText(Chain(r.names)) == r.groups);
  }
}

TEST_CASE("groups: repetitions") {
  Chain plain({"", "", "", "", "", ""});
  plain.panel.expanded = {{2, 3, 2}};
  CHECK(GroupsText(plain) == "0 1 *2(1 of 2(2 3) 2 of 2(4 5)) 6 7");
  Chain scopes({"s/one", "s/l0/one", "s/l0/two", "s/l1/one", "s/l1/two", "s/two"});
  scopes.panel.expanded = {{2, 3, 2}};
  CHECK(GroupsText(scopes) == "0 s(1 *2(l0(2 3) l1(4 5)) 6) 7");
  // A repetition of whole scopes around one that is smaller.
  Chain outer({"a0/one", "a0/two", "a1/one", "a1/two"});
  outer.panel.expanded = {{1, 2, 2}};
  CHECK(GroupsText(outer) == "0 *2(a0(1 2) a1(3 4)) 5");
  // One that cuts a scope is not a group.
  Chain cut({"a/one", "a/two", "b/one", "b/two", "b/three"});
  cut.panel.expanded = {{2, 3, 2}};
  CHECK(GroupsText(cut) == "0 a(1 2) b(3 4 5) 6");
}

TEST_CASE("groups: each line is one edge in every group on its way") {
  Chain chain({"a/b/one", "a/b/two", "a/three", "c/one", "c/two"});
  chain.panel.lines.push_back({1, 5, "skip", ""});
  const std::vector<Group> groups = inspect::GroupsOf(chain.panel);
  const size_t skip = chain.panel.lines.size() - 1;
  size_t edges = 0;
  for (const Group& g : groups) {
    CAPTURE(g.title);
    const size_t slots = g.items.size() + (g.has_ports ? 2 : 0);
    CHECK(g.has_ports == (g.first != 0));
    for (const Group::Edge& e : g.edges) {
      CHECK(e.from < slots);
      CHECK(e.to < slots);
      CHECK(e.from != e.to);
      edges += static_cast<size_t>(std::count(e.lines.begin(), e.lines.end(), skip));
    }
    // Every vertex is in one layer, and a column begins in itself.
    const inspect::Arrangement layout = inspect::ArrangeGroup(g);
    std::vector<int> seen(layout.columns[0].size(), 0);
    for (const auto& layer : layout.layers)
      for (const size_t v : layer) ++seen[v];
    CHECK(std::count(seen.begin(), seen.end(), 1) == static_cast<std::ptrdiff_t>(seen.size()));
    for (const auto& columns : layout.columns)
      for (const size_t v : columns) CHECK(columns[v] == v);
  }
  // In the group b, out of a, between a and c, and in c.
  CHECK(edges == 4);
}

}  // namespace
}  // namespace nn::test::groups_test
