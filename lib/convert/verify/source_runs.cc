#include "convert/verify/source_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

#include "base/text/text.h"
#include "base/thread_pool.h"
#include "convert/quantize/quantized_form.h"
#include "passes/core/passes.h"
#include "passes/core/ports.h"
#include "passes/facts/input_domains.h"

namespace nn {
namespace {

// Sizes tried for dynamic dimensions without a given size: batches, and others such as lengths,
// heights and widths, until the model accepts one. The first shape has the first batch.
constexpr int64_t kBatches[] = {2, 1, 3};
constexpr int64_t kSizes[] = {32, 64, 224, 256, 16, 8};
// Sizes of the other shapes.
constexpr int64_t kOtherSizes[] = {16, 48, 8, 64, 224, 256, 32};

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
  NN_ASSIGN(runs.program, CompileToVerify(std::move(graph), options));
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

// A shape for each step.
Result<std::vector<SourceRuns>> PlanSteps(const Graph& source, const VerifyOptions& options) {
  std::vector<SourceRuns> shapes;
  const uint64_t count = std::min<uint64_t>(options.runs, options.steps.size());
  for (uint64_t run = 0; run < count; ++run) {
    const RunStep& step = options.steps[run];
    Graph graph = source.Clone();
    NN_RETURN_IF_ERROR(BindSymbols(graph, step.sizes));
    NN_ASSIGN(SourceRuns runs, PrepareSource(graph, true, options));
    runs.symbols.insert(step.sizes.begin(), step.sizes.end());
    runs.runs.push_back({.given = nullptr, .step = &step, .seed = options.seed + run});
    shapes.push_back(std::move(runs));
  }
  return shapes;
}

Result<Tensor> InputOf(const SourceRuns& source, const PlannedRun& run, size_t i,
                       const VerifyOptions& options) {
  if (run.given != nullptr && run.given->tensors[i]) return *run.given->tensors[i];
  const size_t count = source.input_types.size();
  if (run.step != nullptr)
    if (const auto it = run.step->contents.find(i); it != run.step->contents.end())
      return it->second;
  if (IsCarried(run, i, count)) return run.states[i + run.states.size() - count];
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

// Whether tensors have the sizes of the last inputs.
bool HaveSizes(const std::vector<Tensor>& tensors, const std::vector<Type>& types) {
  const auto last = types.end() - static_cast<std::ptrdiff_t>(tensors.size());
  return std::equal(tensors.begin(), tensors.end(), last, [](const Tensor& t, const Type& type) {
    return type.const_dims() == t.dims();
  });
}

}  // namespace

Result<Program> CompileToVerify(Graph&& graph, const VerifyOptions& options) {
  ProgramOptions o;
  o.limits = options.limits;
  o.threads = options.threads == 0 ? AvailableProcessors() : options.threads;
  return Program::Compile(std::move(graph), o);
}

Error TooMuch(const Error& error) {
  return Error(error.code(),
               fmt::format("{}; use smaller shapes (--verify-shape), raise the limits (--max-work, "
                           "--max-memory) or skip the verification (--no-verify)",
                           error.In("the verification").message()));
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

bool IsCarried(const PlannedRun& run, size_t i, size_t count) {
  const bool is_given = run.given != nullptr && run.given->tensors[i];
  return !is_given && i + run.states.size() >= count;
}

bool Generates(const PlannedRun& run) {
  return run.given == nullptr ||
         std::ranges::any_of(run.given->tensors, [](const auto& t) { return !t.has_value(); });
}

Status RunSource(SourceRuns& source, const VerifyOptions& options, std::vector<Tensor>& states) {
  PlannedRun& run = source.runs[source.outputs.size()];
  if (HaveSizes(states, source.input_types)) run.states = std::move(states);
  if (!source.outputs.empty()) run.narrowing = source.runs[source.outputs.size() - 1].narrowing;
  std::optional<Error> first_error;
  while (true) {
    NN_ASSIGN(const std::vector<Tensor> inputs, InputsOf(source, run, options));
    auto want = source.program->Run(inputs);
    if (want) {
      source.outputs.push_back(*std::move(want));
      const std::vector<Tensor>& outputs = source.outputs.back();
      states.assign(outputs.end() - static_cast<std::ptrdiff_t>(options.states), outputs.end());
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

Status RunAhead(std::vector<SourceRuns>& shapes, const VerifyOptions& options,
                std::vector<Tensor>& states) {
  constexpr uint64_t kMaxBytes = uint64_t{256} << 20;
  uint64_t bytes = 0;
  for (SourceRuns& source : shapes) {
    while (source.outputs.size() < source.runs.size() && bytes < kMaxBytes) {
      NN_RETURN_IF_ERROR(RunSource(source, options, states));
      for (const Tensor& t : source.outputs.back()) bytes += t.byte_size();
    }
    if (source.outputs.size() == source.runs.size()) source.program.reset();
  }
  return {};
}

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
    shapes.back().runs.push_back({.given = &sets[k], .seed = options.seed + k});
  }
  return shapes;
}

Result<std::vector<SourceRuns>> PlanGenerated(Graph source, const VerifyOptions& options) {
  if (!options.steps.empty()) return PlanSteps(source, options);
  const bool open = !InputSymbols(source).empty() && options.runs > 1;
  std::vector<SourceRuns> shapes;
  NN_ASSIGN(SourceRuns first, PrepareSource(source, !open, options));
  shapes.push_back(std::move(first));
  if (open) PrepareOtherSizes(source, options, shapes);
  for (uint64_t run = 0; run < options.runs; ++run)
    shapes[run * shapes.size() / options.runs].runs.push_back({.seed = options.seed + run});
  return shapes;
}

}  // namespace nn
