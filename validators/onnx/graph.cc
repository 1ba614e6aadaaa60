// Rules of names, order and scopes.
#include <algorithm>
#include <set>
#include <unordered_set>

#include "base/text.h"
#include "validators/onnx/rules.h"

namespace nn::onnx {
namespace {

constexpr int64_t kLastIrWithInitialisersAmongInputs = 3;

// Calls visit(name, path) for the initialisers of a graph, dense ones first.
template <typename Visit>
void EachInitialiser(const Body& body, const Visit& visit) {
  if (body.graph == nullptr) return;
  for (int i = 0; i < body.graph->initializer_size(); ++i)
    visit(body.graph->initializer(i).name(), fmt::format("{}.initializer[{}]", body.path, i));
  for (int i = 0; i < body.graph->sparse_initializer_size(); ++i)
    visit(body.graph->sparse_initializer(i).values().name(),
          fmt::format("{}.sparse_initializer[{}].values", body.path, i));
}

void GraphNamed(const Subject& s, Findings& f) {
  for (const auto& body : s.bodies())
    if (body->graph != nullptr && body->graph->name().empty() &&
        (body->kind != Body::Kind::kMain || s.proto().has_graph()))
      f.Add(At(body->path + ".name"), "the graph has no name");
}

void InputsUnique(const Subject& s, Findings& f) {
  for (const auto& body : s.bodies()) {
    if (body->graph == nullptr) continue;
    std::unordered_set<std::string_view> seen;
    for (int i = 0; i < body->graph->input_size(); ++i)
      if (!seen.insert(body->graph->input(i).name()).second)
        f.Add(At(fmt::format("{}.input[{}]", body->path, i)), "input {} is listed again",
              Quote(body->graph->input(i).name()));
  }
}

void OutputsUnique(const Subject& s, Findings& f) {
  for (const auto& body : s.bodies()) {
    if (body->kind != Body::Kind::kMain) continue;
    std::unordered_set<std::string_view> seen;
    for (int i = 0; i < body->graph->output_size(); ++i)
      if (!seen.insert(body->graph->output(i).name()).second)
        f.Add(At(fmt::format("{}.output[{}]", body->path, i)), "output {} is listed again",
              Quote(body->graph->output(i).name()));
  }
}

void InitialisersNamed(const Subject& s, Findings& f) {
  for (const auto& body : s.bodies())
    EachInitialiser(*body, [&](const std::string& name, const std::string& path) {
      if (name.empty()) f.Add(At(path + ".name"), "the initialiser has no name");
    });
}

void InitialisersUnique(const Subject& s, Findings& f) {
  for (const auto& body : s.bodies()) {
    std::unordered_set<std::string_view> seen;
    EachInitialiser(*body, [&](const std::string& name, const std::string& path) {
      if (!name.empty() && !seen.insert(name).second)
        f.Add(At(path), "a second initialiser is named {}", Quote(name));
    });
  }
}

void InitialisersAmongInputs(const Subject& s, Findings& f) {
  if (s.ir_version() == 0 || s.ir_version() > kLastIrWithInitialisersAmongInputs) return;
  for (const auto& body : s.bodies()) {
    if (body->graph == nullptr) continue;
    std::unordered_set<std::string_view> inputs;
    for (const auto& info : body->graph->input()) inputs.insert(info.name());
    for (int i = 0; i < body->graph->initializer_size(); ++i) {
      const std::string& name = body->graph->initializer(i).name();
      if (!name.empty() && !inputs.contains(name))
        f.Add(At(fmt::format("{}.initializer[{}]", body->path, i)),
              "initialiser {} is no input of the graph, but IR version is {}", Quote(name),
              s.ir_version());
    }
  }
}

void SingleAssignment(const Subject& s, Findings& f) {
  for (const auto& body : s.bodies()) {
    std::unordered_set<std::string_view> here;
    for (const NodeAt& node : s.NodesOf(*body))
      for (int i = 0; i < node.node->output_size(); ++i) {
        const std::string& name = node.node->output(i);
        if (name.empty()) continue;
        const auto place = s.Where(node, fmt::format("output[{}]", i));
        if (body->defined.at(name) < 0)
          f.Add(place, "{} writes {}, which is an input or initialiser", Title(node), Quote(name));
        else if (!here.insert(name).second)
          f.Add(place, "{} writes {}, which node {} writes too", Title(node), Quote(name),
                body->defined.at(name));
        else if (s.DefinedOutside(*body, name))
          f.Add(place, "{} writes {}, which the graph around it defines", Title(node), Quote(name));
      }
  }
}

void NoShadowing(const Subject& s, Findings& f) {
  for (const auto& body : s.bodies()) {
    if (body->graph == nullptr || body->outer == nullptr) continue;
    const auto check = [&](const std::string& name, const std::string& path) {
      if (!name.empty() && s.DefinedOutside(*body, name))
        f.Add(At(path), "{} of the inner graph has the name of a value around it", Quote(name));
    };
    std::unordered_set<std::string_view> inputs;
    for (int i = 0; i < body->graph->input_size(); ++i) {
      inputs.insert(body->graph->input(i).name());
      check(body->graph->input(i).name(), fmt::format("{}.input[{}]", body->path, i));
    }
    EachInitialiser(*body, [&](const std::string& name, const std::string& path) {
      if (!inputs.contains(name)) check(name, path);
    });
  }
}

void InputsWithoutInitialisers(const Subject& s, Findings& f) {
  if (s.ir_version() <= kLastIrWithInitialisersAmongInputs) return;
  for (const auto& body : s.bodies()) {
    if (body->kind != Body::Kind::kSubGraph) continue;
    std::unordered_set<std::string_view> inputs;
    for (const auto& info : body->graph->input()) inputs.insert(info.name());
    EachInitialiser(*body, [&](const std::string& name, const std::string& path) {
      if (!name.empty() && inputs.contains(name))
        f.Add(At(path), "{} is an input and an initialiser of the sub-graph", Quote(name));
    });
  }
}

// Calls visit(node, input, name) for inputs that have no value when the node runs.
template <typename Visit>
void EachMissingInput(const Subject& s, const Visit& visit) {
  for (const NodeAt& node : s.nodes())
    for (int i = 0; i < node.node->input_size(); ++i) {
      const std::string& name = node.node->input(i);
      if (!name.empty() && !s.DefinedBefore(*node.body, name, node.index)) visit(node, i, name);
    }
}

// The body that defines a name, among this one and those around it.
const Body* DefinedAnywhere(const Body& body, const std::string& name) {
  for (const Body* b = &body; b != nullptr; b = b->outer)
    if (b->defined.contains(name)) return b;
  return nullptr;
}

void InputsDefined(const Subject& s, Findings& f) {
  EachMissingInput(s, [&](const NodeAt& node, int i, const std::string& name) {
    if (DefinedAnywhere(*node.body, name) == nullptr)
      f.Add(s.Where(node, fmt::format("input[{}]", i)), "{} reads {}, which nothing defines",
            Title(node), Quote(name));
  });
}

void TopologicalOrder(const Subject& s, Findings& f) {
  EachMissingInput(s, [&](const NodeAt& node, int i, const std::string& name) {
    if (const Body* body = DefinedAnywhere(*node.body, name))
      f.Add(s.Where(node, fmt::format("input[{}]", i)),
            "{} reads {}, which node {} of {} writes later", Title(node), Quote(name),
            body->defined.at(name), body->path);
  });
}

void OutputsProduced(const Subject& s, Findings& f) {
  for (const auto& body : s.bodies()) {
    if (body->graph == nullptr) continue;
    for (int i = 0; i < body->graph->output_size(); ++i) {
      const std::string& name = body->graph->output(i).name();
      if (!name.empty() && !body->defined.contains(name))
        f.Add(At(fmt::format("{}.output[{}]", body->path, i)),
              "output {} is written by no node of the graph", Quote(name));
    }
  }
}

void OutputsNamed(const Subject& s, Findings& f) {
  for (const NodeAt& node : s.nodes()) {
    const auto& outputs = node.node->output();
    // Nodes without inputs and outputs break ONNX-NODE-002.
    if (std::all_of(outputs.begin(), outputs.end(), [](const auto& o) { return o.empty(); }) &&
        (!outputs.empty() || !node.node->input().empty()))
      f.Add(s.Where(node, "output"), "{} has no output", Title(node));
  }
}

void NodeNamesUnique(const Subject& s, Findings& f) {
  for (const auto& body : s.bodies()) {
    std::unordered_set<std::string_view> seen;
    for (const NodeAt& node : s.NodesOf(*body))
      if (!node.node->name().empty() && !seen.insert(node.node->name()).second)
        f.Add(s.Where(node, "name"), "a second node is named {}", Quote(node.node->name()));
  }
}

// Of the main graph LINT-DEAD-001 knows more.
void ResultsUsed(const Subject& s, Findings& f) {
  std::unordered_set<std::string_view> used;
  for (const NodeAt& node : s.nodes())
    for (const auto& name : node.node->input()) used.insert(name);
  for (const auto& body : s.bodies()) {
    if (body->graph != nullptr)
      for (const auto& info : body->graph->output()) used.insert(info.name());
    else
      for (const auto& name : body->function->output()) used.insert(name);
  }
  for (const NodeAt& node : s.nodes()) {
    const auto& outputs = node.node->output();
    if (node.body->kind != Body::Kind::kMain && !outputs.empty() &&
        std::none_of(outputs.begin(), outputs.end(),
                     [&](const auto& o) { return used.contains(o); }))
      f.Add(s.Where(node), "nothing reads what {} writes", Title(node));
  }
}

constexpr Rule kRules[] = {
    {{"ONNX-GRAPH-001", Severity::kError, "Every graph has a name.", "IR.md, Graphs", true, ""},
     GraphNamed},
    {{"ONNX-GRAPH-002", Severity::kError, "Input names of a graph are unique.",
      "IR.md, Names Within a Graph", true, "Rename one of them."},
     InputsUnique},
    {{"ONNX-GRAPH-003", Severity::kWarning, "Outputs of the main graph are listed once.",
      "IR.md, Names Within a Graph", false, "Add an Identity node for the second one."},
     OutputsUnique},
    {{"ONNX-GRAPH-004", Severity::kError, "Initialisers have names.", "IR.md, Graphs", true, ""},
     InitialisersNamed},
    {{"ONNX-GRAPH-005", Severity::kError,
      "Names of initialisers, dense and sparse, are unique in a graph.",
      "IR.md, Names Within a Graph", true, "Rename one of them."},
     InitialisersUnique},
    {{"ONNX-GRAPH-006", Severity::kError,
      "Before IR version 4 every initialiser is among the graph's inputs.",
      "onnx.proto, IR_VERSION_2019_1_22", true, "Raise ir_version to 4 or later."},
     InitialisersAmongInputs},
    {{"ONNX-GRAPH-007", Severity::kError,
      "Every value is written once, sub-graphs included (single static assignment).",
      "IR.md, Graphs", true, "Rename the second output."},
     SingleAssignment},
    {{"ONNX-GRAPH-008", Severity::kError,
      "Inputs and initialisers of a sub-graph do not have the names of values around it.",
      "IR.md, Names Within a Graph", false, "Rename the value inside."},
     NoShadowing},
    {{"ONNX-GRAPH-009", Severity::kError, "Every name that a node reads is defined.",
      "IR.md, Graphs", true, "Add the input, initialiser or node that is missing."},
     InputsDefined},
    {{"ONNX-GRAPH-010", Severity::kError, "Nodes are in topological order; there is no cycle.",
      "IR.md, Graphs", true, "Sort the nodes; where that cannot be done there is a cycle."},
     TopologicalOrder},
    {{"ONNX-GRAPH-011", Severity::kError, "Every output of a graph is defined in it.",
      "IR.md, Graphs", true, "Name an existing value."},
     OutputsProduced},
    {{"ONNX-GRAPH-012", Severity::kWarning, "Names of nodes are unique in their graph.",
      "IR.md, Names Within a Graph", false, "Rename one of them.", true},
     NodeNamesUnique},
    {{"ONNX-GRAPH-013", Severity::kNote, "What a node of a sub-graph or function writes is read.",
      "good practice", false, "Remove the node.", true},
     ResultsUsed},
    {{"ONNX-GRAPH-014", Severity::kWarning,
      "From IR version 4 on, no input of a sub-graph is an initialiser of it.", "IR.md, Nodes",
      false, "List it among the initialisers only."},
     InputsWithoutInitialisers},
    {{"ONNX-GRAPH-015", Severity::kError, "Every node has an output.", "IR.md, Graphs", false,
      "Remove the node, or name what it computes."},
     OutputsNamed},
};

}  // namespace

std::span<const Rule> GraphRules() {
  return kRules;
}

}  // namespace nn::onnx
