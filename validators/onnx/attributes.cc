// Rules for attributes of any operator.
#include <algorithm>
#include <set>

#include "base/text/text.h"
#include "validators/onnx/rules.h"

namespace nn::onnx {
namespace {

using A = pb::AttributeProto;

constexpr int64_t kFirstIrWithType = 2;

struct ValueField {
  int number;
  A::AttributeType type;
};

constexpr ValueField kValueFields[] = {
    {A::kFFieldNumber, A::FLOAT},
    {A::kIFieldNumber, A::INT},
    {A::kSFieldNumber, A::STRING},
    {A::kTFieldNumber, A::TENSOR},
    {A::kGFieldNumber, A::GRAPH},
    {A::kTpFieldNumber, A::TYPE_PROTO},
    {A::kSparseTensorFieldNumber, A::SPARSE_TENSOR},
    {A::kFloatsFieldNumber, A::FLOATS},
    {A::kIntsFieldNumber, A::INTS},
    {A::kStringsFieldNumber, A::STRINGS},
    {A::kTensorsFieldNumber, A::TENSORS},
    {A::kGraphsFieldNumber, A::GRAPHS},
    {A::kTypeProtosFieldNumber, A::TYPE_PROTOS},
    {A::kSparseTensorsFieldNumber, A::SPARSE_TENSORS},
};

const NodeAt& NodeOf(const RuleContext& s, const AttributeAt& a) {
  return s.nodes()[static_cast<size_t>(a.node)];
}

std::string Name(const RuleContext& s, const AttributeAt& a) {
  return fmt::format("attribute {} of {}", Quote(a.attribute->name()), Title(NodeOf(s, a)));
}

void Named(const RuleContext& s, Findings& f) {
  for (const AttributeAt& a : s.attributes())
    if (a.attribute->name().empty())
      f.Add(s.Where(a, "name"), "attribute {} of {} has no name", a.index, Title(NodeOf(s, a)));
}

void Unique(const RuleContext& s, Findings& f) {
  for (const NodeAt& node : s.nodes()) {
    std::set<std::string_view> seen;
    for (int i = 0; i < node.node->attribute_size(); ++i)
      if (!seen.insert(node.node->attribute(i).name()).second)
        f.Add(s.Where(node, fmt::format("attribute[{}]", i)), "{} has attribute {} more than once",
              Title(node), Quote(node.node->attribute(i).name()));
  }
}

void Typed(const RuleContext& s, Findings& f) {
  if (s.ir_version() < kFirstIrWithType) return;
  for (const AttributeAt& a : s.attributes())
    if (!a.attribute->has_type()) f.Add(s.Where(a, "type"), "{} has no type", Name(s, a));
}

void TypeDefined(const RuleContext& s, Findings& f) {
  for (const AttributeAt& a : s.attributes())
    if (a.attribute->has_type() && a.attribute->type() == A::UNDEFINED)
      f.Add(s.Where(a, "type"), "the type of {} is UNDEFINED", Name(s, a));
}

void OneValue(const RuleContext& s, Findings& f) {
  for (const AttributeAt& a : s.attributes()) {
    const auto used =
        std::count_if(std::begin(kValueFields), std::end(kValueFields),
                      [&](const ValueField& field) { return s.Has(*a.attribute, field.number); });
    if (used > 1)
      f.Add(s.Where(a), "{} has values in {} fields; at most one is allowed", Name(s, a), used);
  }
}

void ValueFitsType(const RuleContext& s, Findings& f) {
  for (const AttributeAt& a : s.attributes()) {
    if (!a.attribute->has_type()) continue;
    for (const ValueField& field : kValueFields)
      if (field.type != a.attribute->type() && s.Has(*a.attribute, field.number))
        f.Add(s.Where(a), "{} has type {}, but a value in field {}", Name(s, a),
              A::AttributeType_Name(a.attribute->type()),
              A::descriptor()->FindFieldByNumber(field.number)->name());
  }
}

// True if the attribute is in the signature of a standard operator.
bool IsStandard(const RuleContext& s, const AttributeAt& a) {
  const Schema* schema = NodeOf(s, a).standard;
  return schema != nullptr && schema->attributes.contains(a.attribute->name());
}

void FindMissingMessages(const RuleContext& s, Findings& f, bool standard) {
  for (const AttributeAt& a : s.attributes()) {
    if (!a.attribute->ref_attr_name().empty() || IsStandard(s, a) != standard) continue;
    for (const ValueField& field : kValueFields) {
      const auto* descriptor = A::descriptor()->FindFieldByNumber(field.number);
      if (field.type == a.attribute->type() && !descriptor->is_repeated() &&
          descriptor->message_type() != nullptr && !s.Has(*a.attribute, field.number))
        f.Add(s.Where(a), "{} has type {}, but no value", Name(s, a),
              A::AttributeType_Name(a.attribute->type()));
    }
  }
}

void MessagePresent(const RuleContext& s, Findings& f) {
  FindMissingMessages(s, f, true);
}

void OtherMessagePresent(const RuleContext& s, Findings& f) {
  FindMissingMessages(s, f, false);
}

void ReferencesInFunctions(const RuleContext& s, Findings& f) {
  for (const AttributeAt& a : s.attributes()) {
    if (!a.attribute->has_ref_attr_name() || a.attribute->ref_attr_name().empty()) continue;
    const auto* function = NodeOf(s, a).body->function;
    const std::string& name = a.attribute->ref_attr_name();
    if (function == nullptr) {
      f.Add(s.Where(a, "ref_attr_name"), "{} references {} outside a function", Name(s, a),
            Quote(name));
      continue;
    }
    const bool declared =
        std::find(function->attribute().begin(), function->attribute().end(), name) !=
            function->attribute().end() ||
        std::any_of(function->attribute_proto().begin(), function->attribute_proto().end(),
                    [&](const auto& p) { return p.name() == name; });
    if (!declared)
      f.Add(s.Where(a, "ref_attr_name"),
            "{} references {}, which is not an attribute of function {}", Name(s, a), Quote(name),
            Quote(function->name()));
  }
}

void FindValuesOfReferences(const RuleContext& s, Findings& f, bool in_sub_graphs) {
  for (const AttributeAt& a : s.attributes()) {
    const bool in_sub_graph = NodeOf(s, a).body->kind == Body::Kind::kSubGraph;
    if (in_sub_graph == in_sub_graphs && a.attribute->has_ref_attr_name() &&
        (in_sub_graph || !a.attribute->ref_attr_name().empty()) &&
        std::any_of(std::begin(kValueFields), std::end(kValueFields),
                    [&](const ValueField& field) { return s.Has(*a.attribute, field.number); }))
      f.Add(s.Where(a), "{} references {}, but also has a value of its own", Name(s, a),
            Quote(a.attribute->ref_attr_name()));
  }
}

// onnx.checker looks for them in subgraphs only.
void ReferenceOrValueInSubGraphs(const RuleContext& s, Findings& f) {
  FindValuesOfReferences(s, f, true);
}

void ReferenceOrValue(const RuleContext& s, Findings& f) {
  FindValuesOfReferences(s, f, false);
}

void StringsUtf8(const RuleContext& s, Findings& f) {
  for (const AttributeAt& a : s.attributes()) {
    if (!IsStandard(s, a)) continue;  // other strings may hold arbitrary bytes
    const auto& strings = a.attribute->strings();
    if (!IsUtf8(a.attribute->s()) || !std::all_of(strings.begin(), strings.end(), IsUtf8))
      f.Add(s.Where(a), "{} is not valid UTF-8", Name(s, a));
  }
}

constexpr Rule kAttributeRules[] = {
    {.info = {.id = "ONNX-ATTR-001",
              .statement = "Every attribute has a name.",
              .clause = "IR.md, Attributes",
              .vendor = true,
              .hint = "Set the name of the attribute to one that the operator defines."},
     .check = Named},
    {.info = {.id = "ONNX-ATTR-002",
              .statement = "Attribute names are unique within a node.",
              .clause = "IR.md, Attributes",
              .vendor = true,
              .hint = "Remove the repeated attribute."},
     .check = Unique},
    {.info = {.id = "ONNX-ATTR-003",
              .statement = "From IR version 2 on, every attribute states its type.",
              .clause = "onnx.proto, AttributeProto.type",
              .vendor = true,
              .hint = "Set type to the AttributeType that matches the value."},
     .check = Typed},
    {.info = {.id = "ONNX-ATTR-004",
              .statement = "An attribute has a value in at most one field.",
              .clause = "onnx.proto, AttributeProto",
              .vendor = true,
              .hint = "Keep only the value field that matches the type of the attribute."},
     .check = OneValue},
    {.info = {.id = "ONNX-ATTR-005",
              .statement = "The value of an attribute is in the field that matches its type.",
              .clause = "onnx.proto, AttributeProto.type",
              .vendor = true,
              .hint = "Store the value in the field of the stated type, or correct the type."},
     .check = ValueFitsType},
    {.info = {.id = "ONNX-ATTR-006",
              .statement = "An attribute that a standard operator defines has a value if its type "
                           "is TENSOR, SPARSE_TENSOR, GRAPH or TYPE_PROTO.",
              .clause = "onnx.proto, AttributeProto",
              .vendor = true,
              .hint = "Set the value field that matches the type of the attribute, or remove the "
                      "attribute."},
     .check = MessagePresent},
    {.info = {.id = "ONNX-ATTR-007",
              .statement = "An attribute with ref_attr_name is in a function and references an "
                           "attribute of that function.",
              .clause = "onnx.proto, AttributeProto.ref_attr_name",
              .hint = "Replace the reference with a value, or add the attribute to the function."},
     .check = ReferencesInFunctions},
    {.info = {.id = "ONNX-ATTR-008",
              .statement =
                  "Outside subgraphs, an attribute with ref_attr_name has no value of its own.",
              .clause = "onnx.proto, AttributeProto.ref_attr_name",
              .hint = "Remove the value or ref_attr_name."},
     .check = ReferenceOrValue},
    {.info = {.id = "ONNX-ATTR-009",
              .statement =
                  "In a subgraph, an attribute with ref_attr_name has no value of its own.",
              .clause = "onnx.proto, AttributeProto.ref_attr_name",
              .vendor = true,
              .hint = "Remove the value or ref_attr_name."},
     .check = ReferenceOrValueInSubGraphs},
    {.info = {.id = "ONNX-ATTR-010",
              .statement = "The type of an attribute is not UNDEFINED.",
              .clause = "onnx.proto, AttributeProto.type",
              .hint = "Set type to the AttributeType that matches the value."},
     .check = TypeDefined},
    {.info = {.id = "ONNX-ATTR-011",
              .statement = "An attribute that no standard operator defines has a value if its type "
                           "is TENSOR, SPARSE_TENSOR, GRAPH or TYPE_PROTO.",
              .clause = "onnx.proto, AttributeProto",
              .hint = "Set the value field that matches the type of the attribute, or remove the "
                      "attribute."},
     .check = OtherMessagePresent},
    {.info = {.id = "ONNX-ATTR-012",
              .statement = "The strings in attributes of standard operators are UTF-8.",
              .clause = "onnx.proto, AttributeProto.s",
              .hint = "Encode the string as UTF-8."},
     .check = StringsUtf8},
};

}  // namespace

std::span<const Rule> AttributeRules() {
  return kAttributeRules;
}

}  // namespace nn::onnx
