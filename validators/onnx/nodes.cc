// Rules that check nodes against the signatures of their operators.
#include <algorithm>
#include <unordered_set>

#include "base/text/text.h"
#include "validators/onnx/rules.h"

namespace nn::onnx {
namespace {

using A = pb::AttributeProto;

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

// "Conv of opset 11", with the domain if it is not the default one.
std::string SignatureName(const NodeAt& node) {
  const std::string_view domain = PlainDomain(node.node->domain());
  return fmt::format("{}{}{} of opset {}", domain, domain.empty() ? "" : ".", node.standard->op,
                     node.standard->since);
}

// The signature that a node must match; null if there is none. It applies even if a function of the
// model has the name of the standard operator.
const Schema* SignatureOf(const NodeAt& node) {
  return node.standard != nullptr && !node.standard->deprecated && !IsExperimental(*node.node)
             ? node.standard
             : nullptr;
}

void OperatorNamed(const RuleContext& s, Findings& f) {
  for (const NodeAt& node : s.nodes())
    if (node.node->op_type().empty())
      f.Add(s.Where(node, "op_type"), "node {} has no op_type", node.index);
}

void NotEmpty(const RuleContext& s, Findings& f) {
  for (const NodeAt& node : s.nodes())
    if (node.node->input().empty() && node.node->output().empty())
      f.Add(s.Where(node), "{} has neither inputs nor outputs", Title(node));
}

void DomainImported(const RuleContext& s, Findings& f) {
  for (const NodeAt& node : s.nodes())
    if (!node.imported)
      f.Add(s.Where(node, "domain"), "{} has domain {}, which is not imported", Title(node),
            Quote(node.node->domain()));
}

// True for domains whose operators are all known. Operators of preview domains may come and go.
bool IsClosedDomain(std::string_view domain) {
  return domain.empty() || domain == "ai.onnx.ml" || domain == "ai.onnx.training";
}

template <typename IsMeant>
void FindUnknownOperators(const RuleContext& s, Findings& f, const IsMeant& is_meant) {
  for (const NodeAt& node : s.nodes()) {
    const std::string_view domain = PlainDomain(node.node->domain());
    if (node.standard == nullptr && node.imported && !node.node->op_type().empty() &&
        !IsExperimental(*node.node) && is_meant(node, domain))
      f.Add(s.Where(node, "op_type"), "domain {} has no operator {} in opset {}", Quote(domain),
            Quote(node.node->op_type()), node.opset);
  }
}

void OperatorKnown(const RuleContext& s, Findings& f) {
  FindUnknownOperators(
      s, f, [](const NodeAt&, std::string_view domain) { return IsClosedDomain(domain); });
}

void PreviewOperatorKnown(const RuleContext& s, Findings& f) {
  FindUnknownOperators(s, f, [](const NodeAt& node, std::string_view domain) {
    return node.function == nullptr && IsStandardDomain(domain) && !IsClosedDomain(domain);
  });
}

void DefaultDomainEmpty(const RuleContext& s, Findings& f) {
  for (const NodeAt& node : s.nodes())
    if (node.node->domain() == "ai.onnx" && !IsExperimental(*node.node))
      f.Add(s.Where(node, "domain"), "{} has domain \"ai.onnx\"; must be \"\"", Title(node));
}

void NotExperimental(const RuleContext& s, Findings& f) {
  for (const NodeAt& node : s.nodes())
    if (IsExperimental(*node.node))
      f.Add(s.Where(node, "op_type"), "{} uses an experimental operator that was removed in 2019",
            Title(node));
}

void NotDeprecated(const RuleContext& s, Findings& f) {
  for (const NodeAt& node : s.nodes())
    if (node.standard != nullptr && node.standard->deprecated)
      f.Add(s.Where(node, "op_type"), "{} is deprecated since opset {}; the imported opset is {}",
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
void CheckCount(const RuleContext& s, Findings& f, const NodeAt& node, std::string_view what,
                int count, const std::vector<SchemaParameter>& list, int least,
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
  f.Add(s.Where(node, what), "{} has {} {}{}; {} has {}", Title(node), count, what,
        count == 1 ? "" : "s", SignatureName(node), allowed);
}

void InputCount(const RuleContext& s, Findings& f) {
  for (const NodeAt& node : s.nodes())
    if (const Schema* schema = SignatureOf(node))
      CheckCount(s, f, node, "input", node.node->input_size(), schema->inputs, schema->min_inputs);
}

void OutputCount(const RuleContext& s, Findings& f) {
  for (const NodeAt& node : s.nodes())
    if (const Schema* schema = SignatureOf(node))
      CheckCount(s, f, node, "output", node.node->output_size(), schema->outputs,
                 schema->min_outputs, schema->output_counts);
}

void RequiredNotEmpty(const RuleContext& s, Findings& f) {
  for (const NodeAt& node : s.nodes()) {
    const Schema* schema = SignatureOf(node);
    if (schema == nullptr) continue;
    const auto check = [&](const auto& names, const auto& parameters, std::string_view what) {
      for (int i = 0; i < names.size(); ++i) {
        const SchemaParameter* p = ParameterAt(parameters, i);
        if (names.Get(i).empty() && p != nullptr && p->kind == SchemaParameter::Kind::kSingle)
          f.Add(s.Where(node, fmt::format("{}[{}]", what, i)), "{} omits {} {}, which {} requires",
                Title(node), what, Quote(p->name), SignatureName(node));
      }
    };
    check(node.node->input(), schema->inputs, "input");
    check(node.node->output(), schema->outputs, "output");
  }
}

// True for names that are reserved for implementations.
bool IsInternal(std::string_view name) {
  return name.starts_with("__");
}

void AttributesKnown(const RuleContext& s, Findings& f) {
  for (const AttributeAt& a : s.attributes()) {
    const NodeAt& node = s.nodes()[static_cast<size_t>(a.node)];
    const Schema* schema = SignatureOf(node);
    const std::string& name = a.attribute->name();
    if (schema != nullptr && !name.empty() && !IsInternal(name) && !schema->open_attributes &&
        !schema->attributes.contains(name))
      f.Add(s.Where(a), "{} has attribute {}, which {} does not define", Title(node), Quote(name),
            SignatureName(node));
  }
}

pb::AttributeProto::AttributeType AttributeTypeOf(char letter) {
  constexpr std::pair<char, A::AttributeType> kTypes[] = {
      {'f', A::FLOAT},   {'i', A::INT},           {'s', A::STRING},    {'t', A::TENSOR},
      {'g', A::GRAPH},   {'F', A::FLOATS},        {'I', A::INTS},      {'S', A::STRINGS},
      {'T', A::TENSORS}, {'p', A::SPARSE_TENSOR}, {'y', A::TYPE_PROTO}};
  for (const auto& [l, type] : kTypes)
    if (l == letter) return type;
  return A::UNDEFINED;
}

void AttributeTypes(const RuleContext& s, Findings& f) {
  constexpr int64_t kFirstIrWithTypes = 2;  // ONNX-ATTR-003 reports missing types
  for (const AttributeAt& a : s.attributes()) {
    const NodeAt& node = s.nodes()[static_cast<size_t>(a.node)];
    const Schema* schema = SignatureOf(node);
    if (schema == nullptr || (!a.attribute->has_type() && s.ir_version() >= kFirstIrWithTypes))
      continue;
    const auto known = schema->attributes.find(a.attribute->name());
    if (known == schema->attributes.end()) continue;
    const auto expected = AttributeTypeOf(known->second.type);
    if (a.attribute->type() != expected)
      f.Add(s.Where(a, "type"), "attribute {} of {} has type {}; {} requires {}",
            Quote(a.attribute->name()), Title(node),
            pb::AttributeProto::AttributeType_Name(a.attribute->type()), SignatureName(node),
            pb::AttributeProto::AttributeType_Name(expected));
  }
}

void RequiredAttributes(const RuleContext& s, Findings& f) {
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

constexpr Rule kNodeRules[] = {
    {.info = {.id = "ONNX-NODE-001",
              .statement = "Every node has an op_type.",
              .clause = "IR.md, Nodes",
              .vendor = true,
              .hint = "Set op_type to the name of an operator."},
     .check = OperatorNamed},
    {.info = {.id = "ONNX-NODE-002",
              .statement = "Every node has at least one input or output.",
              .clause = "IR.md, Nodes",
              .vendor = true,
              .hint = "Remove the node."},
     .check = NotEmpty},
    {.info = {.id = "ONNX-NODE-003",
              .statement = "The domain of every node is imported.",
              .clause = "IR.md, Operator Sets",
              .vendor = true,
              .hint = "Add the domain to the opset_import of the model or function."},
     .check = DomainImported},
    {.info = {.id = "ONNX-NODE-004",
              .statement =
                  "Every operator of a standard domain exists in the imported opset version.",
              .clause = "Operators.md",
              .vendor = true,
              .hint =
                  "Correct the operator name, or import an opset version that has the operator."},
     .check = OperatorKnown},
    {.info = {.id = "ONNX-NODE-005",
              .statement =
                  "No node uses an operator that is deprecated in the imported opset version.",
              .clause = "Operators.md",
              .vendor = true,
              .hint = "Use the operator that replaces it, or import an older opset version."},
     .check = NotDeprecated},
    {.info =
         {.id = "ONNX-NODE-006",
          .statement =
              "The number of inputs of a node is one that the signature of its operator allows.",
          .clause = "Operators.md",
          .vendor = true,
          .hint = "Match the inputs of the node to the operator's signature in the imported opset "
                  "version."},
     .check = InputCount},
    {.info =
         {.id = "ONNX-NODE-007",
          .statement =
              "The number of outputs of a node is one that the signature of its operator allows.",
          .clause = "Operators.md",
          .vendor = true,
          .hint = "Match the outputs of the node to the operator's signature in the imported opset "
                  "version."},
     .check = OutputCount},
    {.info = {.id = "ONNX-NODE-008",
              .statement =
                  "Only optional inputs and outputs of a node are omitted by an empty name.",
              .clause = "IR.md, Optional Inputs and Outputs",
              .vendor = true,
              .hint = "Name the omitted input or output."},
     .check = RequiredNotEmpty},
    {.info = {.id = "ONNX-NODE-009",
              .statement = "Every attribute of a node is defined by its operator, or has a name "
                           "that begins with \"__\".",
              .clause = "Operators.md",
              .vendor = true,
              .hint =
                  "Remove the attribute, or import an opset version in which the operator has it."},
     .check = AttributesKnown},
    {.info = {.id = "ONNX-NODE-010",
              .statement = "Every attribute of a node has the type that its operator defines.",
              .clause = "Operators.md",
              .vendor = true,
              .hint = "Store the value with the attribute type that the operator requires."},
     .check = AttributeTypes},
    {.info = {.id = "ONNX-NODE-011",
              .statement = "Every attribute that an operator requires is present.",
              .clause = "Operators.md",
              .vendor = true,
              .hint = "Add the required attribute to the node."},
     .check = RequiredAttributes},
    {.info = {.id = "ONNX-NODE-012",
              .statement = "Every operator of a preview domain exists in the imported opset "
                           "version, or is a function of the model.",
              .clause = "Operators.md",
              .hint = "Correct the operator name, or add a function with that name."},
     .check = PreviewOperatorKnown},
    {.info = {.id = "ONNX-NODE-013",
              .statement =
                  "Nodes with standard operators have the empty domain, not its alias \"ai.onnx\".",
              .clause = "IR.md, Operator Sets",
              .vendor = true,
              .hint = "Set the domain of the node to the empty string; onnx.checker finds no "
                      "operators in \"ai.onnx\"."},
     .check = DefaultDomainEmpty},
    {.info = {.id = "ONNX-NODE-014",
              .severity = Severity::kWarning,
              .statement = "No node uses an experimental operator that was removed from ONNX.",
              .clause = "ManagingExperimentalOps.md",
              .hint = "Replace the node with standard operators."},
     .check = NotExperimental},
};

}  // namespace

std::span<const Rule> NodeRules() {
  return kNodeRules;
}

}  // namespace nn::onnx
