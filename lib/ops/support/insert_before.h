// Adds the nodes of terms before a node that they replace.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "ir/graph.h"
#include "ir/term.h"

namespace nn {

// The nodes get the source of `node`.
class InsertBefore : public NodeInserter {
 public:
  InsertBefore(Graph& graph, Node& node) : graph_(graph), node_(node) {}

  Result<Node*> AddNode(std::string_view op, std::vector<Value*> inputs, Attrs attrs,
                        size_t results) {
    NN_ASSIGN(Node* const n,
              graph_.Append(op, std::move(inputs), std::move(attrs), results, &node_));
    n->set_source(node_.source());
    return n;
  }

 protected:
  Graph& graph_of_terms() override { return graph_; }
  Result<Node*> InsertNode(std::string_view op, std::vector<Value*> inputs, Attrs attrs,
                           size_t results) override {
    return AddNode(op, std::move(inputs), std::move(attrs), results);
  }

  Graph& graph_;
  Node& node_;
};

}  // namespace nn
