// Advice on ONNX models: constructs that are allowed, but rarely intended or hard to use.
#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <unordered_set>

#include "base/text/text.h"
#include "formats/onnx/file/tensor.h"
#include "validators/onnx/constants.h"
#include "validators/onnx/rules.h"
#include "validators/scales.h"

namespace nn::onnx {
namespace {

using T = pb::TensorProto;
using A = pb::AttributeProto;

// Missing names and documentation are reported only for graphs with at least this many nodes.
constexpr int kLargeGraph = 10;

void InfosThere(const RuleContext& s, Findings& f) {
  std::vector<bool> described(s.values().size());
  for (const auto& body : s.bodies()) {
    if (body->graph == nullptr || body->node_count < kLargeGraph) continue;
    for (const auto* infos :
         {&body->graph->input(), &body->graph->output(), &body->graph->value_info()})
      for (const auto& info : *infos)
        if (const int value = RuleContext::ValueOf(*body, info.name()); value >= 0)
          described[static_cast<size_t>(value)] = true;
    size_t values = 0;
    size_t missing = 0;
    for (const NodeAt& node : s.NodesOf(*body))
      for (int i = 0; i < node.node->output_size(); ++i) {
        const int value = s.OutputOf(node, i);
        values += value < 0 ? 0 : 1;
        missing += value < 0 || described[static_cast<size_t>(value)] ? 0 : 1;
      }
    if (missing > 0)
      f.Add(At(body->path + ".value_info"), "{} of {} values have no value_info", missing, values);
  }
}

void InterfaceDocumented(const RuleContext& s, Findings& f) {
  const pb::GraphProto& graph = s.proto().graph();
  if (graph.node_size() < kLargeGraph) return;
  int missing = 0;
  for (const auto* infos : {&graph.input(), &graph.output()})
    for (const auto& info : *infos) missing += info.doc_string().empty() ? 1 : 0;
  if (missing > 0)
    f.Add(At("graph"), "{} of {} inputs and outputs have no doc_string", missing,
          graph.input_size() + graph.output_size());
}

void OriginStated(const RuleContext& s, Findings& f) {
  if (s.proto().graph().node_size() >= kLargeGraph &&
      (s.proto().producer_name().empty() || s.proto().producer_version().empty()))
    f.Add(At("producer_name"), "producer_name is {} and producer_version is {}; both should be set",
          Quote(s.proto().producer_name()), Quote(s.proto().producer_version()));
}

void NodesNamed(const RuleContext& s, Findings& f) {
  for (const auto& body : s.bodies()) {
    if (body->node_count < kLargeGraph) continue;
    const auto nodes = s.NodesOf(*body);
    const auto unnamed = std::count_if(nodes.begin(), nodes.end(),
                                       [](const NodeAt& n) { return n.node->name().empty(); });
    if (unnamed > 0)
      f.Add(At(body->path), "{} of {} nodes have no name", unnamed, body->node_count);
  }
}

void ConstantsNoInputs(const RuleContext& s, Findings& f) {
  if (s.ir_version() < 4) return;
  std::unordered_set<std::string_view> inputs;
  for (const auto& info : s.proto().graph().input()) inputs.insert(info.name());
  size_t count = 0;
  const pb::TensorProto* first = nullptr;
  for (const auto& tensor : s.proto().graph().initializer()) {
    if (!inputs.contains(tensor.name())) continue;
    ++count;
    if (first == nullptr) first = &tensor;
  }
  if (first != nullptr)
    f.Add(At("graph.input"), "{} initializers are also inputs; the first is {}", count,
          Quote(first->name()));
}

// Calls visit(node, scales) for the QuantizeLinear and DequantizeLinear nodes with constant scales.
template <typename Visit>
void EachScale(const RuleContext& s, const Constants& constants, const Visit& visit) {
  for (const NodeAt& node : s.nodes())
    if (IsOf(node, "QuantizeLinear") || IsOf(node, "DequantizeLinear"))
      if (const auto scales = constants.ValuesOf(node, 1)) visit(node, *scales);
}

void ScalesPlausible(const RuleContext& s, Findings& f) {
  EachScale(s, Constants(s), [&](const NodeAt& node, const std::vector<double>& scales) {
    const auto bad = std::find_if_not(scales.begin(), scales.end(), IsUsualScale);
    if (bad != scales.end())
      f.Add(s.Where(node, "input[1]"),
            "scale {} of {} is {}; expected a normal positive number of at most 10,000",
            bad - scales.begin(), Title(node), *bad);
  });
}

void ScalesDiffer(const RuleContext& s, Findings& f) {
  EachScale(s, Constants(s), [&](const NodeAt& node, const std::vector<double>& scales) {
    if (scales.size() > 1 && std::equal(scales.begin() + 1, scales.end(), scales.begin()))
      f.Add(s.Where(node, "input[1]"), "all {} scales of {} are {}", scales.size(), Title(node),
            scales.front());
  });
}

void ZeroPointsUseful(const RuleContext& s, Findings& f) {
  const Constants constants(s);
  for (const NodeAt& node : s.nodes()) {
    if (!IsOf(node, "DequantizeLinear")) continue;
    const T* tensor = constants.InputOf(node, 2);
    if (tensor == nullptr ||
        (tensor->data_type() != T::INT32 && tensor->data_type() != T::FLOAT8E4M3FN &&
         tensor->data_type() != T::FLOAT8E4M3FNUZ && tensor->data_type() != T::FLOAT8E5M2 &&
         tensor->data_type() != T::FLOAT8E5M2FNUZ && tensor->data_type() != T::FLOAT4E2M1))
      continue;
    const auto values = constants.ValuesOf(node, 2);
    if (values && std::any_of(values->begin(), values->end(), [](double v) { return v != 0; }))
      f.Add(s.Where(node, "input[2]"), "{} has a nonzero zero point of type {}", Title(node),
            DataTypeName(tensor->data_type()));
  }
}

bool IsTraining(const NodeAt& node, const Constants& constants) {
  const auto flag = [&](std::string_view name, int64_t otherwise) {
    const A* a = FindAttribute(node, name);
    return a != nullptr ? a->i() : otherwise;
  };
  const int64_t since = node.schema->since;
  if (IsOf(node, "Dropout")) {
    if (since < 7) return flag("is_test", 0) == 0;
    const auto mode = since >= 12 ? constants.ValuesOf(node, 2) : std::nullopt;
    return mode && !mode->empty() && mode->front() != 0;
  }
  if (!IsOf(node, "BatchNormalization")) return false;
  if (since < 7) return flag("is_test", 0) == 0;
  return since < 14 ? node.node->output_size() > 1 : flag("training_mode", 0) != 0;
}

void NoTrainingMode(const RuleContext& s, Findings& f) {
  if (s.proto().training_info_size() > 0) return;
  const Constants constants(s);
  for (const NodeAt& node : s.nodes())
    if (node.schema != nullptr && IsTraining(node, constants))
      f.Add(s.Where(node), "{} is in training mode", Title(node));
}

void OpsetRecent(const RuleContext& s, Findings& f) {
  constexpr int64_t kFirstWithBroadcasting = 7;
  for (int i = 0; i < s.proto().opset_import_size(); ++i) {
    const auto& id = s.proto().opset_import(i);
    if (PlainDomain(id.domain()).empty() && id.version() > 0 &&
        id.version() < kFirstWithBroadcasting)
      f.Add(At(fmt::format("opset_import[{}].version", i)),
            "the model imports opset {}; expected 7 or later", id.version());
  }
}

void NoLaterDeprecation(const RuleContext& s, Findings& f) {
  for (const NodeAt& node : s.nodes()) {
    if (node.schema == nullptr || node.schema->deprecated) continue;
    const std::string_view domain = PlainDomain(node.node->domain());
    const Schema* newest = FindSchema(domain, node.schema->op, NewestOpset(domain));
    if (newest != nullptr && newest->deprecated)
      f.Add(s.Where(node, "op_type"), "{} is deprecated from opset {} on", Title(node),
            newest->since);
  }
}

// The node of the same body that writes an input of a node; null if there is none.
const NodeAt* WriterOf(const RuleContext& s, const NodeAt& node, int i) {
  const int value = s.InputOf(node, i);
  if (value < 0) return nullptr;
  const ValueAt& at = s.values()[static_cast<size_t>(value)];
  return at.body == node.body && at.position >= 0
             ? &s.NodesOf(*at.body)[static_cast<size_t>(at.position)]
             : nullptr;
}

void NoCastChains(const RuleContext& s, Findings& f) {
  for (const NodeAt& node : s.nodes()) {
    if (!IsOf(node, "Cast") || node.node->input_size() != 1) continue;
    const NodeAt* before = WriterOf(s, node, 0);
    if (before != nullptr && before->node != node.node && IsOf(*before, "Cast"))
      f.Add(s.Where(node), "{} reads the output of {}", Title(node), Title(*before));
  }
}

// An Identity that produces a graph output is needed.
void NoIdentities(const RuleContext& s, Findings& f) {
  for (const auto& body : s.bodies()) {
    if (body->graph == nullptr) continue;
    std::unordered_set<std::string_view> outputs;
    for (const auto& info : body->graph->output()) outputs.insert(info.name());
    size_t count = 0;
    const NodeAt* first = nullptr;
    for (const NodeAt& node : s.NodesOf(*body)) {
      if (!IsOf(node, "Identity") || node.node->output_size() != 1 ||
          node.node->input_size() != 1 || outputs.contains(node.node->output(0)))
        continue;
      ++count;
      if (first == nullptr) first = &node;
    }
    if (first != nullptr)
      f.Add(s.Where(*first), "{} Identity nodes are redundant; the first is {}", count,
            Title(*first));
  }
}

void IntegersFit32(const RuleContext& s, Findings& f) {
  for (const TensorAt& t : s.tensors()) {
    if (t.tensor->data_type() != T::INT64 || !t.part.empty()) continue;
    const auto read = ReadTensor(*t.tensor, s.native());
    if (!read) continue;
    const std::vector<int64_t> values = read->ToInts();
    // The ends of slices are often the extreme values of INT64.
    const auto bad = std::find_if(values.begin(), values.end(), [](int64_t v) {
      return (v > INT32_MAX || v < INT32_MIN) && v != INT64_MAX && v > INT64_MIN + 1;
    });
    if (bad != values.end())
      f.Add(s.Where(t), "element {} of constant {} is {}, which does not fit into 32 bits",
            bad - values.begin(), Quote(t.tensor->name()), *bad);
  }
}

void ImportsUsed(const RuleContext& s, Findings& f) {
  std::set<std::string_view> used;
  for (const NodeAt& node : s.nodes()) used.insert(PlainDomain(node.node->domain()));
  for (const auto& function : s.proto().functions()) used.insert(PlainDomain(function.domain()));
  for (int i = 0; i < s.proto().opset_import_size(); ++i) {
    const std::string_view domain = PlainDomain(s.proto().opset_import(i).domain());
    // All models import the default domain, used or not.
    if (!domain.empty() && !used.contains(domain))
      f.Add(At(fmt::format("opset_import[{}]", i)), "no node or function uses domain {}",
            Quote(domain));
  }
}

void FunctionsCalled(const RuleContext& s, Findings& f) {
  std::set<const pb::FunctionProto*> called;
  for (const NodeAt& node : s.nodes())
    if (node.function != node.body->function) called.insert(node.function);
  for (int i = 0; i < s.proto().functions_size(); ++i)
    if (!called.contains(&s.proto().functions(i)))
      f.Add(At(fmt::format("functions[{}]", i)), "function {} is not called",
            Quote(s.proto().functions(i).name()));
}

constexpr std::string_view kAdvice = "good practice";

constexpr Rule kLintRules[] = {
    {.info = {.id = "ONNX-LINT-001",
              .severity = Severity::kNote,
              .statement = "A graph of ten or more nodes declares all values that its nodes write, "
                           "in value_info or as outputs.",
              .clause = "IR.md, Graphs",
              .hint = "Run shape inference, and save the model with the result.",
              .lint = true},
     .check = InfosThere},
    {.info = {.id = "ONNX-LINT-002",
              .severity = Severity::kNote,
              .statement =
                  "In a model of ten or more nodes, every input and output has a doc_string.",
              .clause = "IR.md, Graphs",
              .hint = "Describe the meaning, range and layout of the value in its doc_string.",
              .lint = true},
     .check = InterfaceDocumented},
    {.info = {.id = "ONNX-LINT-003",
              .severity = Severity::kNote,
              .statement =
                  "From IR version 4 on, no initializer of the main graph is also an input.",
              .clause = "IR.md, Nodes",
              .hint = "Remove the initializers from the inputs; runtimes cannot fold constants "
                      "that a caller may override.",
              .lint = true},
     .check = ConstantsNoInputs},
    {.info = {.id = "ONNX-LINT-004",
              .severity = Severity::kWarning,
              .statement = "Constant scales of QuantizeLinear and DequantizeLinear are normal "
                           "positive numbers of at most 10,000.",
              .clause = "Operators.md, QuantizeLinear",
              .hint = "Calibrate the model again.",
              .lint = true},
     .check = ScalesPlausible},
    {.info =
         {.id = "ONNX-LINT-005",
          .severity = Severity::kNote,
          .statement =
              "The per-channel scales of QuantizeLinear and DequantizeLinear are not all equal.",
          .clause = kAdvice,
          .hint = "Use a single scale for the whole tensor.",
          .lint = true},
     .check = ScalesDiffer},
    {.info = {.id = "ONNX-LINT-006",
              .severity = Severity::kWarning,
              .statement = "The zero point of DequantizeLinear is 0 if its type is INT32 or a "
                           "floating-point type.",
              .clause = "Operators.md, DequantizeLinear",
              .hint = "Remove the zero point.",
              .lint = true},
     .check = ZeroPointsUseful},
    {.info = {.id = "ONNX-LINT-007",
              .severity = Severity::kWarning,
              .statement = "In a model without training_info, no Dropout or BatchNormalization is "
                           "in training mode.",
              .clause = kAdvice,
              .hint = "Export the model for inference.",
              .lint = true},
     .check = NoTrainingMode},
    {.info = {.id = "ONNX-LINT-008",
              .severity = Severity::kNote,
              .statement = "The model imports opset 7 or later of the default domain.",
              .clause = "Broadcasting.md",
              .hint = "Convert the model to a newer opset; few runtimes support operators older "
                      "than opset 7.",
              .lint = true},
     .check = OpsetRecent},
    {.info = {.id = "ONNX-LINT-009",
              .severity = Severity::kNote,
              .statement = "No node uses an operator that a later opset version deprecates.",
              .clause = "Operators.md",
              .hint = "Use the operator that replaces it.",
              .lint = true},
     .check = NoLaterDeprecation},
    {.info = {.id = "ONNX-LINT-010",
              .severity = Severity::kNote,
              .statement = "No Cast reads the output of another Cast.",
              .clause = kAdvice,
              .hint = "Merge the two nodes, unless the rounding of the first one is intended.",
              .lint = true},
     .check = NoCastChains},
    {.info = {.id = "ONNX-LINT-011",
              .severity = Severity::kNote,
              .statement = "Every Identity node produces an output of its graph.",
              .clause = kAdvice,
              .hint = "Remove the node, and let the nodes that read its output read its input.",
              .lint = true},
     .check = NoIdentities},
    {.info = {.id = "ONNX-LINT-012",
              .severity = Severity::kNote,
              .statement = "The values of INT64 constants fit into 32 bits, apart from the extreme "
                           "values that mark the end of a slice.",
              .clause = kAdvice,
              .hint = "Use smaller values; many targets have only 32-bit integers.",
              .lint = true},
     .check = IntegersFit32},
    {.info = {.id = "ONNX-LINT-013",
              .severity = Severity::kNote,
              .statement = "Every imported operator set, other than the default one, is used.",
              .clause = "IR.md, Operator Sets",
              .hint = "Remove the opset_import entry.",
              .lint = true},
     .check = ImportsUsed},
    {.info = {.id = "ONNX-LINT-014",
              .severity = Severity::kNote,
              .statement = "Every function of the model is called.",
              .clause = kAdvice,
              .hint = "Remove the function.",
              .lint = true},
     .check = FunctionsCalled},
    {.info = {.id = "ONNX-LINT-015",
              .severity = Severity::kNote,
              .statement = "In a graph or function of ten or more nodes, every node has a name.",
              .clause = "IR.md, Nodes",
              .hint = "Name the nodes; messages and profilers identify nodes by name.",
              .lint = true},
     .check = NodesNamed},
    {.info = {.id = "ONNX-LINT-016",
              .severity = Severity::kNote,
              .statement =
                  "A model of ten or more nodes has a producer_name and a producer_version.",
              .clause = "onnx.proto, ModelProto.producer_name",
              .hint = "Set producer_name and producer_version to the tool that wrote the model.",
              .lint = true},
     .check = OriginStated},
};

}  // namespace

std::span<const Rule> LintRules() {
  return kLintRules;
}

}  // namespace nn::onnx
