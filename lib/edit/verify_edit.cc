#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/text/text.h"
#include "edit/edit.h"
#include "formats/given_inputs.h"
#include "ir/copy.h"
#include "passes/core/ports.h"

namespace nn::edit {
namespace {

// The inputs and outputs of the edited model that are no inputs of the source, each once.
std::vector<NativeEdit::Port> PortsIn(const NativeFlow& flow, const EditedModel& edited) {
  std::unordered_map<std::string_view, size_t> index;
  for (size_t v = 0; v < flow.values.size(); ++v) index.try_emplace(flow.values[v].name, v);
  std::unordered_set<size_t> known(flow.inputs.begin(), flow.inputs.end());
  std::vector<NativeEdit::Port> out;
  for (const auto* ports : {&edited.inputs, &edited.outputs})
    for (const auto& [name, type] : *ports) {
      const auto it = index.find(name);
      const size_t value = it == index.end() ? flow.values.size() : it->second;
      if (known.insert(value).second) out.push_back({value, type});
    }
  return out;
}

Result<ReadModel> Apply(const ReadModel& source, const NativeEdit& edit) {
  NN_ASSIGN(std::unique_ptr<NativeModel> model, source.format->editor.Apply(*source.model, edit));
  return ReadModel{source.format, std::move(model), source.from_dump};
}

// The source with these values as further outputs; all else stays.
Result<ReadModel> WithOutputs(const ReadModel& source, const NativeFlow& flow,
                              const std::vector<NativeEdit::Port>& values) {
  NativeEdit edit;
  edit.keeps.assign(flow.operators.size(), true);
  for (const size_t v : flow.inputs) edit.inputs.push_back({v});
  for (const size_t v : flow.outputs) edit.outputs.push_back({v});
  const std::unordered_set<size_t> outputs(flow.outputs.begin(), flow.outputs.end());
  for (const NativeEdit::Port& port : values)
    if (!outputs.contains(port.value)) edit.outputs.push_back(port);
  return Apply(source, edit);
}

Result<ImportedModel> Import(const Result<ReadModel>& read, const std::string& what) {
  if (!read) return tl::unexpected(read.error());
  NN_ASSIGN(ImportedModel imported,
            ImportModel(*read, what, InputSettings{.states = StatePorts::kResources}));
  NamePorts(imported.graph);
  return imported;
}

// The ports of the part's states, which are its last inputs and outputs, by the names that the
// source has for them.
Status AddStates(const std::vector<ModelState>& source, const std::vector<ModelState>& part,
                 std::vector<std::string>& inputs, std::vector<std::string>& outputs) {
  for (const ModelState& s : part) {
    const auto it = std::ranges::find(source, s.name, &ModelState::name);
    if (it == source.end())
      return UnsupportedError("state {} of the edited model is none of the source", Quote(s.name));
    inputs.push_back(it->input);
    outputs.push_back(it->output);
  }
  return {};
}

std::vector<std::string> NamesOf(const std::vector<std::pair<std::string, ValueType>>& ports) {
  std::vector<std::string> names;
  for (const auto& port : ports) names.push_back(port.first);
  return names;
}

// A graph without outputs, and what its ports would be.
struct Copy {
  Graph graph;
  std::map<std::string, Value*, std::less<>> ports;

  Result<Value*> Find(const std::string& name) const {
    const auto it = ports.find(name);
    if (it == ports.end()) return UnsupportedError("{} is no tensor that a run has", Quote(name));
    return it->second;
  }
};

Result<Copy> CopyOf(const Graph& graph) {
  Copy out;
  std::vector<Value*> inputs;
  for (const Port& port : graph.inputs()) {
    inputs.push_back(out.graph.AddInput(port.name, port.value->type()));
    out.ports.emplace(port.name, inputs.back());
  }
  NN_ASSIGN(const std::vector<Value*> outputs, AddCopies(out.graph, graph, inputs));
  for (size_t i = 0; i < outputs.size(); ++i)
    out.ports.emplace(graph.outputs()[i].name, outputs[i]);
  return out;
}

}  // namespace

Result<Verification> VerifyEdit(const ReadModel& source, const EditedModel& edited,
                                const VerifyOptions& options) {
  NN_ASSIGN(const NativeFlow flow, source.format->editor.FlowOf(*source.model));
  const std::vector<NativeEdit::Port> ports = PortsIn(flow, edited);
  Result<ImportedModel> imported = Import(WithOutputs(source, flow, ports), "the source");
  // Parts of the source that cannot run may not matter.
  if (!imported) imported = Import(Apply(source, PlanComputation(flow, ports)), "the source");
  if (!imported) return tl::unexpected(imported.error());
  NN_ASSIGN(const ImportedModel piece, Import(edited.model, "the edited model"));
  const Graph& part = piece.graph;
  std::vector<std::string> input_names = NamesOf(edited.inputs),
                           output_names = NamesOf(edited.outputs);
  NN_RETURN_IF_ERROR(AddStates(imported->states, piece.states, input_names, output_names));
  if (part.inputs().size() != input_names.size() || part.outputs().size() != output_names.size())
    return UnsupportedError("an input or output is no tensor");
  NN_ASSIGN(Copy whole, CopyOf(imported->graph));
  NN_ASSIGN(Copy joined, CopyOf(imported->graph));
  // The edited model appended to the source, which computes its inputs.
  std::vector<Value*> inputs;
  for (const std::string& name : input_names) {
    NN_ASSIGN(Value* const value, joined.Find(name));
    inputs.push_back(value);
  }
  NN_ASSIGN(const std::vector<Value*> outputs, AddCopies(joined.graph, part, inputs));
  for (size_t i = 0; i < outputs.size(); ++i) {
    NN_ASSIGN(Value* const expected, whole.Find(output_names[i]));
    whole.graph.AddOutput(part.outputs()[i].name, expected);
    joined.graph.AddOutput(part.outputs()[i].name, outputs[i]);
  }
  const auto identities = [](const std::vector<Port>& values) {
    std::vector<AxisMap> maps;
    for (const Port& p : values) {
      const auto& dims = p.value->type().dims;
      maps.push_back(AxisMap::Identity(dims ? static_cast<int>(dims->size()) : 0));
    }
    return maps;
  };
  const InterfaceAxes axes = {identities(whole.graph.inputs()), identities(whole.graph.outputs()),
                              std::vector<int64_t>(whole.graph.inputs().size()),
                              std::vector<int64_t>(whole.graph.outputs().size())};
  const auto import_joined = [&]() -> Result<Graph> { return std::move(joined.graph); };
  NN_ASSIGN(Verification v, VerifyConversion(std::move(whole.graph), import_joined, axes, options));
  v.passed = v.passed &&
             std::ranges::all_of(v.outputs, [](const OutputDrift& d) { return d.worst.identical; });
  return v;
}

}  // namespace nn::edit
