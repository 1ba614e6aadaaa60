// Element types of values, as text in the notation of schema.h: "f32", "seq(i64)".
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "validators/onnx/rule_context.h"

namespace nn::onnx {

// Propagates element types through the model: from declared types, and through operators whose
// signature or attributes determine the types of their outputs.
class TypeFlow {
 public:
  explicit TypeFlow(const RuleContext& context);

  // The type of an input as the node sees it; "" if not known.
  std::string_view TypeOf(const NodeAt& node, int input) const;
  // The type that the body declares for an output of a node (as a graph output or in value_info),
  // and the type that the node produces for it; "" if not known.
  std::string_view Declared(const NodeAt& node, int output) const;
  std::string_view Computed(const NodeAt& node, int output) const;

 private:
  void Declare(const Body& body);
  std::string_view Text(const pb::TypeProto& type);

  const RuleContext& context_;
  std::set<std::string, std::less<>> texts_;  // of types other than tensors
  // By index in RuleContext::values.
  std::vector<std::string_view> declared_;
  std::vector<std::string_view> types_;
};

}  // namespace nn::onnx
