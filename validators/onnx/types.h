// Element types of values, as text in the notation of schema.h: "f32", "seq(i64)".
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "validators/onnx/subject.h"

namespace nn::onnx {

// "" where the type is not stated or not known.
std::string TypeText(const pb::TypeProto& type);
std::string ElementTypeText(int data_type);

// Follows element types through the model: from what is declared, and through operators whose
// signature or attributes tell the type of their outputs.
class TypeFlow {
 public:
  explicit TypeFlow(const Subject& subject);

  // The type of a name as node `node` sees it; "" if not known.
  const std::string& TypeOf(const Body& body, std::string_view name) const;
  // What a body declares of a value (inputs, outputs, value_info, initialisers), and what the nodes
  // that write it make of it; "" if not known.
  const std::string& Declared(const Body& body, std::string_view name) const;
  std::string Computed(const NodeAt& node, int output) const;

 private:
  using Names = std::unordered_map<std::string_view, std::string>;

  void Declare(const Body& body);

  std::unordered_map<const Body*, Names> declared_;
  std::unordered_map<const Body*, Names> types_;
};

}  // namespace nn::onnx
