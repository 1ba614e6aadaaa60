// TensorEditor::Apply.
//
// The flatbuffer is built again through its schema, which says what is an index: the
// tables of what remains, with large data as views after them. To patch the file in place, as
// rename.cc does, would keep fields that the schema does not know, but also the weights of all that
// is dropped.
#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "base/checked_math.h"
#include "base/text/text.h"
#include "formats/common/edit/rename.h"
#include "formats/common/flatbuffers/fb_copy.h"
#include "formats/common/flatbuffers/fb_outside.h"
#include "formats/tflite/edit/edit_data.h"
#include "formats/tflite/edit/kept_parts.h"
#include "formats/tflite/file/native.h"
#include "formats/tflite/file/options.h"
#include "formats/tflite/file/tensor.h"
#include "formats/tflite/roles.h"

namespace nn::tflite {
namespace {

using flatbuffers::Offset;
using flatbuffers::voffset_t;
template <typename T>
using List = flatbuffers::Vector<Offset<T>>;

class TensorEditor : private FbCopier {
 public:
  TensorEditor(const Model& model, const NativeEdit& edit, KeptParts parts, PortNames names)
      : FbCopier(model.flatbuffer, Schema()),
        model_(model),
        root_(*model.root),
        main_(*At(root_.subgraphs(), 0)),
        edit_(edit),
        parts_(std::move(parts)),
        present_(std::move(names)),
        is_new_input_(NewPorts(main_, edit.inputs, main_.inputs())),
        is_new_output_(NewPorts(main_, edit.outputs, main_.outputs())) {
    for (const NativeEdit::Port& port : edit.inputs) inputs_.emplace(port.value, &port);
  }

  Result<std::unique_ptr<NativeModel>> Run(const NativeFlow& flow) {
    NN_RETURN_IF_ERROR(NamePorts(flow));
    NN_ASSIGN(const Offset<fb::Model> root, Copy(root_, "Model"));
    builder().Finish(root, fb::ModelIdentifier());
    NN_ASSIGN(auto parts,
              data_.Place(model_.flatbuffer, builder().Release(), !edit_.strip.metadata));
    NN_ASSIGN(StableFlatbuffer flatbuffer, StableFlatbuffer::Join(std::move(parts)));
    ReadLimits limits;
    limits.max_items = std::numeric_limits<decltype(limits.max_items)>::max();
    limits.max_depth = std::numeric_limits<decltype(limits.max_depth)>::max();
    NN_ASSIGN(auto edited, Verified(std::move(flatbuffer), model_.files, limits));
    return std::unique_ptr<NativeModel>(std::move(edited));
  }

 private:
  // ---- Names ------------------------------------------------------------------------------------

  // The tensors to name: what is renamed, and ports whose name would change because it depends on
  // their index or on other ports.
  Status NamePorts(const NativeFlow& flow) {
    for (const auto& [value, name] : edit_.names) names_[value] = name;
    const auto add = [&](const std::vector<NativeEdit::Port>& ports,
                         const flatbuffers::Vector<int32_t>* present,
                         const std::vector<std::string>& present_names) -> Status {
      std::map<size_t, std::string> expected;
      const auto indices = ListOf<int64_t>(present);
      for (size_t i = 0; i < indices.size(); ++i)
        expected.try_emplace(static_cast<size_t>(indices[i]), present_names[i]);
      std::set<std::string> used;
      for (const auto& port : ports) {
        const fb::Tensor& tensor = *At(main_.tensors(), static_cast<int64_t>(port.value));
        if (tensor.type() == fb::TensorType::RESOURCE || tensor.type() == fb::TensorType::VARIANT)
          if (!expected.contains(port.value))
            return UnsupportedError("{} is a {}, which cannot be an input or output",
                                    Quote(flow.values[port.value].name),
                                    TensorTypeName(tensor.type()));
        is_port_.insert(port.value);
        const auto it = expected.find(port.value);
        const std::string& wanted =
            it == expected.end() ? flow.values[port.value].name : it->second;
        if (names_.contains(port.value)) continue;
        if (PortName(tensor, parts_.tensors[0][port.value], used) != wanted)
          names_[port.value] = wanted;
      }
      return {};
    };
    NN_RETURN_IF_ERROR(add(edit_.inputs, main_.inputs(), present_.inputs));
    return add(edit_.outputs, main_.outputs(), present_.outputs);
  }

  std::string NameOf(int64_t tensor) const {
    const auto it = names_.find(static_cast<size_t>(tensor));
    return it != names_.end() ? it->second : NameOfTensor(*At(main_.tensors(), tensor), tensor);
  }

