// Digests of a model: nninspect --hash.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "apps/nninspect/loaded.h"
#include "tensorio/graph_digest.h"

namespace nn::app {

// DigestGraph of the model as it was imported; operators that cannot be imported count with all
// that the file says of them, their sub-graphs in the file's order. Requires a model that was
// loaded in full, without shapes. kUnsupported and the like for a model that cannot be imported at
// all.
Result<GraphDigests> DigestsOf(const LoadedModel& model);

// What the file says of opaque nodes, their names left out.
class OpaqueReader {
 public:
  // The model must outlive this, and have been loaded in full.
  OpaqueReader(const LoadedModel& model, std::vector<TensorEntry> tensors);

  OpaqueContents Read(const Node& node) const;
  // The operator of the file; null if there is none.
  const OperatorSummary* Find(const Node& node) const;

 private:
  // Names by where they first occur.
  struct Names {
    std::unordered_map<std::string, size_t> numbers;
    std::string Text(const std::string& name) {
      return std::to_string(numbers.try_emplace(name, numbers.size()).first->second);
    }
  };

  bool IsInside(size_t i, size_t owner) const;
  void AddOperator(size_t i, OpaqueContents& out, Names& names) const;
  void AddCaptures(size_t i, OpaqueContents& out, Names& names) const;
  void AddTensors(size_t i, bool attributes, OpaqueContents& out) const;

  const std::vector<OperatorSummary>& operators_;
  std::vector<TensorEntry> tensors_;
  std::vector<size_t> main_;  // the operators of the main graph
  std::unordered_map<size_t, std::vector<size_t>> taken_;
  std::unordered_map<std::string, const Value*> values_;
};

}  // namespace nn::app
