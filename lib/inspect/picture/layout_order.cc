#include <algorithm>
#include <cstdint>

#include "inspect/picture/layered.h"

namespace nn::inspect {
namespace {

std::vector<size_t> Positions(const Layered& g, const Layers& layers) {
  std::vector<size_t> position(g.size());
  for (const auto& layer : layers)
    for (size_t i = 0; i < layer.size(); ++i) position[layer[i]] = i;
  return position;
}

// Crossings between a layer and the one below: inversions, counted with a Fenwick tree.
uint64_t CrossingsBelow(const Layered& g, const std::vector<size_t>& upper, size_t lower_size,
                        const std::vector<size_t>& position, std::vector<size_t>& targets) {
  std::vector<uint64_t> tree(lower_size + 1, 0);
  uint64_t crossings = 0, seen = 0;
  for (const size_t v : upper) {
    targets.clear();
    for (const size_t to : g.below[v]) targets.push_back(position[to]);
    for (const size_t t : targets) {
      uint64_t before = 0;  // at or left of t
      for (size_t i = t + 1; i > 0; i -= i & (~i + 1)) before += tree[i];
      crossings += seen - before;
    }
    for (const size_t t : targets) {
      for (size_t i = t + 1; i <= lower_size; i += i & (~i + 1)) ++tree[i];
      ++seen;
    }
  }
  return crossings;
}

uint64_t Crossings(const Layered& g, const Layers& layers) {
  const std::vector<size_t> position = Positions(g, layers);
  std::vector<size_t> targets;
  uint64_t crossings = 0;
  for (size_t l = 0; l + 1 < layers.size(); ++l)
    crossings += CrossingsBelow(g, layers[l], layers[l + 1].size(), position, targets);
  return crossings;
}

// Sorts a layer by the mean position of the neighbors; vertices without neighbors keep their
// position.
void SortLayer(const std::vector<std::vector<size_t>>& neighbors, std::vector<size_t>& layer,
               std::vector<size_t>& position) {
  std::vector<std::pair<double, size_t>> keyed;
  std::vector<size_t> slots;
  for (size_t i = 0; i < layer.size(); ++i) {
    const auto& near = neighbors[layer[i]];
    if (near.empty()) continue;
    double sum = 0;
    for (const size_t n : near) sum += static_cast<double>(position[n]);
    keyed.emplace_back(sum / static_cast<double>(near.size()), layer[i]);
    slots.push_back(i);
  }
  std::stable_sort(keyed.begin(), keyed.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (size_t i = 0; i < slots.size(); ++i) layer[slots[i]] = keyed[i].second;
  for (size_t i = 0; i < layer.size(); ++i) position[layer[i]] = i;
}

// Vertices in depth-first order from the first layer.
void StartInWalkOrder(Layered& g) {
  std::vector<bool> seen(g.size(), false);
  Layers layers(g.layers.size());
  std::vector<size_t> stack;
  for (const auto& layer : g.layers)
    for (const size_t root : layer) {
      if (seen[root] || !g.above[root].empty()) continue;
      stack.push_back(root);
      while (!stack.empty()) {
        const size_t v = stack.back();
        stack.pop_back();
        if (seen[v]) continue;
        seen[v] = true;
        layers[g.layer_of[v]].push_back(v);
        for (auto to = g.below[v].rbegin(); to != g.below[v].rend(); ++to)
          if (!seen[*to]) stack.push_back(*to);
      }
    }
  g.layers = std::move(layers);
}

}  // namespace

void OrderLayers(Layered& g) {
  StartInWalkOrder(g);
  const int sweeps = g.size() > 100000 ? 4 : 12;
  Layers best = g.layers;
  uint64_t fewest = Crossings(g, best);
  for (int sweep = 0; sweep < sweeps && fewest > 0; ++sweep) {
    std::vector<size_t> position = Positions(g, g.layers);
    if (sweep % 2 == 0) {
      for (size_t l = 1; l < g.layers.size(); ++l) SortLayer(g.above, g.layers[l], position);
    } else {
      for (size_t l = g.layers.size() - 1; l-- > 0;) SortLayer(g.below, g.layers[l], position);
    }
    const uint64_t crossings = Crossings(g, g.layers);
    if (crossings >= fewest) continue;
    fewest = crossings;
    best = g.layers;
  }
  g.layers = std::move(best);
}

}  // namespace nn::inspect
