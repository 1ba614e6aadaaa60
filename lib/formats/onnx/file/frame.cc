#include "formats/onnx/file/frame.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "formats/onnx/edit/subgraphs.h"
#include "formats/onnx/file/metadata.h"
#include "formats/onnx/file/native.h"
#include "formats/onnx/file/tensor.h"
#include "formats/onnx/import/declared_sizes.h"
#include "formats/onnx/roles.h"

namespace nn::onnx {
namespace {

// Initializers need not be inputs from this IR version on.
constexpr int64_t kOldestIrVersion = 4;

using Infos = google::protobuf::RepeatedPtrField<pb::ValueInfoProto>;

const pb::ValueInfoProto* FindInfo(const Infos& infos, std::string_view name) {
  const auto it =
      std::ranges::find_if(infos, [&](const pb::ValueInfoProto& i) { return i.name() == name; });
  return it == infos.end() ? nullptr : &*it;
}

// The declaration of a port: the one of its name; for a renamed one, that of its position, if there
// are as many ports as declarations.
const pb::ValueInfoProto* DeclarationOf(const Infos& declared, const std::vector<Port>& ports,
                                        size_t i) {
  if (const auto* const info = FindInfo(declared, ports[i].name)) return info;
  if (ports.size() != static_cast<size_t>(declared.size())) return nullptr;
  const pb::ValueInfoProto& info = declared[static_cast<int>(i)];
  const bool is_others =
      std::ranges::any_of(ports, [&](const Port& p) { return p.name == info.name(); });
  return is_others ? nullptr : &info;
}

// Removes negative sizes, which files have for unknown ones.
void OpenNegativeSizes(pb::TypeProto& type) {
  if (type.has_sequence_type())
    OpenNegativeSizes(*type.mutable_sequence_type()->mutable_elem_type());
  if (type.has_optional_type())
    OpenNegativeSizes(*type.mutable_optional_type()->mutable_elem_type());
  if (!type.tensor_type().has_shape()) return;
  for (auto& dim : *type.mutable_tensor_type()->mutable_shape()->mutable_dim())
    if (dim.dim_value() < 0) dim.clear_dim_value();
}

// Whether the declared sizes do not contradict the type, nor replace sizes that it derives.
bool IsTrueOf(const Type& declared, const Type& type, const std::set<std::string>& symbols) {
  return Compatible(declared, type) &&
         Refine(type, declared).dims == Complete(type, declared, symbols).dims;
}

// What a message says to readers.
template <typename T>
bool HasNotes(const T& message) {
  return !message.doc_string().empty() || message.metadata_props_size() != 0;
}

template <typename T>
void CopyNotes(const T& from, T& to) {
  if (!from.doc_string().empty()) to.set_doc_string(from.doc_string());
  *to.mutable_metadata_props() = LastEntries(from.metadata_props());
}

// Adds the notes on operators, constants and values, with what finds them in a written graph.
void AddNotes(const pb::GraphProto& graph, pb::GraphProto& out) {
  for (const pb::NodeProto& node : graph.node()) {
    if (!HasNotes(node)) continue;
    pb::NodeProto& noted = *out.add_node();
    noted.set_name(node.name());
    if (node.output_size() != 0) noted.add_output(node.output(0));
    CopyNotes(node, noted);
  }
  const auto add = [](const auto& list, const auto& added) {
    for (const auto& message : list) {
      if (!HasNotes(message)) continue;
      auto& noted = *added();
      noted.set_name(message.name());
      CopyNotes(message, noted);
    }
  };
  add(graph.initializer(), [&] { return out.add_initializer(); });
  add(graph.value_info(), [&] { return out.add_value_info(); });
  for (const pb::NodeProto& node : graph.node())
    EachGraphOf(node, [&](const pb::GraphProto& g) { AddNotes(g, out); });
}

// Messages by a name that only one of them has.
template <typename T>
class UniquelyNamed {
 public:
  void Add(const std::string& name, const T& message) {
    if (name.empty()) return;
    const auto [it, is_new] = by_name_.try_emplace(name, &message);
    if (!is_new) it->second = nullptr;
  }
  // Null if there is none.
  const T* Find(const std::string& name) const {
    const auto it = by_name_.find(name);
    return it == by_name_.end() ? nullptr : it->second;
  }

 private:
  std::map<std::string, const T*> by_name_;
};

// Puts notes on the operators that compute the same values, or have the same names; on constants
// and values of the same names.
class Notes {
 public:
  explicit Notes(const pb::GraphProto& frame) {
    for (const pb::NodeProto& node : frame.node()) {
      if (node.output_size() != 0) by_output_.Add(node.output(0), node);
      by_name_.Add(node.name(), node);
    }
    for (const auto& tensor : frame.initializer()) tensors_.Add(tensor.name(), tensor);
    for (const auto& value : frame.value_info()) values_.Add(value.name(), value);
  }

  void Apply(pb::GraphProto& graph) {
    for (pb::NodeProto& node : *graph.mutable_node()) {
      const pb::NodeProto* noted = nullptr;
      for (int i = 0; i < node.output_size() && noted == nullptr; ++i)
        noted = by_output_.Find(node.output(i));
      if (noted == nullptr) noted = by_name_.Find(node.name());
      if (noted != nullptr && used_.insert(noted).second) CopyNotes(*noted, node);
    }
    for (auto& tensor : *graph.mutable_initializer())
      if (const auto* noted = tensors_.Find(tensor.name())) CopyNotes(*noted, tensor);
    for (auto& value : *graph.mutable_value_info())
      if (const auto* noted = values_.Find(value.name())) CopyNotes(*noted, value);
    for (pb::NodeProto& node : *graph.mutable_node())
      EachGraphOf(node, [&](pb::GraphProto& g) { Apply(g); });
  }

