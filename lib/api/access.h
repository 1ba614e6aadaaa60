// The implementation of the classes in include/nnsuite/, and conversions between them and the
// library's own classes.
// Design: docs/design/001-public-library.md.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "exec/program.h"
#include "formats/format.h"
#include "ir/graph.h"
#include "ir/tensor.h"
#include "ir/types/type.h"
#include "nnsuite/graph.h"
#include "nnsuite/model.h"
#include "nnsuite/program.h"
#include "nnsuite/tensor.h"
#include "passes/facts/input_domains.h"
#include "tensorio/compare.h"
#include "tensorio/named_tensor.h"

namespace nnsuite {

struct Tensor::Impl {
  nn::Tensor tensor;
};

struct Graph::Impl {
  nn::Graph graph;
};

struct Program::Impl {
  nn::Program program;
  std::vector<PortType> inputs;
  std::vector<PortType> outputs;
  std::vector<nn::Domain> domains;  // of seeded inputs
};

struct Model::Impl {
  nn::ReadModel read;
  std::string path;
  bool edited = false;  // the file at `path` is that of the model before an edit
};

struct StoredTensor::Impl {
  nn::TensorEntry entry;
  nn::ReadModel read;  // which the entry refers to
};

}  // namespace nnsuite

namespace nn::api {

struct Access {
  static const nn::Tensor& Of(const nnsuite::Tensor& tensor) { return tensor.impl_->tensor; }
  // The tensor with aligned contents.
  static nnsuite::Tensor Wrap(const nn::Tensor& tensor) {
    return nnsuite::Tensor(
        std::shared_ptr<const nnsuite::Tensor::Impl>(new nnsuite::Tensor::Impl{tensor.Aligned()}));
  }
  static std::vector<nn::Tensor> Of(std::span<const nnsuite::Tensor> tensors) {
    std::vector<nn::Tensor> out;
    for (const nnsuite::Tensor& t : tensors) out.push_back(Of(t));
    return out;
  }
  static std::vector<nn::NamedTensor> Of(std::span<const nnsuite::NamedTensor> tensors) {
    std::vector<nn::NamedTensor> out;
    for (const nnsuite::NamedTensor& t : tensors) out.push_back({t.name, Of(t.tensor)});
    return out;
  }

  static std::vector<nnsuite::NamedTensor> Wrap(std::span<const nn::NamedTensor> tensors) {
    std::vector<nnsuite::NamedTensor> out;
    for (const nn::NamedTensor& t : tensors) out.push_back({t.name, Wrap(t.tensor)});
    return out;
  }

  static const nn::Graph& Of(const nnsuite::Graph& graph) { return graph.impl_->graph; }
  static nn::Graph& Of(nnsuite::Graph& graph) { return graph.impl_->graph; }
  static nnsuite::Graph Wrap(nn::Graph graph) {
    return nnsuite::Graph(
        // NOLINTNEXTLINE(modernize-make-unique): an aggregate
        std::unique_ptr<nnsuite::Graph::Impl>(new nnsuite::Graph::Impl{std::move(graph)}));
  }
  static nn::Value* Of(nnsuite::Value value) { return value.value_; }
  static nnsuite::Value Wrap(nn::Value* value) { return nnsuite::Value(value); }
  static nn::Node* Of(nnsuite::Node node) { return node.node_; }
  static nnsuite::Node Wrap(nn::Node* node) { return nnsuite::Node(node); }

  static const nn::Program& Of(const nnsuite::Program& program) { return program.impl_->program; }

  static const nnsuite::Model::Impl& Of(const nnsuite::Model& model) { return *model.impl_; }
  static nnsuite::Model Wrap(nn::ReadModel read, std::string path, bool edited = false) {
    return nnsuite::Model(std::shared_ptr<const nnsuite::Model::Impl>(
        new nnsuite::Model::Impl{std::move(read), std::move(path), edited}));
  }
  static nnsuite::StoredTensor Wrap(nn::TensorEntry entry, nn::ReadModel read) {
    return nnsuite::StoredTensor(std::shared_ptr<const nnsuite::StoredTensor::Impl>(
        new nnsuite::StoredTensor::Impl{std::move(entry), std::move(read)}));
  }
};

// kModel and kParse as for nnsuite::Graph::AddInput.
nn::Result<nn::Type> TypeOf(const nnsuite::ValueType& type);
nnsuite::ValueType WrapType(const nn::Type& type);

nnsuite::Comparison WrapComparison(const nn::Comparison& comparison, std::string text);

}  // namespace nn::api

namespace nnsuite {

using nn::api::Access;

}  // namespace nnsuite
