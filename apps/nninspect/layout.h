// Places boxes in layers from top to bottom, every edge pointing down, and routes the edges between
// them: layers by longest paths, order within a layer by barycenters, positions after Brandes and
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

// Edges of one source share a line until they part.
struct LayoutEdge {
  size_t from = 0;
  size_t to = 0;
};

struct LayoutOptions {
  double box_gap = 24;    // between boxes of a layer
  double line_gap = 14;   // between a line that passes a layer and its neighbors
  double layer_gap = 46;  // between layers
  // The total number of layers that edges may cross; the longest edges beyond it are not routed.
  size_t max_crossed_layers = 400000;
};

struct Layout {
  std::vector<Point> centers;  // of the boxes
  // Routes of the edges, from box to box. Where edges of one box share a line, the routes of longer
  // ones begin where they leave the shorter ones. Empty: not routed.
  std::vector<std::vector<Point>> routes;
  double width = 0;
  double height = 0;
};

// Edges that close a cycle are reversed for the layout.
Layout LayOut(const std::vector<LayoutBox>& boxes, const std::vector<LayoutEdge>& edges,
              const LayoutOptions& options = {});

namespace internal {

// The boxes, then a dummy for each layer that a line passes; edges join adjacent layers only.
struct Layered {
  std::vector<std::vector<size_t>> layers;  // vertices from left to right
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

// Horizontal centers, starting at 0, at least the gaps apart.
std::vector<double> PlaceVertices(const Layered& g, const LayoutOptions& options);

}  // namespace internal
}  // namespace nn::app
