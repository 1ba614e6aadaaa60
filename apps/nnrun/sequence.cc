#include "apps/nnrun/sequence.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <system_error>
#include <utility>

#include "apps/nnrun/inputs.h"
#include "apps/nnrun/options.h"
#include "base/file/file.h"
#include "base/text/text.h"
#include "convert/inputs/fit_array.h"
#include "passes/core/ports.h"
#include "passes/facts/input_domains.h"
#include "tensorio/npy.h"
#include "tensorio/tensor_archive.h"

namespace nn::app {
namespace {

// An input that gets the value of an output of the step before.
struct Carry {
  std::string name;  // in the state file
  size_t input = 0;
  size_t output = 0;
  bool is_state = false;  // of the model, which has no port in its file
  std::optional<Tensor> value = {};
};

size_t IndexOf(const std::vector<Port>& ports, const std::string& name) {
  return static_cast<size_t>(std::ranges::find(ports, name, &Port::name) - ports.begin());
}

Result<Carry> CarryOf(const std::string& text, const Graph& graph) {
  NN_ASSIGN(const Assignment output, PortFinder(graph.outputs(), {"out"}).Split(text));
  const PortFinder inputs(graph.inputs(), {"in"});
  NN_ASSIGN(const auto input, inputs.Find(output.value));
  if (!input) return UsageError("{}: {} {}", text, Quote(output.value), inputs.NoMatch());
  const Type& from = graph.outputs()[output.port].value->type();
  const Type& to = graph.inputs()[*input].value->type();
  const bool same = from.dtype == to.dtype && from.quantized() == to.quantized() &&
                    (!to.quantized() || from.quant->SameMapping(*to.quant));
  if (!same || (from.ranked() && to.ranked() && from.rank() != to.rank()))
    return UsageError("{}: the output is {}, but the input {}", text, from.ToString(),
                      to.ToString());
  return Carry{graph.inputs()[*input].name, *input, output.port};
}

Result<std::vector<Carry>> CarriesOf(const Graph& graph, std::span<const ModelState> states,
                                     const RunOptions& o) {
  std::vector<Carry> carries;
  for (const ModelState& s : states)
    carries.push_back({s.name, IndexOf(graph.inputs(), s.input), IndexOf(graph.outputs(), s.output),
                       true, s.initial});
  for (const std::string& text : o.carry) {
    auto carry = CarryOf(text, graph);
    if (!carry) return tl::unexpected(carry.error().In("--carry"));
    if (std::ranges::find(carries, carry->input, &Carry::input) != carries.end())
      return UsageError("--carry {}: the input already gets the value of an output", text);
    carries.push_back(*std::move(carry));
  }
  if (carries.empty() && !o.state.empty())
    return UsageError("--state: the model has no states; --carry makes an input one");
  return carries;
}

// Reads the values that the file has.
Status ReadStates(const Graph& graph, const RunOptions& o, std::vector<Carry>& carries) {
  std::error_code error;
  if (o.state.empty() || !std::filesystem::exists(o.state, error)) return {};
  std::vector<std::string> names;
  names.reserve(carries.size());
  for (const Carry& c : carries) names.push_back(c.name);
  const PortFinder finder(names, {});
  NN_ASSIGN(const Blob file, ReadFile(o.state, o.limits.max_file_bytes, o.limits.max_piped_bytes));
  auto arrays = ReadTensorArchive(file, {o.limits.max_unpacked_bytes, o.limits.max_items});
  if (!arrays) return tl::unexpected(arrays.error().In(o.state));
  for (const NamedTensor& array : *arrays) {
    NN_ASSIGN(const auto found, finder.Find(array.name));
    if (!found)
      return UsageError("{}: the model has no state {}; its states are {}", o.state,
                        Quote(array.name), NameList(names));
    Carry& c = carries[*found];
    const Type& type = graph.inputs()[c.input].value->type();
    auto value = FitType(DecodeStored(array.tensor, type.dtype), type, Casting::kExact);
    if (!value) return tl::unexpected(value.error().In(o.state + ": state " + Quote(array.name)));
    c.value = *std::move(value);
  }
  return {};
}

// The real zeros of a type of known size.
Result<Tensor> ZeroState(const Type& type) {
  NN_ASSIGN(TensorBuilder zeros, TensorBuilder::Create(type.dtype, *type.const_dims()));
  const int64_t zero = type.quantized() ? type.quant->zero_point() : 0;
  for (int64_t i = 0; i < zeros.elements(); ++i) zeros.SetInt(i, zero);
  return zeros.Finish();
}

// Element i of the first axis.
Result<Tensor> StepOf(const Tensor& all, int64_t i) {
  const std::vector<int64_t> dims(all.dims().begin() + 1, all.dims().end());
  NN_ASSIGN(TensorBuilder part, TensorBuilder::Create(all.dtype(), dims));
  part.Copy(0, all, i * part.elements(), part.elements());
  return part.Finish();
}

// The values of an output in all steps, along a new first axis.
class Stacked {
 public:
  Status Add(const Tensor& value, int64_t step, const std::optional<int64_t>& steps) {
    last_ = value;
    if (!steps) return {};
    if (step == 0) {
      std::vector<int64_t> dims = value.dims();
      dims.insert(dims.begin(), *steps);
      NN_ASSIGN(all_, TensorBuilder::Create(value.dtype(), std::move(dims)));
    }
    if (all_ && !std::ranges::equal(value.dims(), std::span(all_->dims()).subspan(1))) all_.reset();
    if (all_) all_->Copy(step * value.elements(), value, 0, value.elements());
    return {};
  }

