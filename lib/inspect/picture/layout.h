// Places boxes in layers from top to bottom, every edge pointing down, and routes the edges between
// them: layers by longest paths, order within a layer by barycenters, positions after Brandes and
// Koepf, "Fast and Simple Horizontal Coordinate Assignment" (2001). Near linear in boxes and the
// layers that edges cross, and deterministic.
//
// Design: docs/design/054-inspection-pages.md.
#pragma once

#include <array>
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
  // Where lines reach and leave the box, to the right of its center.
  double into = 0;
  double out_of = 0;
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

// What a layout decides without the sizes of the boxes, for programs that change them. Vertices are
// the boxes by number and, from there on, the places where lines pass a layer.
struct Arrangement {
  std::vector<std::vector<size_t>> layers;  // vertices from left to right
  // The columns of the four alignments: down from the left, from the right; up from the left, from
  // the right. For each vertex, the first vertex of its column.
  std::array<std::vector<size_t>, 4> columns;
  // The vertices of each edge from top to bottom, as in Layout::routes. Those of edges that were
  // reversed begin at `to`.
  std::vector<std::vector<size_t>> routes;
};

// Edges that close a cycle are reversed for the layout. `from` and `to` must be less than the
// number of boxes.
Arrangement Arrange(size_t boxes, const std::vector<LayoutEdge>& edges,
                    size_t max_crossed_layers = LayoutOptions().max_crossed_layers);
Layout LayOut(const std::vector<LayoutBox>& boxes, const std::vector<LayoutEdge>& edges,
              const LayoutOptions& options = {});

}  // namespace nn::inspect
