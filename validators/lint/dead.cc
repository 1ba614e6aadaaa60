// Rules about unused operators, constants and inputs.
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text/name_map.h"
#include "base/text/text.h"
#include "validators/lint/rule_context.h"

namespace nn::lint {
namespace {

// Which operators an output of the model depends on. Operators of subgraphs and functions count as
// needed, together with everything they read, since the summary does not list the outputs of
// subgraphs. Operators without outputs count as needed because they have side effects, and
// operators without inputs because they are constants, which a summary may show in the operators
// that read them.
std::vector<bool> NeededOperators(const ModelSummary& model) {
  struct Writer {
    size_t op;
    size_t earlier;  // of the same name, in `writers`; kNone if there is none
  };
  constexpr size_t kNone = std::numeric_limits<size_t>::max();
  std::vector<Writer> writers;
  NameMap<size_t> last_writers;
  writers.reserve(model.operators.size());
  last_writers.reserve(model.operators.size());
  for (size_t i = 0; i < model.operators.size(); ++i)
    if (model.operators[i].scope.empty())
      for (const std::string& name : model.operators[i].outputs) {
        size_t& last = last_writers.try_emplace(name, kNone).first->second;
        writers.push_back({i, std::exchange(last, writers.size())});
      }
  std::vector<bool> needed(model.operators.size());
  std::vector<size_t> open;
  const auto need = [&](size_t i) {
    if (needed[i]) return;
    needed[i] = true;
    open.push_back(i);
  };
  const auto need_name = [&](std::string_view name) {
    const auto found = last_writers.find(name);
    if (found == last_writers.end()) return false;
    for (size_t i = found->second; i != kNone; i = writers[i].earlier) need(writers[i].op);
    return true;
  };
  for (size_t i = 0; i < model.operators.size(); ++i)
    if (const OperatorSummary& op = model.operators[i];
        !op.scope.empty() || op.inputs.empty() || op.outputs.empty())
      need(i);
  // An output that no operator writes by name comes from the last operator, as the labels of a
  // Core ML classifier do.
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

void OperatorsNeeded(const RuleContext& s, Findings& f) {
  const ModelSummary& model = s.summary();
  const std::vector<bool> needed = NeededOperators(model);
  for (size_t i = 0; i < needed.size(); ++i) {
    const OperatorSummary& op = model.operators[i];
    if (!needed[i])
      f.Add(At({}, static_cast<int64_t>(i)), "no output of the model depends on {} {}", op.op,
            Quote(op.name.empty() ? op.outputs.front() : op.name));
  }
}

void ConstantsUsed(const RuleContext& s, Findings& f) {
  NameSet outputs;
  for (const TensorSummary& t : s.summary().outputs) outputs.insert(t.name);
  for (const TensorEntry& t : s.tensors())
    if (t.users.empty() && !outputs.contains(t.name))
      f.Add(At(t.location), "no operator reads {} ({})", Title(t), HumanBytes(t.bytes));
}

void InputsUsed(const RuleContext& s, Findings& f) {
  if (s.summary().operators.empty()) return;
  NameMap<bool> is_used;
  for (const TensorSummary& t : s.summary().inputs) is_used[t.name] = false;
  const auto use = [&](std::string_view name) {
    if (const auto input = is_used.find(name); input != is_used.end()) input->second = true;
  };
  for (const OperatorSummary& op : s.summary().operators)
    for (const std::string& name : op.inputs) use(name);
  for (const TensorSummary& t : s.summary().outputs) use(t.name);
  for (const TensorSummary& t : s.summary().inputs)
    if (!is_used[t.name]) f.Add({}, "no operator reads input {}", Quote(t.name));
}

constexpr Rule kDeadRules[] = {
    {.info = {.id = "LINT-DEAD-001",
              .severity = Severity::kWarning,
              .statement = "Every operator contributes to an output of the model.",
              .clause = "good practice",
              .hint = "Remove the operator, or make its result an output.",
              .lint = true},
     .check = OperatorsNeeded},
    {.info = {.id = "LINT-DEAD-002",
              .severity = Severity::kWarning,
              .statement = "Every constant is read by an operator or is an output of the model.",
              .clause = "good practice",
              .hint = "Remove the constant; it only makes the file larger.",
              .lint = true},
     .check = ConstantsUsed},
    {.info = {.id = "LINT-DEAD-003",
              .severity = Severity::kNote,
              .statement =
                  "Every input of the model is read by an operator or is an output of the model.",
              .clause = "good practice",
              .hint = "Remove the input, so that callers need not provide it.",
              .lint = true},
     .check = InputsUsed},
};

}  // namespace

std::span<const Rule> DeadRules() {
  return kDeadRules;
}

}  // namespace nn::lint
