// Places boxes in layers from top to bottom, every edge pointing down, and routes the edges between
// them: layers by longest paths, order within a layer by barycentres, positions after Brandes and
// Koepf, "Fast and Simple Horizontal Coordinate Assignment" (2001). Near linear in boxes and the
// layers that edges cross, and deterministic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nn::app {

struct Point {
  double x = 0;
  double y = 0;
};

struct LayoutBox {
  double width = 0;
  double height = 0;
};

// Edges of one source run together until they part.
struct LayoutEdge {
  size_t from = 0;
  size_t to = 0;
};

struct LayoutOptions {
  double box_gap = 24;    // between boxes of a layer
  double line_gap = 14;   // between a line that passes a layer and its neighbours
  double layer_gap = 46;  // between layers
  // Layers that edges may cross in all; the longest edges beyond that are not routed.
  size_t max_crossed_layers = 400000;
};

struct Layout {
  std::vector<Point> centres;  // of the boxes
  // Of the edges, from a box to a box; where edges of one box run together, those of the longer
  // ones begin where they leave the shorter ones. Empty: not routed.
  std::vector<std::vector<Point>> routes;
  double width = 0;
  double height = 0;
};

// Edges that close a cycle are turned round for the layout.
Layout LayOut(const std::vector<LayoutBox>& boxes, const std::vector<LayoutEdge>& edges,
              const LayoutOptions& options = {});

namespace internal {

// The boxes, then a dummy for each layer that a line passes; edges join neighbouring layers only.
struct Layered {
  std::vector<std::vector<size_t>> layers;  // vertices from left to right
  std::vector<size_t> layer_of;
  std::vector<std::vector<size_t>> above;  // neighbours in the layer above
  std::vector<std::vector<size_t>> below;
  std::vector<double> widths;
  size_t boxes = 0;  // vertices from here on are dummies

  size_t size() const { return layer_of.size(); }
  bool dummy(size_t v) const { return v >= boxes; }
};

// Reorders the vertices of each layer so that few edges cross.
void OrderLayers(Layered& g);

// Horizontal centres, from 0 on, at least the gaps apart.
std::vector<double> PlaceVertices(const Layered& g, const LayoutOptions& options);

}  // namespace internal
}  // namespace nn::app
