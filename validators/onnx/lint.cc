// Advice on ONNX models: what is allowed but seldom meant, or makes a model harder to use.
#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "base/text.h"
#include "formats/onnx/tensor.h"
#include "validators/onnx/rules.h"
#include "validators/scales.h"

namespace nn::onnx {
namespace {

using A = pb::AttributeProto;

// Findings that sum a graph up are for graphs that are too large to be looked through.
constexpr int kLargeGraph = 10;

void InfosThere(const Subject& s, Findings& f) {
  for (const auto& body : s.bodies()) {
    if (body->graph == nullptr || body->node_count < kLargeGraph) continue;
    std::unordered_set<std::string_view> described;
    for (const auto* infos :
         {&body->graph->input(), &body->graph->output(), &body->graph->value_info()})
      for (const auto& info : *infos) described.insert(info.name());
    size_t values = 0;
    size_t missing = 0;
    for (const NodeAt& node : s.NodesOf(*body))
      for (const auto& name : node.node->output()) {
        values += name.empty() ? 0 : 1;
        missing += name.empty() || described.contains(name) ? 0 : 1;
      }
    if (missing > 0)
      f.Add(At(body->path + ".value_info"), "{} of {} values have no value_info", missing, values);
  }
}

void InterfaceDocumented(const Subject& s, Findings& f) {
  const pb::GraphProto& graph = s.proto().graph();
  if (graph.node_size() < kLargeGraph) return;
  int missing = 0;
  for (const auto* infos : {&graph.input(), &graph.output()})
    for (const auto& info : *infos) missing += info.doc_string().empty() ? 1 : 0;
  if (missing > 0)
    f.Add(At("graph"), "{} of {} inputs and outputs have no doc_string", missing,
          graph.input_size() + graph.output_size());
}

void OriginStated(const Subject& s, Findings& f) {
  if (s.proto().graph().node_size() >= kLargeGraph &&
      (s.proto().producer_name().empty() || s.proto().producer_version().empty()))
    f.Add(At("producer_name"), "producer_name is {}, producer_version {}",
          Quote(s.proto().producer_name()), Quote(s.proto().producer_version()));
}

void NodesNamed(const Subject& s, Findings& f) {
  for (const auto& body : s.bodies()) {
    if (body->node_count < kLargeGraph) continue;
    const auto nodes = s.NodesOf(*body);
    const auto unnamed = std::count_if(nodes.begin(), nodes.end(),
                                       [](const NodeAt& n) { return n.node->name().empty(); });
    if (unnamed > 0)
      f.Add(At(body->path), "{} of {} nodes have no name", unnamed, body->node_count);
  }
}

void ConstantsNoInputs(const Subject& s, Findings& f) {
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
    f.Add(At("graph.input"), "{} initialisers are inputs too, the first is {}", count,
          Quote(first->name()));
}

// The constants that names stand for.
class Constants {
 public:
  explicit Constants(const Subject& s) : s_(s) {
    for (const auto& body : s.bodies()) {
      auto& names = tensors_[body.get()];
      if (body->graph != nullptr)
        for (const auto& tensor : body->graph->initializer()) names.emplace(tensor.name(), &tensor);
      for (const NodeAt& node : s.NodesOf(*body))
        if (IsOf(node, "Constant") && node.node->output_size() == 1)
          if (const A* value = FindAttribute(node, "value"); value != nullptr && value->has_t())
            names.emplace(node.node->output(0), &value->t());
    }
  }

  // The constant that a node reads; nullptr if that input is none, or none that can be read.
  const pb::TensorProto* InputOf(const NodeAt& node, int i) const {
    if (i >= node.node->input_size()) return nullptr;
    const std::string& name = node.node->input(i);
    for (const Body* b = node.body; b != nullptr; b = b->outer) {
      if (!b->defined.contains(name)) continue;
      const auto found = tensors_.at(b).find(name);
      return found != tensors_.at(b).end() ? found->second : nullptr;
    }
    return nullptr;
  }

  std::optional<std::vector<double>> ValuesOf(const NodeAt& node, int i) const {
    const pb::TensorProto* tensor = InputOf(node, i);
    if (tensor == nullptr || tensor->data_type() == pb::TensorProto::STRING) return std::nullopt;
    const auto read = ReadTensor(*tensor, s_.native());
    return read ? std::optional(read->ToDoubles()) : std::nullopt;
  }