  // ---- FbCopier ---------------------------------------------------------------------------------

  Status Change(const flatbuffers::Table& table, std::string_view type, Changes& changes) override {
    const auto call = [&](auto method, const auto& t) { return (this->*method)(t, changes); };
    if (type == "Model") return call(&TensorEditor::ChangeModel, root_);
    if (type == "SubGraph")
      return call(&TensorEditor::ChangeSubgraph, reinterpret_cast<const fb::SubGraph&>(table));
    if (type == "Operator")
      return call(&TensorEditor::ChangeOperator, reinterpret_cast<const fb::Operator&>(table));
    if (type == "Buffer")
      return call(&TensorEditor::ChangeBuffer, reinterpret_cast<const fb::Buffer&>(table));
    return {};
  }

  Result<int64_t> Renumbered(std::string_view list, int64_t index) override {
    if (list == "external_buffer_ids") return index;
    const NewIndices& indices =
        list == "tensors" ? parts_.tensors[static_cast<size_t>(subgraph_)] : parts_.lists.at(list);
    if (index >= std::ssize(indices) || indices[static_cast<size_t>(index)] == kDropped)
      return ModelError("the model refers to element {} of {}; there are {}", index, list,
                        indices.size());
    return indices[static_cast<size_t>(index)];
  }

  void Copied(const flatbuffers::Table& table, std::string_view type,
              flatbuffers::uoffset_t position) override {
    if (const auto it = inside_.find(&table); it != inside_.end())
      data_.AddInside(position, it->second);
    const voffset_t offset = fb::Buffer::VT_OFFSET,
                    options = fb::Operator::VT_LARGE_CUSTOM_OPTIONS_OFFSET;
    if (const auto it = outside_.find(&table); it != outside_.end())
      data_.AddOutside(position, type == "Buffer" ? offset : options, it->second);
  }

  // Copies the elements for which keeps(index) holds. `added` follow them.
  template <typename T, typename Keeps>
  Status SetList(voffset_t field, const List<T>* list, std::string_view type, const Keeps& keeps,
                 Changes& changes, std::vector<Offset<T>> added = {}) {
    std::vector<Offset<T>> out;
    for (int64_t i = 0; i < SizeOf(list); ++i) {
      if (!keeps(i)) continue;
      NN_ASSIGN(const Offset<T> copy, Copy(*At(list, i), type));
      out.push_back(copy);
    }
    out.insert(out.end(), added.begin(), added.end());
    if (list != nullptr || !out.empty()) changes.SetOffset(field, builder().CreateVector(out));
    return {};
  }

  Status ChangeModel(const fb::Model&, Changes& changes) {
    const auto in = [&](std::string_view list) {
      return [&indices = parts_.lists.at(list)](int64_t i) {
        return indices[static_cast<size_t>(i)] != kDropped;
      };
    };
    const auto flagged = [](const std::vector<bool>& flags) {
      return [&flags](int64_t i) -> bool { return flags[static_cast<size_t>(i)]; };
    };
    using M = fb::Model;
    std::vector<Offset<fb::SubGraph>> subgraphs;
    for (subgraph_ = 0; subgraph_ < SizeOf(root_.subgraphs()); ++subgraph_) {
      if (!in("subgraphs")(subgraph_)) continue;
      NN_ASSIGN(const auto copy, Copy(*At(root_.subgraphs(), subgraph_), "SubGraph"));
      subgraphs.push_back(copy);
    }
    subgraph_ = 0;
    changes.SetOffset(M::VT_SUBGRAPHS, builder().CreateVector(subgraphs));
    NN_RETURN_IF_ERROR(SetList(M::VT_OPERATOR_CODES, root_.operator_codes(), "OperatorCode",
                               in("operator_codes"), changes));
    NN_RETURN_IF_ERROR(SetSignatures(changes));
    NN_RETURN_IF_ERROR(SetList(M::VT_EXTERNAL_BUFFER_GROUPS, root_.external_buffer_groups(),
                               "ExternalBufferGroup", in("external_buffer_groups"), changes));
    NN_RETURN_IF_ERROR(SetList(M::VT_EXTERNAL_BUFFERS, root_.external_buffers(), "ExternalBuffer",
                               flagged(parts_.external_buffers), changes));
    if (edit_.strip.metadata) changes.Drop(M::VT_METADATA_BUFFER);
    if (parts_.metadata.description && parts_.metadata.description->empty())
      changes.Drop(M::VT_DESCRIPTION);
    else if (parts_.metadata.description)
      changes.SetOffset(M::VT_DESCRIPTION, builder().CreateString(*parts_.metadata.description));
    std::vector<Offset<fb::Metadata>> entries;
    std::vector<Offset<fb::Buffer>> texts;
    auto next = static_cast<uint32_t>(parts_.CountOf("buffers"));
    for (const auto& [name, text] : parts_.metadata.texts) {
      builder().ForceVectorAlignment(text.size(), 1, kInsideAlignment);
      texts.push_back(fb::CreateBuffer(
          builder(),
          builder().CreateVector(reinterpret_cast<const uint8_t*>(text.data()), text.size())));
      entries.push_back(fb::CreateMetadata(builder(), builder().CreateString(name), next++));
    }
    NN_RETURN_IF_ERROR(SetList(M::VT_METADATA, root_.metadata(), "Metadata",
                               flagged(parts_.metadata.keeps), changes, std::move(entries)));
    return SetList(M::VT_BUFFERS, root_.buffers(), "Buffer", in("buffers"), changes,
                   std::move(texts));
  }

