// Rules of attributes, whatever the operator.
#include <algorithm>
#include <set>

#include "base/text.h"
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

const NodeAt& NodeOf(const Subject& s, const AttributeAt& a) {
  return s.nodes()[static_cast<size_t>(a.node)];
}

std::string Name(const Subject& s, const AttributeAt& a) {
  return fmt::format("attribute {} of {}", Quote(a.attribute->name()), Title(NodeOf(s, a)));
}

void Named(const Subject& s, Findings& f) {
  for (const AttributeAt& a : s.attributes())
    if (a.attribute->name().empty())
      f.Add(s.Where(a, "name"), "attribute {} of {} has no name", a.index, Title(NodeOf(s, a)));
}

void Unique(const Subject& s, Findings& f) {
  for (const NodeAt& node : s.nodes()) {
    std::set<std::string_view> seen;
    for (int i = 0; i < node.node->attribute_size(); ++i)
      if (!seen.insert(node.node->attribute(i).name()).second)
        f.Add(s.Where(node, fmt::format("attribute[{}]", i)), "{} has attribute {} twice",
              Title(node), Quote(node.node->attribute(i).name()));
  }
}

void Typed(const Subject& s, Findings& f) {
  if (s.ir_version() < kFirstIrWithType) return;
  for (const AttributeAt& a : s.attributes())
    if (!a.attribute->has_type()) f.Add(s.Where(a, "type"), "{} has no type", Name(s, a));
}

void TypeDefined(const Subject& s, Findings& f) {
  for (const AttributeAt& a : s.attributes())
    if (a.attribute->has_type() && a.attribute->type() == A::UNDEFINED)
      f.Add(s.Where(a, "type"), "the type of {} is UNDEFINED", Name(s, a));
}

void OneValue(const Subject& s, Findings& f) {
  for (const AttributeAt& a : s.attributes()) {
    const auto used =
        std::count_if(std::begin(kValueFields), std::end(kValueFields),
                      [&](const ValueField& field) { return s.Has(*a.attribute, field.number); });
    if (used > 1) f.Add(s.Where(a), "{} has {} values", Name(s, a), used);
  }
}

void ValueFitsType(const Subject& s, Findings& f) {
  for (const AttributeAt& a : s.attributes()) {
    if (!a.attribute->has_type()) continue;
    for (const ValueField& field : kValueFields)
      if (field.type != a.attribute->type() && s.Has(*a.attribute, field.number))
        f.Add(s.Where(a), "{} is of type {} but has a value in {}", Name(s, a),
              A::AttributeType_Name(a.attribute->type()),
              A::descriptor()->FindFieldByNumber(field.number)->name());
  }
}

// Whether the signature of a standard operator has the attribute.
bool IsStandard(const Subject& s, const AttributeAt& a) {
  const Schema* schema = NodeOf(s, a).standard;
  return schema != nullptr && schema->attributes.contains(a.attribute->name());
}

void FindMissingMessages(const Subject& s, Findings& f, bool standard) {
  for (const AttributeAt& a : s.attributes()) {
    if (!a.attribute->ref_attr_name().empty() || IsStandard(s, a) != standard) continue;
    for (const ValueField& field : kValueFields) {
      const auto* descriptor = A::descriptor()->FindFieldByNumber(field.number);
      if (field.type == a.attribute->type() && !descriptor->is_repeated() &&
          descriptor->message_type() != nullptr && !s.Has(*a.attribute, field.number))
        f.Add(s.Where(a), "{} is of type {} but has no value", Name(s, a),
              A::AttributeType_Name(a.attribute->type()));
    }
  }
}

void MessagePresent(const Subject& s, Findings& f) {
  FindMissingMessages(s, f, true);
}

void OtherMessagePresent(const Subject& s, Findings& f) {
  FindMissingMessages(s, f, false);
}

void ReferencesInFunctions(const Subject& s, Findings& f) {
  for (const AttributeAt& a : s.attributes()) {
    if (!a.attribute->has_ref_attr_name() || a.attribute->ref_attr_name().empty()) continue;
    const auto* function = NodeOf(s, a).body->function;
    const std::string& name = a.attribute->ref_attr_name();
    if (function == nullptr) {
      f.Add(s.Where(a, "ref_attr_name"), "{} refers to {} outside of a function", Name(s, a),
            Quote(name));
      continue;
    }
    const bool declared =
        std::find(function->attribute().begin(), function->attribute().end(), name) !=
            function->attribute().end() ||
        std::any_of(function->attribute_proto().begin(), function->attribute_proto().end(),
                    [&](const auto& p) { return p.name() == name; });
    if (!declared)
      f.Add(s.Where(a, "ref_attr_name"), "{} refers to {}, which function {} does not have",
            Name(s, a), Quote(name), Quote(function->name()));
  }
}

