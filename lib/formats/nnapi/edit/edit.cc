// EditApplier::FlowOf and edit: values are operands, by their indices.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text/text.h"
#include "formats/common/unique_names.h"
#include "formats/nnapi/file/native.h"
#include "formats/nnapi/roles.h"
#include "passes/core/ports.h"

namespace nn::nnapi {
namespace {

class FlowReader {
 public:
  explicit FlowReader(const Model& model) : model_(model) {}

  Result<NativeFlow> Run() {
    for (size_t i = 0; i < model_.operations.size(); ++i) {
      const Operation& operation = model_.operations[i];
      NativeFlow::Operator op;
      op.type = TextOf(operation.type);
      const std::string owner = fmt::format("operation {} ({})", i, op.type);
      NN_ASSIGN(op.inputs, Operands(operation.inputs, owner));
      NN_ASSIGN(op.outputs, Operands(operation.outputs, owner));
      op.has_effect = op.outputs.empty();
      flow_.operators.push_back(std::move(op));
    }
    NN_ASSIGN(const PortNames names, NnapiDescriber().PortNamesOf(model_));
    flow_.values.resize(model_.operands.size());
    AddPorts(model_.input_indexes, names.inputs, flow_.inputs);
    AddPorts(model_.output_indexes, names.outputs, flow_.outputs);
    for (size_t i = 0; i < model_.operands.size(); ++i) {
      const Operand& operand = model_.operands[i];
      Name(i, operand.name.empty() ? fmt::format("operand {}", i) : operand.name);
      flow_.values[i].is_constant = operand.lifetime == LifeTime::kConstantCopy ||
                                    operand.lifetime == LifeTime::kConstantReference;
    }
    return std::move(flow_);
  }

 private:
  Result<std::vector<size_t>> Operands(const std::vector<uint32_t>& indexes,
                                       std::string_view owner) const {
    std::vector<size_t> out;
    std::set<uint32_t> seen;
    for (const uint32_t i : indexes) {
      if (i >= model_.operands.size())
        return ModelError("{} refers to operand {}; the model has {}", owner, i,
                          model_.operands.size());
      if (model_.operands[i].lifetime != LifeTime::kNoValue && seen.insert(i).second)
        out.push_back(i);
    }
    return out;
  }

  void AddPorts(const std::vector<uint32_t>& indexes, const std::vector<std::string>& names,
                std::vector<size_t>& out) {
    for (size_t i = 0; i < indexes.size(); ++i) {
      Name(indexes[i], names[i]);
      out.push_back(indexes[i]);
    }
  }

  void Name(size_t operand, const std::string& name) {
    if (std::string& unique = flow_.values[operand].name; unique.empty()) unique = names_.Add(name);
  }

  const Model& model_;
  NativeFlow flow_;
  UniqueNames names_;
};

std::vector<uint32_t> CountUses(const std::vector<Operation>& operations, size_t operands) {
  std::vector<uint32_t> uses(operands);
  for (const Operation& operation : operations)
    for (const uint32_t i : operation.inputs) ++uses[i];
  return uses;
}

bool IsConstantIn(const Operand& operand, const Memory& memory, const Model& model) {
  return MemoryOf(model, operand) == &memory;
}

class EditApplier {
 public:
  EditApplier(const Model& source, const NativeFlow& flow, const NativeEdit& edit, Model& model)
      : source_(source),
        flow_(flow),
        edit_(edit),
        model_(model),
        was_input_(source.input_indexes.begin(), source.input_indexes.end()),
        was_output_(source.output_indexes.begin(), source.output_indexes.end()) {}

  Status Run() {
    if (!edit_.metadata.empty())
      return UnsupportedError("NNAPI models have no metadata; {} cannot be set",
                              Quote(edit_.metadata.front().first));
    NN_ASSIGN(const PortNames names, NnapiDescriber().PortNamesOf(source_));
    std::vector<Operation> operations;
    for (size_t i = 0; i < source_.operations.size(); ++i)
      if (edit_.keeps[i]) operations.push_back(source_.operations[i]);
    model_.operations = std::move(operations);
    NN_RETURN_IF_ERROR(SetPorts());
    SetLifetimes();
    SetUses();
    SetNames(names);
    DropOperands();
    NN_RETURN_IF_ERROR(Repack(model_.operand_values, source_.operand_values));
    for (size_t i = 0; i < model_.pools.size(); ++i)
      if (source_.pools[i].file.empty())
        NN_RETURN_IF_ERROR(Repack(model_.pools[i].bytes, source_.pools[i].bytes));
    DropPools();
    return {};
  }