  // ---- Subgraphs --------------------------------------------------------------------------------

  Status ChangeSubgraph(const fb::SubGraph& graph, Changes& changes) {
    using G = fb::SubGraph;
    if (edit_.strip.metadata) changes.Drop(G::VT_DEBUG_METADATA_INDEX);
    const bool is_main = subgraph_ == 0;
    // The operators first: they may need more tensors.
    NN_RETURN_IF_ERROR(SetList(
        G::VT_OPERATORS, graph.operators(), "Operator",
        [&](int64_t i) { return !is_main || edit_.keeps[static_cast<size_t>(i)]; }, changes));
    const auto keeps_name = NamedTensors(graph);
    std::vector<Offset<fb::Tensor>> tensors;
    const NewIndices& indices = parts_.tensors[static_cast<size_t>(subgraph_)];
    for (int64_t i = 0; i < SizeOf(graph.tensors()); ++i) {
      if (indices[static_cast<size_t>(i)] == kDropped) continue;
      NN_RETURN_IF_ERROR(AddTensor(graph, i, keeps_name[static_cast<size_t>(i)],
                                   is_main && is_new_input_[static_cast<size_t>(i)], tensors));
    }
    if (is_main)
      for (const int64_t i : unused_results_)
        NN_RETURN_IF_ERROR(AddTensor(graph, i, false, true, tensors));
    changes.SetOffset(G::VT_TENSORS, builder().CreateVector(tensors));
    if (!is_main) return {};
    const auto set_ports = [&](voffset_t field, const std::vector<NativeEdit::Port>& ports) {
      std::vector<int32_t> out;
      for (const auto& port : ports) out.push_back(static_cast<int32_t>(indices[port.value]));
      changes.SetOffset(field, builder().CreateVector(out));
    };
    set_ports(G::VT_INPUTS, edit_.inputs);
    set_ports(G::VT_OUTPUTS, edit_.outputs);
    return {};
  }

  // Whether the names of tensors say more than what a reader wants to know.
  std::vector<bool> NamedTensors(const fb::SubGraph& graph) const {
    std::vector<bool> named(static_cast<size_t>(SizeOf(graph.tensors())), !edit_.strip.names);
    if (subgraph_ == 0) {
      for (const size_t port : is_port_) named[port] = true;
      for (const auto& [tensor, name] : names_) named[tensor] = true;
      return named;
    }
    bool has_signature = false;
    for (int64_t i = 0; i < SizeOf(root_.signature_defs()); ++i)
      has_signature |= At(root_.signature_defs(), i)->subgraph_index() == subgraph_;
    if (has_signature)
      for (const auto* ports : {graph.inputs(), graph.outputs()})
        for (const int64_t i : ListOf<int64_t>(ports))
          if (At(graph.tensors(), i) != nullptr) named[static_cast<size_t>(i)] = true;
    return named;
  }

  Status AddTensor(const fb::SubGraph& graph, int64_t index, bool keeps_name, bool without_contents,
                   std::vector<Offset<fb::Tensor>>& out) {
    Changes changes;
    using T = fb::Tensor;
    const fb::Tensor& tensor = *At(graph.tensors(), index);
    if (without_contents) {
      if (tensor.buffer() != 0) changes.SetNumber(T::VT_BUFFER, 0);
      for (const voffset_t field : {T::VT_EXTERNAL_BUFFER, T::VT_SPARSITY, T::VT_IS_VARIABLE})
        changes.Drop(field);
    }
    const auto name = names_.find(static_cast<size_t>(index));
    if (!keeps_name)
      changes.Drop(T::VT_NAME);
    else if (subgraph_ == 0 && name != names_.end())
      changes.SetOffset(T::VT_NAME, builder().CreateString(name->second));
    if (subgraph_ == 0 && keeps_name && is_new_input_[static_cast<size_t>(index)])
      SetShape(tensor, index, changes);
    NN_ASSIGN(const Offset<fb::Tensor> copy, Copy(tensor, "Tensor", std::move(changes)));
    out.push_back(copy);
    return {};
  }

