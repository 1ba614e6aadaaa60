#include "convert/runs/sequence.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <span>
#include <system_error>
#include <utility>

#include "base/file/file.h"
#include "base/text/text.h"
#include "convert/edits/carry.h"
#include "convert/edits/port_finder.h"
#include "convert/inputs/fit_array.h"
#include "passes/core/ports.h"
#include "passes/facts/input_domains.h"
#include "tensorio/npy.h"
#include "tensorio/tensor_archive.h"

namespace nn {
namespace {

// An input that gets the value of an output of the step before.
struct Carry {
  std::string name;  // in the state file
  size_t input = 0;
  size_t output = 0;
  bool is_state = false;  // of the model, which has no port in its file
  std::optional<Tensor> value = {};
};

size_t PortIndex(const std::vector<Port>& ports, const std::string& name) {
  return static_cast<size_t>(std::ranges::find(ports, name, &Port::name) - ports.begin());
}

Result<Carry> CarryOf(const std::string& text, const Graph& graph) {
  NN_ASSIGN(const Connection ports, CarriedPortsOf(text, graph));
  return Carry{graph.inputs()[ports.input].name, ports.input, ports.output};
}

// Whether the array has a part for each step: one more axis than its input, of their number.
bool HasParts(const Tensor& array, const Type& input, const SequenceOptions& o) {
  return o.steps && input.ranked() && array.rank() == input.rank() + 1 && array.dim(0) == *o.steps;
}

// Whether SequenceOptions::carry names input i.
bool IsCarried(const Graph& graph, size_t i, const SequenceOptions& o) {
  return std::ranges::any_of(o.carry, [&](const std::string& text) {
    const auto carry = CarryOf(text, graph);
    return carry && carry->input == i;
  });
}

Result<std::vector<Carry>> CarriesOf(const Graph& graph, std::span<const ModelState> states,
                                     const SequenceOptions& o) {
  std::vector<Carry> carries;
  for (const ModelState& s : states)
    carries.push_back({s.name, PortIndex(graph.inputs(), s.input),
                       PortIndex(graph.outputs(), s.output), true, s.initial});
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
Status ReadStates(const Graph& graph, const std::string& path, const ReadLimits& limits,
                  std::vector<Carry>& carries) {
  if (path.empty()) return {};
  if (!IsTensorArchivePath(path)) return UsageError("{}: expected .npz or .safetensors", path);
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return {};
  std::vector<std::string> names;
  names.reserve(carries.size());
  for (const Carry& c : carries) names.push_back(c.name);
  const PortFinder finder(names, {});
  NN_ASSIGN(const Blob file, ReadFile(path, limits.max_file_bytes, limits.max_piped_bytes));
  auto arrays = ReadTensorArchive(file, {limits.max_unpacked_bytes, limits.max_items});
  if (!arrays) return tl::unexpected(arrays.error().In(path));
  for (const NamedTensor& array : *arrays) {
    NN_ASSIGN(const auto found, finder.Find(array.name));
    if (!found)
      return UsageError("{}: the model has no state {}; its states are {}", path, Quote(array.name),
                        NameList(names));
    Carry& c = carries[*found];
    const Type& type = graph.inputs()[c.input].value->type();
    auto value = FitType(DecodeStored(array.tensor, type.dtype), type, Casting::kExact);
    if (!value) return tl::unexpected(value.error().In(path + ": state " + Quote(array.name)));
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
Result<Tensor> PartOf(const Tensor& all, int64_t i) {
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

  // Whether all steps have the same shape. After the last step.
  bool is_whole() const { return all_.has_value(); }
  // The last value if the shapes differ.
  Tensor Take() { return all_ ? all_->Finish() : last_; }

 private:
  std::optional<TensorBuilder> all_;
  Tensor last_;
};

// The inputs of one step after the other.
class Steps {
 public:
  // Arrays with one more axis than their input, of the number of steps, have a part for each step.
  Steps(const PortArrays& given, const Graph& graph, const ReadModel& read,
        const std::vector<Carry>& carries, const ArrayOptions& arrays, const SequenceOptions& o)
      : given_(given), reshapes_(arrays.reshape), casting_(CastingFor(arrays, *read.format)) {
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
    NN_RETURN_IF_ERROR(FitShapes(types, reshapes_, arrays));
    for (size_t k = 0; k < arrays.size(); ++k)
      if (arrays[k]) inputs[k] = *std::move(arrays[k]);
    return {};
  }

 private:
  // Sets the arrays that have a part for step i.
  Status TakeParts(int64_t i, PortArrays& arrays) const {
    for (size_t k = 0; k < arrays.size(); ++k)
      if (has_parts_[k]) {
        NN_ASSIGN(arrays[k], PartOf(*given_[k], i));
      }
    return {};
  }

  const PortArrays& given_;
  bool reshapes_;
  Casting casting_;
  std::vector<bool> has_parts_;
};

// A program for inputs of these shapes.
Result<Program> PlanFor(const Graph& graph, std::span<const Tensor> inputs,
                        const ProgramOptions& o) {
  Graph bound = graph.Clone();
  std::map<std::string, std::vector<int64_t>> shapes;
  for (size_t i = 0; i < inputs.size(); ++i) shapes[bound.inputs()[i].name] = inputs[i].dims();
  NN_RETURN_IF_ERROR(BindInputs(bound, shapes));
  return Program::Compile(std::move(bound), o);
}

// A graph that has only the outputs with these values.
Graph OutputsOnly(const Graph& graph, std::span<const NamedTensor> outputs) {
  Graph out;
  for (const NamedTensor& output : outputs) {
    Value* const v = out.AddInput("", Type(output.tensor.dtype(), ToDims(output.tensor.dims())));
    const size_t i = PortIndex(graph.outputs(), output.name);
    v->set_name(std::string(graph.outputs()[i].value->name()));
    out.AddOutput(output.name, v);
  }
  return out;
}

// The states of step 0, where nothing else is given.
Status SetStates(const std::vector<Carry>& carries, const std::vector<PortType>& types,
                 PortArrays& first) {
  for (const Carry& c : carries)
    if (!first[c.input]) {
      NN_ASSIGN(first[c.input], ZeroState(types[c.input].type));
    }
  return {};
}

// Whether the states have the shapes that the program is planned for.
bool FitsPlan(const Program& program, const std::vector<Carry>& carries,
              std::span<const Tensor> inputs) {
  return std::ranges::all_of(carries, [&](const Carry& c) {
    return *program.graph().inputs()[c.input].value->type().const_dims() == inputs[c.input].dims();
  });
}

// A sequence whose inputs of the first step are complete.
struct Sequence {
  const Graph& unbound;
  const std::vector<Carry>& carries;
  const Steps& steps;
  const std::vector<PortType>& types;  // of the inputs
  Program program;
  std::vector<Tensor> inputs;
  std::vector<Stacked> stacks;  // by output

  Status Run(int64_t step, const std::optional<int64_t>& count, const ProgramOptions& options);
};

Status Sequence::Run(int64_t step, const std::optional<int64_t>& count,
                     const ProgramOptions& options) {
  if (step > 0) NN_RETURN_IF_ERROR(steps.Update(step, types, inputs));
  if (!FitsPlan(program, carries, inputs)) {
    NN_ASSIGN(program, PlanFor(unbound, inputs, options));
  }
  NN_ASSIGN(const std::vector<Tensor> outputs, program.Run(inputs));
  for (size_t i = 0; i < outputs.size(); ++i)
    NN_RETURN_IF_ERROR(stacks[i].Add(outputs[i], step, count));
  for (const Carry& c : carries) inputs[c.input] = outputs[c.output];
  return {};
}

SequenceResult ResultOf(Sequence& sequence, bool has_steps) {
  SequenceResult out;
  for (size_t i = 0; i < sequence.stacks.size(); ++i) {
    if (std::ranges::any_of(sequence.carries,
                            [i](const Carry& c) { return c.is_state && c.output == i; }))
      continue;
    const std::string& name = sequence.unbound.outputs()[i].name;
    if (has_steps && !sequence.stacks[i].is_whole())
      out.notes.push_back(fmt::format(
          "output {} changes its shape from step to step; only that of the last is kept",
          Quote(name)));
    out.outputs.push_back({name, sequence.stacks[i].Take()});
  }
  for (const Carry& c : sequence.carries) out.states.push_back({c.name, sequence.inputs[c.input]});
  out.graph = OutputsOnly(sequence.unbound, out.outputs);
  return out;
}

}  // namespace

OptionTable SequenceOptionTable() {
  static const std::vector<OptionField> fields = {
      Option<&SequenceOptions::steps>(
          "steps",
          {.help = "Run N times and pass states on from step to step; outputs get a first axis of "
                   "N. An input with such an axis has its value for each step, another one is "
                   "repeated",
           .value = "N",
           .least = 1,
           .most = kMaxSequenceSteps}),
      Option<&SequenceOptions::carry>(
          "carry", {.help = "The input IN gets the value of the output OUT in the step before; it "
                            "begins with zeros unless it is given; repeatable",
                    .value = "OUT=IN"}),
      Option<&SequenceOptions::state>(
          "state", {.help = "Read the states before the first step from the file, if it exists, "
                            "and write those after the last: .npz or .safetensors",
                    .value = "FILE"}),
  };
  return fields;
}

GivenShapeOf ShapesOfStep(const SequenceOptions& options) {
  return [&options](const Graph& graph, size_t i, const Type& type, const Tensor& array) {
    const bool in_parts = HasParts(array, type, options);
    const bool carried = IsCarried(graph, i, options);
    GivenShape given{array.dims(), !in_parts && !carried};
    if (in_parts && !carried) given.shape.erase(given.shape.begin());
    return given;
  };
}

Result<SequenceResult> RunSequence(ImportedModel model, const ReadModel& read,
                                   const RunInputs& inputs, const SequenceOptions& options,
                                   const ProgramOptions& program, const SequenceHooks& hooks) {
  Graph graph = std::move(model.graph);
  NN_ASSIGN(std::vector<Carry> carries, CarriesOf(graph, model.states, options));
  NN_RETURN_IF_ERROR(ReadStates(graph, options.state, inputs.limits, carries));
  NN_ASSIGN(const PortArrays given, ReadGiven(graph, inputs));
  const Steps steps(given, graph, read, carries, inputs.arrays, options);
  NN_ASSIGN(PortArrays first, steps.Given(0));
  for (const Carry& c : carries)
    if (!first[c.input] && c.value) first[c.input] = c.value;
  const Graph unbound = graph.Clone();
  std::vector<std::string> batch;
  auto bound = BindGiven(graph, read, inputs, first, &batch);
  if (hooks.batch) hooks.batch(batch);
  NN_ASSIGN(first, std::move(bound));
  const std::vector<PortType> types = InputTypes(graph, *read.format);
  const std::vector<Domain> domains = InputDomains(graph);
  NN_ASSIGN(Program compiled, Program::Compile(std::move(graph), program));
  // Only after the limits of the run are checked.
  NN_RETURN_IF_ERROR(SetStates(carries, types, first));
  NN_ASSIGN(std::vector<Tensor> complete,
            hooks.complete ? hooks.complete(compiled.graph(), domains, std::move(first))
                           : CompleteInputs(compiled.graph(), domains, std::move(first),
                                            inputs.seed.value_or(0)));
  Sequence sequence = {unbound,
                       carries,
                       steps,
                       types,
                       std::move(compiled),
                       std::move(complete),
                       std::vector<Stacked>(unbound.outputs().size())};
  const int64_t count = options.steps.value_or(1);
  const auto tell = [&](int64_t done) {
    return hooks.progress
               ? hooks.progress(static_cast<uint64_t>(done), static_cast<uint64_t>(count))
               : Status();
  };
  for (int64_t step = 0; step < count; ++step) {
    NN_RETURN_IF_ERROR(tell(step));
    if (const Status done = sequence.Run(step, options.steps, program); !done)
      return tl::unexpected(count == 1 ? done.error()
                                       : done.error().In(fmt::format("step {}", step)));
  }
  NN_RETURN_IF_ERROR(tell(count));
  SequenceResult result = ResultOf(sequence, options.steps.has_value());
  if (!options.state.empty()) NN_RETURN_IF_ERROR(WriteTensorArchive(options.state, result.states));
  return result;
}

}  // namespace nn
