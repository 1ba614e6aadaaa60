#include "convert/verify.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "base/text.h"
#include "base/thread_pool.h"
#include "convert/quantized_form.h"
#include "exec/program.h"
#include "ops/array/shape.h"
#include "passes/input_domains.h"
#include "passes/interface_axes.h"
#include "passes/passes.h"
#include "passes/ports.h"
#include "passes/qdq.h"

namespace nn {
namespace {

// Sizes tried for dynamic dimensions without a given size: batches, and others such as lengths,
// heights and widths, until the model accepts one. The first shape has the first batch.
constexpr int64_t kBatches[] = {2, 1, 3};
constexpr int64_t kSizes[] = {32, 64, 224, 256, 16, 8};
// Sizes of the other shapes.
constexpr int64_t kOtherSizes[] = {16, 48, 8, 64, 224, 256, 32};

Result<Program> Compile(Graph&& graph, const VerifyOptions& options) {
  ProgramOptions o;
  o.limits = options.limits;
  o.threads = options.threads == 0 ? AvailableProcessors() : options.threads;
  return Program::Compile(std::move(graph), o);
}

// The error of a run that exceeds the limits.
Error TooMuch(const Error& error) {
  return Error(error.code(),
               fmt::format("{}; use smaller shapes (--verify-shape), raise the limits (--max-work, "
                           "--max-memory) or skip the verification (--no-verify)",
                           error.In("the verification").message()));
}

// One run.
struct PlannedRun {
  const VerifyInputs* given = nullptr;
  uint64_t seed = 0;
  int narrowing = 0;  // the level of Narrowed() that the source accepts
};

// The source, prepared for runs of one shape. The graph itself is freed, because it can be larger
// than all memory of a run.
struct SourceRuns {
  std::optional<Program> program;
  std::vector<std::string> input_names, output_names;
  std::vector<Type> input_types;  // with all dimensions known
  std::vector<Type> output_types;
  std::vector<Domain> domains;  // of the inputs
  // What is generated for each input: a quantized type is dequantized.
  std::vector<Type> generated_types;
  std::vector<bool> quantized;              // by output
  std::vector<std::optional<float>> steps;  // StepOf(), by output; quantized ones have none
  std::map<std::string, int64_t> symbols;
  std::vector<PlannedRun> runs;
  std::vector<std::vector<Tensor>> outputs;  // of the runs so far
};

SourceRuns DescribeSource(const Graph& graph) {
  SourceRuns runs;
  for (const Port& p : graph.inputs()) {
    runs.input_names.push_back(p.name);
    runs.input_types.push_back(p.value->type());
  }
  for (const Port& p : graph.outputs()) {
    runs.output_names.push_back(p.name);
    runs.output_types.push_back(p.value->type());
    runs.quantized.push_back(p.value->type().quantized());
    runs.steps.push_back(runs.quantized.back() ? std::nullopt : StepOf(*p.value));
  }
  runs.domains = InputDomains(graph);
  runs.generated_types = runs.input_types;
  return runs;
}

Result<SourceRuns> BindSource(Graph graph, const std::map<std::string, int64_t>& symbols,
                              const VerifyOptions& options) {
  NN_RETURN_IF_ERROR(BindSymbols(graph, symbols));
  SourceRuns runs = DescribeSource(graph);
  runs.symbols = symbols;
  NN_ASSIGN(runs.program, Compile(std::move(graph), options));
  return runs;
}

// The dynamic dimensions of the inputs.
struct OpenSizes {
  std::set<std::string> symbols;
  std::set<std::string> batch;
  bool only_batch = true;

  explicit OpenSizes(const Graph& graph) : symbols(InputSymbols(graph)) {
    const auto names = BatchSymbols(graph);
    batch.insert(names.begin(), names.end());
    only_batch = std::includes(batch.begin(), batch.end(), symbols.begin(), symbols.end());
  }

