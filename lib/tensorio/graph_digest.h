// Digests of a model: one of its structure and one of its weights.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/status.h"
#include "ir/graph.h"
#include "ir/tensor.h"
#include "nnsuite/inspect.h"

namespace nn {

// The contents of an opaque node, which the graph does not represent.
struct OpaqueContents {
  std::string structure;               // operator, attributes, subgraphs; without names
  std::vector<const Value*> captures;  // outer values used by the subgraphs
  std::vector<std::function<Result<Tensor>()>> tensors;
};

using GraphDigests = nnsuite::ModelDigests;

// SHA-256 over the graph in a canonical form. A walk from the outputs, in order, numbers each node
// after its operands, which are visited in input order. The digests therefore do not depend on
// names, on the order of nodes, or on nodes that no output depends on.
//
// structure: types and number of inputs, operators, attributes, data flow (using one value twice
// differs from using two equal values), types of constants, and the contents of constants that
// define shapes or indices: unquantized integers and bools of rank 0 or 1. weights: the contents of
// all constants reached, each once, and the scales and zero points of quantized types.
//
// Graphs with equal structure digests are the same except for names and constants; if their weights
// digests are equal, too, they compute the same function. Symbolic dimensions are identified by
// first occurrence. Errors are those of reading an opaque node's tensors.
Result<GraphDigests> DigestGraph(const Graph& graph,
                                 const std::function<OpaqueContents(const Node&)>& opaque);

}  // namespace nn