  // `steps` and `name` as for the other calls. The last value if the shapes differ.
  Tensor Take(const std::optional<int64_t>& steps, const std::string& name) {
    if (all_) return all_->Finish();
    if (steps)
      spdlog::warn("output {} changes its shape from step to step; only that of the last is kept",
                   Quote(name));
    return last_;
  }

 private:
  std::optional<TensorBuilder> all_;
  Tensor last_;
};

// The inputs of one step after the other.
class Steps {
 public:
  // Arrays with one more axis than their input, of the number of steps, have a part for each step.
  Steps(const PortArrays& given, const Graph& graph, const ReadModel& read,
        const std::vector<Carry>& carries, const RunOptions& o)
      : given_(given), options_(o), casting_(CastingFor(o.arrays, *read.format)) {
    for (size_t i = 0; i < given.size(); ++i) {
      const Type& type = graph.inputs()[i].value->type();
      const bool carried = std::ranges::find(carries, i, &Carry::input) != carries.end();
      has_parts_.push_back(given[i] && !carried && HasParts(*given[i], type, o));
    }
  }

  // The arrays of step i, as they were given.
  Result<PortArrays> Given(int64_t i) const {
    PortArrays arrays = given_;
    NN_RETURN_IF_ERROR(TakeParts(i, arrays));
    return arrays;
  }

  // Replaces the inputs that change in step i.
  Status Update(int64_t i, const std::vector<PortType>& types, std::vector<Tensor>& inputs) const {
    PortArrays arrays(given_.size());
    NN_RETURN_IF_ERROR(TakeParts(i, arrays));
    NN_RETURN_IF_ERROR(FitTypes(types, casting_, arrays));
    NN_RETURN_IF_ERROR(FitShapes(types, options_.arrays.reshape, arrays));
    for (size_t k = 0; k < arrays.size(); ++k)
      if (arrays[k]) inputs[k] = *std::move(arrays[k]);
    return {};
  }

 private:
  // Sets the arrays that have a part for step i.
  Status TakeParts(int64_t i, PortArrays& arrays) const {
    for (size_t k = 0; k < arrays.size(); ++k)
      if (has_parts_[k]) {
        NN_ASSIGN(arrays[k], StepOf(*given_[k], i));
      }
    return {};
  }

