// Rules of operators that run sub-graphs.
#include <algorithm>

#include "base/text.h"
#include "validators/onnx/rules.h"

namespace nn::onnx {
namespace {

using A = pb::AttributeProto;

// The inputs of a sub-graph that have no initialiser: before IR version 4 every initialiser was an
// input too.
int FreeInputs(const pb::GraphProto& graph) {
  int n = 0;
  for (const auto& info : graph.input())
    n += std::none_of(graph.initializer().begin(), graph.initializer().end(),
                      [&](const auto& tensor) { return tensor.name() == info.name(); });
  return n;
}

// Checks the number of a sub-graph's inputs or outputs.
void CheckArity(const Subject& s, Findings& f, const NodeAt& node, std::string_view field, int have,
                int need) {
  if (have != need)
    f.Add(s.Where(node, field), "{} of {} has {}, but the node needs {}", field, Title(node), have,
          need);
}

void BranchesFit(const Subject& s, Findings& f) {
  for (const NodeAt& node : s.nodes()) {
    if (!IsOf(node, "If")) continue;
    for (const char* name : {"then_branch", "else_branch"}) {
      const A* a = FindAttribute(node, name);
      if (a == nullptr || !a->has_g()) continue;
      CheckArity(s, f, node, fmt::format("{}.input", name), FreeInputs(a->g()), 0);
      CheckArity(s, f, node, fmt::format("{}.output", name), a->g().output_size(),
                 node.node->output_size());
    }
  }
}

void LoopsFit(const Subject& s, Findings& f) {
  for (const NodeAt& node : s.nodes()) {
    if (!IsOf(node, "Loop")) continue;
    const A* a = FindAttribute(node, "body");
    if (a == nullptr || !a->has_g()) continue;
    // The node: trip count, condition, state. The body: iteration, condition, state, and gives
    // condition, state, scan outputs.
    const int state = std::max(0, node.node->input_size() - 2);
    CheckArity(s, f, node, "body.input", FreeInputs(a->g()), state + 2);
    CheckArity(s, f, node, "body.output", a->g().output_size(), node.node->output_size() + 1);
  }
}

void ScansFit(const Subject& s, Findings& f) {
  for (const NodeAt& node : s.nodes()) {
    if (!IsOf(node, "Scan")) continue;
    const A* a = FindAttribute(node, "body");
    const A* count = FindAttribute(node, "num_scan_inputs");
    if (a == nullptr || !a->has_g() || count == nullptr) continue;
    // Version 8 had sequence lengths as its first input.
    const int inputs = node.node->input_size() - (node.schema->since < 9 ? 1 : 0);
    if (count->i() < 1 || count->i() > inputs)
      f.Add(s.Where(node, "num_scan_inputs"), "num_scan_inputs of {} is {}; it has {} inputs",
            Title(node), count->i(), inputs);
    CheckArity(s, f, node, "body.input", FreeInputs(a->g()), inputs);
    CheckArity(s, f, node, "body.output", a->g().output_size(), node.node->output_size());
  }
}

// Lists of Scan have an element for each of what they are for.
void ScanListsFit(const Subject& s, Findings& f) {
  for (const NodeAt& node : s.nodes()) {
    if (!IsOf(node, "Scan")) continue;
    const A* count = FindAttribute(node, "num_scan_inputs");
    if (count == nullptr) continue;
    const bool first = node.schema->since < 9;
    const int64_t state = node.node->input_size() - (first ? 1 : 0) - count->i();
    const int64_t outputs = node.node->output_size() - state;
    const auto check = [&](std::string_view name, int64_t need) {
      const A* a = FindAttribute(node, name);
      if (a != nullptr && a->ints_size() > 0 && a->ints_size() != need)
        f.Add(s.Where(node, name), "{} of {} has {} elements, but there are {}", name, Title(node),
              a->ints_size(), need);
    };
    check(first ? "directions" : "scan_input_directions", count->i());
    check("scan_input_axes", count->i());
    check("scan_output_directions", outputs);
    check("scan_output_axes", outputs);
  }
}

void SequenceBodiesFit(const Subject& s, Findings& f) {
  for (const NodeAt& node : s.nodes()) {
    if (!IsOf(node, "SequenceMap")) continue;
    const A* a = FindAttribute(node, "body");
    if (a == nullptr || !a->has_g()) continue;
    CheckArity(s, f, node, "body.input", FreeInputs(a->g()), node.node->input_size());
    CheckArity(s, f, node, "body.output", a->g().output_size(), node.node->output_size());
  }
}

constexpr Rule kRules[] = {
    {{"ONNX-OP-008", Severity::kError,
      "Branches of If take no inputs and give as many outputs as the node.", "Operators.md, If",
      false, ""},
     BranchesFit},
    {{"ONNX-OP-009", Severity::kError, "The body of Loop fits the node's inputs and outputs.",
      "Operators.md, Loop", false, ""},
     LoopsFit},
    {{"ONNX-OP-010", Severity::kError, "The body of Scan fits the node's inputs and outputs.",
      "Operators.md, Scan", false, ""},
     ScansFit},
    {{"ONNX-OP-024", Severity::kError,
      "Lists of Scan have as many elements as there are scanned inputs or outputs.",
      "Operators.md, Scan", false, ""},
     ScanListsFit},
    {{"ONNX-OP-025", Severity::kError,
      "The body of SequenceMap has the inputs and outputs of the node.",
      "Operators.md, SequenceMap", false, ""},
     SequenceBodiesFit},
};

}  // namespace

std::span<const Rule> ControlFlowRules() {
  return kRules;
}

}  // namespace nn::onnx
