// Rules of nodes against the signatures of their operators.
#include <algorithm>
#include <unordered_set>

#include "base/text.h"
#include "validators/onnx/rules.h"

namespace nn::onnx {
namespace {

// Operators of early exporters that never became part of an operator set.
constexpr std::string_view kExperimental[] = {"ATen",
                                              "Affine",
                                              "ConstantFill",
                                              "Crop",
                                              "DynamicSlice",
                                              "GRUUnit",
                                              "GivenTensorFill",
                                              "ImageScaler",
                                              "ParametricSoftplus",
                                              "Scale",
                                              "ScaledTanh"};

bool IsExperimental(const pb::NodeProto& node) {
  return PlainDomain(node.domain()).empty() &&
         std::find(std::begin(kExperimental), std::end(kExperimental), node.op_type()) !=
             std::end(kExperimental);
}

// "Conv of opset 11"; with the domain where it is not the default one.
std::string SignatureName(const NodeAt& node) {
  const std::string_view domain = PlainDomain(node.node->domain());
  return fmt::format("{}{}{} of opset {}", domain, domain.empty() ? "" : ".", node.standard->op,
                     node.standard->since);
}

// The signature to hold a node against; nullptr where there is none. A function of the model that
// has the name of a standard operator does not free its callers from the operator's signature.
const Schema* SignatureOf(const NodeAt& node) {
  return node.standard != nullptr && !node.standard->deprecated && !IsExperimental(*node.node)
             ? node.standard
             : nullptr;
}

void OperatorNamed(const Subject& s, Findings& f) {
  for (const NodeAt& node : s.nodes())
    if (node.node->op_type().empty())
      f.Add(s.Where(node, "op_type"), "node {} names no operator", node.index);
}

void NotEmpty(const Subject& s, Findings& f) {
  for (const NodeAt& node : s.nodes())
    if (node.node->input().empty() && node.node->output().empty())
      f.Add(s.Where(node), "{} has neither inputs nor outputs", Title(node));
}

void DomainImported(const Subject& s, Findings& f) {
  for (const NodeAt& node : s.nodes())
    if (!node.imported)
      f.Add(s.Where(node, "domain"), "{} is of domain {}, which is not imported", Title(node),
            Quote(node.node->domain()));
}

// Domains all of whose operators are known; those of the preview domains may come and go.
bool IsClosedDomain(std::string_view domain) {
  return domain.empty() || domain == "ai.onnx.ml" || domain == "ai.onnx.training";
}

template <typename IsMeant>
void FindUnknownOperators(const Subject& s, Findings& f, const IsMeant& is_meant) {
  for (const NodeAt& node : s.nodes()) {
    const std::string_view domain = PlainDomain(node.node->domain());
    if (node.standard == nullptr && node.imported && !node.node->op_type().empty() &&
        !IsExperimental(*node.node) && is_meant(node, domain))
      f.Add(s.Where(node, "op_type"), "domain {} has no operator {} in version {}", Quote(domain),
            Quote(node.node->op_type()), node.opset);
  }
}

void OperatorKnown(const Subject& s, Findings& f) {
  FindUnknownOperators(
      s, f, [](const NodeAt&, std::string_view domain) { return IsClosedDomain(domain); });
}

void PreviewOperatorKnown(const Subject& s, Findings& f) {
  FindUnknownOperators(s, f, [](const NodeAt& node, std::string_view domain) {
    return node.function == nullptr && IsStandardDomain(domain) && !IsClosedDomain(domain);
  });
}

void DefaultDomainEmpty(const Subject& s, Findings& f) {
  for (const NodeAt& node : s.nodes())
    if (node.node->domain() == "ai.onnx" && !IsExperimental(*node.node))
      f.Add(s.Where(node, "domain"), "{} names its domain \"ai.onnx\" instead of \"\"",
            Title(node));
}

void NotExperimental(const Subject& s, Findings& f) {
  for (const NodeAt& node : s.nodes())
    if (IsExperimental(*node.node))
      f.Add(s.Where(node, "op_type"), "{} is an experimental operator that was removed in 2019",
            Title(node));
}

void NotDeprecated(const Subject& s, Findings& f) {
  for (const NodeAt& node : s.nodes())
    if (node.standard != nullptr && node.standard->deprecated)
      f.Add(s.Where(node, "op_type"), "{} is deprecated since version {}; the model imports {}",
            Title(node), node.standard->since, node.opset);
}

// "1, 3 or 5"
std::string Alternatives(const std::vector<int>& counts) {
  std::string out;
  for (size_t i = 0; i < counts.size(); ++i)
    out += fmt::format("{}{}", i == 0 ? "" : (i + 1 < counts.size() ? ", " : " or "), counts[i]);
  return out;
}

// Checks a count against a list of parameters.
void CheckCount(const Subject& s, Findings& f, const NodeAt& node, std::string_view what, int count,
                const std::vector<SchemaParameter>& list, int least,
                const std::vector<int>& counts = {}) {
  const bool open = !list.empty() && list.back().kind == SchemaParameter::Kind::kVariadic;
  const int most = static_cast<int>(list.size());
  if (count >= least && (open || count <= most) &&
      (counts.empty() || std::find(counts.begin(), counts.end(), count) != counts.end()))
    return;
  const std::string allowed =
      !counts.empty() ? Alternatives(counts)
      : open          ? fmt::format("{} or more", least)
             : (least == most ? fmt::format("{}", most) : fmt::format("{} to {}", least, most));
  f.Add(s.Where(node, what), "{} has {} {}s; {} has {}", Title(node), count, what,
        SignatureName(node), allowed);
}

void InputCount(const Subject& s, Findings& f) {
  for (const NodeAt& node : s.nodes())
    if (const Schema* schema = SignatureOf(node))
      CheckCount(s, f, node, "input", node.node->input_size(), schema->inputs, schema->min_inputs);
}

void OutputCount(const Subject& s, Findings& f) {
  for (const NodeAt& node : s.nodes())
    if (const Schema* schema = SignatureOf(node))
      CheckCount(s, f, node, "output", node.node->output_size(), schema->outputs,
                 schema->min_outputs, schema->output_counts);
}

void RequiredNotEmpty(const Subject& s, Findings& f) {
  for (const NodeAt& node : s.nodes()) {
    const Schema* schema = SignatureOf(node);
    if (schema == nullptr) continue;
    const auto check = [&](const auto& names, const auto& parameters, std::string_view what) {
      for (int i = 0; i < names.size(); ++i) {
        const SchemaParameter* p = ParameterAt(parameters, i);
        if (names.Get(i).empty() && p != nullptr && p->kind == SchemaParameter::Kind::kSingle)
          f.Add(s.Where(node, fmt::format("{}[{}]", what, i)), "{} leaves out {} {} of {}",
                Title(node), what, Quote(p->name), SignatureName(node));
      }
    };
    check(node.node->input(), schema->inputs, "input");
    check(node.node->output(), schema->outputs, "output");
  }
}

// Names that begin so are private to an implementation.
bool IsInternal(std::string_view name) {
  return name.starts_with("__");
}

void AttributesKnown(const Subject& s, Findings& f) {
  for (const AttributeAt& a : s.attributes()) {
    const NodeAt& node = s.nodes()[static_cast<size_t>(a.node)];
    const Schema* schema = SignatureOf(node);
    const std::string& name = a.attribute->name();
    if (schema != nullptr && !name.empty() && !IsInternal(name) && !schema->open_attributes &&
        !schema->attributes.contains(name))
      f.Add(s.Where(a), "{} has attribute {}, which {} does not have", Title(node), Quote(name),
            SignatureName(node));
  }
}

pb::AttributeProto::AttributeType AttributeTypeOf(char letter) {
  using A = pb::AttributeProto;
  constexpr std::pair<char, A::AttributeType> kTypes[] = {
      {'f', A::FLOAT},   {'i', A::INT},           {'s', A::STRING},    {'t', A::TENSOR},
      {'g', A::GRAPH},   {'F', A::FLOATS},        {'I', A::INTS},      {'S', A::STRINGS},
      {'T', A::TENSORS}, {'p', A::SPARSE_TENSOR}, {'y', A::TYPE_PROTO}};
  for (const auto& [l, type] : kTypes)
    if (l == letter) return type;
  return A::UNDEFINED;
}

void AttributeTypes(const Subject& s, Findings& f) {
  constexpr int64_t kFirstIrWithType = 2;  // ONNX-ATTR-003 tells of types that are left out
  for (const AttributeAt& a : s.attributes()) {
    const NodeAt& node = s.nodes()[static_cast<size_t>(a.node)];
    const Schema* schema = SignatureOf(node);
    if (schema == nullptr || (!a.attribute->has_type() && s.ir_version() >= kFirstIrWithType))
      continue;
    const auto known = schema->attributes.find(a.attribute->name());
    if (known == schema->attributes.end()) continue;
    const auto expected = AttributeTypeOf(known->second.type);
    if (a.attribute->type() != expected)
      f.Add(s.Where(a, "type"), "attribute {} of {} is of type {}; {} has {}",
            Quote(a.attribute->name()), Title(node),
            pb::AttributeProto::AttributeType_Name(a.attribute->type()), SignatureName(node),
            pb::AttributeProto::AttributeType_Name(expected));
  }
}

void RequiredAttributes(const Subject& s, Findings& f) {
  for (const NodeAt& node : s.nodes()) {
    const Schema* schema = SignatureOf(node);
    if (schema == nullptr) continue;
    for (const auto& [name, attribute] : schema->attributes) {
      const auto& list = node.node->attribute();
      if (attribute.required &&
          std::none_of(list.begin(), list.end(),
                       [&name = name](const auto& a) { return a.name() == name; }))
        f.Add(s.Where(node, "attribute"), "{} has no attribute {}, which {} requires", Title(node),
              Quote(name), SignatureName(node));
    }
  }
}

constexpr Rule kRules[] = {
    {{"ONNX-NODE-001", Severity::kError, "Every node names an operator.", "IR.md, Nodes", true, ""},
     OperatorNamed},
    {{"ONNX-NODE-002", Severity::kError, "A node has inputs or outputs.", "IR.md, Nodes", true,
      "Remove the node."},
     NotEmpty},
    {{"ONNX-NODE-003", Severity::kError, "The domain of every node is imported.",
      "IR.md, Operator Sets", true, "Add the domain to opset_import."},
     DomainImported},
    {{"ONNX-NODE-004", Severity::kError,
      "An operator of a standard domain exists in the version that is imported.", "Operators.md",
      true, "Correct the name, or import the version that has the operator."},
     OperatorKnown},
    {{"ONNX-NODE-005", Severity::kError, "An operator is not deprecated in the imported version.",
      "Operators.md", true, "Use its successor, or import an older version."},
     NotDeprecated},
    {{"ONNX-NODE-006", Severity::kError,
      "The number of inputs is one that the operator's signature allows.", "Operators.md", true,
      ""},
     InputCount},
    {{"ONNX-NODE-007", Severity::kError,
      "The number of outputs is one that the operator's signature allows.", "Operators.md", true,
      ""},
     OutputCount},
    {{"ONNX-NODE-008", Severity::kError,
      "Only inputs and outputs that are optional are left out by an empty name.",
      "IR.md, Optional Inputs and Outputs", true, ""},
     RequiredNotEmpty},
    {{"ONNX-NODE-009", Severity::kError, "Attributes are ones that the operator has.",
      "Operators.md", true, "Remove the attribute, or import the version that has it."},
     AttributesKnown},
    {{"ONNX-NODE-010", Severity::kError, "Attributes have the type that the operator gives them.",
      "Operators.md", true, ""},
     AttributeTypes},
    {{"ONNX-NODE-011", Severity::kError, "Attributes that the operator requires are present.",
      "Operators.md", true, ""},
     RequiredAttributes},
    {{"ONNX-NODE-012", Severity::kError,
      "An operator of a preview domain exists, or a function of the model defines it.",
      "Operators.md", false, "Correct the name, or add the function."},
     PreviewOperatorKnown},
    {{"ONNX-NODE-013", Severity::kError,
      "Nodes of the standard operators leave their domain empty: onnx.checker finds no operator "
      "under its long name.",
      "IR.md, Operator Sets", true, "Set the node's domain to the empty string."},
     DefaultDomainEmpty},
    {{"ONNX-NODE-014", Severity::kWarning, "No node is of a removed experimental operator.",
      "ManagingExperimentalOps.md", false, "Express it by standard operators."},
     NotExperimental},
};

}  // namespace

std::span<const Rule> NodeRules() {
  return kRules;
}

}  // namespace nn::onnx
