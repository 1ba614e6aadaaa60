// Reads from a file the nodes that its graph does not represent.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

#include "inspect/loaded.h"
#include "tensorio/graph_digest.h"

namespace nn::inspect {

// Describes opaque nodes by the contents of the file, without names.
class OpaqueReader {
 public:
  // The model must outlive this object and be loaded in full.
  OpaqueReader(const LoadedModel& model, std::vector<TensorEntry> tensors);

  OpaqueContents Read(const Node& node) const;
  // The operator in the file; null if there is none.
  const OperatorSummary* Find(const Node& node) const;

 private:
  // Numbers names by first occurrence.
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
  std::vector<size_t> main_;  // operators of the main graph
  std::unordered_map<size_t, std::vector<size_t>> taken_;
  std::unordered_map<std::string, const Value*> values_;
};

}  // namespace nn::inspect
