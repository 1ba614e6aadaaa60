// What is behind the classes of include/nnsuite/, and conversions between them and the library's
// own.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "formats/format.h"
#include "ir/graph.h"
#include "ir/tensor.h"
#include "ir/type.h"
#include "nnsuite/graph.h"
#include "nnsuite/model.h"
#include "nnsuite/tensor.h"
#include "tensorio/named_tensor.h"

namespace nnsuite {

struct Tensor::Impl {
  nn::Tensor tensor;
};

struct Graph::Impl {
  nn::Graph graph;
};

struct Model::Impl {
  nn::ReadModel read;
  std::string path;
};

struct StoredTensor::Impl {
  nn::TensorEntry entry;
  nn::ReadModel read;  // which the entry refers to
};

namespace internal {

struct Access {
  static const nn::Tensor& Of(const Tensor& tensor) { return tensor.impl_->tensor; }
  // The tensor with aligned contents.
  static Tensor Wrap(const nn::Tensor& tensor) {
    return Tensor(std::make_shared<const Tensor::Impl>(tensor.Aligned()));
  }
  static std::vector<nn::NamedTensor> Of(std::span<const NamedTensor> tensors) {
    std::vector<nn::NamedTensor> out;
    for (const NamedTensor& t : tensors) out.push_back({t.name, Of(t.tensor)});
    return out;
  }

  static const nn::Graph& Of(const Graph& graph) { return graph.impl_->graph; }
  static nn::Graph& Of(Graph& graph) { return graph.impl_->graph; }
  static Graph Wrap(nn::Graph graph) {
    return Graph(std::make_unique<Graph::Impl>(std::move(graph)));
  }
  static nn::Value* Of(Value value) { return value.value_; }
  static Value Wrap(nn::Value* value) { return Value(value); }
  static nn::Node* Of(Node node) { return node.node_; }
  static Node Wrap(nn::Node* node) { return Node(node); }

  static const Model::Impl& Of(const Model& model) { return *model.impl_; }
  static Model Wrap(nn::ReadModel read, std::string path) {
    return Model(std::make_shared<const Model::Impl>(std::move(read), std::move(path)));
  }
  static StoredTensor Wrap(nn::TensorEntry entry, nn::ReadModel read) {
    return StoredTensor(
        std::make_shared<const StoredTensor::Impl>(std::move(entry), std::move(read)));
  }
};

// kModel and kParse as for Graph::AddInput.
Result<nn::Type> TypeOf(const ValueType& type);
ValueType WrapType(const nn::Type& type);

}  // namespace internal

using internal::Access;

}  // namespace nnsuite