 private:
  UniquelyNamed<pb::NodeProto> by_output_, by_name_;
  UniquelyNamed<pb::TensorProto> tensors_;
  UniquelyNamed<pb::ValueInfoProto> values_;
  std::set<const pb::NodeProto*> used_;
};

// Keeps the declarations of ports; returns whether all are unchanged.
bool KeepDeclarations(const Infos& declared, const std::vector<Port>& ports, bool as_declared,
                      const std::set<std::string>& symbols, Infos& out) {
  bool all = true;
  for (size_t i = 0; i < ports.size(); ++i) {
    const pb::ValueInfoProto* const info = DeclarationOf(declared, ports, i);
    pb::ValueInfoProto& written = *out.Mutable(static_cast<int>(i));
    if (info == nullptr) {
      all = false;
      continue;
    }
    const Type& type = ports[i].value->type();
    const Type before = ReadType(info->type(), info->name());
    // A shape that the file does not state is added.
    const bool has_shape = before.ranked() || !type.ranked();
    if (before == type || (as_declared && has_shape && before.dtype == type.dtype &&
                           IsTrueOf(before, type, symbols))) {
      written = *info;
      written.set_name(ports[i].name);
      *written.mutable_metadata_props() = LastEntries(info->metadata_props());
      if (written.has_type()) OpenNegativeSizes(*written.mutable_type());
      continue;
    }
    all = false;
    CopyNotes(*info, written);
  }
  return all;
}

}  // namespace

Result<ModelFrame> OnnxWriter::FrameOf(const NativeModel& native) const {
  const pb::ModelProto& m = ModelOf(native).proto;
  if (m.training_info_size() != 0)
    return UnsupportedError("training information (training_info) cannot be kept");
  auto frame = std::make_shared<Model>();
  pb::ModelProto& out = frame->proto;
  out.set_ir_version(m.ir_version());
  *out.mutable_opset_import() = m.opset_import();
  out.set_producer_name(m.producer_name());
  out.set_producer_version(m.producer_version());
  out.set_domain(m.domain());
  if (m.has_model_version()) out.set_model_version(m.model_version());
  out.set_doc_string(m.doc_string());
  *out.mutable_metadata_props() = LastEntries(m.metadata_props());
  pb::GraphProto& graph = *out.mutable_graph();
  graph.set_doc_string(m.graph().doc_string());
  *graph.mutable_input() = m.graph().input();
  *graph.mutable_output() = m.graph().output();
  *graph.mutable_metadata_props() = LastEntries(m.graph().metadata_props());
  AddNotes(m.graph(), graph);
  const int64_t opset = OpsetVersion(m, "");
  return ModelFrame{std::move(frame), opset};
}

void WriteTexts(const Graph& graph, pb::ModelProto& out) {
  // Prefixes of entries in Graph::metadata, and those that describe the interface of a format.
  constexpr std::string_view kPrefixes[] = {"onnx.", "coreml."};
  constexpr std::string_view kOfInterfaces[] = {"coreml.image.", "coreml.description.",
                                                "coreml.class_"};
  constexpr std::string_view kEntries[] = {"author", "license", "version"};
  const auto add = [&](const std::string& key, const std::string& value) {
    auto& entry = *out.add_metadata_props();
    entry.set_key(key);
    entry.set_value(value);
  };
  for (const auto& [key, value] : graph.metadata) {
    const auto begins = [&k = key](std::string_view prefix) { return k.starts_with(prefix); };
    if (key == "doc_string" || key == "description") out.set_doc_string(value);
    if (std::ranges::count(kEntries, key) != 0) add(key, value);
    const auto prefix = std::ranges::find_if(kPrefixes, begins);
    if (prefix != std::end(kPrefixes) && std::ranges::none_of(kOfInterfaces, begins))
      add(key.substr(prefix->size()), value);
  }
}

void ApplyFrame(const NativeModel& native, const Graph& graph, pb::ModelProto& out) {
  const pb::ModelProto& frame = ModelOf(native).proto;
  if (OpsetVersion(frame, "") == OpsetVersion(out, ""))
    out.set_ir_version(std::max(frame.ir_version(), kOldestIrVersion));
  out.set_producer_name(frame.producer_name());
  out.set_producer_version(frame.producer_version());
  if (!frame.domain().empty()) out.set_domain(frame.domain());
  if (frame.has_model_version()) out.set_model_version(frame.model_version());
  if (!frame.doc_string().empty()) out.set_doc_string(frame.doc_string());
  *out.mutable_metadata_props() = frame.metadata_props();
  pb::GraphProto& g = *out.mutable_graph();
  if (!frame.graph().doc_string().empty()) g.set_doc_string(frame.graph().doc_string());
  *g.mutable_metadata_props() = frame.graph().metadata_props();
  const std::set<std::string> symbols = InputSymbols(graph);
  const bool same =
      KeepDeclarations(frame.graph().input(), graph.inputs(), false, symbols, *g.mutable_input());
  KeepDeclarations(frame.graph().output(), graph.outputs(), same, symbols, *g.mutable_output());
  Notes(frame.graph()).Apply(g);
}

}  // namespace nn::onnx