 private:
  // ---- Ports ------------------------------------------------------------------------------------

  Status SetPorts() {
    std::set<uint32_t> inputs, outputs, written;
    const auto set = [&](const std::vector<NativeEdit::Port>& ports, std::set<uint32_t>& seen,
                         std::vector<uint32_t>& out) -> Status {
      out.clear();
      for (const auto& port : ports) {
        out.push_back(static_cast<uint32_t>(port.value));
        if (!seen.insert(out.back()).second)
          return UnsupportedError("{} would be listed twice", Quote(NameOf(port.value)));
      }
      return {};
    };
    NN_RETURN_IF_ERROR(set(edit_.inputs, inputs, model_.input_indexes));
    NN_RETURN_IF_ERROR(set(edit_.outputs, outputs, model_.output_indexes));
    for (const Operation& operation : model_.operations)
      written.insert(operation.outputs.begin(), operation.outputs.end());
    for (const uint32_t i : outputs)
      if (inputs.contains(i) ? !WasPort(i) : !written.contains(i) && !was_output_.contains(i))
        return UnsupportedError("{} cannot be an output: an operation must write it",
                                Quote(NameOf(i)));
    DetachInputs(inputs);
    if (model_.input_indexes != source_.input_indexes ||
        model_.output_indexes != source_.output_indexes)
      model_.request.reset();  // its arguments are those of the source
    return {};
  }

  // An input that is an output, too.
  bool WasPort(uint32_t i) const { return was_input_.contains(i) && was_output_.contains(i); }
  const std::string& NameOf(size_t value) const { return flow_.values[value].name; }

  // An operation that still writes a new input writes an operand that nothing reads.
  void DetachInputs(const std::set<uint32_t>& inputs) {
    for (Operation& operation : model_.operations)
      for (uint32_t& i : operation.outputs) {
        if (was_input_.contains(i) || !inputs.contains(i)) continue;
        Operand unused = source_.operands[i];
        unused.lifetime = LifeTime::kTemporaryVariable;
        unused.name.clear();
        unused.number_of_consumers = 0;
        i = static_cast<uint32_t>(model_.operands.size());
        model_.operands.push_back(std::move(unused));
      }
  }

  // ---- Operands ---------------------------------------------------------------------------------

  void SetLifetimes() {
    std::vector<bool> is_port(model_.operands.size());
    const auto set = [&](const std::vector<uint32_t>& now, const std::set<uint32_t>& present,
                         LifeTime lifetime) {
      for (const uint32_t i : now) {
        is_port[i] = true;
        if (present.contains(i)) continue;
        model_.operands[i].lifetime = lifetime;
        model_.operands[i].location = {};
      }
    };
    set(model_.input_indexes, was_input_, LifeTime::kModelInput);
    set(model_.output_indexes, was_output_, LifeTime::kModelOutput);
    for (const uint32_t i : source_.output_indexes)
      if (!is_port[i]) model_.operands[i].lifetime = LifeTime::kTemporaryVariable;
  }

  void SetUses() {
    const auto before = CountUses(source_.operations, model_.operands.size());
    const auto now = CountUses(model_.operations, model_.operands.size());
    for (size_t i = 0; i < now.size(); ++i)
      if (now[i] != before[i]) model_.operands[i].number_of_consumers = now[i];
  }

  // New ports have the names of the flow. Unnamed ones have names by position, which may change.
  void SetNames(const PortNames& before) {
    if (edit_.strip.names) {
      std::set<size_t> ports;
      for (const auto* list : {&edit_.inputs, &edit_.outputs})
        for (const auto& port : *list) ports.insert(port.value);
      for (size_t i = 0; i < model_.operands.size(); ++i)
        if (!ports.contains(i)) model_.operands[i].name.clear();
    }
    for (const auto& [value, name] : edit_.names) model_.operands[value].name = name;
    const auto keep = [&](const std::vector<uint32_t>& now, const std::vector<uint32_t>& source,
                          const std::vector<std::string>& names, std::string_view prefix) {
      std::map<uint32_t, std::string> wanted;
      for (size_t k = 0; k < source.size(); ++k) wanted.try_emplace(source[k], names[k]);
      std::vector<std::string> found;
      found.reserve(now.size());
      for (const uint32_t i : now) found.push_back(model_.operands[i].name);
      NameUnnamed(found, prefix);
      for (size_t k = 0; k < now.size(); ++k) {
        std::string& name = model_.operands[now[k]].name;
        const auto it = wanted.find(now[k]);
        if (it == wanted.end()) {
          if (!edit_.names.contains(now[k])) name = NameOf(now[k]);
        } else if (name.empty() && found[k] != it->second) {
          name = it->second;
        }
      }
    };
    keep(model_.input_indexes, source_.input_indexes, before.inputs, "in");
    keep(model_.output_indexes, source_.output_indexes, before.outputs, "out");
  }