  const PortArrays& given_;
  const RunOptions& options_;
  Casting casting_;
  std::vector<bool> has_parts_;
};

// A program for inputs of these shapes.
Result<Program> PlanFor(const Graph& graph, std::span<const Tensor> inputs, const RunOptions& o) {
  Graph bound = graph.Clone();
  std::map<std::string, std::vector<int64_t>> shapes;
  for (size_t i = 0; i < inputs.size(); ++i) shapes[bound.inputs()[i].name] = inputs[i].dims();
  NN_RETURN_IF_ERROR(BindInputs(bound, shapes));
  return Program::Compile(std::move(bound), o.program());
}

// A graph that has only the outputs with these values.
Graph OutputsOnly(const Graph& graph, std::span<const NamedTensor> outputs) {
  Graph out;
  for (const NamedTensor& output : outputs) {
    Value* const v = out.AddInput("", Type(output.tensor.dtype(), ToDims(output.tensor.dims())));
    const size_t i = IndexOf(graph.outputs(), output.name);
    v->set_name(std::string(graph.outputs()[i].value->name()));
    out.AddOutput(output.name, v);
  }
  return out;
}

}  // namespace

bool HasParts(const Tensor& array, const Type& input, const RunOptions& options) {
  return options.steps && input.ranked() && array.rank() == input.rank() + 1 &&
         array.dim(0) == *options.steps;
}

bool IsCarried(const Graph& graph, size_t i, const RunOptions& options) {
  return std::ranges::any_of(options.carry, [&](const std::string& text) {
    const auto carry = CarryOf(text, graph);
    return carry && carry->input == i;
  });
}

Result<SequenceResult> RunSequence(ImportedModel model, const ReadModel& read,
                                   const RunOptions& o) {
  Graph graph = std::move(model.graph);
  NN_ASSIGN(std::vector<Carry> carries, CarriesOf(graph, model.states, o));
  NN_RETURN_IF_ERROR(ReadStates(graph, o, carries));
  NN_ASSIGN(const PortArrays given, ReadGiven(graph, o));
  const Steps steps(given, graph, read, carries, o);
  NN_ASSIGN(PortArrays first, steps.Given(0));
  for (const Carry& c : carries)
    if (!first[c.input] && c.value) first[c.input] = c.value;
  const Graph unbound = graph.Clone();
  NN_ASSIGN(first, BindGiven(graph, read, o, first));
  const std::vector<PortType> types = InputTypes(graph, *read.format);
  const std::vector<Domain> domains = InputDomains(graph);
  NN_ASSIGN(Program program, Program::Compile(std::move(graph), o.program()));
  // Only after the limits of the run are checked.
  for (const Carry& c : carries)
    if (!first[c.input]) {
      NN_ASSIGN(first[c.input], ZeroState(types[c.input].type));
    }
  NN_ASSIGN(std::vector<Tensor> inputs,
            CompleteInputs(program.graph(), domains, std::move(first), o));
  std::vector<Stacked> stacks(unbound.outputs().size());
  const int64_t count = o.steps.value_or(1);
  for (int64_t step = 0; step < count; ++step) {
    if (step > 0) NN_RETURN_IF_ERROR(steps.Update(step, types, inputs));
    const bool fits = std::ranges::all_of(carries, [&](const Carry& c) {
      return *program.graph().inputs()[c.input].value->type().const_dims() ==
             inputs[c.input].dims();
    });
    if (!fits) {
      NN_ASSIGN(program, PlanFor(unbound, inputs, o));
    }
    auto outputs = program.Run(inputs);
    if (!outputs)
      return tl::unexpected(count == 1 ? outputs.error()
                                       : outputs.error().In(fmt::format("step {}", step)));
    for (size_t i = 0; i < outputs->size(); ++i)
      NN_RETURN_IF_ERROR(stacks[i].Add((*outputs)[i], step, o.steps));
    for (const Carry& c : carries) inputs[c.input] = (*outputs)[c.output];
  }
  SequenceResult result;
  for (size_t i = 0; i < stacks.size(); ++i) {
    const bool is_state =
        std::ranges::any_of(carries, [i](const Carry& c) { return c.is_state && c.output == i; });
    const std::string& name = unbound.outputs()[i].name;
    if (!is_state) result.outputs.push_back({name, stacks[i].Take(o.steps, name)});
  }
  result.graph = OutputsOnly(unbound, result.outputs);
  if (o.state.empty()) return result;
  std::vector<NamedTensor> states;
  states.reserve(carries.size());
  for (const Carry& c : carries) states.push_back({c.name, inputs[c.input]});
  NN_RETURN_IF_ERROR(WriteTensorArchive(o.state, states));
  return result;
}

}  // namespace nn::app
