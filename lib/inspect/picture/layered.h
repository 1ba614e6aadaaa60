// The graph in layers of a layout, between its steps.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "inspect/picture/layout.h"

namespace nn::inspect {

using Layers = std::vector<std::vector<size_t>>;

// The boxes, then a dummy for each layer that a line passes; edges join adjacent layers only.
struct Layered {
  Layers layers;  // vertices from left to right
  std::vector<size_t> layer_of;
  std::vector<std::vector<size_t>> above;  // neighbors in the layer above
  std::vector<std::vector<size_t>> below;
  std::vector<double> widths;
  size_t boxes = 0;  // vertices from here on are dummies

  size_t size() const { return layer_of.size(); }
  bool dummy(size_t v) const { return v >= boxes; }
};

// Reorders the vertices of each layer to reduce crossings.
void OrderLayers(Layered& g);

// The columns of Arrangement::columns.
std::array<std::vector<size_t>, 4> AlignVertices(const Layered& g);

// Horizontal centers, starting at 0, at least the gaps apart.
std::vector<double> PlaceVertices(const Layered& g, const LayoutOptions& options);

}  // namespace nn::inspect
