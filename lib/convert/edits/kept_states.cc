#include "convert/edits/kept_states.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/text/text.h"
#include "convert/edits/carry.h"
#include "convert/quantize/quantized_drift.h"
#include "formats/state_frame.h"
#include "ops/array/shape.h"
#include "passes/core/passes.h"

namespace nn {
namespace {

std::optional<size_t> IndexOf(const std::vector<Port>& ports, const std::string& name) {
  const auto it = std::ranges::find(ports, name, &Port::name);
  if (it == ports.end()) return std::nullopt;
  return static_cast<size_t>(it - ports.begin());
}

void MoveInputToEnd(Graph& graph, const std::string& name) {
  const size_t i = *IndexOf(graph.inputs(), name);
  if (i + 1 == graph.inputs().size()) return;
  Value* const from = graph.inputs()[i].value;
  Value* const to = graph.AddInput(name, from->type());
  to->set_name(from->name());
  graph.ReplaceUses(from, to);
  graph.RemoveInput(i);
}

void MoveOutputToEnd(Graph& graph, const std::string& name) {
  const size_t i = *IndexOf(graph.outputs(), name);
  if (i + 1 == graph.outputs().size()) return;
  Value* const value = graph.outputs()[i].value;
  graph.RemoveOutput(i);
  graph.AddOutput(name, value);
}

Status FixSize(Graph& graph, size_t output, const Type& wanted) {
  Value* const value = graph.outputs()[output].value;
  const Type& type = value->type();
  const bool is_known = type.const_dims() && (value->def() == nullptr || !IsChecked(*value->def()));
  if (!wanted.const_dims() || is_known || !type.ranked() || !Compatible(wanted, type)) return {};
  NN_ASSIGN(Node* const fixed, graph.Append("reshape", {value}, ReshapeAttrs{*wanted.dims, false}));
  graph.set_output(output, fixed->output());
  return {};
}

tl::unexpected<Error> CannotKeep(const std::string& name, const std::string& why) {
  return UnsupportedError(
      "state {}: the model cannot keep it, because {}; remove --carry, or use --states, which "
      "makes it an input and an output",
      Quote(name), why);
}

bool IsOneNumber(const Tensor& tensor) {
  for (int64_t i = 1; i < tensor.elements(); ++i)
    if (IsFloat(tensor.dtype()) ? tensor.GetDouble(i) != tensor.GetDouble(0)
                                : tensor.GetInt(i) != tensor.GetInt(0))
      return false;
  return tensor.elements() > 0;
}

bool IsUnmoved(const AxisMap& map, int64_t offset) {
  return map.IsIdentity() && offset == 0;
}

// The initial value in the type that the state has in the written model. A variable has the
// dimensions of its value.
Result<std::optional<Tensor>> InitialOf(const KeptState& kept, const Type& written) {
  if (!kept.state.initial) return std::optional<Tensor>();
  Tensor initial = *kept.state.initial;
  if (kept.type.quantized() && !written.quantized()) {
    NN_ASSIGN(initial, RealTensor(initial, kept.type));
  }
  if (initial.dtype() != written.dtype && IsFloat(initial.dtype()) && IsFloat(written.dtype)) {
    NN_ASSIGN(TensorBuilder numbers, TensorBuilder::Create(written.dtype, initial.dims()));
    for (int64_t i = 0; i < numbers.elements(); ++i) numbers.SetDouble(i, initial.GetDouble(i));
    initial = std::move(numbers).Finish();
  }
  const auto dims = written.const_dims();
  if (initial.dtype() != written.dtype || !dims || *dims != initial.dims())
    return CannotKeep(
        kept.state.name,
        fmt::format("it begins as {}, and is {} in the written model",
                    Type(initial.dtype(), ToDims(initial.dims())).ToString(), written.ToString()));
  return std::optional(std::move(initial));
}

}  // namespace

Result<std::vector<KeptState>> TakeKeptStates(Graph& graph, std::vector<ModelState>& states) {
  std::vector<KeptState> out;
  std::vector<ModelState> others;
  for (ModelState& s : states) {
    const auto input = IndexOf(graph.inputs(), s.input);
    if (!input || !IndexOf(graph.outputs(), s.output)) {
      others.push_back(std::move(s));
      continue;
    }
    const Type type = graph.inputs()[*input].value->type();
    NN_RETURN_IF_ERROR(FixSize(graph, *IndexOf(graph.outputs(), s.output), type));
    out.push_back({std::move(s), type});
  }
  for (const KeptState& kept : out) {
    MoveInputToEnd(graph, kept.state.input);
    MoveOutputToEnd(graph, kept.state.output);
  }
  states = std::move(others);
  return out;
}

Status AddCarriedStates(const Graph& graph, const std::vector<std::string>& carry,
                        std::vector<ModelState>& others, std::vector<ModelState>& kept) {
  for (const std::string& text : carry) {
    const auto ports = CarriedPortsOf(text, graph);
    if (!ports) return tl::unexpected(ports.error().In("--carry"));
    const std::string& input = graph.inputs()[ports->input].name;
    const std::string& output = graph.outputs()[ports->output].name;
    const auto has_port = [&](const ModelState& s) {
      return s.input == input || s.output == output;
    };
    if (std::ranges::any_of(kept, has_port))
      return UsageError("--carry {}: the input or the output is one of another state", text);
    const auto it = std::ranges::find_if(others, has_port);
    if (it == others.end()) {
      kept.push_back({input, input, output, std::nullopt});
      continue;
    }
    if (it->input != input || it->output != output)
      return UsageError("--carry {}: state {} has input {} and output {}", text, Quote(it->name),
                        Quote(it->input), Quote(it->output));
    // Zeros need not be stated.
    if (it->initial && IsOneNumber(*it->initial) && it->initial->ToDoubles().front() == 0)
      it->initial.reset();
    kept.push_back(std::move(*it));
    others.erase(it);
  }
  return {};
}

Interface WithoutStates(Interface interface, size_t states) {
  for (auto* const ports : {&interface.inputs, &interface.outputs})
    ports->erase(ports->end() - std::min(std::ssize(*ports), static_cast<std::ptrdiff_t>(states)),
                 ports->end());
  return interface;
}

Result<std::shared_ptr<const NativeModel>> FrameWithStates(std::shared_ptr<const NativeModel> frame,
                                                           const std::vector<KeptState>& states,
                                                           const Graph& fitted,
                                                           const InterfaceAxes& axes,
                                                           std::vector<ModelState>& written) {
  auto out = std::make_shared<StateFrame>();
  out->frame = std::move(frame);
  for (size_t k = 0; k < states.size(); ++k) {
    const size_t in = fitted.inputs().size() - states.size() + k;
    const size_t end = fitted.outputs().size() - states.size() + k;
    ModelState state = states[k].state;
    state.input = fitted.inputs()[in].name;
    state.output = fitted.outputs()[end].name;
    const Type& before = fitted.inputs()[in].value->type();
    const Type& after = fitted.outputs()[end].value->type();
    if (!IsUnmoved(axes.inputs[in], axes.input_offsets[in]) ||
        !IsUnmoved(axes.outputs[end], axes.output_offsets[end]))
      return CannotKeep(state.name, "its axes or integers are not those of the source");
    const bool same_integers = before.quantized() == after.quantized() &&
                               (!before.quantized() || before.quant->SameMapping(*after.quant));
    if (before.dtype != after.dtype || !same_integers || !Compatible(before, after))
      return CannotKeep(state.name, fmt::format("a run begins with {} and ends with {}",
                                                before.ToString(), after.ToString()));
    NN_ASSIGN(state.initial, InitialOf(states[k], before));
    out->states.push_back(std::move(state));
  }
  written = out->states;
  return std::shared_ptr<const NativeModel>(std::move(out));
}

std::vector<KeptState> PassedStates(const Graph& graph, std::vector<ModelState> states) {
  std::vector<KeptState> out;
  for (ModelState& s : states) {
    const auto input = IndexOf(graph.inputs(), s.input);
    out.push_back({std::move(s)});
    if (input) out.back().type = graph.inputs()[*input].value->type();
  }
  return out;
}

Result<Tensor> PassedInitial(const KeptState& passed, const Type& written, const AxisMap& map,
                             int64_t offset) {
  Tensor initial;
  if (passed.state.initial) {
    NN_ASSIGN(initial, Moved(*passed.state.initial, map));
  } else {
    NN_ASSIGN(TensorBuilder zero, TensorBuilder::Create(passed.type.dtype, {}));
    if (IsFloat(passed.type.dtype))
      zero.SetDouble(0, 0);
    else
      zero.SetInt(0, passed.type.quantized() ? passed.type.quant->zero_point() : 0);
    initial = std::move(zero).Finish();
  }
  if (passed.type.quantized() && !written.quantized()) {
    NN_ASSIGN(initial, RealTensor(initial, passed.type));
  }
  NN_ASSIGN(initial, CastTo(initial, written.dtype, offset));
  if (!IsOneNumber(initial)) return initial;
  NN_ASSIGN(TensorBuilder number, TensorBuilder::Create(initial.dtype(), {}));
  if (IsFloat(initial.dtype()))
    number.SetDouble(0, initial.GetDouble(0));
  else
    number.SetInt(0, initial.GetInt(0));
  return std::move(number).Finish();
}

Status CheckInitialValues(const std::vector<ModelState>& wanted,
                          const std::vector<ModelState>& written) {
  if (wanted.size() != written.size())
    return InternalError("the model has {} states, but the written model has {}", wanted.size(),
                         written.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    const auto &a = wanted[i].initial, &b = written[i].initial;
    const bool same = a.has_value() == b.has_value() && (!a || a->Identical(*b));
    if (!same)
      return InternalError("state {} begins with another value in the written model",
                           Quote(wanted[i].name));
  }
  return {};
}

}  // namespace nn