  // The shape of an input is what a run has, not what the file declares for a result.
  void SetShape(const fb::Tensor& tensor, int64_t index, Changes& changes) {
    const auto port = inputs_.find(static_cast<size_t>(index));
    if (port == inputs_.end()) return;
    const ValueType& type = port->second->type;
    if (!type.is_tensor() || !type.tensor.ranked()) return;
    const Dims& dims = *type.tensor.dims;
    std::vector<int32_t> shape, signature;
    const auto* const q = tensor.quantization();
    const auto scales = static_cast<int32_t>(q == nullptr ? 0 : SizeOf(q->scale()));
    for (const Dim& d : dims) {
      const auto size = static_cast<int32_t>(d.is_const() ? d.value() : -1);
      const bool is_scaled = scales > 1 && q->quantized_dimension() == std::ssize(shape);
      shape.push_back(size >= 0 ? size : is_scaled ? scales : 1);
      signature.push_back(size);
    }
    const bool is_known = shape == signature;
    auto declared = ListOf<int32_t>(tensor.shape_signature());
    if (declared.empty()) declared = ListOf<int32_t>(tensor.shape());
    if (declared == signature && (!declared.empty() || tensor.has_rank())) return;
    changes.SetOffset(fb::Tensor::VT_SHAPE, builder().CreateVector(shape));
    changes.SetNumber(fb::Tensor::VT_HAS_RANK, 1);
    if (is_known)
      changes.Drop(fb::Tensor::VT_SHAPE_SIGNATURE);
    else
      changes.SetOffset(fb::Tensor::VT_SHAPE_SIGNATURE, builder().CreateVector(signature));
  }

  // A result that is an input of the model now goes to a tensor that nothing reads.
  Status ChangeOperator(const fb::Operator& op, Changes& changes) {
    if (edit_.strip.metadata) changes.Drop(fb::Operator::VT_DEBUG_METADATA_INDEX);
    if (op.large_custom_options_offset() > 1) {
      NN_RETURN_IF_ERROR(CustomOptions(model_, op));  // are inside the file
      outside_[&op] = {op.large_custom_options_offset(), op.large_custom_options_size()};
    }
    if (subgraph_ != 0) return {};
    std::vector<int32_t> outputs = ListOf<int32_t>(op.outputs());
    const auto is_cut = [&](int32_t t) { return t >= 0 && is_new_input_[static_cast<size_t>(t)]; };
    if (std::ranges::none_of(outputs, is_cut)) return {};
    const int64_t count = tflite::CountOf(parts_.tensors[0]);
    for (int32_t& t : outputs) {
      if (!is_cut(t)) {
        if (t >= 0) t = static_cast<int32_t>(parts_.tensors[0][static_cast<size_t>(t)]);
        continue;
      }
      unused_results_.push_back(t);
      t = static_cast<int32_t>(count + std::ssize(unused_results_) - 1);
    }
    changes.SetOffset(fb::Operator::VT_OUTPUTS, builder().CreateVector(outputs));
    return {};
  }

  // ---- Signatures -------------------------------------------------------------------------------

  Status SetSignatures(Changes& changes) {
    std::vector<Offset<fb::SignatureDef>> out;
    for (int64_t i = 0; i < SizeOf(root_.signature_defs()); ++i) {
      const fb::SignatureDef& s = *At(root_.signature_defs(), i);
      if (!KeepsSignature(edit_, s)) continue;
      Changes signature;
      using S = fb::SignatureDef;
      subgraph_ = s.subgraph_index();
      if (subgraph_ == 0) {
        const std::string place = "signature " + Quote(Text(s.signature_key()));
        NN_ASSIGN(const auto inputs, Entries(s.inputs(), edit_.inputs, main_.inputs(),
                                             is_new_input_, place + ", inputs"));
        NN_ASSIGN(const auto outputs, Entries(s.outputs(), edit_.outputs, main_.outputs(),
                                              is_new_output_, place + ", outputs"));
        signature.SetOffset(S::VT_INPUTS, inputs);
        signature.SetOffset(S::VT_OUTPUTS, outputs);
      }
      NN_ASSIGN(const auto copy, Copy(s, "SignatureDef", std::move(signature)));
      out.push_back(copy);
    }
    subgraph_ = 0;
    if (out.empty() && SizeOf(root_.signature_defs()) > 0)
      changes.Drop(fb::Model::VT_SIGNATURE_DEFS);
    else if (root_.signature_defs() != nullptr)
      changes.SetOffset(fb::Model::VT_SIGNATURE_DEFS, builder().CreateVector(out));
    return {};
  }

