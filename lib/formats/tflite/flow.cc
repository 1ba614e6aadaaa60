// Format::flow: values are the tensors of the main subgraph, by their indices.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "formats/common/fb_copy.h"
#include "formats/tflite/import.h"
#include "formats/tflite/native.h"
#include "formats/tflite/options.h"
#include "formats/tflite/tensor.h"

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

  // Whether the operator, or one in its subgraphs, changes a resource. An operator without outputs
  // can have no other purpose.
  bool HasEffect(const fb::Operator& op) {
    const auto* const code = At(model_.root->operator_codes(), op.opcode_index());
    const ImportRow* const row = code == nullptr ? nullptr : FindImport(*code);
    if (SizeOf(op.outputs()) == 0 || (row != nullptr && row->has_effect)) return true;
    bool found = false;
    // Options of an unknown kind refer to nothing that is known.
    (void)ForEachReference(reinterpret_cast<const flatbuffers::Table&>(op),
                           FbTypeOf("Operator", Schema()), Schema(),
                           [&](std::string_view list, int64_t index) -> Status {
                             found |= list == "subgraphs" && SubgraphHasEffect(index);
                             return {};
                           });
    return found;
  }

  bool SubgraphHasEffect(int64_t index) {
    const fb::SubGraph* const sub = At(model_.root->subgraphs(), index);
    if (sub == nullptr || sub == &main_) return false;
    // A subgraph that calls itself adds nothing.
    if (const auto [it, added] = subgraphs_.try_emplace(index, false); !added) return it->second;
    for (int64_t i = 0; i < SizeOf(sub->operators()); ++i)
      if (HasEffect(*At(sub->operators(), i))) return subgraphs_[index] = true;
    return false;
  }

  // The operators that use a variable tensor may change it.
  bool SharesState(const NativeFlow::Operator& op) const {
    return std::ranges::any_of(
        op.inputs, [&](size_t t) { return TensorAt(t).is_variable() && readers_[t] > 1; });
  }

  void AddValues() {
    const auto count = static_cast<size_t>(SizeOf(main_.tensors()));
    std::vector<bool> is_written(count), is_input(count);
    for (const auto& op : flow_.operators)
      for (const size_t t : op.outputs) is_written[t] = true;
    for (const size_t t : flow_.inputs) is_input[t] = true;
    flow_.values.resize(count);
    std::set<std::string> used;
    std::vector<bool> is_named(count);
    const auto name = [&](size_t t) {
      if (!is_named[t]) flow_.values[t].name = PortName(TensorAt(t), static_cast<int64_t>(t), used);
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
    }
  }

  const Model& model_;
  const fb::SubGraph& main_;
  NativeFlow flow_;
  std::vector<int> readers_;           // by tensor: how many operators
  std::map<int64_t, bool> subgraphs_;  // whether they have effects
};

}  // namespace

Result<NativeFlow> FlowOf(const NativeModel& native) {
  const auto& model = static_cast<const Model&>(native);
  const fb::SubGraph* const main = At(model.root->subgraphs(), 0);
  if (main == nullptr) return ModelError("the model has no subgraph");
  return FlowReader(model, *main).Run();
}

}  // namespace nn::tflite
