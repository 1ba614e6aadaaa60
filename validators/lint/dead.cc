// Rules of what a model computes or stores and does not use.
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "base/text.h"
#include "validators/lint/subject.h"

namespace nn::lint {
namespace {

using Names = std::unordered_set<std::string_view>;

// Every name that an operator reads or that is an output of the model.
Names UsedNames(const ModelSummary& model) {
  Names used;
  for (const OperatorSummary& op : model.operators) used.insert(op.inputs.begin(), op.inputs.end());
  for (const TensorSummary& t : model.outputs) used.insert(t.name);
  return used;
}

// Which operators of the main graph an output of the model depends on. Those of sub-graphs and
// functions are taken to be needed, and so is what they read: their own outputs are not known here.
// So are operators without outputs, which are there for their effect, and those without inputs:
// constants, which summaries may show inside the operators that read them.
std::vector<bool> NeededOperators(const ModelSummary& model) {
  std::unordered_map<std::string_view, std::vector<size_t>> writers;
  for (size_t i = 0; i < model.operators.size(); ++i)
    if (model.operators[i].scope.empty())
      for (const std::string& name : model.operators[i].outputs) writers[name].push_back(i);
  std::vector<bool> needed(model.operators.size());
  std::vector<size_t> open;
  const auto need = [&](size_t i) {
    if (needed[i]) return;
    needed[i] = true;
    open.push_back(i);
  };
  const auto need_name = [&](std::string_view name) {
    const auto found = writers.find(name);
    if (found == writers.end()) return false;
    for (const size_t i : found->second) need(i);
    return true;
  };
  for (size_t i = 0; i < model.operators.size(); ++i)
    if (const OperatorSummary& op = model.operators[i];
        !op.scope.empty() || op.inputs.empty() || op.outputs.empty())
      need(i);
  // An output that no operator writes by name is made of what the last one computes, as the labels
  // of a Core ML classifier are.
  bool all_written = true;
  for (const TensorSummary& t : model.outputs) all_written &= need_name(t.name);
  if (!all_written)
    for (size_t i = model.operators.size(); i-- > 0;)
      if (model.operators[i].scope.empty()) {
        need(i);
        break;
      }
  while (!open.empty()) {
    const size_t i = open.back();
    open.pop_back();
    for (const std::string& name : model.operators[i].inputs) need_name(name);
  }
  return needed;
}

void OperatorsNeeded(const Subject& s, Findings& f) {
  const ModelSummary& model = s.summary();
  const std::vector<bool> needed = NeededOperators(model);
  for (size_t i = 0; i < needed.size(); ++i) {
    const OperatorSummary& op = model.operators[i];
    if (!needed[i])
      f.Add(At({}, static_cast<int64_t>(i)), "no output of the model depends on {} {}", op.op,
            Quote(op.name.empty() ? op.outputs.front() : op.name));
  }
}

void ConstantsUsed(const Subject& s, Findings& f) {
  Names outputs;
  for (const TensorSummary& t : s.summary().outputs) outputs.insert(t.name);
  for (const TensorEntry& t : s.tensors())
    if (t.users.empty() && !outputs.contains(t.name))
      f.Add(At(t.location), "no operator reads {} ({})", Title(t), HumanBytes(t.bytes));
}

void InputsUsed(const Subject& s, Findings& f) {
  if (s.summary().operators.empty()) return;
  const Names used = UsedNames(s.summary());
  for (const TensorSummary& t : s.summary().inputs)
    if (!used.contains(t.name)) f.Add({}, "no operator reads input {}", Quote(t.name));
}

constexpr Rule kRules[] = {
    {{"LINT-DEAD-001", Severity::kWarning, "Outputs of the model depend on every operator.",
      "good practice", false, "Remove the operator.", true},
     OperatorsNeeded},
    {{"LINT-DEAD-002", Severity::kWarning, "Every constant is read.", "good practice", false,
      "Remove the constant: it only makes the file larger.", true},
     ConstantsUsed},
    {{"LINT-DEAD-003", Severity::kNote, "Every input is read.", "good practice", false,
      "Remove the input, so that nobody has to provide it.", true},
     InputsUsed},
};

}  // namespace

std::span<const Rule> DeadRules() {
  return kRules;
}

}  // namespace nn::lint