void FindValuesOfReferences(const Subject& s, Findings& f, bool in_sub_graphs) {
  for (const AttributeAt& a : s.attributes()) {
    const bool in_sub_graph = NodeOf(s, a).body->kind == Body::Kind::kSubGraph;
    if (in_sub_graph == in_sub_graphs && a.attribute->has_ref_attr_name() &&
        (in_sub_graph || !a.attribute->ref_attr_name().empty()) &&
        std::any_of(std::begin(kValueFields), std::end(kValueFields),
                    [&](const ValueField& field) { return s.Has(*a.attribute, field.number); }))
      f.Add(s.Where(a), "{} refers to {} and has a value of its own", Name(s, a),
            Quote(a.attribute->ref_attr_name()));
  }
}

// onnx.checker looks for them in sub-graphs only.
void ReferenceOrValueInSubGraphs(const Subject& s, Findings& f) {
  FindValuesOfReferences(s, f, true);
}

void ReferenceOrValue(const Subject& s, Findings& f) {
  FindValuesOfReferences(s, f, false);
}

void StringsUtf8(const Subject& s, Findings& f) {
  for (const AttributeAt& a : s.attributes()) {
    if (!IsStandard(s, a)) continue;  // others keep bytes of their own in strings
    const auto& strings = a.attribute->strings();
    if (!IsUtf8(a.attribute->s()) || !std::all_of(strings.begin(), strings.end(), IsUtf8))
      f.Add(s.Where(a), "{} is no UTF-8", Name(s, a));
  }
}

constexpr Rule kRules[] = {
    {{"ONNX-ATTR-001", Severity::kError, "Attributes have names.", "IR.md, Attributes", true, ""},
     Named},
    {{"ONNX-ATTR-002", Severity::kError, "Attribute names are unique in a node.",
      "IR.md, Attributes", true, ""},
     Unique},
    {{"ONNX-ATTR-003", Severity::kError, "From IR version 2 on, attributes state their type.",
      "onnx.proto, AttributeProto.type", true, ""},
     Typed},
    {{"ONNX-ATTR-004", Severity::kError, "An attribute has at most one value.",
      "onnx.proto, AttributeProto", true, ""},
     OneValue},
    {{"ONNX-ATTR-005", Severity::kError, "The value stands in the field of the stated type.",
      "onnx.proto, AttributeProto.type", true, ""},
     ValueFitsType},
    {{"ONNX-ATTR-006", Severity::kError,
      "Attributes of standard operators that are messages have their value.",
      "onnx.proto, AttributeProto", true, ""},
     MessagePresent},
    {{"ONNX-ATTR-007", Severity::kError,
      "ref_attr_name stands in functions only and names an attribute of the function.",
      "onnx.proto, AttributeProto.ref_attr_name", false, ""},
     ReferencesInFunctions},
    {{"ONNX-ATTR-008", Severity::kError, "An attribute with ref_attr_name has no value of its own.",
      "onnx.proto, AttributeProto.ref_attr_name", false, ""},
     ReferenceOrValue},
    {{"ONNX-ATTR-009", Severity::kError,
      "In a sub-graph, an attribute with ref_attr_name has no value of its own.",
      "onnx.proto, AttributeProto.ref_attr_name", true, ""},
     ReferenceOrValueInSubGraphs},
    {{"ONNX-ATTR-010", Severity::kError, "The type of an attribute is not UNDEFINED.",
      "onnx.proto, AttributeProto.type", false, ""},
     TypeDefined},
    {{"ONNX-ATTR-011", Severity::kError,
      "Attributes of other operators that are messages have their value.",
      "onnx.proto, AttributeProto", false, ""},
     OtherMessagePresent},
    {{"ONNX-ATTR-012", Severity::kError, "Strings of standard operators are UTF-8.",
      "onnx.proto, AttributeProto.s", false, ""},
     StringsUtf8},
};

}  // namespace

std::span<const Rule> AttributeRules() {
  return kRules;
}

}  // namespace nn::onnx
