// Rules of indices and of the order of operators.
#include <set>
#include <vector>

#include "base/text.h"
#include "validators/tflite/rules.h"

namespace nn::tflite {
namespace {

using Indices = flatbuffers::Vector<int32_t>;

constexpr int32_t kAbsent = -1;

template <typename Visit>
void EachGraph(const Subject& s, const Visit& visit) {
  for (int64_t g = 0; g < SizeOf(s.root().subgraphs()); ++g)
    if (const fb::SubGraph* graph = At(s.root().subgraphs(), g))
      visit(g, *graph, fmt::format("subgraphs[{}]", g));
}

bool InGraph(const fb::SubGraph& graph, int32_t tensor) {
  return At(graph.tensors(), tensor) != nullptr;
}

void PortsInRange(const Subject& s, Findings& f) {
  EachGraph(s, [&](int64_t, const fb::SubGraph& graph, const std::string& path) {
    const auto check = [&](const Indices* list, std::string_view field) {
      for (int64_t i = 0; i < SizeOf(list); ++i)
        if (const int32_t t = list->Get(static_cast<uint32_t>(i)); !InGraph(graph, t))
          f.Add(nn::At(fmt::format("{}.{}[{}]", path, field, i)), "{} {} is tensor {} of {}", field,
                i, t, SizeOf(graph.tensors()));
    };
    check(graph.inputs(), "inputs");
    check(graph.outputs(), "outputs");
  });
}

void CodesInRange(const Subject& s, Findings& f) {
  for (const OperatorAt& at : s.operators())
    if (at.code == nullptr)
      f.Add(Where(at, "opcode_index"), "operator {} has code {} of {}", at.index,
            at.op->opcode_index(), SizeOf(s.root().operator_codes()));
}

void OperandsInRange(const Subject& s, Findings& f) {
  for (const OperatorAt& at : s.operators()) {
    const auto check = [&](const Indices* list, std::string_view field, bool optional) {
      for (int64_t i = 0; i < SizeOf(list); ++i) {
        const int32_t t = list->Get(static_cast<uint32_t>(i));
        if (!InGraph(*at.subgraph, t) && !(optional && t == kAbsent))
          f.Add(Where(at, fmt::format("{}[{}]", field, i)), "{} has tensor {} of {} in {}",
                Title(at), t, SizeOf(at.subgraph->tensors()), field);
      }
    };
    check(at.op->inputs(), "inputs", true);
    check(at.op->outputs(), "outputs", false);
    check(at.op->intermediates(), "intermediates", true);
  }
}

// A tensor that has a value before any operator runs.
bool IsGiven(const Subject& s, const fb::Tensor& t) {
  if (t.is_variable() || t.external_buffer() != 0) return true;
  const fb::Buffer* buffer = At(s.root().buffers(), t.buffer());
  if (buffer != nullptr && (SizeOf(buffer->data()) > 0 || buffer->size() > 0)) return true;
  // Constants without elements have no bytes.
  for (int64_t i = 0; i < SizeOf(t.shape()); ++i)
    if (t.shape()->Get(static_cast<uint32_t>(i)) == 0) return true;
  return false;
}

void InOrder(const Subject& s, Findings& f) {
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
          f.Add(Where(at, "inputs"), "{} reads tensor {} {}, which nothing before it writes",
                Title(at), t, Quote(Text(At(graph.tensors(), t)->name())));
      for (const int32_t t : ListOf<int32_t>(at.op->outputs())) mark(t);
    }
  });
}

void WrittenOnce(const Subject& s, Findings& f) {
  std::set<std::pair<int64_t, int32_t>> written;
  for (const OperatorAt& at : s.operators())
    for (const int32_t t : ListOf<int32_t>(at.op->outputs()))
      if (InGraph(*at.subgraph, t) && !written.emplace(at.graph, t).second)
        f.Add(Where(at, "outputs"), "{} writes tensor {}, as an operator before it does", Title(at),
              t);
}

// Calls visit(tensor, index) for each output of an operator.
template <typename Visit>
void EachOutput(const OperatorAt& at, const Visit& visit) {
  for (const int32_t t : ListOf<int32_t>(at.op->outputs()))
    if (const fb::Tensor* tensor = At(at.subgraph->tensors(), t)) visit(*tensor, t);
}

void OutputsWritten(const Subject& s, Findings& f) {
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
        f.Add(nn::At(path + ".outputs"), "nothing writes output tensor {} {}", t,
              Quote(Text(At(graph.tensors(), t)->name())));
  });
}

void VariablesNotWritten(const Subject& s, Findings& f) {
  for (const OperatorAt& at : s.operators())
    EachOutput(at, [&](const fb::Tensor& tensor, int32_t t) {
      if (tensor.is_variable())
        f.Add(Where(at, "outputs"), "{} writes the variable tensor {}", Title(at), t);
    });
}

void InputsNotWritten(const Subject& s, Findings& f) {
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
        f.Add(Where(at, "outputs"), "{} writes tensor {}, an input of the sub-graph", Title(at), t);
    });
  }
}

