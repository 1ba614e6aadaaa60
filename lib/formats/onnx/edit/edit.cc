
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "base/text/name_map.h"
#include "formats/onnx/edit/strip.h"
#include "formats/onnx/edit/subgraphs.h"
#include "formats/onnx/edit/value_names.h"
#include "formats/onnx/file/native.h"
#include "formats/onnx/file/value_type.h"
#include "formats/onnx/import/importer.h"
#include "formats/onnx/roles.h"

namespace nn::onnx {
namespace {

using Names = std::unordered_set<std::string_view>;
using FunctionKey = std::tuple<std::string_view, std::string_view, std::string_view>;

void AddDefined(const pb::GraphProto& graph, Names& names) {
  for (const auto& info : graph.input()) names.insert(info.name());
  for (const auto& t : graph.initializer()) names.insert(t.name());
  for (const auto& t : graph.sparse_initializer()) names.insert(t.values().name());
  for (const auto& node : graph.node()) names.insert(node.output().begin(), node.output().end());
}

// Calls fn for the names that a subgraph uses and neither it nor `hidden`, graphs around it,
// define.
void EachCaptured(const pb::GraphProto& graph, Names hidden,
                  const std::function<void(const std::string&)>& fn) {
  AddDefined(graph, hidden);
  const auto use = [&](const std::string& name) {
    if (!name.empty() && !hidden.contains(name)) fn(name);
  };
  for (const pb::NodeProto& node : graph.node()) {
    for (const std::string& name : node.input()) use(name);
    EachGraphOf(node, [&](const pb::GraphProto& inner) { EachCaptured(inner, hidden, fn); });
  }
  for (const auto& info : graph.output()) use(info.name());
}

class FlowBuilder {
 public:
  Result<NativeFlow> Run(const Model& model) {
    const pb::GraphProto& graph = model.proto.graph();
    index_.reserve(static_cast<size_t>(graph.node_size()) * 2);
    NN_ASSIGN(const PortNames ports, OnnxDescriber().PortNamesOf(model));
    for (const std::string& name : ports.inputs) flow_.inputs.push_back(ValueOf(name));
    for (const auto& t : graph.initializer()) flow_.values[ValueOf(t.name())].is_constant = true;
    for (const auto& t : graph.sparse_initializer())
      flow_.values[ValueOf(t.values().name())].is_constant = true;
    for (const pb::NodeProto& node : graph.node()) AddNode(node);
    for (const std::string& name : ports.outputs) flow_.outputs.push_back(ValueOf(name));
    return std::move(flow_);
  }

 private:
  // The names are those of the model's message.
  size_t ValueOf(const std::string& name) {
    const auto [it, added] = index_.try_emplace(name, flow_.values.size());
    if (added) flow_.values.push_back({name});
    return it->second;
  }

  void AddNode(const pb::NodeProto& node) {
    NativeFlow::Operator& op = flow_.operators.emplace_back();
    op.type = node.domain().empty() || NormalDomain(node.domain()).empty()
                  ? node.op_type()
                  : node.domain() + "." + node.op_type();
    op.name = node.name();
    std::unordered_set<size_t> read, written;
    const auto add = [&](const std::string& name, std::unordered_set<size_t>& seen,
                         std::vector<size_t>& values) {
      if (name.empty()) return;
      const size_t value = ValueOf(name);
      if (seen.insert(value).second) values.push_back(value);
    };
    for (const std::string& name : node.input()) add(name, read, op.inputs);
    EachGraphOf(node, [&](const pb::GraphProto& inner) {
      EachCaptured(inner, {}, [&](const std::string& name) { add(name, read, op.inputs); });
    });
    for (const std::string& name : node.output()) add(name, written, op.outputs);
  }

