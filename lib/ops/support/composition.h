// Operators that are defined by their decomposition (OpDef::eval).
// Design: docs/design/012-compositions.md.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "ir/graph.h"
#include "ir/op_def.h"

namespace nn {

// Adds a node with one result to a graph.
using AddOperator =
    std::function<Result<Value*>(std::string_view op, std::vector<Value*> inputs, Attrs attrs)>;

// Replaces a node by its decomposition. That of 16-bit floats computes in float32 and rounds once.
class Composition {
 public:
  Composition(Graph& graph, Node& node) : graph_(graph), node_(node) {}

  Result<Value*> Add(std::string_view op, std::vector<Value*> inputs, Attrs attrs = {}) const;
  AddOperator adder() const {
    return [this](std::string_view op, std::vector<Value*> inputs, Attrs attrs) {
      return Add(op, std::move(inputs), std::move(attrs));
    };
  }
  // Input i, widened; null if it is absent.
  Result<Value*> Operand(size_t i) const;
  // Replaces the only output of the node, whose type rounds y.
  Status Replace(Value* y) const;

 private:
  Graph& graph_;
  Node& node_;
};

// kUnsupported unless an input is a tensor of f16, bf16, f32 or f64 that is not quantized.
Status RequireReal(const InferContext& ctx, size_t input);

}  // namespace nn
