// ModelEditor::FlowOf: values are the tensors of the main subgraph, by their indices.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "formats/common/flatbuffers/fb_copy.h"
#include "formats/common/unique_names.h"
#include "formats/tflite/file/native.h"
#include "formats/tflite/file/options.h"
#include "formats/tflite/file/tensor.h"
#include "formats/tflite/import/import.h"
#include "formats/tflite/roles.h"

namespace nn::tflite {
namespace {

class FlowReader {
 public:
  FlowReader(const Model& model, const fb::SubGraph& main) : model_(model), main_(main) {}

  Result<NativeFlow> Run() {
    const int64_t operators = SizeOf(main_.operators());
    readers_.resize(static_cast<size_t>(SizeOf(main_.tensors())));
    for (int64_t i = 0; i < operators; ++i) {
      NN_ASSIGN(NativeFlow::Operator op, Describe(*At(main_.operators(), i), i));
      for (const size_t t : op.inputs) ++readers_[t];
      flow_.operators.push_back(std::move(op));
    }
    FindEffects();
    for (int64_t i = 0; i < operators; ++i) {
      NativeFlow::Operator& op = flow_.operators[static_cast<size_t>(i)];
      op.has_effect = HasEffect(*At(main_.operators(), i)) || SharesState(op);
    }
    NN_ASSIGN(flow_.inputs, Tensors(main_.inputs(), "the subgraph"));
    NN_ASSIGN(flow_.outputs, Tensors(main_.outputs(), "the subgraph"));
    AddValues();
    return std::move(flow_);
  }

 private:
  const fb::Tensor& TensorAt(size_t i) const {
    return *At(main_.tensors(), static_cast<int64_t>(i));
  }

  Result<std::vector<size_t>> Tensors(const flatbuffers::Vector<int32_t>* list,
                                      std::string_view owner) const {
    std::vector<size_t> out;
    for (const int64_t i : ListOf<int64_t>(list)) {
      if (i == -1) continue;
      if (At(main_.tensors(), i) == nullptr)
        return ModelError("{} refers to tensor {}; the subgraph has {}", owner, i,
                          SizeOf(main_.tensors()));
      out.push_back(static_cast<size_t>(i));
    }
    return out;
  }

  Result<NativeFlow::Operator> Describe(const fb::Operator& op, int64_t index) const {
    NativeFlow::Operator out;
    out.type = OperatorName(At(model_.root->operator_codes(), op.opcode_index()));
    const std::string owner = fmt::format("operator {} ({})", index, out.type);
    const auto without_duplicates = [](std::vector<size_t> list) {
      std::set<size_t> seen;
      std::erase_if(list, [&](size_t t) { return !seen.insert(t).second; });
      return list;
    };
    NN_ASSIGN(out.inputs, Tensors(op.inputs(), owner));
    NN_ASSIGN(out.outputs, Tensors(op.outputs(), owner));
    out.inputs = without_duplicates(std::move(out.inputs));
    out.outputs = without_duplicates(std::move(out.outputs));
    return out;
  }

  // Whether the operator itself changes a resource. One without outputs can have no other purpose.
  bool HasOwnEffect(const fb::Operator& op) const {
    const auto* const code = At(model_.root->operator_codes(), op.opcode_index());
    const ImportRow* const row = code == nullptr ? nullptr : FindImport(*code);
    return SizeOf(op.outputs()) == 0 || (row != nullptr && row->has_effect);
  }

  static std::vector<int64_t> CalledBy(const fb::Operator& op) {
    std::vector<int64_t> called;
    // Options of an unknown kind refer to nothing that is known.
    (void)ForEachReference(reinterpret_cast<const flatbuffers::Table&>(op),
                           FbTypeOf("Operator", Schema()), Schema(),
                           [&](std::string_view list, int64_t index) -> Status {
                             if (list == "subgraphs") called.push_back(index);
                             return {};
                           });
    return called;
  }

  // Those in which an operator has an effect, or uses a resource, and their callers.
  void FindEffects() {
    std::map<int64_t, std::vector<int64_t>> callers;
    std::vector<int64_t> pending;
    for (int64_t g = 1; g < SizeOf(model_.root->subgraphs()); ++g) {
      const fb::SubGraph& graph = *At(model_.root->subgraphs(), g);
      bool has_effect = false;
      for (int64_t t = 0; t < SizeOf(graph.tensors()); ++t)
        has_effect |= IsResource(*At(graph.tensors(), t));
      for (int64_t i = 0; i < SizeOf(graph.operators()); ++i) {
        const fb::Operator& op = *At(graph.operators(), i);
        has_effect |= HasOwnEffect(op);
        for (const int64_t called : CalledBy(op)) callers[called].push_back(g);
      }
      if (has_effect) pending.push_back(g);
    }
    while (!pending.empty()) {
      const int64_t g = pending.back();
      pending.pop_back();
      if (!effects_.insert(g).second) continue;
      if (const auto it = callers.find(g); it != callers.end())
        pending.insert(pending.end(), it->second.begin(), it->second.end());
    }
  }

  bool HasEffect(const fb::Operator& op) const {
    return HasOwnEffect(op) || std::ranges::any_of(CalledBy(op), [&](int64_t called) {
             return effects_.contains(called);
           });
  }

  static bool IsResource(const fb::Tensor& tensor) {
    return tensor.type() == fb::TensorType::RESOURCE;
  }

  bool IsSharedVariable(size_t t) const { return TensorAt(t).is_variable() && readers_[t] > 1; }

  // The operators that use a variable tensor may change it.
  bool SharesState(const NativeFlow::Operator& op) const {
    return std::ranges::any_of(op.inputs, [&](size_t t) { return IsSharedVariable(t); });
  }

  void AddValues() {
    const auto count = static_cast<size_t>(SizeOf(main_.tensors()));
    std::vector<bool> is_written(count), is_input(count);
    for (const auto& op : flow_.operators)
      for (const size_t t : op.outputs) is_written[t] = true;
    for (const size_t t : flow_.inputs) is_input[t] = true;
    flow_.values.resize(count);
    UniqueNames names;
    std::vector<bool> is_named(count);
    const auto name = [&](size_t t) {
      if (!is_named[t])
        flow_.values[t].name = names.Add(NameOfTensor(TensorAt(t), static_cast<int64_t>(t)));
      is_named[t] = true;
    };
    for (const auto* ports : {&flow_.inputs, &flow_.outputs})
      for (const size_t t : *ports) name(t);
    for (size_t t = 0; t < count; ++t) {
      name(t);
      const auto has_contents = HasContents(model_, TensorAt(t));
      // A tensor without a writer is a state or memory of an operator.
      flow_.values[t].is_constant =
          !is_written[t] && (!is_input[t] || (has_contents && *has_contents));
      flow_.values[t].is_state = IsResource(TensorAt(t)) || IsSharedVariable(t);
    }
  }

  const Model& model_;
  const fb::SubGraph& main_;
  NativeFlow flow_;
  std::vector<int> readers_;   // by tensor: how many operators
  std::set<int64_t> effects_;  // subgraphs
};

}  // namespace

Result<NativeFlow> TfliteEditor::FlowOf(const NativeModel& native) const {
  const auto& model = ModelOf(native);
  const fb::SubGraph* const main = At(model.root->subgraphs(), 0);
  if (main == nullptr) return ModelError("the model has no subgraph");
  return FlowReader(model, *main).Run();
}

}  // namespace nn::tflite
