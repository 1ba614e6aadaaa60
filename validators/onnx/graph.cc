// Rules for names, order and scopes.
#include <algorithm>
#include <set>

#include "base/text/name_map.h"
#include "base/text/text.h"
#include "validators/onnx/rules.h"

namespace nn::onnx {
namespace {

constexpr int64_t kLastIrWithInitializersAmongInputs = 3;

// Calls visit(name, path) for the initializers of a graph, dense ones first; path() is the text.
template <typename Visit>
void EachInitializer(const Body& body, const Visit& visit) {
  if (body.graph == nullptr) return;
  for (int i = 0; i < body.graph->initializer_size(); ++i)
    visit(body.graph->initializer(i).name(),
          [&] { return fmt::format("{}.initializer[{}]", body.path, i); });
  for (int i = 0; i < body.graph->sparse_initializer_size(); ++i)
    visit(body.graph->sparse_initializer(i).values().name(),
          [&] { return fmt::format("{}.sparse_initializer[{}].values", body.path, i); });
}

void GraphNamed(const RuleContext& s, Findings& f) {
  for (const auto& body : s.bodies())
    if (body->graph != nullptr && body->graph->name().empty() &&
        (body->kind != Body::Kind::kMain || s.proto().has_graph()))
      f.Add(At(body->path + ".name"), "the graph has no name");
}

void InputsUnique(const RuleContext& s, Findings& f) {
  for (const auto& body : s.bodies()) {
    if (body->graph == nullptr) continue;
    NameSet seen;
    for (int i = 0; i < body->graph->input_size(); ++i)
      if (!seen.insert(body->graph->input(i).name()))
        f.Add(At(fmt::format("{}.input[{}]", body->path, i)),
              "graph input {} is listed more than once", Quote(body->graph->input(i).name()));
  }
}

void OutputsUnique(const RuleContext& s, Findings& f) {
  for (const auto& body : s.bodies()) {
    if (body->kind != Body::Kind::kMain) continue;
    NameSet seen;
    for (int i = 0; i < body->graph->output_size(); ++i)
      if (!seen.insert(body->graph->output(i).name()))
        f.Add(At(fmt::format("{}.output[{}]", body->path, i)),
              "graph output {} is listed more than once", Quote(body->graph->output(i).name()));
  }
}

void InitializersNamed(const RuleContext& s, Findings& f) {
  for (const auto& body : s.bodies())
    EachInitializer(*body, [&](const std::string& name, const auto& path) {
      if (name.empty()) f.Add(At(path() + ".name"), "the initializer has no name");
    });
}

void InitializersUnique(const RuleContext& s, Findings& f) {
  std::vector<bool> seen(s.values().size());
  for (const auto& body : s.bodies())
    EachInitializer(*body, [&](const std::string& name, const auto& path) {
      if (name.empty()) return;
      const auto value = static_cast<size_t>(RuleContext::ValueOf(*body, name));
      if (seen[value]) f.Add(At(path()), "another initializer is already named {}", Quote(name));
      seen[value] = true;
    });
}

void InitializersAmongInputs(const RuleContext& s, Findings& f) {
  if (s.ir_version() == 0 || s.ir_version() > kLastIrWithInitializersAmongInputs) return;
  for (const auto& body : s.bodies()) {
    if (body->graph == nullptr) continue;
    NameSet inputs;
    for (const auto& info : body->graph->input()) inputs.insert(info.name());
    for (int i = 0; i < body->graph->initializer_size(); ++i) {
      const std::string& name = body->graph->initializer(i).name();
      if (!name.empty() && !inputs.contains(name))
        f.Add(At(fmt::format("{}.initializer[{}]", body->path, i)),
              "initializer {} is not an input of the graph, which IR version {} requires",
              Quote(name), s.ir_version());
    }
  }
}

void SingleAssignment(const RuleContext& s, Findings& f) {
  std::vector<bool> written(s.values().size());
  for (const NodeAt& node : s.nodes())
    for (int i = 0; i < node.node->output_size(); ++i) {
      const int value = s.OutputOf(node, i);
      if (value < 0) continue;
      const std::string& name = node.node->output(i);
      const int first = s.values()[static_cast<size_t>(value)].position;
      const auto where = [&] { return s.Where(node, fmt::format("output[{}]", i)); };
      if (first < 0)
        f.Add(where(), "{} writes {}, which is already an input or initializer", Title(node),
              Quote(name));
      else if (written[static_cast<size_t>(value)])
        f.Add(where(), "{} writes {}, which node {} already writes", Title(node), Quote(name),
              first);
      else if (s.DefinedOutside(*node.body, name))
        f.Add(where(), "{} writes {}, which an enclosing graph already defines", Title(node),
              Quote(name));
      written[static_cast<size_t>(value)] = true;
    }
}

void NoShadowing(const RuleContext& s, Findings& f) {
  for (const auto& body : s.bodies()) {
    if (body->graph == nullptr || body->outer == nullptr) continue;
    const auto check = [&](const std::string& name, const auto& path) {
      if (!name.empty() && s.DefinedOutside(*body, name))
        f.Add(At(path()), "{} is already the name of a value of an enclosing graph", Quote(name));
    };
    NameSet inputs;
    for (int i = 0; i < body->graph->input_size(); ++i) {
      inputs.insert(body->graph->input(i).name());
      check(body->graph->input(i).name(),
            [&] { return fmt::format("{}.input[{}]", body->path, i); });
    }
    EachInitializer(*body, [&](const std::string& name, const auto& path) {
      if (!inputs.contains(name)) check(name, path);
    });
  }
}

void InputsWithoutInitializers(const RuleContext& s, Findings& f) {
  if (s.ir_version() <= kLastIrWithInitializersAmongInputs) return;
  for (const auto& body : s.bodies()) {
    if (body->kind != Body::Kind::kSubGraph) continue;
    NameSet inputs;
    for (const auto& info : body->graph->input()) inputs.insert(info.name());
    EachInitializer(*body, [&](const std::string& name, const auto& path) {
      if (!name.empty() && inputs.contains(name))
        f.Add(At(path()), "{} is both an input and an initializer of the subgraph", Quote(name));
    });
  }
}

// Calls visit(node, input, name) for inputs that are not defined before the node.
template <typename Visit>
void EachMissingInput(const RuleContext& s, const Visit& visit) {
  for (const NodeAt& node : s.nodes())
    for (int i = 0; i < node.node->input_size(); ++i) {
      const std::string& name = node.node->input(i);
      if (!name.empty() && !s.DefinedBefore(node, i)) visit(node, i, name);
    }
}

void InputsDefined(const RuleContext& s, Findings& f) {
  EachMissingInput(s, [&](const NodeAt& node, int i, const std::string& name) {
    if (s.InputOf(node, i) < 0)
      f.Add(s.Where(node, fmt::format("input[{}]", i)), "{} reads {}, which is not defined",
            Title(node), Quote(name));
  });
}

void TopologicalOrder(const RuleContext& s, Findings& f) {
  EachMissingInput(s, [&](const NodeAt& node, int i, const std::string& name) {
    const int value = s.InputOf(node, i);
    if (value < 0) return;
    const ValueAt& at = s.values()[static_cast<size_t>(value)];
    f.Add(s.Where(node, fmt::format("input[{}]", i)),
          "{} reads {}, which is written later, by node {} of {}", Title(node), Quote(name),
          at.position, at.body->path);
  });
}

void OutputsProduced(const RuleContext& s, Findings& f) {
  for (const auto& body : s.bodies()) {
    if (body->graph == nullptr) continue;
    for (int i = 0; i < body->graph->output_size(); ++i) {
      const std::string& name = body->graph->output(i).name();
      if (!name.empty() && !body->defined.contains(name))
        f.Add(At(fmt::format("{}.output[{}]", body->path, i)),
              "output {} is not defined in the graph", Quote(name));
    }
  }
}

void OutputsNamed(const RuleContext& s, Findings& f) {
  for (const NodeAt& node : s.nodes()) {
    const auto& outputs = node.node->output();
    // Nodes without inputs and outputs break ONNX-NODE-002.
    if (std::all_of(outputs.begin(), outputs.end(), [](const auto& o) { return o.empty(); }) &&
        (!outputs.empty() || !node.node->input().empty()))
      f.Add(s.Where(node, "output"), "{} has no named output", Title(node));
  }
}

void NodeNamesUnique(const RuleContext& s, Findings& f) {
  for (const auto& body : s.bodies()) {
    NameSet seen;
    for (const NodeAt& node : s.NodesOf(*body))
      if (!node.node->name().empty() && !seen.insert(node.node->name()))
        f.Add(s.Where(node, "name"), "another node is already named {}", Quote(node.node->name()));
  }
}

// LINT-DEAD-001 checks the main graph.
void ResultsUsed(const RuleContext& s, Findings& f) {
  if (s.bodies().size() == 1) return;
  NameSet used;
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
      f.Add(s.Where(node), "no output of {} is read", Title(node));
  }
}

constexpr Rule kGraphRules[] = {
    {.info = {.id = "ONNX-GRAPH-001",
              .statement = "Every graph has a name.",
              .clause = "IR.md, Graphs",
              .vendor = true,
              .hint = "Set the name of the graph."},
     .check = GraphNamed},
    {.info = {.id = "ONNX-GRAPH-002",
              .statement = "The input names of a graph are unique.",
              .clause = "IR.md, Names Within a Graph",
              .vendor = true,
              .hint = "Rename or remove the repeated input."},
     .check = InputsUnique},
    {.info =
         {.id = "ONNX-GRAPH-003",
          .severity = Severity::kWarning,
          .statement = "Each output of the main graph is listed once.",
          .clause = "IR.md, Names Within a Graph",
          .hint =
              "Copy the value with an Identity node, and return the copy as the second output."},
     .check = OutputsUnique},
    {.info = {.id = "ONNX-GRAPH-004",
              .statement = "Every initializer has a name.",
              .clause = "IR.md, Graphs",
              .vendor = true,
              .hint = "Name the initializer after the value that nodes read, or remove it."},
     .check = InitializersNamed},
    {.info = {.id = "ONNX-GRAPH-005",
              .statement =
                  "The names of all initializers of a graph, dense and sparse, are unique.",
              .clause = "IR.md, Names Within a Graph",
              .vendor = true,
              .hint = "Rename or remove the repeated initializer."},
     .check = InitializersUnique},
    {.info = {.id = "ONNX-GRAPH-006",
              .statement = "Before IR version 4, every dense initializer of a graph is also an "
                           "input of the graph.",
              .clause = "onnx.proto, IR_VERSION_2019_1_22",
              .vendor = true,
              .hint = "Raise ir_version to 4 or later, or add the initializer to the inputs."},
     .check = InitializersAmongInputs},
    {.info = {.id = "ONNX-GRAPH-007",
              .statement = "No node writes a value that is already defined in its graph or "
                           "function, or in an enclosing graph (single static assignment).",
              .clause = "IR.md, Graphs",
              .vendor = true,
              .hint = "Rename the second definition and the inputs that read it."},
     .check = SingleAssignment},
    {.info = {.id = "ONNX-GRAPH-008",
              .statement = "No input or initializer of a subgraph or training algorithm has the "
                           "name of a value of an enclosing graph.",
              .clause = "IR.md, Names Within a Graph",
              .hint = "Rename the input or initializer of the inner graph."},
     .check = NoShadowing},
    {.info = {.id = "ONNX-GRAPH-009",
              .statement = "Every value that a node reads is defined in its graph or function, or "
                           "in an enclosing graph.",
              .clause = "IR.md, Graphs",
              .vendor = true,
              .hint = "Correct the name, or add the missing input, initializer or node."},
     .check = InputsDefined},
    {.info = {.id = "ONNX-GRAPH-010",
              .statement = "Nodes are in topological order: every node comes after the nodes whose "
                           "values it reads, and there is no cycle.",
              .clause = "IR.md, Graphs",
              .vendor = true,
              .hint = "Sort the nodes topologically; if that is impossible, break the cycle."},
     .check = TopologicalOrder},
    {.info = {.id = "ONNX-GRAPH-011",
              .statement = "Every output of a graph is defined in that graph.",
              .clause = "IR.md, Graphs",
              .vendor = true,
              .hint = "Name a value of this graph; to return a value of an enclosing graph, copy "
                      "it with an Identity node."},
     .check = OutputsProduced},
    {.info = {.id = "ONNX-GRAPH-012",
              .statement = "Node names are unique within a graph or function.",
              .clause = "IR.md, Names Within a Graph",
              .vendor = true,
              .hint = "Rename one of the nodes; nnconvert --rewrite does."},
     .check = NodeNamesUnique},
    {.info =
         {.id = "ONNX-GRAPH-013",
          .severity = Severity::kNote,
          .statement =
              "Every node of a subgraph, function or training graph has an output that is read.",
          .clause = "good practice",
          .hint = "Remove the node, or use its output.",
          .lint = true},
     .check = ResultsUsed},
    {.info = {.id = "ONNX-GRAPH-014",
              .severity = Severity::kWarning,
              .statement = "From IR version 4 on, no input of a subgraph is also an initializer of "
                           "that subgraph.",
              .clause = "IR.md, Nodes",
              .hint = "Remove the name from the inputs and keep the initializer."},
     .check = InputsWithoutInitializers},
    {.info = {.id = "ONNX-GRAPH-015",
              .statement = "Every node has at least one named output.",
              .clause = "IR.md, Graphs",
              .hint = "Name the value that the node computes, or remove the node."},
     .check = OutputsNamed},
};

}  // namespace

std::span<const Rule> GraphRules() {
  return kGraphRules;
}

}  // namespace nn::onnx
