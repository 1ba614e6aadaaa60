// Places boxes in layers from top to bottom, every edge pointing down, and routes the edges between
// them: layers by longest paths, order within a layer by barycenters, positions after Brandes and
// Koepf, "Fast and Simple Horizontal Coordinate Assignment" (2001). Near linear in boxes and the
// layers that edges cross, and deterministic.
#pragma once

#include <cstddef>
#include <vector>

namespace nn::inspect {

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

// Edges that close a cycle are reversed for the layout. `from` and `to` must be less than the
// number of boxes.
Layout LayOut(const std::vector<LayoutBox>& boxes, const std::vector<LayoutEdge>& edges,
              const LayoutOptions& options = {});

}  // namespace nn::inspect