  std::map<std::string, int64_t> With(int64_t batch_size, int64_t size) const {
    std::map<std::string, int64_t> sizes;
    for (const std::string& s : symbols) sizes[s] = batch.contains(s) ? batch_size : size;
    return sizes;
  }
};

// With all input dimensions known. Consumes the graph if there is one attempt only and `last` is
// set.
Result<SourceRuns> PrepareSource(Graph& source, bool last, const VerifyOptions& options) {
  const OpenSizes open(source);
  const auto attempt = [&](Graph graph, int64_t size) -> Result<SourceRuns> {
    auto runs = BindSource(std::move(graph), open.With(kBatches[0], size), options);
    // Other sizes would only hide that these exceed the limits.
    if (!runs && runs.error().code() == ErrorCode::kLimit)
      return tl::unexpected(TooMuch(runs.error()));
    return runs;
  };
  const auto ends = [](const Result<SourceRuns>& runs) {
    return runs || runs.error().code() == ErrorCode::kLimit;
  };
  std::optional<Error> first_error;
  if (open.only_batch) {
    // All attempts are the same.
    auto runs = attempt(last ? std::move(source) : source.Clone(), kSizes[0]);
    if (ends(runs)) return runs;
    first_error = runs.error();
  } else {
    for (const int64_t size : kSizes) {
      auto runs = attempt(source.Clone(), size);
      if (ends(runs)) return runs;
      if (!first_error) first_error = runs.error();
    }
  }
  const Error error = first_error->In("the model cannot be run for the verification");
  if (open.symbols.empty()) return tl::unexpected(error);
  return UsageError("{}; set shapes with --verify-shape or use --no-verify", error.message());
}

// The same for further sizes, as far as the model accepts any: a conversion may fit only the sizes
// that its model was exported with.
void PrepareOtherSizes(const Graph& source, const VerifyOptions& options,
                       std::vector<SourceRuns>& shapes) {
  const OpenSizes open(source);
  const size_t wanted = std::min<uint64_t>(options.runs, std::size(kBatches));
  const auto add = [&](int64_t size) {
    const auto sizes = open.With(kBatches[shapes.size()], size);
    if (sizes == shapes.back().symbols) return false;
    auto runs = BindSource(source.Clone(), sizes, options);
    if (!runs) return false;
    shapes.push_back(*std::move(runs));
    return true;
  };
  const auto is_used = [&](int64_t size) {
    return std::ranges::any_of(shapes, [&](const SourceRuns& s) {
      return std::ranges::any_of(s.symbols, [&](const auto& x) {
        return !open.batch.contains(x.first) && x.second == size;
      });
    });
  };
  while (shapes.size() < wanted) {
    // A model may accept only one size, but other batches.
    const auto unused = [&](int64_t size) { return !is_used(size) && add(size); };
    const auto used = [&](int64_t size) { return is_used(size) && add(size); };
    if (open.only_batch
            ? !add(0)
            : std::ranges::none_of(kOtherSizes, unused) && std::ranges::none_of(kOtherSizes, used))
      return;
  }
}

Result<Tensor> InputOf(const SourceRuns& source, const PlannedRun& run, size_t i,
                       const VerifyOptions& options) {
  if (run.given != nullptr && run.given->tensors[i]) return *run.given->tensors[i];
  const std::string& name = source.input_names[i];
  if (options.input != nullptr) return options.input(name, source.input_types[i], i, run.seed);
  const Type& type = source.generated_types[i];
  auto t = SeededInput(name, type, i, run.seed, Narrowed(source.domains[i], type, run.narrowing));
  const Type& takes = source.input_types[i];
  const bool is_other = type.quantized() ? !takes.quantized() : type.dtype != takes.dtype;
  if (!t || !is_other) return t;
  NN_ASSIGN(const Tensor real, RealTensor(*t, type));
  if (takes.quantized()) return StoredTensor(real, takes);
  return IsFloat(real.dtype()) && IsFloat(takes.dtype) && !takes.quantized()
             ? StoredTensor(real, Type(takes.dtype, {}))
             : real;
}

Result<std::vector<Tensor>> InputsOf(const SourceRuns& source, const PlannedRun& run,
                                     const VerifyOptions& options) {
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < source.input_types.size(); ++i) {
    NN_ASSIGN(Tensor t, InputOf(source, run, i, options));
    inputs.push_back(std::move(t));
  }
  return inputs;
}

bool Generates(const PlannedRun& run) {
  return run.given == nullptr ||
         std::ranges::any_of(run.given->tensors, [](const auto& t) { return !t.has_value(); });
}

// The error of a source that rejects all inputs: what was tried, and what helps.
Error Rejected(const SourceRuns& source, const PlannedRun& run, const Error& error) {
  if (run.given != nullptr && !Generates(run))
    return Error(ErrorCode::kUsage, fmt::format("the model rejects the inputs of {}: {}",
                                                Quote(run.given->label), error.message()));
  std::string inputs;
  for (size_t i = 0; i < source.input_names.size(); ++i) {
    if (run.given != nullptr && run.given->tensors[i]) continue;
    const std::string wanted = source.domains[i].Describe();
    inputs += fmt::format("{}{} is {}", inputs.empty() ? "" : ", ", Quote(source.input_names[i]),
                          source.input_types[i].ToString());
    inputs += wanted.empty() ? ", with no known restriction"
                             : fmt::format(", {} for {}", wanted, source.domains[i].node);
  }
  return Error(ErrorCode::kUsage,
               fmt::format("the model cannot be verified, because it rejects generated inputs, "
                           "even from narrower ranges: {}; input {}; pass real inputs with "
                           "--verify-inputs FILE.npz, or skip the verification with --no-verify",
                           error.message(), inputs));
}

// Runs the next one; tries narrower domains if the source rejects generated inputs.
Status RunSource(SourceRuns& source, const VerifyOptions& options) {
  PlannedRun& run = source.runs[source.outputs.size()];
  if (!source.outputs.empty()) run.narrowing = source.runs[source.outputs.size() - 1].narrowing;
  std::optional<Error> first_error;
  while (true) {
    NN_ASSIGN(const std::vector<Tensor> inputs, InputsOf(source, run, options));
    auto want = source.program->Run(inputs);
    if (want) {
      source.outputs.push_back(*std::move(want));
      return {};
    }
    if (want.error().code() != ErrorCode::kModel || options.input != nullptr)
      return tl::unexpected(want.error().In(
          fmt::format("the model cannot be verified on inputs of seed {} (see --seed, --no-verify)",
                      run.seed)));
    if (!first_error) first_error = want.error();
    if (!Generates(run) || run.narrowing == kMaxNarrowing)
      return tl::unexpected(Rejected(source, run, *first_error));
    ++run.narrowing;
  }
}

// Runs as often as the results fit in memory, and frees the programs that are no longer needed.
Status RunAhead(std::vector<SourceRuns>& shapes, const VerifyOptions& options) {
  constexpr uint64_t kMostBytes = uint64_t{256} << 20;
  uint64_t bytes = 0;
  for (SourceRuns& source : shapes) {
    while (source.outputs.size() < source.runs.size() && bytes < kMostBytes) {
      NN_RETURN_IF_ERROR(RunSource(source, options));
      for (const Tensor& t : source.outputs.back()) bytes += t.byte_size();
    }
    if (source.outputs.size() == source.runs.size()) source.program.reset();
  }
  return {};
}

// The shapes and runs on given inputs: one shape for each set whose inputs have other shapes than
// those of the set before.
Result<std::vector<SourceRuns>> PlanGiven(Graph source, const std::vector<VerifyInputs>& sets,
                                          const VerifyOptions& options) {
  std::vector<SourceRuns> shapes;
  std::map<std::string, std::vector<int64_t>> last;
  for (size_t k = 0; k < sets.size(); ++k) {
    std::map<std::string, std::vector<int64_t>> dims;
    for (size_t i = 0; i < sets[k].tensors.size(); ++i)
      if (sets[k].tensors[i]) dims[source.inputs()[i].name] = sets[k].tensors[i]->dims();
    if (shapes.empty() || dims != last) {
      Graph graph = source.Clone();
      if (auto bound = BindInputs(graph, dims); !bound)
        return tl::unexpected(bound.error().In(sets[k].label));
      NN_ASSIGN(SourceRuns runs, PrepareSource(graph, true, options));
      shapes.push_back(std::move(runs));
      last = std::move(dims);
    }
    shapes.back().runs.push_back({&sets[k], options.seed + k, 0});
  }
  return shapes;
}

// The shapes and runs on generated inputs; runs of one shape are adjacent.
Result<std::vector<SourceRuns>> PlanGenerated(Graph source, const VerifyOptions& options) {
  const bool open = !InputSymbols(source).empty() && options.runs > 1;
  std::vector<SourceRuns> shapes;
  NN_ASSIGN(SourceRuns first, PrepareSource(source, !open, options));
  shapes.push_back(std::move(first));
  if (open) PrepareOtherSizes(source, options, shapes);
  for (uint64_t run = 0; run < options.runs; ++run)
    shapes[run * shapes.size() / options.runs].runs.push_back({nullptr, options.seed + run, 0});
  return shapes;
}

// Converts to another numeric type, for formats whose interface has fewer types.
// Adds `offset` to integers.
Result<Tensor> CastTo(const Tensor& tensor, DType dtype, int64_t offset = 0) {
  if (tensor.dtype() == dtype && offset == 0) return tensor;
  const auto numeric = [](DType t) { return IsFloat(t) || IsInteger(t) || t == DType::kBool; };
  if (!numeric(tensor.dtype()) || !numeric(dtype))
    return UnsupportedError("cannot compare {} with {}", DTypeName(tensor.dtype()),
                            DTypeName(dtype));
  NN_ASSIGN(TensorBuilder b, TensorBuilder::Create(dtype, tensor.dims()));
  for (int64_t i = 0; i < b.elements(); ++i) {
    if (IsFloat(tensor.dtype()))
      b.SetDouble(i, tensor.GetDouble(i));
    else
      b.SetInt(i, tensor.GetInt(i) + offset);
  }
  return b.Finish();
}

// An identity is returned unchanged: its rank is 0 if the port has an unknown rank.
Result<Tensor> Moved(const Tensor& tensor, const AxisMap& map) {
  if (map.IsIdentity()) return tensor;
  return RearrangeTensor(tensor, map);
}

Status CheckPortCounts(const SourceRuns& source, const Graph& converted) {
  const auto text = [](size_t inputs, size_t outputs) {
    return fmt::format("{} inputs and {} outputs", inputs, outputs);
  };
  const std::string have = text(source.input_names.size(), source.output_names.size());
  const std::string got = text(converted.inputs().size(), converted.outputs().size());
  if (have == got) return {};
  return InternalError("the model has {}, but the written model has {}", have, got);
}

// With the shapes of the source's inputs, by position.
Result<Program> CompileConverted(const SourceRuns& source, Graph graph, const InterfaceAxes& axes,
                                 const VerifyOptions& options, Verification& out) {
  NamePorts(graph);
  std::map<std::string, std::vector<int64_t>> shapes;
  for (size_t i = 0; i < source.input_types.size(); ++i)
    if (const auto dims = source.input_types[i].const_dims())
      shapes[graph.inputs()[i].name] =
          axes.inputs[i].IsIdentity() ? *dims : axes.inputs[i].Apply(*dims);
  if (auto s = BindInputShapes(graph, shapes); !s)
    return InternalError("the written model has different input shapes: {}", s.error().message());
  NN_ASSIGN(const bool fused, RunQdqAsIntegers(graph));
  out.qdq_as_integers = out.qdq_as_integers || fused;
  auto program = Compile(std::move(graph), options);
  if (!program && program.error().code() == ErrorCode::kLimit)
    return tl::unexpected(TooMuch(program.error()));
  return program;
}

// Replaces integers of quantized types by the numbers that they represent.
Status MakeReal(const std::vector<Type>& types, std::vector<Tensor>& tensors) {
  for (size_t i = 0; i < tensors.size(); ++i)
    if (types[i].quantized()) {
      NN_ASSIGN(tensors[i], RealTensor(tensors[i], types[i]));
    }
  return {};
}

// Compares the runs of the source so far with the quantized model.
Result<QuantizedDrift> CompareWithQuantized(const std::vector<SourceRuns>& shapes,
                                            QuantizedModel& quantized,
                                            const VerifyOptions& options) {
  const auto compile = [&](Graph&& graph) -> Result<Program> {
    NN_RETURN_IF_ERROR(RunQdqAsIntegers(graph));
    return Compile(std::move(graph), options);
  };
  for (const SourceRuns& source : shapes)
    for (size_t run = 0; run < source.outputs.size(); ++run) {
      NN_ASSIGN(std::vector<Tensor> inputs, InputsOf(source, source.runs[run], options));
      std::vector<Tensor> outputs = source.outputs[run];
      NN_RETURN_IF_ERROR(MakeReal(source.input_types, inputs));
      NN_RETURN_IF_ERROR(MakeReal(source.output_types, outputs));
      quantized.CompareRun(inputs, outputs, compile);
    }
  return quantized.drift();
}

// Whether `b` differs more than `a`.
bool IsWorse(const Comparison& a, const Comparison& b) {
  const auto rank = [](const Comparison& c) {
    return std::tuple(!c.mismatch.empty(), !c.agrees, c.max_absolute, !c.identical);
  };
  return rank(a) < rank(b);
}

Status CompareRun(const SourceRuns& source, const std::vector<Tensor>& want,
                  const std::vector<Tensor>& got, const InterfaceAxes& axes,
                  const VerifyOptions& options, Verification& out) {
  for (size_t i = 0; i < want.size(); ++i) {
    NN_ASSIGN(const Tensor same_axes, Moved(got[i], axes.outputs[i].Inverse()));
    NN_ASSIGN(const Tensor same_type, CastTo(same_axes, want[i].dtype(), -axes.output_offsets[i]));
    Tolerance tolerance = ScaledTolerance(options.atol, options.rtol, want[i]);
    // Formats round halfway cases differently.
    tolerance.steps = source.quantized[i] ? 1 : 0;
    tolerance.atol += double{source.steps[i].value_or(0)};
    const Comparison c = Compare(want[i], same_type, tolerance);
    OutputDrift& drift = out.outputs[i];
    if (!drift.where.empty() && !IsWorse(drift.worst, c)) continue;
    drift.name = source.output_names[i];
    drift.type = DTypeName(want[i].dtype());
    if (got[i].dtype() != want[i].dtype())
      drift.type += fmt::format(" -> {}", DTypeName(got[i].dtype()));
    drift.worst = c;
    const double scale = LargestMagnitude(want[i]);
    drift.relative = scale == 0 ? c.max_absolute : c.max_absolute / scale;
    drift.where = Describe(c, want[i]);
    out.passed = out.passed && c.agrees;
  }
  return {};
}

// What was run, for the report.
void Summarize(const std::vector<SourceRuns>& shapes, Verification& out) {
  for (const SourceRuns& source : shapes) {
    for (const PlannedRun& run : source.runs) {
      ++out.runs;
      if (Generates(run)) out.seeds.push_back(run.seed);
      if (run.given != nullptr) out.labels.push_back(run.given->label);
      out.narrowed = out.narrowed || run.narrowing > 0;
    }
    for (const auto& [name, size] : source.symbols) {
      const auto it = std::ranges::find(out.symbols, name, [](const auto& s) { return s.first; });
      if (it == out.symbols.end())
        out.symbols.push_back({name, {size}});
      else
        it->second.push_back(size);
    }
  }
}

// Runs the converted graph as often as the source, with the same inputs, and compares.
Status RunConverted(SourceRuns& source, Graph converted, const InterfaceAxes& axes,
                    const VerifyOptions& options, uint64_t total, uint64_t& done,
                    Verification& out) {
  std::vector<DType> types;
  for (const Port& p : converted.inputs()) types.push_back(p.value->dtype());
  NN_ASSIGN(Program after, CompileConverted(source, std::move(converted), axes, options, out));
  if (options.progress && done == 0) options.progress(0, total);
  for (size_t run = 0; run < source.runs.size(); ++run) {
    if (run >= source.outputs.size()) NN_RETURN_IF_ERROR(RunSource(source, options));
    NN_ASSIGN(const std::vector<Tensor> inputs, InputsOf(source, source.runs[run], options));
    std::vector<Tensor> cast;
    for (size_t i = 0; i < inputs.size(); ++i) {
      NN_ASSIGN(const Tensor moved, Moved(inputs[i], axes.inputs[i]));
      NN_ASSIGN(Tensor t, CastTo(moved, types[i], axes.input_offsets[i]));
      cast.push_back(std::move(t));
    }
    const auto got = after.Run(cast);
    if (!got)
      return tl::unexpected(got.error().In("the written model rejects inputs of the model"));
    NN_RETURN_IF_ERROR(CompareRun(source, source.outputs[run], *got, axes, options, out));
    source.outputs[run].clear();
    ++done;
    if (options.progress) options.progress(done, total);
  }
  return {};
}

// Prepares the source and plans its runs.
Result<std::vector<SourceRuns>> PlanRuns(Graph source, const std::vector<VerifyInputs>& given,
                                         const VerifyOptions& options) {
  return given.empty() ? PlanGenerated(std::move(source), options)
                       : PlanGiven(std::move(source), given, options);
}

// The sets of VerifyOptions::data. If the source takes integers in place of the numbers of the
// model that it is compared with, the sets have the numbers.
Result<std::vector<VerifyInputs>> GivenInputs(const Graph& source,
                                              const std::optional<Graph>& original,
                                              const VerifyOptions& options) {
  if (!options.data) return std::vector<VerifyInputs>();
  const auto is_quantized = [](const Port& p) { return p.value->type().quantized(); };
  const bool converts = original && std::ranges::any_of(source.inputs(), is_quantized) &&
                        std::ranges::none_of(original->inputs(), is_quantized);
  NN_ASSIGN(std::vector<VerifyInputs> sets, options.data(converts ? *original : source));
  for (VerifyInputs& set : sets)
    for (size_t i = 0; converts && i < set.tensors.size(); ++i) {
      const Type& type = source.inputs()[i].value->type();
      if (!set.tensors[i] || !type.quantized()) continue;
      NN_ASSIGN(set.tensors[i], StoredTensor(*set.tensors[i], type));
    }
  return sets;
}

}  // namespace

