// Rules for operators that run subgraphs.
#include <algorithm>

#include "base/text/text.h"
#include "validators/onnx/rules.h"

namespace nn::onnx {
namespace {

using A = pb::AttributeProto;

// The number of inputs of a subgraph that have no initializer: before IR version 4, every
// initializer was also an input.
int FreeInputs(const pb::GraphProto& graph) {
  int n = 0;
  for (const auto& info : graph.input())
    n += std::none_of(graph.initializer().begin(), graph.initializer().end(),
                      [&](const auto& tensor) { return tensor.name() == info.name(); });
  return n;
}

// Checks the number of inputs or outputs of a subgraph.
void CheckArity(const RuleContext& s, Findings& f, const NodeAt& node, std::string_view field,
                int have, int need) {
  if (have != need)
    f.Add(s.Where(node, field), "{} of {} has {} entr{}; must have {}", field, Title(node), have,
          have == 1 ? "y" : "ies", need);
}

void BranchesFit(const RuleContext& s, Findings& f) {
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

void LoopsFit(const RuleContext& s, Findings& f) {
  for (const NodeAt& node : s.nodes()) {
    if (!IsOf(node, "Loop")) continue;
    const A* a = FindAttribute(node, "body");
    if (a == nullptr || !a->has_g()) continue;
    // Inputs of the node: trip count, condition, state. Inputs of the body: iteration, condition,
    // state. Outputs of the body: condition, state, scan outputs.
    const int state = std::max(0, node.node->input_size() - 2);
    CheckArity(s, f, node, "body.input", FreeInputs(a->g()), state + 2);
    CheckArity(s, f, node, "body.output", a->g().output_size(), node.node->output_size() + 1);
  }
}

void ScansFit(const RuleContext& s, Findings& f) {
  for (const NodeAt& node : s.nodes()) {
    if (!IsOf(node, "Scan")) continue;
    const A* a = FindAttribute(node, "body");
    const A* count = FindAttribute(node, "num_scan_inputs");
    if (a == nullptr || !a->has_g() || count == nullptr) continue;
    // In version 8, the first input is sequence_lens.
    const int inputs = node.node->input_size() - (node.schema->since < 9 ? 1 : 0);
    if (count->i() < 1 || count->i() > inputs)
      f.Add(s.Where(node, "num_scan_inputs"),
            "num_scan_inputs of {} is {}, but the node has {} inputs", Title(node), count->i(),
            inputs);
    CheckArity(s, f, node, "body.input", FreeInputs(a->g()), inputs);
    CheckArity(s, f, node, "body.output", a->g().output_size(), node.node->output_size());
  }
}

// Each list of Scan has one element per scan input or scan output.
void ScanListsFit(const RuleContext& s, Findings& f) {
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
        f.Add(s.Where(node, name), "{} of {} has {} elements; must have {}", name, Title(node),
              a->ints_size(), need);
    };
    check(first ? "directions" : "scan_input_directions", count->i());
    check("scan_input_axes", count->i());
    check("scan_output_directions", outputs);
    check("scan_output_axes", outputs);
  }
}

void SequenceBodiesFit(const RuleContext& s, Findings& f) {
  for (const NodeAt& node : s.nodes()) {
    if (!IsOf(node, "SequenceMap")) continue;
    const A* a = FindAttribute(node, "body");
    if (a == nullptr || !a->has_g()) continue;
    CheckArity(s, f, node, "body.input", FreeInputs(a->g()), node.node->input_size());
    CheckArity(s, f, node, "body.output", a->g().output_size(), node.node->output_size());
  }
}

constexpr Rule kControlFlowRules[] = {
    {.info = {.id = "ONNX-OP-008",
              .statement = "The branches of If have as many outputs as the node, and no inputs "
                           "without an initializer.",
              .clause = "Operators.md, If",
              .hint = "Return one value per output of the If node from both branches, and read "
                      "values of the enclosing graph by name."},
     .check = BranchesFit},
    {.info =
         {.id = "ONNX-OP-009",
          .statement = "The body of Loop has two inputs more than the node has loop-carried "
                       "values, and one output more than the node.",
          .clause = "Operators.md, Loop",
          .hint =
              "Match the body to the node: its inputs are iteration number, condition and "
              "loop-carried values, its outputs condition, loop-carried values and scan outputs."},
     .check = LoopsFit},
    {.info =
         {.id = "ONNX-OP-010",
          .statement = "The body of Scan has as many inputs and outputs as the node, and "
                       "num_scan_inputs is between 1 and the number of inputs.",
          .clause = "Operators.md, Scan",
          .hint =
              "Match num_scan_inputs and the body's inputs and outputs to those of the Scan node."},
     .check = ScansFit},
    {.info = {.id = "ONNX-OP-024",
              .statement = "The lists of axes and directions of Scan have one element per scan "
                           "input or scan output.",
              .clause = "Operators.md, Scan",
              .hint = "Give the list one element per scan input or scan output, or remove it."},
     .check = ScanListsFit},
    {.info = {.id = "ONNX-OP-025",
              .statement = "The body of SequenceMap has as many inputs and outputs as the node.",
              .clause = "Operators.md, SequenceMap",
              .hint = "Match the body's inputs and outputs to those of the SequenceMap node."},
     .check = SequenceBodiesFit},
};

}  // namespace

std::span<const Rule> ControlFlowRules() {
  return kControlFlowRules;
}

}  // namespace nn::onnx
