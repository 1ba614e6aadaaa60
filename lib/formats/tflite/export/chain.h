// Replacing a node with a chain of simpler ones.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "formats/tflite/export/rewrites.h"
#include "ir/graph.h"
#include "ir/text/number.h"
#include "rewrite/expand.h"

namespace nn::tflite {

// A scalar of the given floating-point or integer type.
inline Result<Value*> Number(Graph& graph, DType dtype, double v) {
  NN_ASSIGN(Tensor number, nn::Number(dtype, v));
  return graph.AddConstant(std::move(number));
}

// Builds a chain of nodes that replaces a node, from its input 0 on.
class Chain {
 public:
  Chain(Graph& graph, Node& node) : graph_(graph), node_(node), y_(node.input(0)) {}

  Value* value() const { return y_; }
  Status Then(std::string_view op, std::vector<Value*> more = {}, Attrs attrs = {}) {
    more.insert(more.begin(), y_);
    NN_ASSIGN(Node* const n, AddLike(graph_, node_, op, std::move(more), std::move(attrs)));
    y_ = n->output();
    return {};
  }
  Status ThenNumber(std::string_view op, double v) {
    NN_ASSIGN(Value* const number, Number(graph_, y_->dtype(), v));
    return Then(op, {number});
  }
  Result<bool> Finish() {
    graph_.Replace(&node_, y_);
    return true;
  }

 private:
  Graph& graph_;
  Node& node_;
  Value* y_;
};

}  // namespace nn::tflite
