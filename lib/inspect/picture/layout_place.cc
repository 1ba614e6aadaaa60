// Brandes and Koepf: vertices are aligned with the median of their neighbors above or below, from
// the left or from the right, into blocks of one column each. The blocks are packed, and the
// position is the mean of the middle two of the four layouts. Blocks are packed along the longest
// paths of the block graph, which avoids shifting classes and keeps the gaps for any widths.
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <unordered_set>

#include "inspect/picture/layered.h"

namespace nn::inspect {
namespace {

using Neighbors = std::vector<std::vector<size_t>>;
constexpr size_t kNone = std::numeric_limits<size_t>::max();

uint64_t PairKey(size_t upper, size_t lower) {
  return static_cast<uint64_t>(upper) << 32 | lower;
}

// Edges that cross an edge between two dummies; they yield to it, so that long lines are straight.
std::unordered_set<uint64_t> Conflicts(const Layered& g) {
  std::unordered_set<uint64_t> out;
  std::vector<size_t> position(g.size());
  for (const auto& layer : g.layers)
    for (size_t i = 0; i < layer.size(); ++i) position[layer[i]] = i;
  for (size_t l = 1; l < g.layers.size(); ++l) {
    const auto& layer = g.layers[l];
    size_t left = 0, scanned = 0;
    for (size_t i = 0; i < layer.size(); ++i) {
      size_t inner = kNone;  // the position of the dummy above
      if (g.dummy(layer[i]) && !g.above[layer[i]].empty() && g.dummy(g.above[layer[i]][0]))
        inner = position[g.above[layer[i]][0]];
      if (inner == kNone && i + 1 < layer.size()) continue;
      const size_t right = inner == kNone ? g.layers[l - 1].size() : inner;
      for (; scanned <= i; ++scanned)
        for (const size_t u : g.above[layer[scanned]]) {
          const bool both = g.dummy(u) && g.dummy(layer[scanned]);
          if (!both && (position[u] < left || position[u] > right))
            out.insert(PairKey(u, layer[scanned]));
        }
      left = right;
    }
  }
  return out;
}

// The first vertex of the block of each.
std::vector<size_t> Align(const Layered& g, const Layers& layers, const Neighbors& neighbors,
                          const std::unordered_set<uint64_t>& conflicts) {
  std::vector<size_t> root(g.size()), position(g.size());
  std::vector<bool> taken(g.size(), false);  // another vertex follows in its block
  for (size_t v = 0; v < g.size(); ++v) root[v] = v;
  for (const auto& layer : layers)
    for (size_t i = 0; i < layer.size(); ++i) position[layer[i]] = i;
  std::vector<size_t> near;
  for (const auto& layer : layers) {
    size_t bound = 0;  // one past the last aligned neighbor
    for (const size_t v : layer) {
      near = neighbors[v];
      if (near.empty()) continue;
      std::sort(near.begin(), near.end(),
                [&](size_t a, size_t b) { return position[a] < position[b]; });
      for (size_t m = (near.size() - 1) / 2; m <= near.size() / 2; ++m) {
        const size_t u = near[m];
        if (root[v] != v || taken[u] || position[u] < bound) continue;
        if (conflicts.contains(PairKey(u, v)) || conflicts.contains(PairKey(v, u))) continue;
        root[v] = root[u];
        taken[u] = true;
        bound = position[u] + 1;
      }
    }
  }
  return root;
}

double Gap(const Layered& g, size_t a, size_t b, const LayoutOptions& options) {
  const bool line = g.dummy(a) || g.dummy(b);
  return (g.widths[a] + g.widths[b]) / 2 + (line ? options.line_gap : options.box_gap);
}

// Packs blocks to the left, then moves them right as far as their neighbors allow.
std::vector<double> Pack(const Layered& g, const Layers& layers, const std::vector<size_t>& root,
                         const LayoutOptions& options) {
  struct Arc {
    size_t to;
    double gap;
  };
  std::vector<std::vector<Arc>> right(g.size()), left(g.size());
  std::vector<size_t> waiting(g.size(), 0);
  for (const auto& layer : layers)
    for (size_t i = 0; i + 1 < layer.size(); ++i) {
      const size_t a = root[layer[i]], b = root[layer[i + 1]];
      const double gap = Gap(g, layer[i], layer[i + 1], options);
      right[a].push_back({b, gap});
      left[b].push_back({a, gap});
      ++waiting[b];
    }
  std::vector<size_t> order;
  for (size_t v = 0; v < g.size(); ++v)
    if (root[v] == v && waiting[v] == 0) order.push_back(v);
  std::vector<double> x(g.size(), 0);
  for (size_t i = 0; i < order.size(); ++i)
    for (const Arc& a : right[order[i]]) {
      x[a.to] = std::max(x[a.to], x[order[i]] + a.gap);
      if (--waiting[a.to] == 0) order.push_back(a.to);
    }
  for (size_t i = order.size(); i-- > 0;) {
    const size_t v = order[i];
    if (right[v].empty() || left[v].empty()) continue;
    double limit = std::numeric_limits<double>::infinity();
    for (const Arc& a : right[v]) limit = std::min(limit, x[a.to] - a.gap);
    x[v] = std::max(x[v], limit);
  }
  for (size_t v = 0; v < g.size(); ++v) x[v] = x[root[v]];
  return x;
}

Layers Mirrored(Layers layers) {
  for (auto& layer : layers) std::reverse(layer.begin(), layer.end());
  return layers;
}

struct Extent {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
};

Extent ExtentOf(const Layered& g, const std::vector<double>& x) {
  Extent e;
  for (size_t v = 0; v < g.size(); ++v) {
    e.low = std::min(e.low, x[v] - g.widths[v] / 2);
    e.high = std::max(e.high, x[v] + g.widths[v] / 2);
  }
  return e;
}

}  // namespace

std::array<std::vector<size_t>, 4> AlignVertices(const Layered& g) {
  const auto conflicts = Conflicts(g);
  std::array<std::vector<size_t>, 4> columns;
  for (size_t k = 0; k < 4; ++k) {
    Layers layers = k % 2 == 1 ? Mirrored(g.layers) : g.layers;
    if (k >= 2) std::reverse(layers.begin(), layers.end());
    columns[k] = Align(g, layers, k < 2 ? g.above : g.below, conflicts);
  }
  return columns;
}

std::vector<double> PlaceVertices(const Layered& g, const LayoutOptions& options) {
  const std::array<std::vector<size_t>, 4> columns = AlignVertices(g);
  std::array<std::vector<double>, 4> xs;
  for (size_t k = 0; k < 4; ++k) {
    xs[k] = Pack(g, k % 2 == 1 ? Mirrored(g.layers) : g.layers, columns[k], options);
    if (k % 2 == 1)
      for (double& x : xs[k]) x = -x;
  }
  std::array<Extent, 4> extents;
  size_t narrowest = 0;
  for (size_t k = 0; k < 4; ++k) {
    extents[k] = ExtentOf(g, xs[k]);
    if (extents[k].high - extents[k].low < extents[narrowest].high - extents[narrowest].low)
      narrowest = k;
  }
  std::vector<double> out(g.size());
  for (size_t v = 0; v < g.size(); ++v) {
    std::array<double, 4> x;
    for (size_t k = 0; k < 4; ++k)
      x[k] = xs[k][v] + (k % 2 == 0 ? extents[narrowest].low - extents[k].low
                                    : extents[narrowest].high - extents[k].high);
    std::sort(x.begin(), x.end());
    out[v] = (x[1] + x[2]) / 2;
  }
  const Extent all = ExtentOf(g, out);
  for (double& x : out) x -= all.low;
  return out;
}

}  // namespace nn::inspect