Result<std::vector<std::vector<Tensor>>> RunForVerification(Graph source,
                                                            const VerifyOptions& options) {
  if (options.prepare) NN_RETURN_IF_ERROR(options.prepare(source));
  std::vector<VerifyInputs> given;
  if (options.data) {
    NN_ASSIGN(given, options.data(source));
  }
  NN_ASSIGN(std::vector<SourceRuns> shapes, PlanRuns(std::move(source), given, options));
  std::vector<std::vector<Tensor>> out;
  for (SourceRuns& runs : shapes) {
    while (runs.outputs.size() < runs.runs.size()) NN_RETURN_IF_ERROR(RunSource(runs, options));
    for (std::vector<Tensor>& outputs : runs.outputs) out.push_back(std::move(outputs));
  }
  return out;
}

Status VerifyFunction(Graph graph, const ModelFunction& function, const VerifyOptions& options,
                      Verification& out) {
  if (options.prepare) NN_RETURN_IF_ERROR(options.prepare(graph));
  std::vector<VerifyInputs> given;
  if (options.data) {
    NN_ASSIGN(given, options.data(graph));
  }
  const InterfaceAxes axes = IdentityInterface(graph);
  NN_ASSIGN(std::vector<SourceRuns> shapes, PlanRuns(std::move(graph), given, options));
  out.outputs.resize(axes.outputs.size());
  // The graph first, so that both are not compiled at the same time.
  NN_RETURN_IF_ERROR(RunAhead(shapes, options));
  for (SourceRuns& runs : shapes)
    for (size_t k = 0; k < runs.runs.size(); ++k) {
      if (k >= runs.outputs.size()) NN_RETURN_IF_ERROR(RunSource(runs, options));
      NN_ASSIGN(std::vector<Tensor> inputs, InputsOf(runs, runs.runs[k], options));
      NN_ASSIGN(const std::vector<Tensor> want, function(std::move(inputs)));
      NN_RETURN_IF_ERROR(CompareRun(runs, want, runs.outputs[k], axes, options, out));
      runs.outputs[k].clear();
    }
  Summarize(shapes, out);
  return {};
}

