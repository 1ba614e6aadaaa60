#include "formats/onnx/edit/node_names.h"

#include <string>
#include <vector>

#include "base/text/name_table.h"
#include "formats/onnx/edit/value_names.h"

namespace nn::onnx {
namespace {

// Adds the names of a graph's nodes to `names`, and the nodes whose names it has to `repeated`.
void Collect(pb::GraphProto& graph, NameTable& names, std::vector<pb::NodeProto*>& repeated) {
  for (pb::NodeProto& node : *graph.mutable_node())
    if (!node.name().empty() && !names.Claim(node.name())) repeated.push_back(&node);
  static_cast<void>(EachSubgraph(graph, [&](pb::GraphProto& inner, const std::string&) -> Status {
    Collect(inner, names, repeated);
    return {};
  }));
}

}  // namespace

void SeparateNodeNames(pb::GraphProto& graph) {
  NameTable names;
  std::vector<pb::NodeProto*> repeated;
  Collect(graph, names, repeated);
  for (pb::NodeProto* const node : repeated) node->set_name(names.New(node->name()));
}

}  // namespace nn::onnx