  NativeFlow flow_;
  NameMap<size_t> index_;
};

// What the nodes of a model use.
struct Uses {
  Names values;                     // of the main graph
  std::set<FunctionKey> functions;  // with those that functions use
};

class UseCollector {
 public:
  explicit UseCollector(const pb::ModelProto& model) : model_(model) {
    for (const pb::FunctionProto& f : model.functions())
      functions_.emplace(FunctionKey{NormalDomain(f.domain()), f.name(), f.overload()}, &f);
  }

  Uses Run() {
    for (const pb::NodeProto& node : model_.graph().node()) {
      uses_.values.insert(node.input().begin(), node.input().end());
      uses_.values.insert(node.output().begin(), node.output().end());
      EachGraphOf(node, [&](const pb::GraphProto& inner) {
        EachCaptured(inner, {}, [&](const std::string& name) { uses_.values.insert(name); });
      });
      AddFunctions(node);
    }
    for (const auto& info : model_.graph().input()) uses_.values.insert(info.name());
    for (const auto& info : model_.graph().output()) uses_.values.insert(info.name());
    for (const auto& annotation : model_.graph().quantization_annotation())
      if (uses_.values.contains(annotation.tensor_name()))
        for (const auto& entry : annotation.quant_parameter_tensor_names())
          uses_.values.insert(entry.value());
    return std::move(uses_);
  }

 private:
  void AddFunctions(const pb::NodeProto& node) {
    const auto it = functions_.find({NormalDomain(node.domain()), node.op_type(), node.overload()});
    if (it != functions_.end() && uses_.functions.insert(it->first).second)
      for (const pb::NodeProto& inner : it->second->node()) AddFunctions(inner);
    EachGraphOf(node, [&](const pb::GraphProto& graph) {
      for (const pb::NodeProto& inner : graph.node()) AddFunctions(inner);
    });
  }

  const pb::ModelProto& model_;
  std::map<FunctionKey, const pb::FunctionProto*> functions_;
  Uses uses_;
};

// Removes the elements for which `is_dropped` holds; the others keep their order.
template <typename List, typename Fn>
void Drop(List* list, const Fn& is_dropped) {
  int kept = 0;
  for (int i = 0; i < list->size(); ++i)
    if (!is_dropped(list->Get(i))) list->SwapElements(kept++, i);
  list->DeleteSubrange(kept, list->size() - kept);
}

// Puts each node after those whose results it needs, in subgraphs as well. A cycle stays.
void SortNodes(Nodes& nodes) {
  for (pb::NodeProto& node : nodes)
    EachGraphOf(node, [](pb::GraphProto& g) { SortNodes(*g.mutable_node()); });
  const auto order = SortedOrder(nodes);
  if (!order || std::ranges::is_sorted(*order)) return;
  Nodes sorted;
  sorted.Reserve(nodes.size());
  for (const int i : *order) sorted.Add()->Swap(nodes.Mutable(i));
  nodes.Swap(&sorted);
}

class Editor {
 public:
  Editor(const Model& source, NativeFlow flow, const NativeEdit& edit)
      : source_(source), flow_(std::move(flow)), edit_(edit), out_(std::make_unique<Model>()) {}

  Result<std::unique_ptr<NativeModel>> Run() {
    out_->proto = source_.proto;
    out_->payloads = source_.payloads;
    out_->file = source_.file;
    out_->directory = source_.directory;
    out_->files = source_.files;
    const bool drops = std::ranges::find(edit_.keeps, false) != edit_.keeps.end();
    if ((drops || !KeepsPorts()) && source_.proto.training_info_size() != 0)
      return UnsupportedError(
          "the model has training information (training_info), which refers to its operators, "
          "inputs and outputs; only names, metadata and documentation can be edited");
    NN_RETURN_IF_ERROR(
        SetPorts(edit_.inputs, source_.proto.graph().input(), graph().mutable_input()));
    NN_RETURN_IF_ERROR(
        SetPorts(edit_.outputs, source_.proto.graph().output(), graph().mutable_output()));
    if (drops) DropNodes();
    KeepDefaults();
    DropUnused();
    NN_RETURN_IF_ERROR(Rename());
    for (const auto& [key, value] : edit_.metadata) NN_RETURN_IF_ERROR(SetMetadata(key, value));
    if (edit_.strip.any()) StripModel(edit_.strip, out_->proto);
    SortNodes(*graph().mutable_node());
    for (auto& f : *out_->proto.mutable_functions()) SortNodes(*f.mutable_node());
    return std::unique_ptr<NativeModel>(std::move(out_));
  }

