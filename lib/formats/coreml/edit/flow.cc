// ModelEditor::FlowOf: values are the blobs of a network, by name.
#include <algorithm>
#include <map>
#include <set>

#include "formats/coreml/describe/program.h"
#include "formats/coreml/edit/network_parts.h"
#include "formats/coreml/file/native.h"
#include "formats/coreml/import/importer.h"
#include "formats/coreml/roles.h"

namespace nn::coreml {
namespace {

// Adds what the networks in a layer read and write.
void AddNested(const Fields& layer, std::set<std::string>& reads, std::set<std::string>& writes) {
  for (std::string& name : layer.Texts("input")) reads.insert(std::move(name));
  for (std::string& name : layer.Texts("output")) writes.insert(std::move(name));
  const std::string_view kind = layer.OneOf("layer");
  if (kind == "loop")
    if (std::string name = layer.Sub(kind).Text("conditionVar"); !name.empty())
      reads.insert(std::move(name));
  for (const Fields& network : NestedNetworks(layer))
    for (const Fields& inner : network.List("layers")) AddNested(inner, reads, writes);
}

class FlowReader {
 public:
  explicit FlowReader(const Model& model) : model_(model), ports_(PortsOf(model)) {}

  NativeFlow Run() {
    for (const Fields& feature : ports_.inputs) {
      const size_t v = ValueOf(feature.Text("name"));
      if (feature.Sub("type").Bool("isOptional")) flow_.values[v].is_constant = true;
      flow_.inputs.push_back(v);
    }
    if (!model_.has_network()) {
      AddWhole();
      return std::move(flow_);
    }
    for (const Fields& layer : model_.network().List("layers")) AddLayer(layer);
    AddClassifier();
    for (const Fields& feature : ports_.outputs)
      flow_.outputs.push_back(ValueOf(feature.Text("name")));
    return std::move(flow_);
  }

 private:
  size_t ValueOf(const std::string& name) {
    const auto [it, added] = values_.try_emplace(name, flow_.values.size());
    if (added) flow_.values.push_back({name});
    return it->second;
  }

  void AddWhole() {
    NativeFlow::Operator op;
    op.type = DescribeKind(model_.root());
    op.inputs = flow_.inputs;
    for (const Fields& feature : ports_.outputs) {
      flow_.outputs.push_back(ValueOf(feature.Text("name")));
      op.outputs.push_back(flow_.outputs.back());
    }
    flow_.operators.push_back(std::move(op));
  }

  // A branch or loop reads what its networks read or change, as far as that exists before it.
  void AddLayer(const Fields& layer) {
    const std::string kind = KindOf(layer);
    NativeFlow::Operator op;
    op.type = kind.empty() ? "unknown" : kind;
    op.name = layer.Text("name");
    std::set<size_t> inputs, outputs;
    const auto add = [&](const std::string& name, std::set<size_t>& seen,
                         std::vector<size_t>& list) {
      if (const size_t v = ValueOf(name); seen.insert(v).second) list.push_back(v);
    };
    for (const std::string& name : layer.Texts("input")) add(name, inputs, op.inputs);
    if (IsControlFlow(kind)) {
      std::set<std::string> reads, writes;
      AddNested(layer, reads, writes);
      for (const auto* names : {&reads, &writes})
        for (const std::string& name : *names)
          if (values_.contains(name)) add(name, inputs, op.inputs);
      for (const std::string& name : writes) add(name, outputs, op.outputs);
    }
    for (const std::string& name : layer.Texts("output")) add(name, outputs, op.outputs);
    op.has_effect = op.outputs.empty();
    flow_.operators.push_back(std::move(op));
  }

  // What a classifier does after its layers is an operator, too.
  void AddClassifier() {
    if (model_.kind() != kClassifier) return;
    NativeFlow::Operator op;
    op.type = kClassifier;
    if (const std::string scores = ScoresBlob(model_.network()); !scores.empty())
      op.inputs.push_back(ValueOf(scores));
    for (const Fields& feature : ports_.outputs)
      if (const std::string name = feature.Text("name"); !values_.contains(name))
        op.outputs.push_back(ValueOf(name));
    flow_.operators.push_back(std::move(op));
  }

  const Model& model_;
  const Features ports_;
  NativeFlow flow_;
  std::map<std::string, size_t> values_;  // by name
};

}  // namespace

Features PortsOf(const Model& model) {
  const Fields description = model.root().Sub("description");
  Features ports{description.List("input"), description.List("output")};
  if (!ports.inputs.empty() || !ports.outputs.empty()) return ports;
  if (const auto function = DefaultFunctionIn(description))
    ports = {function->List("input"), function->List("output")};
  return ports;
}

std::vector<Fields> NestedNetworks(const Fields& layer) {
  std::vector<Fields> networks;
  const std::string_view kind = layer.OneOf("layer");
  if (kind == "branch")
    for (const char* part : {"ifBranch", "elseBranch"})
      networks.push_back(layer.Sub(kind).Sub(part));
  if (kind == "loop")
    for (const char* part : {"conditionNetwork", "bodyNetwork"})
      networks.push_back(layer.Sub(kind).Sub(part));
  return networks;
}

Result<NativeFlow> CoremlEditor::FlowOf(const NativeModel& native) const {
  return FlowReader(ModelOf(native)).Run();
}

}  // namespace nn::coreml
