// The constant inputs of nodes.
#pragma once

#include <optional>
#include <vector>

#include "formats/onnx/file/tensor.h"
#include "validators/onnx/rule_context.h"

namespace nn::onnx {

// Initializers and results of Constant nodes.
class Constants {
 public:
  explicit Constants(const RuleContext& s) : s_(s), tensors_(s.values().size()) {
    for (const TensorAt& t : s.tensors()) Add(t.value, *t.tensor);
    for (const NodeAt& node : s.nodes())
      if (IsOf(node, "Constant") && node.node->output_size() == 1)
        if (const pb::AttributeProto* value = FindAttribute(node, "value");
            value != nullptr && value->has_t())
          Add(s.OutputOf(node, 0), value->t());
  }

  // The constant that input `i` of a node reads; null if the input is absent or not a constant.
  const pb::TensorProto* InputOf(const NodeAt& node, int i) const {
    const int value = i < node.node->input_size() ? s_.InputOf(node, i) : -1;
    return value < 0 ? nullptr : tensors_[static_cast<size_t>(value)];
  }

  std::optional<std::vector<double>> ValuesOf(const NodeAt& node, int i) const {
    const pb::TensorProto* tensor = InputOf(node, i);
    if (tensor == nullptr || tensor->data_type() == pb::TensorProto::STRING) return std::nullopt;
    const auto read = ReadTensor(*tensor, s_.native());
    return read ? std::optional(read->ToDoubles()) : std::nullopt;
  }

 private:
  void Add(int value, const pb::TensorProto& tensor) {
    if (value >= 0 && tensors_[static_cast<size_t>(value)] == nullptr)
      tensors_[static_cast<size_t>(value)] = &tensor;
  }

  const RuleContext& s_;
  std::vector<const pb::TensorProto*> tensors_;  // by index in RuleContext::values
};

}  // namespace nn::onnx
