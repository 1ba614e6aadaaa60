#include "convert/verify.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "base/text.h"
#include "base/thread_pool.h"
#include "exec/program.h"
#include "ops/array/shape.h"
#include "passes/passes.h"
#include "passes/ports.h"
#include "passes/qdq.h"

namespace nn {
namespace {

// Sizes tried for dynamic dimensions without a given size: the batch, and others such as lengths,
// heights and widths, until the model accepts one.
constexpr int64_t kBatch = 2;
constexpr int64_t kSizes[] = {32, 64, 224, 256, 16, 8};

// Fuses operators between dequantize and quantize to integer operators, so that a quantized model
// computes the same in either form. True if there were any.
Result<bool> RunQdqAsIntegers(Graph& graph) {
  const auto count = [&] {
    return std::count_if(graph.nodes().begin(), graph.nodes().end(), OnQuantizedTypes);
  };
  const auto before = count();
  NN_RETURN_IF_ERROR(RunPass("fuse qdq", graph, FuseQdq));
  return count() != before;
}

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

// The source, prepared for runs. The graph itself is freed, because it can be larger than all
// memory of a run.
struct SourceRuns {
  std::optional<Program> program;
  std::vector<std::string> input_names, output_names;
  std::vector<Type> input_types;             // with all dimensions known
  std::vector<bool> quantized;               // by output
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
    runs.quantized.push_back(p.value->type().quantized());
  }
  return runs;
}

// With all input dimensions known.
Result<SourceRuns> PrepareSource(Graph source, const VerifyOptions& options, Verification& out) {
  const auto open = InputSymbols(source);
  const auto batch_symbols = BatchSymbols(source);
  const std::set<std::string> batch(batch_symbols.begin(), batch_symbols.end());
  const bool only_batch = std::includes(batch.begin(), batch.end(), open.begin(), open.end());
  std::optional<Error> first_error;
  for (const int64_t size : kSizes) {
    std::map<std::string, int64_t> symbols;
    for (const std::string& s : open) symbols[s] = batch.contains(s) ? kBatch : size;
    // NOLINTNEXTLINE(bugprone-use-after-move): with only_batch there is one round
    Graph graph = only_batch ? std::move(source) : source.Clone();
    const auto bound = BindSymbols(graph, symbols);
    SourceRuns runs = DescribeSource(graph);
    auto program =
        bound ? Compile(std::move(graph), options) : Result<Program>(tl::unexpected(bound.error()));
    if (program) {
      out.symbols.assign(symbols.begin(), symbols.end());
      runs.program = *std::move(program);
      return runs;
    }
    if (!first_error) first_error = program.error();
    // Other sizes would only hide that these exceed the limits.
    if (program.error().code() == ErrorCode::kLimit)
      return tl::unexpected(TooMuch(program.error()));
    if (only_batch) break;  // all attempts are the same
  }
  const Error error = first_error->In("the model cannot be run for the verification");
  if (open.empty()) return tl::unexpected(error);
  return UsageError("{}; set shapes with --verify-shape or use --no-verify", error.message());
}

Result<std::vector<Tensor>> InputsOf(const SourceRuns& source, const VerifyOptions& options,
                                     uint64_t seed) {
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < source.input_types.size(); ++i) {
    const std::string& name = source.input_names[i];
    const Type& type = source.input_types[i];
    NN_ASSIGN(Tensor t, options.input != nullptr ? options.input(name, type, i, seed)
                                                 : SeededInput(name, type, i, seed));
    inputs.push_back(std::move(t));
  }
  return inputs;
}

Status RunSource(SourceRuns& source, const VerifyOptions& options, uint64_t seed) {
  NN_ASSIGN(const std::vector<Tensor> inputs, InputsOf(source, options, seed));
  auto want = source.program->Run(inputs);
  if (!want)
    return tl::unexpected(want.error().In(fmt::format(
        "the model cannot be verified on inputs of seed {} (see --seed, --no-verify)", seed)));
  source.outputs.push_back(*std::move(want));
  return {};
}

// Runs as many seeds as fit in memory, and frees the program if those are all.
Status RunAhead(SourceRuns& source, const VerifyOptions& options) {
  constexpr uint64_t kMostBytes = uint64_t{256} << 20;
  uint64_t bytes = 0;
  while (source.outputs.size() < options.runs && bytes < kMostBytes) {
    NN_RETURN_IF_ERROR(RunSource(source, options, options.seed + source.outputs.size()));
    for (const Tensor& t : source.outputs.back()) bytes += t.byte_size();
  }
  if (source.outputs.size() == options.runs) source.program.reset();
  return {};
}

