#include "inspect/picture/layout.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

#include "inspect/picture/layered.h"

namespace nn::inspect {
namespace {

// Edges, with those that close cycles reversed, and the vertices in topological order.
struct Directed {
  std::vector<std::vector<size_t>> out;  // targets, by edge order
  std::vector<std::vector<size_t>> in;
  std::vector<bool> turned;  // by edge
  std::vector<size_t> order;
};

Directed Direct(size_t count, const std::vector<LayoutEdge>& edges) {
  Directed d;
  d.turned.assign(edges.size(), false);
  std::vector<std::vector<size_t>> leaving(count);  // edges
  for (size_t e = 0; e < edges.size(); ++e) leaving[edges[e].from].push_back(e);
  std::vector<char> state(count, 0);  // 1: open, 2: done
  std::vector<std::pair<size_t, size_t>> stack;
  for (size_t root = 0; root < count; ++root) {
    if (state[root] != 0) continue;
    stack.emplace_back(root, 0);
    state[root] = 1;
    while (!stack.empty()) {
      auto& [v, next] = stack.back();
      if (next == leaving[v].size()) {
        state[v] = 2;
        d.order.push_back(v);
        stack.pop_back();
        continue;
      }
      const size_t e = leaving[v][next++], to = edges[e].to;
      if (state[to] == 1) d.turned[e] = true;
      if (state[to] != 0) continue;
      state[to] = 1;
      stack.emplace_back(to, 0);
    }
  }
  std::reverse(d.order.begin(), d.order.end());
  d.out.resize(count);
  d.in.resize(count);
  for (size_t e = 0; e < edges.size(); ++e) {
    const size_t from = d.turned[e] ? edges[e].to : edges[e].from;
    const size_t to = d.turned[e] ? edges[e].from : edges[e].to;
    if (from == to) continue;
    d.out[from].push_back(to);
    d.in[to].push_back(from);
  }
  return d;
}

// Longest paths; a vertex with more outputs than inputs then moves down to its users.
std::vector<size_t> Ranks(const Directed& d) {
  std::vector<size_t> rank(d.out.size(), 0);
  for (const size_t v : d.order)
    for (const size_t to : d.out[v]) rank[to] = std::max(rank[to], rank[v] + 1);
  for (auto v = d.order.rbegin(); v != d.order.rend(); ++v) {
    if (d.out[*v].size() <= d.in[*v].size()) continue;
    size_t lowest = rank[d.out[*v][0]];
    for (const size_t to : d.out[*v]) lowest = std::min(lowest, rank[to]);
    rank[*v] = lowest - 1;
  }
  return rank;
}

// The chain of dummies that the edges of one source share.
class Router {
 public:
  Router(Layered& g, size_t max_crossed) : g_(g), max_crossed_(max_crossed) {}

  // The vertices down to `to`, from where the line leaves shorter edges, or from `from`; empty
  // beyond the budget. Edges must be sorted by length.
  std::vector<size_t> Route(size_t from, size_t to) {
    const size_t first = g_.layer_of[from] + 1, last = g_.layer_of[to];
    std::vector<size_t>& chain = chains_[from];
    const size_t crossed = last - first, old = chain.size();
    if (crossed > old) {
      if (used_ + crossed - old > max_crossed_) return {};
      used_ += crossed - old;
    }
    std::vector<size_t> route = {old == 0 ? from : chain[old - 1]};
    for (size_t i = old; i < crossed; ++i) {
      chain.push_back(AddDummy(first + i));
      Join(route.back(), chain.back());
      route.push_back(chain.back());
    }
    Join(route.back(), to);
    route.push_back(to);
    return route;
  }

 private:
  size_t AddDummy(size_t layer) {
    g_.layer_of.push_back(layer);
    g_.widths.push_back(0);
    g_.above.emplace_back();
    g_.below.emplace_back();
    return g_.layer_of.size() - 1;
  }
  void Join(size_t upper, size_t lower) {
    if (!joined_.insert(static_cast<uint64_t>(upper) << 32 | lower).second) return;
    g_.below[upper].push_back(lower);
    g_.above[lower].push_back(upper);
  }