Result<Verification> VerifyConversion(Graph source,
                                      const std::function<Result<Graph>()>& import_converted,
                                      const InterfaceAxes& axes, const VerifyOptions& options,
                                      std::optional<Graph> quantized) {
  Verification out;
  if (options.prepare) NN_RETURN_IF_ERROR(options.prepare(source));
  NN_ASSIGN(const std::vector<VerifyInputs> given, GivenInputs(source, quantized, options));
  std::optional<Graph> converted;
  if (std::ranges::any_of(source.nodes(), IsQuantization)) {
    NN_ASSIGN(converted, import_converted());
    NN_ASSIGN(out.qdq_as_integers, ComputeAlike(source, *converted));
  }
  NN_ASSIGN(std::vector<SourceRuns> shapes, PlanRuns(std::move(source), given, options));
  std::optional<QuantizedModel> original;
  if (quantized) original.emplace(*std::move(quantized));
  for (SourceRuns& source : shapes)
    for (size_t i = 0; original && i < source.input_types.size(); ++i)
      source.generated_types[i] = original->InputType(i, source.input_types[i]);
  NN_RETURN_IF_ERROR(RunAhead(shapes, options));
  if (original) {
    NN_ASSIGN(out.quantized, CompareWithQuantized(shapes, *original, options));
    original.reset();
  }
  if (!converted) {
    NN_ASSIGN(converted, import_converted());
  }
  NN_RETURN_IF_ERROR(CheckPortCounts(shapes[0], *converted));
  out.outputs.resize(shapes[0].output_names.size());
  const uint64_t total = given.empty() ? options.runs : given.size();
  uint64_t done = 0;
  const auto run = [&](SourceRuns& s, Graph graph) -> Status {
    NN_RETURN_IF_ERROR(RunConverted(s, std::move(graph), axes, options, total, done, out));
    s.program.reset();
    return {};
  };
  for (size_t i = 0; i + 1 < shapes.size(); ++i)
    NN_RETURN_IF_ERROR(run(shapes[i], converted->Clone()));
  NN_RETURN_IF_ERROR(run(shapes.back(), *std::move(converted)));
  Summarize(shapes, out);
  return out;
}

}  // namespace nn
