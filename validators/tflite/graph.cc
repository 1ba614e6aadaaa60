// Rules about indices and the order of operators.
#include <set>
#include <vector>

#include "base/text/text.h"
#include "validators/tflite/rules.h"

namespace nn::tflite {
namespace {

using Indices = flatbuffers::Vector<int32_t>;

constexpr int32_t kAbsent = -1;

template <typename Visit>
void EachGraph(const RuleContext& s, const Visit& visit) {
  for (int64_t g = 0; g < SizeOf(s.root().subgraphs()); ++g)
    if (const fb::SubGraph* graph = At(s.root().subgraphs(), g))
      visit(g, *graph, fmt::format("subgraphs[{}]", g));
}

bool InGraph(const fb::SubGraph& graph, int32_t tensor) {
  return At(graph.tensors(), tensor) != nullptr;
}

void PortsInRange(const RuleContext& s, Findings& f) {
  EachGraph(s, [&](int64_t, const fb::SubGraph& graph, const std::string& path) {
    const auto check = [&](const Indices* list, std::string_view field) {
      for (int64_t i = 0; i < SizeOf(list); ++i)
        if (const int32_t t = list->Get(static_cast<uint32_t>(i)); !InGraph(graph, t))
          f.Add(nn::At(fmt::format("{}.{}[{}]", path, field, i)),
                "{}[{}] refers to tensor {}, out of range [0, {})", field, i, t,
                SizeOf(graph.tensors()));
    };
    check(graph.inputs(), "inputs");
    check(graph.outputs(), "outputs");
  });
}

void CodesInRange(const RuleContext& s, Findings& f) {
  for (const OperatorAt& at : s.operators())
    if (at.code == nullptr)
      f.Add(Where(at, "opcode_index"), "operator {} has opcode_index {}, out of range [0, {})",
            at.index, at.op->opcode_index(), SizeOf(s.root().operator_codes()));
}

void OperandsInRange(const RuleContext& s, Findings& f) {
  for (const OperatorAt& at : s.operators()) {
    const auto check = [&](const Indices* list, std::string_view field, bool optional) {
      for (int64_t i = 0; i < SizeOf(list); ++i) {
        const int32_t t = list->Get(static_cast<uint32_t>(i));
        if (!InGraph(*at.subgraph, t) && !(optional && t == kAbsent))
          f.Add(Where(at, fmt::format("{}[{}]", field, i)),
                "{}: {}[{}] refers to tensor {}, out of range [0, {})", Title(at), field, i, t,
                SizeOf(at.subgraph->tensors()));
      }
    };
    check(at.op->inputs(), "inputs", true);
    check(at.op->outputs(), "outputs", false);
    check(at.op->intermediates(), "intermediates", true);
  }
}

// Whether a tensor has a value before any operator runs.
bool IsGiven(const RuleContext& s, const fb::Tensor& t) {
  if (t.is_variable() || t.external_buffer() != 0) return true;
  const fb::Buffer* buffer = At(s.root().buffers(), t.buffer());
  if (buffer != nullptr && (SizeOf(buffer->data()) > 0 || buffer->size() > 0)) return true;
  // A constant without elements has no bytes.
  for (int64_t i = 0; i < SizeOf(t.shape()); ++i)
    if (t.shape()->Get(static_cast<uint32_t>(i)) == 0) return true;
  return false;
}

void InOrder(const RuleContext& s, Findings& f) {
  EachGraph(s, [&](int64_t g, const fb::SubGraph& graph, const std::string&) {
    std::vector<bool> there(static_cast<size_t>(SizeOf(graph.tensors())));
    const auto mark = [&](int32_t t) {
      if (InGraph(graph, t)) there[static_cast<size_t>(t)] = true;
    };
    for (int64_t i = 0; i < SizeOf(graph.tensors()); ++i)
      if (const fb::Tensor* t = At(graph.tensors(), i); t != nullptr && IsGiven(s, *t))
        there[static_cast<size_t>(i)] = true;
    for (const int32_t t : ListOf<int32_t>(graph.inputs())) mark(t);
    for (const OperatorAt& at : s.operators()) {
      if (at.graph != g) continue;
      for (const int32_t t : ListOf<int32_t>(at.op->inputs()))
        if (InGraph(graph, t) && !there[static_cast<size_t>(t)])
          f.Add(Where(at, "inputs"), "{} reads tensor {} {}, which no earlier operator writes",
                Title(at), t, Quote(Text(At(graph.tensors(), t)->name())));
      for (const int32_t t : ListOf<int32_t>(at.op->outputs())) mark(t);
    }
  });
}

void WrittenOnce(const RuleContext& s, Findings& f) {
  std::set<std::pair<int64_t, int32_t>> written;
  for (const OperatorAt& at : s.operators())
    for (const int32_t t : ListOf<int32_t>(at.op->outputs()))
      if (InGraph(*at.subgraph, t) && !written.emplace(at.graph, t).second)
        f.Add(Where(at, "outputs"), "{} writes tensor {}, which is already written", Title(at), t);
}

// Calls visit(tensor, index) for each output of an operator.
template <typename Visit>
void EachOutput(const OperatorAt& at, const Visit& visit) {
  for (const int32_t t : ListOf<int32_t>(at.op->outputs()))
    if (const fb::Tensor* tensor = At(at.subgraph->tensors(), t)) visit(*tensor, t);
}

void OutputsWritten(const RuleContext& s, Findings& f) {
  std::vector<std::vector<bool>> there(static_cast<size_t>(SizeOf(s.root().subgraphs())));
  EachGraph(s, [&](int64_t g, const fb::SubGraph& graph, const std::string&) {
    auto& list = there[static_cast<size_t>(g)];
    for (int64_t i = 0; i < SizeOf(graph.tensors()); ++i) {
      const fb::Tensor* t = At(graph.tensors(), i);
      list.push_back(t != nullptr && IsGiven(s, *t));
    }
    for (const int32_t t : ListOf<int32_t>(graph.inputs()))
      if (InGraph(graph, t)) list[static_cast<size_t>(t)] = true;
  });
  for (const OperatorAt& at : s.operators())
    EachOutput(at, [&](const fb::Tensor&, int32_t t) {
      there[static_cast<size_t>(at.graph)][static_cast<size_t>(t)] = true;
    });
  EachGraph(s, [&](int64_t g, const fb::SubGraph& graph, const std::string& path) {
    for (const int32_t t : ListOf<int32_t>(graph.outputs()))
      if (InGraph(graph, t) && !there[static_cast<size_t>(g)][static_cast<size_t>(t)])
        f.Add(nn::At(path + ".outputs"), "no operator writes output tensor {} {}", t,
              Quote(Text(At(graph.tensors(), t)->name())));
  });
}

void VariablesNotWritten(const RuleContext& s, Findings& f) {
  for (const OperatorAt& at : s.operators())
    EachOutput(at, [&](const fb::Tensor& tensor, int32_t t) {
      if (tensor.is_variable())
        f.Add(Where(at, "outputs"), "{} writes tensor {}, which is a variable", Title(at), t);
    });
}

void InputsNotWritten(const RuleContext& s, Findings& f) {
  int64_t graph = -1;
  std::set<int32_t> inputs;
  for (const OperatorAt& at : s.operators()) {
    if (at.graph != graph) {
      const auto list = ListOf<int32_t>(at.subgraph->inputs());
      inputs = std::set<int32_t>(list.begin(), list.end());
    }
    graph = at.graph;
    EachOutput(at, [&](const fb::Tensor&, int32_t t) {
      if (inputs.contains(t))
        f.Add(Where(at, "outputs"), "{} writes tensor {}, which is an input of the subgraph",
              Title(at), t);
    });
  }
}

void OutputsAreNoInputs(const RuleContext& s, Findings& f) {
  for (const OperatorAt& at : s.operators()) {
    if (at.code == nullptr || OperatorOf(*at.code) == fb::BuiltinOperator::CUSTOM) continue;
    const auto inputs = ListOf<int32_t>(at.op->inputs());
    const std::set<int32_t> read(inputs.begin(), inputs.end());
    EachOutput(at, [&](const fb::Tensor&, int32_t t) {
      if (read.contains(t))
        f.Add(Where(at, "outputs"), "{} both reads and writes tensor {}", Title(at), t);
    });
  }
}

void PortsOnce(const RuleContext& s, Findings& f) {
  EachGraph(s, [&](int64_t, const fb::SubGraph& graph, const std::string& path) {
    std::set<int32_t> seen;
    for (const int32_t t : ListOf<int32_t>(graph.inputs()))
      if (!seen.insert(t).second)
        f.Add(nn::At(path + ".inputs"), "input tensor {} is listed more than once", t);
  });
}

void InputsNotConstant(const RuleContext& s, Findings& f) {
  EachGraph(s, [&](int64_t, const fb::SubGraph& graph, const std::string& path) {
    for (const int32_t t : ListOf<int32_t>(graph.inputs())) {
      const fb::Tensor* tensor = At(graph.tensors(), t);
      const fb::Buffer* buffer =
          tensor != nullptr ? At(s.root().buffers(), tensor->buffer()) : nullptr;
      if (buffer != nullptr && (SizeOf(buffer->data()) > 0 || buffer->offset() > 1))
        f.Add(nn::At(path + ".inputs"), "input tensor {} {} has data in the file", t,
              Quote(Text(tensor->name())));
    }
  });
}

void ListsPresent(const RuleContext& s, Findings& f) {
  EachGraph(s, [&](int64_t, const fb::SubGraph& graph, const std::string& path) {
    if (graph.tensors() == nullptr)
      f.Add(nn::At(path + ".tensors"), "the subgraph has no tensors field");
    if (graph.operators() == nullptr)
      f.Add(nn::At(path + ".operators"), "the subgraph has no operators field");
  });
  for (const OperatorAt& at : s.operators()) {
    if (at.op->inputs() == nullptr) f.Add(Where(at, "inputs"), "{} has no inputs field", Title(at));
    if (at.op->outputs() == nullptr)
      f.Add(Where(at, "outputs"), "{} has no outputs field", Title(at));
  }
}

void VariableInputs(const RuleContext& s, Findings& f) {
  for (const OperatorAt& at : s.operators()) {
    const int64_t n = SizeOf(at.op->mutating_variable_inputs());
    if (n != 0 && n != SizeOf(at.op->inputs()))
      f.Add(Where(at, "mutating_variable_inputs"),
            "{} has {} inputs but {} entries in mutating_variable_inputs", Title(at),
            SizeOf(at.op->inputs()), n);
  }
}

void ConstantsNotWritten(const RuleContext& s, Findings& f) {
  for (const OperatorAt& at : s.operators())
    for (const int32_t t : ListOf<int32_t>(at.op->outputs())) {
      const fb::Tensor* tensor = At(at.subgraph->tensors(), t);
      const fb::Buffer* buffer =
          tensor != nullptr ? At(s.root().buffers(), tensor->buffer()) : nullptr;
      if (buffer != nullptr && (SizeOf(buffer->data()) > 0 || buffer->size() > 1))
        f.Add(Where(at, "outputs"), "{} writes tensor {}, which is a constant", Title(at), t);
    }
}

constexpr Rule kGraphRules[] = {
    {.info = {.id = "TFLITE-GRAPH-001",
              .statement = "Every input and output of a subgraph is a tensor of that subgraph.",
              .clause = "schema.fbs, SubGraph.inputs",
              .vendor = true,
              .hint =
                  "Use only indices of existing tensors in SubGraph.inputs and SubGraph.outputs."},
     .check = PortsInRange},
    {.info = {.id = "TFLITE-GRAPH-002",
              .statement =
                  "The opcode_index of every operator refers to an operator code of the model.",
              .clause = "schema.fbs, Operator.opcode_index",
              .vendor = true,
              .hint = "Correct opcode_index, or add the missing entry to Model.operator_codes."},
     .check = CodesInRange},
    {.info = {.id = "TFLITE-GRAPH-003",
              .statement = "Every input, output and intermediate of an operator is a tensor of its "
                           "subgraph; inputs and intermediates may be -1, which means absent.",
              .clause = "schema.fbs, Operator.inputs",
              .vendor = true,
              .hint = "Correct the tensor index, or use -1 for an optional input that is absent."},
     .check = OperandsInRange},
    {.info = {.id = "TFLITE-GRAPH-004",
              .statement = "Every tensor that an operator reads is an input of the subgraph, a "
                           "constant, a variable or an output of an earlier operator.",
              .clause = "schema.fbs, SubGraph.operators",
              .vendor = true,
              .hint = "Sort the operators topologically; if that is impossible, remove the cycle."},
     .check = InOrder},
    {.info = {.id = "TFLITE-GRAPH-005",
              .statement = "Every tensor is written by at most one operator.",
              .clause = "schema.fbs, Operator.outputs; the verifier",
              .vendor = true,
              .hint = "Give each operator its own output tensors."},
     .check = WrittenOnce},
    {.info = {.id = "TFLITE-GRAPH-006",
              .statement = "No operator writes a constant tensor.",
              .clause = "schema.fbs, Tensor.buffer",
              .vendor = true,
              .hint = "Set Tensor.buffer of the output to 0, or write to another tensor."},
     .check = ConstantsNotWritten},
    {.info = {.id = "TFLITE-GRAPH-007",
              .statement = "Every output of a subgraph is an input of the subgraph, a constant, a "
                           "variable or an output of an operator.",
              .clause = "schema.fbs, SubGraph.outputs",
              .hint =
                  "Remove the tensor from SubGraph.outputs, or add the operator that computes it."},
     .check = OutputsWritten},
    {.info =
         {.id = "TFLITE-GRAPH-008",
          .statement = "No output of an operator is a variable tensor.",
          .clause = "schema.fbs, Tensor.is_variable; the verifier",
          .vendor = true,
          .hint =
              "Make the variable an input of the operator; operators update variables in place."},
     .check = VariablesNotWritten},
    {.info = {.id = "TFLITE-GRAPH-009",
              .statement = "No operator writes an input of its subgraph.",
              .clause = "schema.fbs, SubGraph.inputs; the verifier",
              .vendor = true,
              .hint = "Write to another tensor, or remove this one from SubGraph.inputs."},
     .check = InputsNotWritten},
    {.info = {.id = "TFLITE-GRAPH-010",
              .statement = "No builtin operator writes a tensor that it reads.",
              .clause = "Subgraph::AddNodeWithParameters",
              .vendor = true,
              .hint = "Give the operator an output tensor that is not among its inputs."},
     .check = OutputsAreNoInputs},
    {.info = {.id = "TFLITE-GRAPH-011",
              .severity = Severity::kWarning,
              .statement = "A subgraph lists each of its input tensors only once.",
              .clause = "schema.fbs, SubGraph.inputs",
              .hint = "Remove the duplicate from SubGraph.inputs."},
     .check = PortsOnce},
    {.info = {.id = "TFLITE-GRAPH-012",
              .severity = Severity::kWarning,
              .statement = "No input of a subgraph has data in the file.",
              .clause = "schema.fbs, SubGraph.inputs, Tensor.buffer",
              .hint = "Set Tensor.buffer of the input to 0, or remove it from SubGraph.inputs; "
                      "callers cannot write to a constant."},
     .check = InputsNotConstant},
    {.info = {.id = "TFLITE-GRAPH-013",
              .statement = "The tensors and operators of a subgraph and the inputs and outputs of "
                           "an operator are present, possibly as empty lists.",
              .clause = "schema.fbs, SubGraph, Operator; the verifier",
              .vendor = true,
              .hint = "Write an empty list instead of leaving the field out."},
     .check = ListsPresent},
    {.info = {.id = "TFLITE-GRAPH-014",
              .statement = "The mutating_variable_inputs of an operator is empty or has one entry "
                           "for each input.",
              .clause = "schema.fbs, Operator.mutating_variable_inputs",
              .hint = "Leave mutating_variable_inputs empty, or write one flag for each input."},
     .check = VariableInputs},
};

}  // namespace

std::span<const Rule> GraphRules() {
  return kGraphRules;
}

}  // namespace nn::tflite
