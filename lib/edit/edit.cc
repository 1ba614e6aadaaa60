#include "edit/edit.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <unordered_set>

#include "convert/place/written.h"
#include "edit/effects.h"
#include "inspect/loaded.h"
#include "inspect/report/values.h"

namespace nn::edit {
namespace {

// The types of the values of the main graph, found when the first one is asked for.
class ValueTypes {
 public:
  ValueTypes(const ReadModel& read, const std::string& path) : read_(read), path_(path) {}

  Result<ValueType> Of(const std::string& name) {
    if (!types_) NN_RETURN_IF_ERROR(Find());
    const auto it = types_->find(name);
    return it == types_->end() ? ValueType() : it->second;
  }

 private:
  Status Find() {
    NN_ASSIGN(const inspect::LoadedModel loaded,
              inspect::LoadFrom(read_, path_, {.graph = !read_.format->describer.InfersTypes()}));
    NN_ASSIGN(std::vector<ValueEntry> values, inspect::ValuesOf(loaded));
    types_.emplace();
    for (ValueEntry& v : values)
      if (v.scope.empty()) types_->emplace(std::move(v.name), std::move(v.type));
    return {};
  }

  const ReadModel& read_;
  const std::string& path_;
  std::optional<std::map<std::string, ValueType, std::less<>>> types_;
};

void Compare(const NativeFlow& flow, const std::vector<size_t>& before,
             const std::vector<NativeEdit::Port>& after, std::vector<std::string>& added,
             std::vector<std::string>& dropped) {
  std::unordered_set<size_t> had(before.begin(), before.end()), has;
  for (const NativeEdit::Port& port : after) {
    has.insert(port.value);
    if (!had.contains(port.value)) added.push_back(flow.values[port.value].name);
  }
  for (const size_t v : before)
    if (!has.contains(v)) dropped.push_back(flow.values[v].name);
}

EditSummary SummaryOf(const NativeFlow& flow, const NativeEdit& edit) {
  EditSummary s;
  s.operators_before = flow.operators.size();
  s.operators_after = static_cast<size_t>(std::ranges::count(edit.keeps, true));
  Compare(flow, flow.inputs, edit.inputs, s.new_inputs, s.dropped_inputs);
  Compare(flow, flow.outputs, edit.outputs, s.new_outputs, s.dropped_outputs);
  for (const auto& [value, name] : edit.names)
    s.renamed.emplace_back(flow.values[value].name, name);
  return s;
}

// Whether the operators that the edit keeps are in another order in the edited model.
bool IsReordered(const NativeFlow& before, const NativeEdit& edit, const NativeFlow& after) {
  size_t at = 0;
  for (size_t i = 0; i < before.operators.size(); ++i) {
    if (!edit.keeps[i] || at == after.operators.size()) continue;
    const auto& from = before.operators[i].outputs;
    const auto& to = after.operators[at++].outputs;
    if (from.empty() || to.empty()) continue;
    const auto renamed = edit.names.find(from[0]);
    const std::string& name =
        renamed == edit.names.end() ? before.values[from[0]].name : renamed->second;
    if (name != after.values[to[0]].name) return true;
  }
  return false;
}

Status CheckRules(const ReadModel& source, const ReadModel& edited) {
  const auto flaw = FirstError(edited);
  if (!flaw || FirstError(source)) return {};
  return UnsupportedError("edited like this, the model violates rule {}: {}", flaw->rule,
                          flaw->message);
}

}  // namespace

Result<EditedModel> EditModel(const ReadModel& source, const std::string& path,
                              const EditOptions& options) {
  const Format& format = *source.format;
  NN_ASSIGN(const NativeFlow flow, format.editor.FlowOf(*source.model));
  ValueTypes types(source, path);
  NN_ASSIGN(const NativeEdit edit,
            PlanEdit(flow, options, [&](const std::string& name) { return types.Of(name); }));
  NN_ASSIGN(std::unique_ptr<NativeModel> model, format.editor.Apply(*source.model, edit));
  EditedModel out;
  out.model = {source.format, std::move(model), source.from_dump};
  out.summary = SummaryOf(flow, edit);
  NN_ASSIGN(const NativeFlow edited, format.editor.FlowOf(*out.model.model));
  out.summary.sorted = IsReordered(flow, edit, edited);
  for (const NativeEdit::Port& port : edit.inputs)
    out.inputs.emplace_back(flow.values[port.value].name, port.type);
  for (const NativeEdit::Port& port : edit.outputs)
    out.outputs.emplace_back(flow.values[port.value].name, port.type);
  NN_RETURN_IF_ERROR(CheckRules(source, out.model));
  NN_RETURN_IF_ERROR(CheckEffects(source, flow, options));
  return out;
}

}  // namespace nn::edit