 private:
  pb::GraphProto& graph() { return *out_->proto.mutable_graph(); }
  const std::string& NameOf(size_t value) const { return flow_.values[value].name; }

  bool KeepsPorts() const {
    const auto are_same = [](const std::vector<NativeEdit::Port>& ports,
                             const std::vector<size_t>& before) {
      return std::ranges::equal(ports, before, {}, &NativeEdit::Port::value);
    };
    return are_same(edit_.inputs, flow_.inputs) && are_same(edit_.outputs, flow_.outputs);
  }

  // The declaration of a value: that of the same list, or another one. The type of the edit
  // replaces one that the file omits, that has no shape, or that contradicts it.
  Status SetPorts(const std::vector<NativeEdit::Port>& ports,
                  const google::protobuf::RepeatedPtrField<pb::ValueInfoProto>& before,
                  google::protobuf::RepeatedPtrField<pb::ValueInfoProto>* out) {
    std::unordered_map<std::string_view, const pb::ValueInfoProto*> declared;
    const pb::GraphProto& graph = source_.proto.graph();
    for (const auto* list : {&before, &graph.value_info(), &graph.input(), &graph.output()})
      for (const auto& info : *list) declared.emplace(info.name(), &info);
    // They keep what the file says of them, which may be no type.
    Names old_ports;
    for (const auto& info : before) old_ports.insert(info.name());
    out->Clear();
    for (const NativeEdit::Port& port : ports) {
      pb::ValueInfoProto& info = *out->Add();
      const auto it = declared.find(NameOf(port.value));
      if (it != declared.end()) info = *it->second;
      info.set_name(NameOf(port.value));
      if (old_ports.contains(info.name()) || States(info.type(), port.type)) continue;
      if (IsComplete(port.type))
        ReplaceType(port.type, info);
      else if (info.type().value_case() == pb::TypeProto::VALUE_NOT_SET)
        return UnsupportedError(
            "the type of {} is unknown, and a graph must state those of its inputs and outputs",
            Quote(NameOf(port.value)));
    }
    return {};
  }

  void DropNodes() {
    size_t i = 0;
    Drop(graph().mutable_node(), [&](const pb::NodeProto&) { return !edit_.keeps[i++]; });
  }

  // Inputs with a default are constants of the flow.
  void KeepDefaults() {
    std::unordered_set<std::string_view> ports;
    for (const size_t value : flow_.inputs) ports.insert(NameOf(value));
    for (const NativeEdit::Port& port : edit_.inputs) ports.insert(NameOf(port.value));
    for (const auto& info : source_.proto.graph().input())
      if (!ports.contains(info.name())) *graph().add_input() = info;
  }

