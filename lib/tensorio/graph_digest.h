// Two numbers for a model: of its structure and of its weights.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/status.h"
#include "ir/graph.h"
#include "ir/tensor.h"

namespace nn {

// What a graph does not know of its opaque nodes.
struct OpaqueContents {
  std::string structure;               // operator, attributes, sub-graphs; free of names
  std::vector<const Value*> captures;  // values of the graph that sub-graphs take
  std::vector<std::function<Result<Tensor>()>> tensors;
};

// "sha256:" and 64 hexadecimal digits each.
struct GraphDigests {
  std::string structure;
  std::string weights;
};

// SHA-256 over the graph in a canonical form: nodes are numbered as a walk from the outputs, in
// their order, meets them, a node after what it depends on and inputs in their order. So neither
// names count nor the order of nodes, nor what no output depends on.
//
// structure: types and number of inputs, operators, attributes, which value goes where (a value
// that is used twice is not two equal values), types of constants, and contents of those that say
// how others are shaped or taken apart: integers, not quantised, of at most one axis. weights: the
// contents of all constants that the walk meets, each once, and the scales and zero points of
// quantised types.
//
// Equal digests of structure mean graphs that are the same but for names and constants; with equal
// digests of weights, they compute the same. Symbolic dimensions are told apart by where they
// first occur. Errors are those of reading an opaque node's tensors.
Result<GraphDigests> DigestGraph(const Graph& graph,
                                 const std::function<OpaqueContents(const Node&)>& opaque);

}  // namespace nn