  Layered& g_;
  size_t max_crossed_;
  std::unordered_map<size_t, std::vector<size_t>> chains_;
  std::unordered_set<uint64_t> joined_;
  size_t used_ = 0;
};

// Short edges first, so that only the longest ones are omitted.
std::vector<std::vector<size_t>> RouteEdges(const std::vector<LayoutEdge>& edges, const Directed& d,
                                            size_t max_crossed_layers, Layered& g) {
  std::vector<size_t> by_length(edges.size());
  std::iota(by_length.begin(), by_length.end(), size_t{0});
  const auto upper = [&](size_t e) { return d.turned[e] ? edges[e].to : edges[e].from; };
  const auto lower = [&](size_t e) { return d.turned[e] ? edges[e].from : edges[e].to; };
  const auto length = [&](size_t e) { return g.layer_of[lower(e)] - g.layer_of[upper(e)]; };
  std::stable_sort(by_length.begin(), by_length.end(),
                   [&](size_t a, size_t b) { return length(a) < length(b); });
  std::vector<std::vector<size_t>> routes(edges.size());
  Router router(g, max_crossed_layers);
  for (const size_t e : by_length)
    if (edges[e].from != edges[e].to) routes[e] = router.Route(upper(e), lower(e));
  return routes;
}

struct Band {
  double top = 0;
  double bottom = 0;
  double center() const { return (top + bottom) / 2; }
};

// Vertical positions of the layers.
std::vector<Band> Bands(const Layered& g, const std::vector<LayoutBox>& boxes,
                        const LayoutOptions& options) {
  std::vector<Band> bands;
  double y = 0;
  for (const auto& layer : g.layers) {
    double tallest = 0;
    for (const size_t v : layer)
      if (!g.dummy(v)) tallest = std::max(tallest, boxes[v].height);
    bands.push_back({y, y + tallest});
    y += tallest + options.layer_gap;
  }
  return bands;
}

// Lines are vertical within layers and bend between them, where there are no boxes.
std::vector<Point> PointsOf(const std::vector<size_t>& route, const Layered& g,
                            const std::vector<double>& x, const std::vector<Band>& bands,
                            const std::vector<LayoutBox>& boxes) {
  std::vector<Point> points;
  const auto add = [&](double at_x, double y) {
    if (points.empty() || points.back().x != at_x || points.back().y != y)
      points.push_back({at_x, y});
  };
  for (size_t i = 0; i < route.size(); ++i) {
    const size_t v = route[i];
    const Band& band = bands[g.layer_of[v]];
    const LayoutBox box = g.dummy(v) ? LayoutBox() : boxes[v];
    const double above = x[v] + box.into, below = x[v] + box.out_of;
    if (i > 0) add(above, band.top);
    if (!g.dummy(v))
      add(i == 0 ? below : above, band.center() + (i == 0 ? box.height : -box.height) / 2);
    if (i + 1 < route.size()) add(below, band.bottom);
  }
  return points;
}

// The boxes in ordered layers, without widths, and the routes of the edges.
struct Ordered {
  Layered g;
  std::vector<std::vector<size_t>> routes;
  std::vector<bool> turned;
};

Ordered Order(size_t boxes, const std::vector<LayoutEdge>& edges, size_t max_crossed_layers) {
  Directed d = Direct(boxes, edges);
  Ordered out;
  Layered& g = out.g;
  g.boxes = boxes;
  g.layer_of = Ranks(d);
  g.above.resize(boxes);
  g.below.resize(boxes);
  g.widths.resize(boxes);
  out.routes = RouteEdges(edges, d, max_crossed_layers, g);
  for (size_t v = 0; v < g.size(); ++v) {
    if (g.layer_of[v] >= g.layers.size()) g.layers.resize(g.layer_of[v] + 1);
    g.layers[g.layer_of[v]].push_back(v);
  }
  OrderLayers(g);
  out.turned = std::move(d.turned);
  return out;
}

}  // namespace

Arrangement Arrange(size_t boxes, const std::vector<LayoutEdge>& edges, size_t max_crossed_layers) {
  Ordered ordered = Order(boxes, edges, max_crossed_layers);
  Arrangement out;
  out.columns = AlignVertices(ordered.g);
  out.layers = std::move(ordered.g.layers);
  out.routes = std::move(ordered.routes);
  return out;
}

Layout LayOut(const std::vector<LayoutBox>& boxes, const std::vector<LayoutEdge>& edges,
              const LayoutOptions& options) {
  Ordered ordered = Order(boxes.size(), edges, options.max_crossed_layers);
  Layered& g = ordered.g;
  for (size_t v = 0; v < boxes.size(); ++v) g.widths[v] = boxes[v].width;
  const std::vector<double> x = PlaceVertices(g, options);

  Layout out;
  const std::vector<Band> bands = Bands(g, boxes, options);
  if (!bands.empty()) out.height = bands.back().bottom;
  for (size_t v = 0; v < g.size(); ++v) {
    if (v < boxes.size()) out.centers.push_back({x[v], bands[g.layer_of[v]].center()});
    out.width = std::max(out.width, x[v] + g.widths[v] / 2);
  }
  for (size_t e = 0; e < edges.size(); ++e) {
    out.routes.push_back(PointsOf(ordered.routes[e], g, x, bands, boxes));
    if (ordered.turned[e]) std::reverse(out.routes[e].begin(), out.routes[e].end());
  }
  return out;
}

}  // namespace nn::inspect
