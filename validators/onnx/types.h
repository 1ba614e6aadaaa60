// Element types of values, as text in the notation of schema.h: "f32", "seq(i64)".
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "validators/onnx/subject.h"

namespace nn::onnx {

// "" if the type is not stated or not known.
std::string TypeText(const pb::TypeProto& type);
std::string ElementTypeText(int data_type);

// Propagates element types through the model: from declared types, and through operators whose
// signature or attributes determine the types of their outputs.
class TypeFlow {
 public:
  explicit TypeFlow(const Subject& subject);

  // The type of a name as nodes of the body see it; "" if not known.
  const std::string& TypeOf(const Body& body, std::string_view name) const;
  // The type that a body declares for a value (inputs, outputs, value_info, initializers), and the
  // type that the node produces for one of its outputs; "" if not known.
  const std::string& Declared(const Body& body, std::string_view name) const;
  std::string Computed(const NodeAt& node, int output) const;

 private:
  using Names = std::unordered_map<std::string_view, std::string>;

  void Declare(const Body& body);

  std::unordered_map<const Body*, Names> declared_;
  std::unordered_map<const Body*, Names> types_;
};

}  // namespace nn::onnx
