// The names of nodes.
#pragma once

#include "onnx.pb.h"

namespace nn::onnx {

// Gives each named node of a graph and its subgraphs a name of its own. The first node with a name
// keeps it. A graph may not have two nodes of one name, and a name with one meaning in the whole
// file is clear in reports.
void SeparateNodeNames(pb::GraphProto& graph);

}  // namespace nn::onnx
