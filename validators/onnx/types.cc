#include "validators/onnx/types.h"

#include "base/text.h"
#include "formats/onnx/tensor.h"
#include "validators/onnx/rules.h"

namespace nn::onnx {

std::string ElementTypeText(int data_type) {
  const DType dtype = DTypeOf(data_type);
  return dtype == DType::kUnknown ? std::string() : std::string(DTypeName(dtype));
}

std::string TypeText(const pb::TypeProto& type) {
  const auto around = [](std::string_view prefix, const std::string& inner) {
    return inner.empty() ? std::string() : fmt::format("{}{})", prefix, inner);
  };
  if (type.has_tensor_type()) return ElementTypeText(type.tensor_type().elem_type());
  if (type.has_sparse_tensor_type())
    return around("sparse_tensor(", ElementTypeText(type.sparse_tensor_type().elem_type()));
  if (type.has_sequence_type()) return around("seq(", TypeText(type.sequence_type().elem_type()));
  if (type.has_optional_type()) return around("opt(", TypeText(type.optional_type().elem_type()));
  if (type.has_map_type()) {
    const std::string key = ElementTypeText(type.map_type().key_type());
    if (!key.empty()) return around("map(" + key + ":", TypeText(type.map_type().value_type()));
  }
  return {};
}

namespace {

const std::string kNone;

// The output type of an operator that selects it by an attribute; "" for other operators.
std::string TypeByAttribute(const NodeAt& node) {
  const std::string& op = node.node->op_type();
  if (op == "Cast") {
    const auto* to = FindAttribute(node, "to");
    return to != nullptr && to->has_i() ? ElementTypeText(static_cast<int>(to->i())) : kNone;
  }
  if (op == "ConstantOfShape") {
    const auto* value = FindAttribute(node, "value");
    return value == nullptr ? "f32" : ElementTypeText(value->t().data_type());
  }
  if (op == "Constant") {
    if (const auto* value = FindAttribute(node, "value"))
      return value->has_t() ? ElementTypeText(value->t().data_type()) : kNone;
    for (const auto& [name, type] :
         {std::pair("value_int", "i64"), std::pair("value_ints", "i64"),
          std::pair("value_float", "f32"), std::pair("value_floats", "f32"),
          std::pair("value_string", "str"), std::pair("value_strings", "str")})
      if (FindAttribute(node, name) != nullptr) return type;
  }
  return kNone;
}

// Calls visit(parameter, type, position) for the inputs whose type is known.
template <typename Visit>
void EachTypedInput(const TypeFlow& flow, const NodeAt& node, const Visit& visit) {
  for (int i = 0; i < node.node->input_size(); ++i) {
    const SchemaParameter* p = ParameterAt(node.schema->inputs, i);
    if (p == nullptr || node.node->input(i).empty()) continue;
    const std::string& type = flow.TypeOf(*node.body, node.node->input(i));
    if (!type.empty()) visit(*p, type, i);
  }
}

}  // namespace

TypeFlow::TypeFlow(const Subject& subject) {
  for (const auto& body : subject.bodies()) {
    Declare(*body);
    types_[body.get()] = declared_[body.get()];
    for (const NodeAt& node : subject.NodesOf(*body))
      for (int i = 0; i < node.node->output_size(); ++i)
        if (const std::string type = Computed(node, i); !type.empty())
          types_[body.get()].try_emplace(node.node->output(i), type);
  }
}

void TypeFlow::Declare(const Body& body) {
  Names& names = declared_[&body];
  if (body.graph == nullptr) return;
  const auto add = [&](std::string_view name, const std::string& type) {
    if (!name.empty() && !type.empty()) names.try_emplace(name, type);
  };
  for (const auto& info : body.graph->input()) add(info.name(), TypeText(info.type()));
  for (const auto& tensor : body.graph->initializer())
    add(tensor.name(), ElementTypeText(tensor.data_type()));
  for (const auto& tensor : body.graph->sparse_initializer())
    add(tensor.values().name(), ElementTypeText(tensor.values().data_type()));
  for (const auto& info : body.graph->output()) add(info.name(), TypeText(info.type()));
  for (const auto& info : body.graph->value_info()) add(info.name(), TypeText(info.type()));
}

const std::string& TypeFlow::TypeOf(const Body& body, std::string_view name) const {
  for (const Body* b = &body; b != nullptr; b = b->outer) {
    if (!b->defined.contains(name)) continue;
    const auto types = types_.find(b);
    if (types == types_.end()) return kNone;
    const auto found = types->second.find(name);
    return found != types->second.end() ? found->second : kNone;
  }
  return kNone;
}

const std::string& TypeFlow::Declared(const Body& body, std::string_view name) const {
  const Names& names = declared_.at(&body);
  const auto found = names.find(name);
  return found != names.end() ? found->second : kNone;
}

std::string TypeFlow::Computed(const NodeAt& node, int output) const {
  if (node.schema == nullptr || node.schema->deprecated) return {};
  const SchemaParameter* p = ParameterAt(node.schema->outputs, output);
  if (p == nullptr) return {};
  if (std::string type = TypeByAttribute(node); !type.empty()) return type;
  const auto allowed = node.schema->types.find(p->type);
  if (allowed != node.schema->types.end() && allowed->second.size() == 1)
    return *allowed->second.begin();
  if (p->own_type) return {};
  std::string bound;
  EachTypedInput(*this, node, [&](const SchemaParameter& in, const std::string& type, int) {
    if (in.type == p->type && !in.own_type && bound.empty()) bound = type;
  });
  return bound;
}

namespace {

void TypesAllowed(const Subject& s, Findings& f) {
  const TypeFlow& flow = s.type_flow();
  for (const NodeAt& node : s.nodes()) {
    if (node.schema == nullptr || node.schema->deprecated) continue;
    EachTypedInput(flow, node, [&](const SchemaParameter& p, const std::string& type, int i) {
      const auto allowed = node.schema->types.find(p.type);
      if (allowed != node.schema->types.end() && !allowed->second.contains(type))
        f.Add(s.Where(node, fmt::format("input[{}]", i)),
              "input {} of {} is {} of type {}, which opset {} does not support", Quote(p.name),
              Title(node), Quote(node.node->input(i)), type, node.schema->since);
    });
  }
}

void TypesAgree(const Subject& s, Findings& f) {
  const TypeFlow& flow = s.type_flow();
  for (const NodeAt& node : s.nodes()) {
    if (node.schema == nullptr || node.schema->deprecated) continue;
    std::map<std::string_view, std::string> bound;
    EachTypedInput(flow, node, [&](const SchemaParameter& p, const std::string& type, int i) {
      if (p.own_type || p.type.starts_with('{')) return;
      const auto& first = bound.try_emplace(p.type, type).first->second;
      if (first != type)
        f.Add(s.Where(node, fmt::format("input[{}]", i)),
              "input {} of {} is {} of type {}, but type variable {} is already {}", Quote(p.name),
              Title(node), Quote(node.node->input(i)), type, p.type, first);
    });
  }
}

void OutputTypes(const Subject& s, Findings& f) {
  const TypeFlow& flow = s.type_flow();
  for (const NodeAt& node : s.nodes())
    for (int i = 0; i < node.node->output_size(); ++i) {
      if (node.node->output(i).empty()) continue;
      const std::string& declared = flow.Declared(*node.body, node.node->output(i));
      const std::string computed = flow.Computed(node, i);
      if (!declared.empty() && !computed.empty() && declared != computed)
        f.Add(s.Where(node, fmt::format("output[{}]", i)),
              "{} is declared as {}, but {} produces {}", Quote(node.node->output(i)), declared,
              Title(node), computed);
    }
}

// By its signature, version 1 of Constant produces only floats, but models of that time have
// integers.
void OutputTypesAllowed(const Subject& s, Findings& f) {
  for (const NodeAt& node : s.nodes()) {
    if (node.schema == nullptr || node.node->op_type() == "Constant") continue;
    for (int i = 0; i < node.node->output_size(); ++i) {
      const SchemaParameter* p = ParameterAt(node.schema->outputs, i);
      if (p == nullptr || node.node->output(i).empty()) continue;
      const std::string made = TypeByAttribute(node);
      const auto allowed = node.schema->types.find(p->type);
      if (!made.empty() && allowed != node.schema->types.end() && !allowed->second.contains(made))
        f.Add(s.Where(node, fmt::format("output[{}]", i)),
              "{} produces {} of type {}, which opset {} does not support", Title(node),
              Quote(node.node->output(i)), made, node.schema->since);
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

const TypeFlow& Subject::type_flow() const {
  if (type_flow_ == nullptr) type_flow_ = std::make_shared<TypeFlow>(*this);
  return *type_flow_;
}

std::span<const Rule> TypeRules() {
  return kTypeRules;
}

}  // namespace nn::onnx
