// The text form of graphs: printed for people, parsed in tests.
//
//   graph "mnist" {
//     in %x "input": f32[batch, 1, 28, 28]
//     const %w: f32[8, 1, 3, 3] = seeded(7, 0.5)
//     const %b: f32[8] = [0, 1, 2, 3, 4, 5, 6, 7]
//     %y = conv(%x, %w, %b) {strides = [2, 2]}
//     %z "hidden" = relu(%y) : f32[batch, 8, 13, 13]
//     out "output" = %z
//   }
//
// Values are %name or %number. A quoted string after a value or after a node's attributes is its
// name. Absent inputs are "_". Types after ":" are optional on nodes; they are inferred if missing.
// Constants: a flat list of numbers, splat(v), seeded(seed), seeded(seed, scale) (see ir/seeded.h),
// or hex("...") with the bytes. "@tflite" after a node sets its arithmetic. Several outputs: "%a,
// %b = split(%x) {...}". Regions follow a node's types as "regions { graph ... }". "#" starts a
// comment.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "ir/graph.h"

namespace nn {

struct PrintOptions {
  // Constants with more elements are printed as "...", which does not parse.
  int64_t max_elements = 16;
  // Prints every constant completely, so that the text parses to an identical graph.
  bool complete = false;
};

std::string PrintGraph(const Graph& graph, const PrintOptions& options = {});

// Parses, infers types and verifies. Syntax errors give line and column.
Result<Graph> ParseGraph(std::string_view text);

// The attributes of an operator, "{strides = [2, 2]}"; "" and "{}" are all defaults.
Result<Attrs> ParseAttrs(const OpDef& op, std::string_view text);

// "f32[1, batch]", "u8[4]{scale=0.5, zp=128}", "f32[*]".
Result<Type> ParseType(std::string_view text);

}  // namespace nn