  // Drops what the source uses and the model does not. An input that was the result of an operator
  // or a constant has no definition any more.
  void DropUnused() {
    // The default inputs of the model count as used, until their initializers are dropped.
    const Uses before = UseCollector(source_.proto).Run();
    Names ports;
    for (const NativeEdit::Port& port : edit_.inputs) ports.insert(NameOf(port.value));
    Names defaults;
    for (const auto& info : source_.proto.graph().input())
      if (!ports.contains(info.name())) defaults.insert(info.name());
    const Uses after = UsesWithout(defaults);
    const auto is_unused = [&](const std::string& name) {
      return ports.contains(name) || (before.values.contains(name) && !after.values.contains(name));
    };
    Drop(graph().mutable_initializer(), [&](const auto& t) { return is_unused(t.name()); });
    Drop(graph().mutable_sparse_initializer(),
         [&](const auto& t) { return is_unused(t.values().name()); });
    Drop(graph().mutable_input(),
         [&](const auto& info) { return !ports.contains(info.name()) && is_unused(info.name()); });
    Names declared = ports;
    for (const auto& info : graph().output()) declared.insert(info.name());
    Drop(graph().mutable_value_info(), [&](const auto& info) {
      return declared.contains(info.name()) || is_unused(info.name());
    });
    Drop(graph().mutable_quantization_annotation(), [&](const auto& annotation) {
      return before.values.contains(annotation.tensor_name()) &&
             !after.values.contains(annotation.tensor_name());
    });
    Drop(out_->proto.mutable_functions(), [&](const pb::FunctionProto& f) {
      const FunctionKey key{NormalDomain(f.domain()), f.name(), f.overload()};
      return before.functions.contains(key) && !after.functions.contains(key);
    });
  }

  // The uses in the edited model, not counting the declarations of inputs with a default.
  Uses UsesWithout(const Names& defaults) {
    pb::GraphProto& g = graph();
    google::protobuf::RepeatedPtrField<pb::ValueInfoProto> inputs = g.input();
    Drop(g.mutable_input(), [&](const auto& info) { return defaults.contains(info.name()); });
    Uses uses = UseCollector(out_->proto).Run();
    g.mutable_input()->Swap(&inputs);
    return uses;
  }

  Status Rename() {
    NewNameMap names;
    for (const auto& [value, name] : edit_.names) names.emplace(NameOf(value), name);
    return RenameValues(out_->proto, std::move(names));
  }

  Status SetMetadata(const std::string& key, const std::string& value) {
    pb::ModelProto& m = out_->proto;
    if (key == "training_info")
      return UnsupportedError("{} is no text that can be set", Quote(key));
    if (key == "domain")
      return SetText(
          value, [&] { return m.mutable_domain(); }, [&] { m.clear_domain(); });
    if (key == "doc_string")
      return SetText(
          value, [&] { return m.mutable_doc_string(); }, [&] { m.clear_doc_string(); });
    if (key == "graph.doc_string")
      return SetText(
          value, [&] { return graph().mutable_doc_string(); }, [&] { graph().clear_doc_string(); });
    if (key == "model_version") {
      int64_t number = 0;
      const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
      if (value.empty())
        m.clear_model_version();
      else if (error != std::errc() || end != value.data() + value.size())
        return UsageError("model_version must be an integer, not {}", Quote(value));
      else
        m.set_model_version(number);
      return {};
    }
    auto* const entries = m.mutable_metadata_props();
    const auto it = std::ranges::find_if(*entries, [&](const auto& e) { return e.key() == key; });
    if (value.empty()) {
      Drop(entries, [&](const auto& e) { return e.key() == key; });
    } else if (it != entries->end()) {
      it->set_value(value);
    } else {
      auto* const entry = entries->Add();
      entry->set_key(key);
      entry->set_value(value);
    }
    return {};
  }

  template <typename Get, typename Clear>
  static Status SetText(const std::string& value, const Get& get, const Clear& clear) {
    if (value.empty())
      clear();
    else
      *get() = value;
    return {};
  }

  const Model& source_;
  const NativeFlow flow_;
  const NativeEdit& edit_;
  std::unique_ptr<Model> out_;
};

}  // namespace

Result<NativeFlow> OnnxEditor::FlowOf(const NativeModel& model) const {
  return FlowBuilder().Run(ModelOf(model));
}

Result<std::unique_ptr<NativeModel>> OnnxEditor::Apply(const NativeModel& model,
                                                       const NativeEdit& edit) const {
  NN_ASSIGN(NativeFlow flow, FlowOf(model));
  return Editor(ModelOf(model), std::move(flow), edit).Run();
}

}  // namespace nn::onnx
