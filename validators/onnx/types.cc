#include "validators/onnx/types.h"

#include <algorithm>

#include "base/text/text.h"
#include "formats/onnx/file/tensor.h"
#include "validators/onnx/rules.h"

namespace nn::onnx {
namespace {

// "" if the type is not stated or not known.
std::string_view ElementTypeText(int data_type) {
  const DType dtype = DTypeOf(data_type);
  return dtype == DType::kUnknown ? std::string_view() : DTypeName(dtype);
}

std::string TypeText(const pb::TypeProto& type) {
  const auto around = [](std::string_view prefix, std::string_view inner) {
    return inner.empty() ? std::string() : fmt::format("{}{})", prefix, inner);
  };
  if (type.has_tensor_type()) return std::string(ElementTypeText(type.tensor_type().elem_type()));
  if (type.has_sparse_tensor_type())
    return around("sparse_tensor(", ElementTypeText(type.sparse_tensor_type().elem_type()));
  if (type.has_sequence_type()) return around("seq(", TypeText(type.sequence_type().elem_type()));
  if (type.has_optional_type()) return around("opt(", TypeText(type.optional_type().elem_type()));
  if (type.has_map_type()) {
    const std::string_view key = ElementTypeText(type.map_type().key_type());
    if (!key.empty())
      return around(fmt::format("map({}:", key), TypeText(type.map_type().value_type()));
  }
  return {};
}

// The output type of an operator that selects it by an attribute; "" for other operators.
std::string_view TypeByAttribute(const NodeAt& node) {
  const std::string& op = node.node->op_type();
  if (op == "Cast") {
    const auto* to = FindAttribute(node, "to");
    return to != nullptr && to->has_i() ? ElementTypeText(static_cast<int>(to->i())) : "";
  }
  if (op == "ConstantOfShape") {
    const auto* value = FindAttribute(node, "value");
    return value == nullptr ? "f32" : ElementTypeText(value->t().data_type());
  }
  if (op == "Constant") {
    if (const auto* value = FindAttribute(node, "value"))
      return value->has_t() ? ElementTypeText(value->t().data_type()) : "";
    for (const auto& [name, type] :
         {std::pair("value_int", "i64"), std::pair("value_ints", "i64"),
          std::pair("value_float", "f32"), std::pair("value_floats", "f32"),
          std::pair("value_string", "str"), std::pair("value_strings", "str")})
      if (FindAttribute(node, name) != nullptr) return type;
  }
  return {};
}

// Calls visit(parameter, type, position) for the inputs whose type is known.
template <typename Visit>
void EachTypedInput(const TypeFlow& flow, const NodeAt& node, const Visit& visit) {
  for (int i = 0; i < node.node->input_size(); ++i) {
    const SchemaParameter* p = ParameterAt(node.schema->inputs, i);
    if (p == nullptr || node.node->input(i).empty()) continue;
    const std::string_view type = flow.TypeOf(node, i);
    if (!type.empty()) visit(*p, type, i);
  }
}

}  // namespace

TypeFlow::TypeFlow(const RuleContext& context)
    : context_(context), declared_(context.values().size()) {
  for (const auto& body : context.bodies()) Declare(*body);
  types_ = declared_;
  for (const NodeAt& node : context.nodes())
    for (int i = 0; i < node.node->output_size(); ++i)
      if (const int value = context.OutputOf(node, i); value >= 0)
        if (std::string_view& type = types_[static_cast<size_t>(value)]; type.empty())
          type = Computed(node, i);
}

std::string_view TypeFlow::Text(const pb::TypeProto& type) {
  if (type.has_tensor_type()) return ElementTypeText(type.tensor_type().elem_type());
  return *texts_.insert(TypeText(type)).first;
}

// The first declaration of a name that has a type counts.
void TypeFlow::Declare(const Body& body) {
  if (body.graph == nullptr) return;
  const auto add = [&](std::string_view name, std::string_view type) {
    const int value = RuleContext::ValueOf(body, name);
    if (value < 0) return;
    std::string_view& declared = declared_[static_cast<size_t>(value)];
    if (declared.empty()) declared = type;
  };
  for (const auto& info : body.graph->input()) add(info.name(), Text(info.type()));
  for (const auto& tensor : body.graph->initializer())
    add(tensor.name(), ElementTypeText(tensor.data_type()));
  for (const auto& tensor : body.graph->sparse_initializer())
    add(tensor.values().name(), ElementTypeText(tensor.values().data_type()));
  for (const auto& info : body.graph->output()) add(info.name(), Text(info.type()));
  for (const auto& info : body.graph->value_info()) add(info.name(), Text(info.type()));
}

std::string_view TypeFlow::TypeOf(const NodeAt& node, int input) const {
  const int value = context_.InputOf(node, input);
  return value < 0 ? std::string_view() : types_[static_cast<size_t>(value)];
}

std::string_view TypeFlow::Declared(const NodeAt& node, int output) const {
  const int value = context_.OutputOf(node, output);
  return value < 0 ? std::string_view() : declared_[static_cast<size_t>(value)];
}

std::string_view TypeFlow::Computed(const NodeAt& node, int output) const {
  if (node.schema == nullptr || node.schema->deprecated) return {};
  const SchemaParameter* p = ParameterAt(node.schema->outputs, output);
  if (p == nullptr) return {};
  if (const auto type = TypeByAttribute(node); !type.empty()) return type;
  const auto allowed = node.schema->types.find(p->type);
  if (allowed != node.schema->types.end() && allowed->second.size() == 1)
    return *allowed->second.begin();
  if (p->own_type) return {};
  std::string_view bound;
  EachTypedInput(*this, node, [&](const SchemaParameter& in, std::string_view type, int) {
    if (in.type == p->type && !in.own_type && bound.empty()) bound = type;
  });
  return bound;
}

namespace {

void TypesAllowed(const RuleContext& s, Findings& f) {
  const TypeFlow& flow = s.type_flow();
  for (const NodeAt& node : s.nodes()) {
    if (node.schema == nullptr || node.schema->deprecated) continue;
    EachTypedInput(flow, node, [&](const SchemaParameter& p, std::string_view type, int i) {
      const auto allowed = node.schema->types.find(p.type);
      if (allowed != node.schema->types.end() && !allowed->second.contains(type))
        f.Add(s.Where(node, fmt::format("input[{}]", i)),
              "input {} of {} is {} of type {}, which opset {} does not support", Quote(p.name),
              Title(node), Quote(node.node->input(i)), type, node.opset);
    });
  }
}

void TypesAgree(const RuleContext& s, Findings& f) {
  const TypeFlow& flow = s.type_flow();
  std::vector<std::pair<std::string_view, std::string_view>> bound;  // variable and type
  for (const NodeAt& node : s.nodes()) {
    if (node.schema == nullptr || node.schema->deprecated) continue;
    bound.clear();
    EachTypedInput(flow, node, [&](const SchemaParameter& p, std::string_view type, int i) {
      if (p.own_type || p.type.starts_with('{')) return;
      const auto it = std::ranges::find(bound, p.type, [](const auto& b) { return b.first; });
      if (it == bound.end())
        bound.emplace_back(p.type, type);
      else if (it->second != type)
        f.Add(s.Where(node, fmt::format("input[{}]", i)),
              "input {} of {} is {} of type {}, but type variable {} is already {}", Quote(p.name),
              Title(node), Quote(node.node->input(i)), type, p.type, it->second);
    });
  }
}

void OutputTypes(const RuleContext& s, Findings& f) {
  const TypeFlow& flow = s.type_flow();
  for (const NodeAt& node : s.nodes())
    for (int i = 0; i < node.node->output_size(); ++i) {
      if (node.node->output(i).empty()) continue;
      const std::string_view declared = flow.Declared(node, i);
      const std::string_view computed = flow.Computed(node, i);
      if (!declared.empty() && !computed.empty() && declared != computed)
        f.Add(s.Where(node, fmt::format("output[{}]", i)),
              "{} is declared as {}, but {} produces {}", Quote(node.node->output(i)), declared,
              Title(node), computed);
    }
}

// By its signature, version 1 of Constant produces only floats, but models of that time have
// integers.
void OutputTypesAllowed(const RuleContext& s, Findings& f) {
  for (const NodeAt& node : s.nodes()) {
    if (node.schema == nullptr || node.node->op_type() == "Constant") continue;
    for (int i = 0; i < node.node->output_size(); ++i) {
      const SchemaParameter* p = ParameterAt(node.schema->outputs, i);
      if (p == nullptr || node.node->output(i).empty()) continue;
      const std::string_view made = TypeByAttribute(node);
      const auto allowed = node.schema->types.find(p->type);
      if (!made.empty() && allowed != node.schema->types.end() && !allowed->second.contains(made))
        f.Add(s.Where(node, fmt::format("output[{}]", i)),
              "{} produces {} of type {}, which opset {} does not support", Title(node),
              Quote(node.node->output(i)), made, node.opset);
    }
  }
}

constexpr Rule kTypeRules[] = {
    {.info = {.id = "ONNX-TYPE-001",
              .statement = "The inputs of a node have element types that the operator supports.",
              .clause = "Operators.md, Type Constraints",
              .hint = "Insert a Cast, or import an opset version that supports the type."},
     .check = TypesAllowed},
    {.info = {.id = "ONNX-TYPE-002",
              .statement =
                  "Inputs of a node that share a type variable have the same element type.",
              .clause = "Operators.md, Type Constraints",
              .hint = "Insert a Cast so that the inputs have the same type."},
     .check = TypesAgree},
    {.info = {.id = "ONNX-TYPE-003",
              .statement =
                  "The declared element type of a value is the one that its operator produces.",
              .clause = "Operators.md",
              .hint = "Correct the value_info entry, or the type of the graph output."},
     .check = OutputTypes},
    {.info = {.id = "ONNX-TYPE-004",
              .statement = "The element type that the to attribute of Cast or the value attribute "
                           "of ConstantOfShape selects is supported in the imported opset version.",
              .clause = "Operators.md, Type Constraints",
              .hint = "Select another element type, or import an opset version that supports it."},
     .check = OutputTypesAllowed},
};

}  // namespace

const TypeFlow& RuleContext::type_flow() const {
  if (type_flow_ == nullptr) type_flow_ = std::make_shared<TypeFlow>(*this);
  return *type_flow_;
}

std::span<const Rule> TypeRules() {
  return kTypeRules;
}

}  // namespace nn::onnx