void OutputsAreNoInputs(const Subject& s, Findings& f) {
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

void PortsOnce(const Subject& s, Findings& f) {
  EachGraph(s, [&](int64_t, const fb::SubGraph& graph, const std::string& path) {
    std::set<int32_t> seen;
    for (const int32_t t : ListOf<int32_t>(graph.inputs()))
      if (!seen.insert(t).second) f.Add(nn::At(path + ".inputs"), "tensor {} is listed twice", t);
  });
}

void InputsNotConstant(const Subject& s, Findings& f) {
  EachGraph(s, [&](int64_t, const fb::SubGraph& graph, const std::string& path) {
    for (const int32_t t : ListOf<int32_t>(graph.inputs())) {
      const fb::Tensor* tensor = At(graph.tensors(), t);
      const fb::Buffer* buffer =
          tensor != nullptr ? At(s.root().buffers(), tensor->buffer()) : nullptr;
      if (buffer != nullptr && (SizeOf(buffer->data()) > 0 || buffer->offset() > 1))
        f.Add(nn::At(path + ".inputs"), "input tensor {} {} has contents in the file", t,
              Quote(Text(tensor->name())));
    }
  });
}

void ListsPresent(const Subject& s, Findings& f) {
  EachGraph(s, [&](int64_t, const fb::SubGraph& graph, const std::string& path) {
    if (graph.tensors() == nullptr) f.Add(nn::At(path + ".tensors"), "there are no tensors");
    if (graph.operators() == nullptr) f.Add(nn::At(path + ".operators"), "there are no operators");
  });
  for (const OperatorAt& at : s.operators()) {
    if (at.op->inputs() == nullptr)
      f.Add(Where(at, "inputs"), "{} has no list of inputs", Title(at));
    if (at.op->outputs() == nullptr)
      f.Add(Where(at, "outputs"), "{} has no list of outputs", Title(at));
  }
}

void VariableInputs(const Subject& s, Findings& f) {
  for (const OperatorAt& at : s.operators()) {
    const int64_t n = SizeOf(at.op->mutating_variable_inputs());
    if (n != 0 && n != SizeOf(at.op->inputs()))
      f.Add(Where(at, "mutating_variable_inputs"), "{} has {} inputs and {} marks for them",
            Title(at), SizeOf(at.op->inputs()), n);
  }
}

void ConstantsNotWritten(const Subject& s, Findings& f) {
  for (const OperatorAt& at : s.operators())
    for (const int32_t t : ListOf<int32_t>(at.op->outputs())) {
      const fb::Tensor* tensor = At(at.subgraph->tensors(), t);
      const fb::Buffer* buffer =
          tensor != nullptr ? At(s.root().buffers(), tensor->buffer()) : nullptr;
      if (buffer != nullptr && (SizeOf(buffer->data()) > 0 || buffer->size() > 1))
        f.Add(Where(at, "outputs"), "{} writes the constant tensor {}", Title(at), t);
    }
}

constexpr Rule kRules[] = {
    {{"TFLITE-GRAPH-001", Severity::kError, "Inputs and outputs of a subgraph are its tensors.",
      "schema.fbs, SubGraph.inputs", true, ""},
     PortsInRange},
    {{"TFLITE-GRAPH-002", Severity::kError, "Operators have a code of the model.",
      "schema.fbs, Operator.opcode_index", true, ""},
     CodesInRange},
    {{"TFLITE-GRAPH-003", Severity::kError,
      "Operators take and give tensors of their subgraph; -1 leaves an input out.",
      "schema.fbs, Operator.inputs", true, ""},
     OperandsInRange},
    {{"TFLITE-GRAPH-004", Severity::kError, "Tensors are written before they are read.",
      "schema.fbs, SubGraph.operators", true,
      "Sort the operators; where that cannot be done there is a cycle."},
     InOrder},
    {{"TFLITE-GRAPH-005", Severity::kError, "A tensor is written by one operator.",
      "schema.fbs, Operator.outputs; the verifier", true, ""},
     WrittenOnce},
    {{"TFLITE-GRAPH-006", Severity::kError, "Constants are not written.",
      "schema.fbs, Tensor.buffer", true, ""},
     ConstantsNotWritten},
    {{"TFLITE-GRAPH-007", Severity::kError, "Outputs of a sub-graph are written, given or inputs.",
      "schema.fbs, SubGraph.outputs", false, ""},
     OutputsWritten},
    {{"TFLITE-GRAPH-008", Severity::kError, "Variables are no outputs of operators.",
      "schema.fbs, Tensor.is_variable; the verifier", true,
      "Operators that change a variable have it as an input."},
     VariablesNotWritten},
    {{"TFLITE-GRAPH-009", Severity::kError, "Inputs of a sub-graph are not written.",
      "schema.fbs, SubGraph.inputs; the verifier", true, ""},
     InputsNotWritten},
    {{"TFLITE-GRAPH-010", Severity::kError, "No operator writes a tensor that it reads.",
      "Subgraph::AddNodeWithParameters", true, ""},
     OutputsAreNoInputs},
    {{"TFLITE-GRAPH-011", Severity::kWarning, "A tensor is an input of its sub-graph once.",
      "schema.fbs, SubGraph.inputs", false, ""},
     PortsOnce},
    {{"TFLITE-GRAPH-012", Severity::kWarning, "Inputs of a sub-graph have no contents in the file.",
      "schema.fbs, SubGraph.inputs, Tensor.buffer", false,
      "Such an input cannot be written by those who use the model."},
     InputsNotConstant},
    {{"TFLITE-GRAPH-013", Severity::kError,
      "Sub-graphs have tensors and operators, operators have inputs and outputs, if only none.",
      "schema.fbs, SubGraph, Operator; the verifier", true, "Write empty lists."},
     ListsPresent},
    {{"TFLITE-GRAPH-014", Severity::kError,
      "An operator marks none of its inputs as changed by it, or says it of each.",
      "schema.fbs, Operator.mutating_variable_inputs", false, ""},
     VariableInputs},
};

}  // namespace

std::span<const Rule> GraphRules() {
  return kRules;
}

}  // namespace nn::tflite
