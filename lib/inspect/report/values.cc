#include "inspect/report/values.h"

#include <unordered_set>

namespace nn::inspect {
namespace {

using Types = std::map<std::string, const Type*, std::less<>>;
using Role = ValueEntry::Role;

class ValueList {
 public:
  explicit ValueList(const LoadedModel& model) : types_(TypesByName(model)) {}

  // A name that was added before is ignored.
  void Add(const std::string& name, const std::string& scope, Role role) {
    if (name.empty() || !names_.insert(scope + '\n' + name).second) return;
    ValueEntry& entry = values.emplace_back(ValueEntry{name, scope, role, {}});
    if (!scope.empty()) return;
    if (const auto it = types_.find(name); it != types_.end())
      entry.type = ValueType::Tensor(*it->second);
  }

  std::vector<ValueEntry> values;

 private:
  const Types types_;
  std::unordered_set<std::string> names_;
};

}  // namespace

Result<std::vector<ValueEntry>> ValuesOf(const LoadedModel& model) {
  if (model.read.format->describer.InfersTypes()) {
    std::map<std::string, Type, std::less<>> inputs;
    if (model.graph && model.bound)
      for (const Port& p : model.graph->inputs()) inputs.emplace(p.name, p.value->type());
    return model.read.format->describer.ValuesOf(*model.read.model, inputs);
  }
  NN_ASSIGN(const std::vector<TensorEntry> tensors, TensorsOf(model));
  ValueList list(model);
  for (const TensorSummary& t : model.summary.inputs) list.Add(t.name, "", Role::kInput);
  for (const TensorEntry& t : tensors)
    if (!t.is_attribute) list.Add(t.name, t.scope, Role::kConstant);
  for (const OperatorSummary& op : model.summary.operators)
    for (const std::string& name : op.outputs) list.Add(name, op.scope, Role::kResult);
  return std::move(list.values);
}

}  // namespace nn::inspect