  void DropOperands() {
    std::vector<bool> is_used(model_.operands.size());
    const auto each = [&](const auto& fn) {
      for (Operation& operation : model_.operations) {
        for (uint32_t& i : operation.inputs) fn(i);
        for (uint32_t& i : operation.outputs) fn(i);
      }
      for (uint32_t& i : model_.input_indexes) fn(i);
      for (uint32_t& i : model_.output_indexes) fn(i);
    };
    each([&](uint32_t i) { is_used[i] = true; });
    std::vector<uint32_t> numbers(is_used.size());
    std::vector<Operand> kept;
    for (size_t i = 0; i < is_used.size(); ++i) {
      numbers[i] = static_cast<uint32_t>(kept.size());
      if (is_used[i]) kept.push_back(std::move(model_.operands[i]));
    }
    model_.operands = std::move(kept);
    each([&](uint32_t& i) { i = numbers[i]; });
  }

  // ---- Constants --------------------------------------------------------------------------------

  // Memory of the model, if a constant of it is dropped, has only the others; large ones are views.
  // Files of pools stay as they are.
  Status Repack(Memory& memory, const Memory& before) {
    const auto count = [](const Model& model, const Memory& m) {
      return std::ranges::count_if(model.operands,
                                   [&](const Operand& o) { return IsConstantIn(o, m, model); });
    };
    if (count(model_, memory) == count(source_, before)) return {};
    MemoryPacker packer;
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> places;  // operands may share bytes
    for (Operand& operand : model_.operands) {
      if (!IsConstantIn(operand, memory, model_)) continue;
      const auto bytes = BytesOf(model_, operand);
      if (!bytes)
        return ModelError("the constant {} is outside its memory of {} bytes", Quote(operand.name),
                          memory.size());
      const auto [it, added] =
          places.try_emplace({operand.location.offset, operand.location.length}, 0);
      if (added) {
        const auto offset = packer.Append(*bytes);
        if (!offset) return LimitError("the constants exceed 4 GiB");
        it->second = *offset;
      }
      moved_.emplace_back(&operand, it->second);
    }
    for (const auto& [operand, offset] : moved_) operand->location.offset = offset;
    moved_.clear();
    memory = packer.Finish();
    return {};
  }

  void DropPools() {
    std::vector<bool> is_used(model_.pools.size());
    const auto pool_of = [&](Operand& operand) {
      const bool is_in_pool = operand.lifetime == LifeTime::kConstantReference &&
                              operand.location.pool_index < is_used.size();
      return is_in_pool ? &operand.location.pool_index : nullptr;
    };
    for (Operand& operand : model_.operands)
      if (const uint32_t* const pool = pool_of(operand)) is_used[*pool] = true;
    std::vector<uint32_t> numbers;
    std::vector<Pool> kept;
    for (size_t i = 0; i < is_used.size(); ++i) {
      numbers.push_back(static_cast<uint32_t>(kept.size()));
      if (is_used[i]) kept.push_back(std::move(model_.pools[i]));
    }
    model_.pools = std::move(kept);
    for (Operand& operand : model_.operands)
      if (uint32_t* const pool = pool_of(operand)) *pool = numbers[*pool];
  }

  const Model& source_;
  const NativeFlow& flow_;
  const NativeEdit& edit_;
  Model& model_;
  const std::set<uint32_t> was_input_, was_output_;
  std::vector<std::pair<Operand*, uint32_t>> moved_;  // with their new offsets
};

}  // namespace

Result<NativeFlow> NnapiEditor::FlowOf(const NativeModel& native) const {
  return FlowReader(ModelOf(native)).Run();
}

Result<std::unique_ptr<NativeModel>> NnapiEditor::Apply(const NativeModel& native,
                                                        const NativeEdit& edit) const {
  const auto& source = ModelOf(native);
  NN_ASSIGN(const NativeFlow flow, FlowOf(native));
  auto model = std::make_unique<Model>(source);
  NN_RETURN_IF_ERROR(EditApplier(source, flow, edit, *model).Run());
  return std::unique_ptr<NativeModel>(std::move(model));
}

}  // namespace nn::nnapi
