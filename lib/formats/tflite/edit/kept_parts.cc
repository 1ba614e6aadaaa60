#include "formats/tflite/edit/kept_parts.h"

#include <algorithm>

#include "formats/common/flatbuffers/fb_copy.h"
#include "formats/tflite/file/options.h"

namespace nn::tflite {
namespace {

class PartMarker {
 public:
  PartMarker(const Model& model, const NativeEdit& edit)
      : model_(model), root_(*model.root), main_(*At(root_.subgraphs(), 0)), edit_(edit) {
    const auto list = [&](std::string_view name, int64_t size) {
      parts_.lists[name].assign(static_cast<size_t>(size), kDropped);
    };
    list("subgraphs", SizeOf(root_.subgraphs()));
    list("operator_codes", SizeOf(root_.operator_codes()));
    list("buffers", SizeOf(root_.buffers()));
    list("external_buffer_groups", SizeOf(root_.external_buffer_groups()));
    for (int64_t g = 0; g < SizeOf(root_.subgraphs()); ++g)
      parts_.tensors.emplace_back(SizeOf(At(root_.subgraphs(), g)->tensors()), kDropped);
    parts_.external_buffers.resize(static_cast<size_t>(SizeOf(root_.external_buffers())));
    is_new_input_ = NewPorts(main_, edit.inputs, main_.inputs());
  }

  Result<KeptParts> Run() {
    bool drops_operators = false;
    if (SizeOf(root_.buffers()) > 0) NN_RETURN_IF_ERROR(Mark("buffers", 0));
    parts_.lists["subgraphs"][0] = 0;
    for (int64_t i = 0; i < SizeOf(main_.operators()); ++i) {
      if (edit_.keeps[static_cast<size_t>(i)])
        NN_RETURN_IF_ERROR(Visit(*At(main_.operators(), i), "Operator"));
      else
        drops_operators = true;
    }
    for (const auto* ports : {&edit_.inputs, &edit_.outputs})
      for (const auto& port : *ports)
        NN_RETURN_IF_ERROR(Mark("tensors", static_cast<int64_t>(port.value)));
    NN_RETURN_IF_ERROR(MarkSignatures());
    NN_RETURN_IF_ERROR(VisitTensors());
    while (!pending_.empty()) {
      subgraph_ = pending_.back();
      pending_.pop_back();
      const auto g = static_cast<size_t>(subgraph_);
      std::ranges::fill(parts_.tensors[g], 0);
      NN_RETURN_IF_ERROR(Visit(*At(root_.subgraphs(), subgraph_), "SubGraph"));
    }
    drops_operators |= std::ranges::count(parts_.lists["subgraphs"], kDropped) > 0;
    NN_ASSIGN(parts_.metadata, EditMetadata(model_, edit_, drops_operators));
    for (int64_t i = 0; i < SizeOf(root_.metadata()); ++i)
      if (parts_.metadata.keeps[static_cast<size_t>(i)])
        NN_RETURN_IF_ERROR(Visit(*At(root_.metadata(), i), "Metadata"));
    if (!edit_.strip.metadata)
      for (const int64_t i : ListOf<int64_t>(root_.metadata_buffer()))
        if (i >= 0) NN_RETURN_IF_ERROR(Mark("buffers", i));
    for (auto& [name, list] : parts_.lists) Number(list);
    for (NewIndices& list : parts_.tensors) Number(list);
    return std::move(parts_);
  }

 private:
  static void Number(NewIndices& list) {
    int64_t next = 0;
    for (int64_t& index : list)
      if (index != kDropped) index = next++;
  }

  template <typename T>
  Status Visit(const T& table, std::string_view type) {
    return ForEachReference(reinterpret_cast<const flatbuffers::Table&>(table),
                            FbTypeOf(type, Schema()), Schema(),
                            [&](std::string_view list, int64_t index) -> Status {
                              return index < 0 ? Status() : Mark(list, index);
                            });
  }