  // The entries of a signature of the main subgraph: those of the source whose tensors remain ports
  // (or were none), then those of new ports.
  Result<Offset<List<fb::TensorMap>>> Entries(const List<fb::TensorMap>* present,
                                              const std::vector<NativeEdit::Port>& ports,
                                              const flatbuffers::Vector<int32_t>* present_ports,
                                              const std::vector<bool>& is_new,
                                              const std::string& place) {
    std::set<int64_t> dropped;
    for (const int64_t t : ListOf<int64_t>(present_ports)) dropped.insert(t);
    for (const auto& port : ports) dropped.erase(static_cast<int64_t>(port.value));
    std::set<std::string> used;
    std::vector<Offset<fb::TensorMap>> out;
    for (int64_t i = 0; i < SizeOf(present); ++i) {
      const fb::TensorMap& entry = *At(present, i);
      const int64_t tensor = entry.tensor_index();
      if (dropped.contains(tensor)) continue;
      std::string name(Text(entry.name()));
      Changes change;
      const auto renamed = edit_.names.find(static_cast<size_t>(tensor));
      if (renamed != edit_.names.end()) {
        name = renamed->second;
        change.SetOffset(fb::TensorMap::VT_NAME, builder().CreateString(name));
      }
      if (!used.insert(name).second && renamed != edit_.names.end())
        return NameIsTaken(name, place);
      NN_ASSIGN(const auto copy, Copy(entry, "TensorMap", std::move(change)));
      out.push_back(copy);
    }
    std::set<size_t> added;
    for (const auto& port : ports) {
      if (!is_new[port.value] || !added.insert(port.value).second) continue;
      const std::string name = NameOf(static_cast<int64_t>(port.value));
      std::string unique = name;
      for (int k = 1; !used.insert(unique).second; ++k) unique = fmt::format("{}_{}", name, k);
      const auto index = static_cast<uint32_t>(parts_.tensors[0][port.value]);
      out.push_back(fb::CreateTensorMap(builder(), builder().CreateString(unique), index));
    }
    return builder().CreateVector(out);
  }

  // ---- Data -------------------------------------------------------------------------------------

  // Large data follow the tables.
  Status ChangeBuffer(const fb::Buffer& buffer, Changes& changes) {
    if (buffer.offset() > 1) {
      if (!InRange(buffer.offset(), buffer.size(), model_.flatbuffer.size()))
        return ModelError("a buffer has {} bytes at {}, outside the file of {} bytes",
                          buffer.size(), buffer.offset(), model_.flatbuffer.size());
      outside_[&buffer] = {buffer.offset(), buffer.size()};
    }
    if (buffer.data() == nullptr || buffer.data()->size() < kMinOutsideBytes) return {};
    if (no_data_.IsNull()) no_data_ = builder().CreateVector(std::vector<uint8_t>());
    changes.SetOffset(fb::Buffer::VT_DATA, no_data_);
    inside_[&buffer] = model_.flatbuffer.View(*buffer.data());
    return {};
  }

  const Model& model_;
  const fb::Model& root_;
  const fb::SubGraph& main_;
  const NativeEdit& edit_;
  KeptParts parts_;
  PortNames present_;
  std::vector<bool> is_new_input_, is_new_output_;
  std::unordered_map<size_t, const NativeEdit::Port*> inputs_;  // by value
  std::map<size_t, std::string> names_;  // of tensors of the main subgraph that get another one
  std::set<size_t> is_port_;
  int64_t subgraph_ = 0;                 // that is copied
  std::vector<int64_t> unused_results_;  // tensors that are copied once more
  Offset<flatbuffers::Vector<uint8_t>> no_data_ = 0;
  std::map<const void*, Blob> inside_;  // by table of the source
  std::map<const void*, ByteRange> outside_;
  EditedData data_;
};

}  // namespace

Result<std::unique_ptr<NativeModel>> TfliteEditor::Apply(const NativeModel& native,
                                                         const NativeEdit& edit) const {
  const auto& model = ModelOf(native);
  NN_ASSIGN(const NativeFlow flow, FlowOf(native));
  NN_ASSIGN(PortNames names, TfliteDescriber().PortNamesOf(native));
  NN_ASSIGN(KeptParts parts, FindKeptParts(model, edit));
  return TensorEditor(model, edit, std::move(parts), std::move(names)).Run(flow);
}

}  // namespace nn::tflite