// Converts to another numeric type, for formats whose interface has fewer types.
Result<Tensor> CastTo(const Tensor& tensor, DType dtype) {
  if (tensor.dtype() == dtype) return tensor;
  const auto numeric = [](DType t) { return IsFloat(t) || IsInteger(t) || t == DType::kBool; };
  if (!numeric(tensor.dtype()) || !numeric(dtype))
    return UnsupportedError("cannot compare {} with {}", DTypeName(tensor.dtype()),
                            DTypeName(dtype));
  NN_ASSIGN(TensorBuilder b, TensorBuilder::Create(dtype, tensor.dims()));
  for (int64_t i = 0; i < b.elements(); ++i) {
    if (IsFloat(tensor.dtype()))
      b.SetDouble(i, tensor.GetDouble(i));
    else
      b.SetInt(i, tensor.GetInt(i));
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

// Whether `b` differs more than `a`.
bool IsWorse(const Comparison& a, const Comparison& b) {
  const auto rank = [](const Comparison& c) {
    return std::tuple(!c.mismatch.empty(), !c.agrees, c.max_absolute, !c.identical);
  };
  return rank(a) < rank(b);
}

// The largest finite magnitude of a float output, the scale of relative drift: the error of an
// element near zero depends on the summands it comes from. 0 for other types.
double ScaleOf(const Tensor& tensor) {
  double scale = 0;
  if (!IsFloat(tensor.dtype())) return scale;
  for (int64_t i = 0; i < tensor.elements(); ++i)
    if (const double v = std::fabs(tensor.GetDouble(i)); std::isfinite(v))
      scale = std::max(scale, v);
  return scale;
}

Status CompareRun(const SourceRuns& source, const std::vector<Tensor>& want,
                  const std::vector<Tensor>& got, const InterfaceAxes& axes,
                  const VerifyOptions& options, Verification& out) {
  for (size_t i = 0; i < want.size(); ++i) {
    NN_ASSIGN(const Tensor same_axes, Moved(got[i], axes.outputs[i].Inverse()));
    NN_ASSIGN(const Tensor same_type, CastTo(same_axes, want[i].dtype()));
    const double scale = ScaleOf(want[i]);
    const Tolerance tolerance{options.atol + options.rtol * scale, 0,
                              source.quantized[i] ? int64_t{1} : int64_t{0}};
    const Comparison c = Compare(want[i], same_type, tolerance);
    OutputDrift& drift = out.outputs[i];
    if (!drift.where.empty() && !IsWorse(drift.worst, c)) continue;
    drift.name = source.output_names[i];
    drift.type = DTypeName(want[i].dtype());
    if (got[i].dtype() != want[i].dtype())
      drift.type += fmt::format(" -> {}", DTypeName(got[i].dtype()));
    drift.worst = c;
    drift.relative = scale == 0 ? c.max_absolute : c.max_absolute / scale;
    drift.where = Describe(c, want[i]);
    out.passed = out.passed && c.agrees;
  }
  return {};
}

}  // namespace

Result<Verification> VerifyConversion(Graph source,
                                      const std::function<Result<Graph>()>& import_converted,
                                      const InterfaceAxes& axes, const VerifyOptions& options) {
  Verification out;
  if (options.prepare) NN_RETURN_IF_ERROR(options.prepare(source));
  NN_ASSIGN(out.qdq_as_integers, RunQdqAsIntegers(source));
  NN_ASSIGN(SourceRuns before, PrepareSource(std::move(source), options, out));
  NN_RETURN_IF_ERROR(RunAhead(before, options));
  NN_ASSIGN(Graph converted, import_converted());
  NN_RETURN_IF_ERROR(CheckPortCounts(before, converted));
  std::vector<DType> types;
  for (const Port& p : converted.inputs()) types.push_back(p.value->dtype());
  NN_ASSIGN(Program after, CompileConverted(before, std::move(converted), axes, options, out));
  out.outputs.resize(before.output_names.size());
  if (options.progress) options.progress(0, options.runs);
  for (uint64_t run = 0; run < options.runs; ++run) {
    const uint64_t seed = options.seed + run;
    out.seeds.push_back(seed);
    NN_ASSIGN(const std::vector<Tensor> inputs, InputsOf(before, options, seed));
    std::vector<Tensor> cast;
    for (size_t i = 0; i < inputs.size(); ++i) {
      NN_ASSIGN(const Tensor moved, Moved(inputs[i], axes.inputs[i]));
      NN_ASSIGN(Tensor t, CastTo(moved, types[i]));
      cast.push_back(std::move(t));
    }
    if (run >= before.outputs.size()) NN_RETURN_IF_ERROR(RunSource(before, options, seed));
    NN_ASSIGN(const std::vector<Tensor> got, after.Run(cast));
    NN_RETURN_IF_ERROR(CompareRun(before, before.outputs[run], got, axes, options, out));
    before.outputs[run].clear();
    if (options.progress) options.progress(run + 1, options.runs);
  }
  return out;
}

}  // namespace nn