  // Subgraphs other than the main one that applications may run.
  Status MarkSignatures() {
    const auto is_port = [&](int64_t tensor, const flatbuffers::Vector<int32_t>* ports) {
      return std::ranges::count(ListOf<int64_t>(ports), tensor) > 0;
    };
    for (int64_t i = 0; i < SizeOf(root_.signature_defs()); ++i) {
      const fb::SignatureDef& s = *At(root_.signature_defs(), i);
      if (!KeepsSignature(edit_, s)) continue;
      NN_RETURN_IF_ERROR(Mark("subgraphs", s.subgraph_index()));
      if (s.subgraph_index() != 0) continue;
      for (const auto& [names, ports] :
           {std::pair(s.inputs(), main_.inputs()), std::pair(s.outputs(), main_.outputs())})
        for (int64_t k = 0; k < SizeOf(names); ++k)
          if (const int64_t tensor = At(names, k)->tensor_index(); !is_port(tensor, ports))
            NN_RETURN_IF_ERROR(Mark("tensors", tensor));
    }
    return {};
  }

  Status Mark(std::string_view list, int64_t index) {
    if (list == "external_buffer_ids") return MarkExternal(index);
    const bool is_tensor = list == "tensors";
    NewIndices& indices =
        is_tensor ? parts_.tensors[static_cast<size_t>(subgraph_)] : parts_.lists[list];
    if (index >= std::ssize(indices))
      return ModelError("the model refers to element {} of {}; there are {}", index, list,
                        indices.size());
    int64_t& mark = indices[static_cast<size_t>(index)];
    if (mark != kDropped) return {};
    mark = 0;
    if (list == "subgraphs") pending_.push_back(index);
    if (is_tensor) tensors_.push_back(index);  // of the main subgraph
    return {};
  }

  // What the tensors of the main subgraph refer to.
  Status VisitTensors() {
    while (!tensors_.empty()) {
      const int64_t index = tensors_.back();
      tensors_.pop_back();
      NN_RETURN_IF_ERROR(ForEachReference(
          reinterpret_cast<const flatbuffers::Table&>(*At(main_.tensors(), index)),
          FbTypeOf("Tensor", Schema()), Schema(), [&](std::string_view list, int64_t i) -> Status {
            // An input has no contents.
            if (i < 0 || (list != "tensors" && is_new_input_[static_cast<size_t>(index)]))
              return {};
            return Mark(list, i);
          }));
    }
    return {};
  }

  Status MarkExternal(int64_t id) {
    for (int64_t i = 0; id != 0 && i < SizeOf(root_.external_buffers()); ++i) {
      const auto mark = parts_.external_buffers.begin() + i;
      if (At(root_.external_buffers(), i)->id() != id || *mark) continue;
      *mark = true;
      NN_RETURN_IF_ERROR(Visit(*At(root_.external_buffers(), i), "ExternalBuffer"));
    }
    return {};
  }

  const Model& model_;
  const fb::Model& root_;
  const fb::SubGraph& main_;
  const NativeEdit& edit_;
  KeptParts parts_;
  std::vector<bool> is_new_input_;
  std::vector<int64_t> tensors_, pending_;  // tensors and subgraphs that are not visited yet
  int64_t subgraph_ = 0;                    // that references to tensors belong to
};

}  // namespace

int64_t CountOf(const NewIndices& list) {
  return std::ranges::count_if(list, [](int64_t index) { return index != kDropped; });
}

int64_t KeptParts::CountOf(std::string_view list) const {
  return tflite::CountOf(lists.at(list));
}

std::vector<bool> NewPorts(const fb::SubGraph& main, const std::vector<NativeEdit::Port>& ports,
                           const flatbuffers::Vector<int32_t>* present) {
  std::vector<bool> is_new(static_cast<size_t>(SizeOf(main.tensors())));
  for (const auto& port : ports) is_new[port.value] = true;
  for (const int64_t i : ListOf<int64_t>(present))
    if (i >= 0 && i < std::ssize(is_new)) is_new[static_cast<size_t>(i)] = false;
  return is_new;
}

Result<KeptParts> FindKeptParts(const Model& model, const NativeEdit& edit) {
  return PartMarker(model, edit).Run();
}

}  // namespace nn::tflite