 private:
  const Subject& s_;
  std::unordered_map<const Body*, std::unordered_map<std::string_view, const pb::TensorProto*>>
      tensors_;
};

// Calls visit(node, scales) for quantising and dequantising nodes with constant scales.
template <typename Visit>
void EachScale(const Subject& s, const Constants& constants, const Visit& visit) {
  for (const NodeAt& node : s.nodes())
    if (IsOf(node, "QuantizeLinear") || IsOf(node, "DequantizeLinear"))
      if (const auto scales = constants.ValuesOf(node, 1)) visit(node, *scales);
}

void ScalesPlausible(const Subject& s, Findings& f) {
  EachScale(s, Constants(s), [&](const NodeAt& node, const std::vector<double>& scales) {
    const auto bad = std::find_if_not(scales.begin(), scales.end(), IsUsualScale);
    if (bad != scales.end())
      f.Add(s.Where(node, "input[1]"), "scale {} of {} is {}", bad - scales.begin(), Title(node),
            *bad);
  });
}

void ScalesDiffer(const Subject& s, Findings& f) {
  EachScale(s, Constants(s), [&](const NodeAt& node, const std::vector<double>& scales) {
    if (scales.size() > 1 && std::equal(scales.begin() + 1, scales.end(), scales.begin()))
      f.Add(s.Where(node, "input[1]"), "all {} scales of {} are {}", scales.size(), Title(node),
            scales.front());
  });
}

void ZeroPointsUseful(const Subject& s, Findings& f) {
  using T = pb::TensorProto;
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
      f.Add(s.Where(node, "input[2]"), "{} has a zero point other than 0 for {}", Title(node),
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

void NoTrainingMode(const Subject& s, Findings& f) {
  if (s.proto().training_info_size() > 0) return;
  const Constants constants(s);
  for (const NodeAt& node : s.nodes())
    if (node.schema != nullptr && IsTraining(node, constants))
      f.Add(s.Where(node), "{} is in training mode", Title(node));
}

void OpsetRecent(const Subject& s, Findings& f) {
  constexpr int64_t kFirstWithBroadcasting = 7;
  for (int i = 0; i < s.proto().opset_import_size(); ++i) {
    const auto& id = s.proto().opset_import(i);
    if (PlainDomain(id.domain()).empty() && id.version() > 0 &&
        id.version() < kFirstWithBroadcasting)
      f.Add(At(fmt::format("opset_import[{}].version", i)), "opset {} is of before 2018",
            id.version());
  }
}

void NoLaterDeprecation(const Subject& s, Findings& f) {
  for (const NodeAt& node : s.nodes()) {
    if (node.schema == nullptr || node.schema->deprecated) continue;
    const std::string_view domain = PlainDomain(node.node->domain());
    const Schema* newest = FindSchema(domain, node.schema->op, NewestOpset(domain));
    if (newest != nullptr && newest->deprecated)
      f.Add(s.Where(node, "op_type"), "{} is deprecated from version {} on", Title(node),
            newest->since);
  }
}

// Who writes a name, among the nodes of the same body.
const NodeAt* WriterOf(const Subject& s, const Body& body, const std::string& name) {
  const auto found = body.defined.find(name);
  return found != body.defined.end() && found->second >= 0
             ? &s.NodesOf(body)[static_cast<size_t>(found->second)]
             : nullptr;
}

void NoCastChains(const Subject& s, Findings& f) {
  for (const NodeAt& node : s.nodes()) {
    if (!IsOf(node, "Cast") || node.node->input_size() != 1) continue;
    const NodeAt* before = WriterOf(s, *node.body, node.node->input(0));
    if (before != nullptr && before->node != node.node && IsOf(*before, "Cast"))
      f.Add(s.Where(node), "{} casts what {} has cast", Title(node), Title(*before));
  }
}

// An Identity that renames an input or makes an output is needed.
void NoIdentities(const Subject& s, Findings& f) {
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
      f.Add(s.Where(*first), "{} nodes hand on what they read, the first is {}", count,
            Title(*first));
  }
}

void IntegersFit32(const Subject& s, Findings& f) {
  using T = pb::TensorProto;
  for (const TensorAt& t : s.tensors()) {
    if (t.tensor->data_type() != T::INT64 || !t.part.empty()) continue;
    const auto read = ReadTensor(*t.tensor, s.native());
    if (!read) continue;
    const std::vector<int64_t> values = read->ToInts();
    // Ends of slices are often as far away as can be written.
    const auto bad = std::find_if(values.begin(), values.end(), [](int64_t v) {
      return (v > INT32_MAX || v < INT32_MIN) && v != INT64_MAX && v > INT64_MIN + 1;
    });
    if (bad != values.end())
      f.Add(s.Where(t), "element {} of constant {} is {}", bad - values.begin(),
            Quote(t.tensor->name()), *bad);
  }
}

void ImportsUsed(const Subject& s, Findings& f) {
  std::set<std::string_view> used;
  for (const NodeAt& node : s.nodes()) used.insert(PlainDomain(node.node->domain()));
  for (const auto& function : s.proto().functions()) used.insert(PlainDomain(function.domain()));
  for (int i = 0; i < s.proto().opset_import_size(); ++i) {
    const std::string_view domain = PlainDomain(s.proto().opset_import(i).domain());
    // All models import the standard operators, used or not.
    if (!domain.empty() && !used.contains(domain))
      f.Add(At(fmt::format("opset_import[{}]", i)), "no node is of domain {}", Quote(domain));
  }
}

void FunctionsCalled(const Subject& s, Findings& f) {
  std::set<const pb::FunctionProto*> called;
  for (const NodeAt& node : s.nodes())
    if (node.function != node.body->function) called.insert(node.function);
  for (int i = 0; i < s.proto().functions_size(); ++i)
    if (!called.contains(&s.proto().functions(i)))
      f.Add(At(fmt::format("functions[{}]", i)), "nothing calls function {}",
            Quote(s.proto().functions(i).name()));
}

constexpr std::string_view kAdvice = "good practice";

constexpr Rule kRules[] = {
    {{"ONNX-LINT-001", Severity::kNote, "Graphs of ten nodes or more describe all their values.",
      "IR.md, Graphs", false, "Run shape inference and save its result.", true},
     InfosThere},
    {{"ONNX-LINT-002", Severity::kNote,
      "Inputs and outputs of models of ten nodes or more have a doc_string.", "IR.md, Graphs",
      false, "Say what the values are, their range and layout.", true},
     InterfaceDocumented},
    {{"ONNX-LINT-003", Severity::kNote, "Initialisers are not inputs, too, from IR version 4 on.",
      "IR.md, Nodes", false, "Inputs may be overridden, so runtimes cannot fold them; remove them.",
      true},
     ConstantsNoInputs},
    {{"ONNX-LINT-004", Severity::kWarning,
      "Constant scales of quantisation are normal positive numbers of at most 10,000.",
      "Operators.md, QuantizeLinear", false, "Calibrate again.", true},
     ScalesPlausible},
    {{"ONNX-LINT-005", Severity::kNote, "Scales by channel are not all the same.", kAdvice, false,
      "Use a single scale.", true},
     ScalesDiffer},
    {{"ONNX-LINT-006", Severity::kWarning,
      "Zero points of 32-bit integers and of floating-point types are 0.",
      "Operators.md, DequantizeLinear", false, "Leave the zero point out.", true},
     ZeroPointsUseful},
    {{"ONNX-LINT-007", Severity::kWarning,
      "In a model without training information nothing is in training mode.", kAdvice, false,
      "Export the model for inference.", true},
     NoTrainingMode},
    {{"ONNX-LINT-008", Severity::kNote, "The model imports opset 7 or later.", "Broadcasting.md",
      false, "Convert the model: few runtimes have earlier operators.", true},
     OpsetRecent},
    {{"ONNX-LINT-009", Severity::kNote, "No operator is one that a later version deprecates.",
      "Operators.md", false, "Use its successor.", true},
     NoLaterDeprecation},
    {{"ONNX-LINT-010", Severity::kNote, "No Cast reads the output of a Cast.", kAdvice, false,
      "One of them may do, if no rounding is meant.", true},
     NoCastChains},
    {{"ONNX-LINT-011", Severity::kNote, "Identity nodes make outputs of their graph only.", kAdvice,
      false, "Let the readers read the input.", true},
     NoIdentities},
    {{"ONNX-LINT-012", Severity::kNote, "64-bit constants fit into 32 bits.", kAdvice, false,
      "Many targets have 32-bit integers only.", true},
     IntegersFit32},
    {{"ONNX-LINT-013", Severity::kNote, "Imported operator sets are used.", "IR.md, Operator Sets",
      false, "Remove the import.", true},
     ImportsUsed},
    {{"ONNX-LINT-014", Severity::kNote, "Functions are called.", kAdvice, false,
      "Remove the function.", true},
     FunctionsCalled},
    {{"ONNX-LINT-015", Severity::kNote, "All nodes of graphs of ten nodes or more have names.",
      "IR.md, Nodes", false, "Names are what messages and profilers show.", true},
     NodesNamed},
    {{"ONNX-LINT-016", Severity::kNote,
      "Models of ten nodes or more state what made them: producer_name and producer_version.",
      "onnx.proto, ModelProto.producer_name", false, "", true},
     OriginStated},
};

}  // namespace

std::span<const Rule> LintRules() {
  return kRules;
}

}  // namespace nn::onnx
