#include "formats/tflite/import/states.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "formats/state_frame.h"
#include "formats/tflite/file/frame.h"
#include "formats/tflite/import/variables.h"

namespace nn::tflite {
namespace {

using Op = fb::BuiltinOperator;

// The variable of the frame that the import calls `name`, perhaps with "_" to be unique.
FramedVariable VariableOf(const std::vector<FramedVariable>& variables, const std::string& name) {
  for (std::string_view part = name;; part.remove_suffix(1)) {
    const auto it = std::ranges::find_if(variables, [&](const FramedVariable& v) {
      return VariableName(v.container, v.shared_name) == part;
    });
    if (it != variables.end()) return *it;
    if (!part.ends_with('_')) return {"", name};
  }
}

}  // namespace

Result<ExportPlan> PlanOf(const Graph& graph, const ExportOptions& options) {
  ExportPlan plan = {graph, options, graph.inputs(), graph.outputs(), {}, options.frame};
  const auto* const stateful = dynamic_cast<const StateFrame*>(options.frame.get());
  if (stateful != nullptr) {
    plan.frame = stateful->frame;
    const std::vector<FramedVariable> variables = VariablesOf(*plan.frame);
    const size_t count = stateful->states.size();
    const size_t first_input = plan.inputs.size() - count, first = plan.outputs.size() - count;
    for (size_t i = 0; i < count; ++i) {
      const ModelState& s = stateful->states[i];
      plan.states.push_back({VariableOf(variables, s.name), plan.inputs[first_input + i],
                             plan.outputs[first + i].value, s.initial});
    }
    plan.inputs.resize(first_input);
    plan.outputs.resize(first);
  }
  if (plan.frame != nullptr) {
    NN_ASSIGN(plan.frame, FrameFor(plan.frame, graph, plan.inputs, plan.outputs));
  }
  return plan;
}

TensorIndex StateWriter::AddHandle(const ExportedState& state) {
  const FramedVariable& v = state.variable;
  const TensorIndex handle = ctx_.AddHandle(v.shared_name);
  const auto container = ctx_.builder().CreateString(v.container);
  const auto name = ctx_.builder().CreateString(v.shared_name);
  ctx_.AddOperator(Op::VAR_HANDLE, {{handle}, {}},
                   fb::CreateVarHandleOptions(ctx_.builder(), container, name));
  return handle;
}

void StateWriter::Begin() {
  const auto has_initial = [](const ExportedState& s) { return s.initial.has_value(); };
  if (std::ranges::any_of(plan_.states, has_initial)) {
    ctx_.BeginSubgraph("initialize");
    for (const ExportedState& s : plan_.states) {
      if (!s.initial) continue;
      const TensorIndex handle = AddHandle(s);
      const TensorIndex value = ctx_.AddConstant(*s.initial, s.variable.shared_name + "/initial",
                                                 s.input.value->type().quant);
      ctx_.AddOperator(Op::ASSIGN_VARIABLE, {{}, {handle, value}},
                       fb::CreateAssignVariableOptions(ctx_.builder()));
    }
    const int32_t subgraph = ctx_.EndSubgraph({}, {});
    ctx_.AddOperator(Op::CALL_ONCE, {}, fb::CreateCallOnceOptions(ctx_.builder(), subgraph));
  }
  for (const ExportedState& s : plan_.states) {
    handles_.push_back(AddHandle(s));
    const TensorIndex value = ctx_.AddTensor(s.input.value->type(), s.input.name);
    ctx_.SetTensor(s.input.value, value);
    ctx_.AddOperator(Op::READ_VARIABLE, {{value}, {handles_.back()}},
                     fb::CreateReadVariableOptions(ctx_.builder()));
  }
}

void StateWriter::End() {
  for (size_t i = 0; i < plan_.states.size(); ++i)
    ctx_.AddOperator(Op::ASSIGN_VARIABLE,
                     {{}, {handles_[i], ctx_.TensorOf(plan_.states[i].output)}},
                     fb::CreateAssignVariableOptions(ctx_.builder()));
}

}  // namespace nn::tflite
