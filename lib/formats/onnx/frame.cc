#include "formats/onnx/frame.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "formats/onnx/declared_sizes.h"
#include "formats/onnx/native.h"
#include "formats/onnx/tensor.h"

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

// Keeps the declarations of ports; returns whether all are unchanged.
bool KeepDeclarations(const Infos& declared, const std::vector<Port>& ports, bool as_declared,
                      const std::set<std::string>& symbols, Infos& out) {
  bool all = true;
  for (size_t i = 0; i < ports.size(); ++i) {
    const pb::ValueInfoProto* const info = FindInfo(declared, ports[i].name);
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
      if (written.has_type()) OpenNegativeSizes(*written.mutable_type());
      continue;
    }
    all = false;
    written.set_doc_string(info->doc_string());
    *written.mutable_metadata_props() = info->metadata_props();
  }
  return all;
}

}  // namespace

Result<ModelFrame> FrameOf(const NativeModel& native) {
  const pb::ModelProto& m = static_cast<const Model&>(native).proto;
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
  *out.mutable_metadata_props() = m.metadata_props();
  pb::GraphProto& graph = *out.mutable_graph();
  graph.set_doc_string(m.graph().doc_string());
  *graph.mutable_input() = m.graph().input();
  *graph.mutable_output() = m.graph().output();
  *graph.mutable_metadata_props() = m.graph().metadata_props();
  const int64_t opset = OpsetVersion(m, "");
  return ModelFrame{std::move(frame), opset};
}

void ApplyFrame(const NativeModel& native, const Graph& graph, pb::ModelProto& out) {
  const pb::ModelProto& frame = static_cast<const Model&>(native).proto;
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
}

}  // namespace nn::onnx
