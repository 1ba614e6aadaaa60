#include <algorithm>
#include <cmath>

#include "apps/common/progress.h"
#include "apps/nnconvert/options.h"
#include "base/text.h"
#include "base/thread_pool.h"
#include "exec/program.h"
#include "ops/shape.h"
#include "passes/passes.h"
#include "passes/qdq.h"

namespace nn::app {
namespace {

// Sizes that are tried for dimensions that a model leaves open and that nobody has given: the
// batch, and others such as lengths, heights and widths until the model takes one.
constexpr int64_t kBatch = 2;
constexpr int64_t kSizes[] = {32, 64, 224, 256, 16, 8};

std::set<std::string> BatchSymbols(const Graph& graph) {
  std::set<std::string> symbols;
  for (const Port& p : graph.inputs())
    if (p.value->type().ranked() && p.value->type().rank() > 0)
      if (const auto symbol = p.value->type().dim(0).symbol()) symbols.emplace(*symbol);
  return symbols;
}

// Operators between dequantize and quantize are run as the integer operators that they stand for,
// so that a quantised model computes the same in either form. True if there were any.
Result<bool> RunQdqAsIntegers(Graph& graph) {
  const auto count = [&] {
    return std::count_if(graph.nodes().begin(), graph.nodes().end(), OnQuantisedTypes);
  };
  const auto before = count();
  NN_RETURN_IF_ERROR(RunPass("fuse qdq", graph, FuseQdq));
  return count() != before;
}

Result<Program> Compile(Graph&& graph, const RunLimits& limits) {
  ProgramOptions options;
  options.limits = limits;
  options.threads = AvailableProcessors();
  return Program::Compile(std::move(graph), options);
}

// The error of a run that takes more than the limits allow.
Error TooMuch(const Error& error) {
  return Error(error.code(), fmt::format("{}; give smaller shapes (--verify-shape), larger limits "
                                         "(--max-work, --max-memory) or --no-verify",
                                         error.In("the verification").message()));
}

// The source, made ready for runs. Of its graph only what follows is left: graphs can be larger
// than all that a run takes.
struct SourceRuns {
  std::optional<Program> program;
  std::vector<std::string> input_names, output_names;
  std::vector<Type> input_types;             // with every dimension known
  std::vector<bool> quantised;               // by output
  std::vector<std::vector<Tensor>> outputs;  // of the runs that there were
};

SourceRuns DescribeSource(const Graph& graph) {
  SourceRuns runs;
  for (const Port& p : graph.inputs()) {
    runs.input_names.push_back(p.name);
    runs.input_types.push_back(p.value->type());
  }
  for (const Port& p : graph.outputs()) {
    runs.output_names.push_back(p.name);
    runs.quantised.push_back(p.value->type().quantised());
  }
  return runs;
}

// With every input dimension known.
Result<SourceRuns> PrepareSource(Graph source, const RunLimits& limits, Verification& out) {
  const auto open = InputSymbols(source);
  const auto batch = BatchSymbols(source);
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
        bound ? Compile(std::move(graph), limits) : Result<Program>(tl::unexpected(bound.error()));
    if (program) {
      out.symbols.assign(symbols.begin(), symbols.end());
      runs.program = *std::move(program);
      return runs;
    }
    if (!first_error) first_error = program.error();
    // Other sizes would only hide that these are too much.
    if (program.error().code() == ErrorCode::kLimit)
      return tl::unexpected(TooMuch(program.error()));
    if (only_batch) break;  // all tries are the same
  }
  const Error error = first_error->In("the model cannot be run for the verification");
  if (open.empty()) return tl::unexpected(error);
  return UsageError("{}; give --verify-shape or --no-verify", error.message());
}

Result<std::vector<Tensor>> InputsOf(const SourceRuns& source, uint64_t seed) {
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < source.input_types.size(); ++i) {
    NN_ASSIGN(Tensor t, SeededInput(source.input_names[i], source.input_types[i], i, seed));
    inputs.push_back(std::move(t));
  }
  return inputs;
}

Status RunSource(SourceRuns& source, uint64_t seed) {
  NN_ASSIGN(const std::vector<Tensor> inputs, InputsOf(source, seed));
  auto want = source.program->Run(inputs);
  if (!want)
    return tl::unexpected(want.error().In(fmt::format(
        "the model cannot be verified on inputs of seed {} (see --seed, --no-verify)", seed)));
  source.outputs.push_back(*std::move(want));
  return {};
}

// Runs as often as the outputs fit here, and gives the program up if that is as often as is wanted.
Status RunAhead(SourceRuns& source, const ConvertOptions& options) {
  constexpr uint64_t kMostBytes = uint64_t{256} << 20;
  uint64_t bytes = 0;
  while (source.outputs.size() < options.verify_runs && bytes < kMostBytes) {
    NN_RETURN_IF_ERROR(RunSource(source, options.seed + source.outputs.size()));
    for (const Tensor& t : source.outputs.back()) bytes += t.byte_size();
  }
  if (source.outputs.size() == options.verify_runs) source.program.reset();
  return {};
}

// The element's value in another numeric type, for formats whose interface has fewer types.
Result<Tensor> CastTo(const Tensor& tensor, DType dtype) {
  if (tensor.dtype() == dtype) return tensor;
  const auto numeric = [](DType t) { return IsFloat(t) || IsInteger(t) || t == DType::kBool; };
  if (!numeric(tensor.dtype()) || !numeric(dtype))
    return UnsupportedError("{} became {}", DTypeName(tensor.dtype()), DTypeName(dtype));
  NN_ASSIGN(TensorBuilder b, TensorBuilder::Create(dtype, tensor.dims()));
  for (int64_t i = 0; i < b.elements(); ++i) {
    if (IsFloat(tensor.dtype()))
      b.SetDouble(i, tensor.GetDouble(i));
    else
      b.SetInt(i, tensor.GetInt(i));
  }
  return b.Finish();
}

// Identities are of no rank where the port's is not known.
Result<Tensor> Moved(const Tensor& tensor, const AxisMap& map) {
  if (map.IsIdentity()) return tensor;
  return RearrangeTensor(tensor, map);
}

Status CheckPortCounts(const Graph& source, const Graph& converted) {
  const auto count = [](const Graph& g) {
    return fmt::format("{} inputs and {} outputs", g.inputs().size(), g.outputs().size());
  };
  if (source.inputs().size() == converted.inputs().size() &&
      source.outputs().size() == converted.outputs().size())
    return {};
  return InternalError("the model has {}, the written one {}", count(source), count(converted));
}

// With the shapes of the source's inputs, by position.
Result<Program> CompileConverted(const SourceRuns& source, Graph graph, const InterfaceAxes& axes,
                                 const RunLimits& limits, Verification& out) {
  NamePorts(graph);
  std::map<std::string, std::vector<int64_t>> shapes;
  for (size_t i = 0; i < source.input_types.size(); ++i)
    if (const auto dims = source.input_types[i].const_dims())
      shapes[graph.inputs()[i].name] =
          axes.inputs[i].IsIdentity() ? *dims : axes.inputs[i].Apply(*dims);
  if (auto s = BindInputShapes(graph, shapes); !s)
    return InternalError("the written model takes other shapes: {}", s.error().message());
  NN_ASSIGN(const bool fused, RunQdqAsIntegers(graph));
  out.qdq_as_integers = out.qdq_as_integers || fused;
  auto program = Compile(std::move(graph), limits);
  if (!program && program.error().code() == ErrorCode::kLimit)
    return tl::unexpected(TooMuch(program.error()));
  return program;
}

// Whether `b` is further off than `a`.
bool IsWorse(const Comparison& a, const Comparison& b) {
  const auto rank = [](const Comparison& c) {
    return std::tuple(!c.mismatch.empty(), !c.agrees, c.max_absolute, !c.identical);
  };
  return rank(a) < rank(b);
}

// The largest finite magnitude of a float output, which drift is measured by: an element near zero
// is as far off as those it was summed up with. 0 for other types.
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
                  const ConvertOptions& options, Verification& out) {
  for (size_t i = 0; i < want.size(); ++i) {
    NN_ASSIGN(const Tensor same_axes, Moved(got[i], axes.outputs[i].Inverse()));
    NN_ASSIGN(const Tensor same_type, CastTo(same_axes, want[i].dtype()));
    const double scale = ScaleOf(want[i]);
    const Tolerance tolerance{options.atol + options.rtol * scale, 0,
                              source.quantised[i] ? int64_t{1} : int64_t{0}};
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

Result<Verification> VerifyConversion(const Graph& source,
                                      const std::function<Result<Graph>()>& import_converted,
                                      const InterfaceAxes& axes, const ConvertOptions& options) {
  Verification out;
  Graph shaped = source.Clone();
  NN_RETURN_IF_ERROR(BindShapes(shaped, ShapeOptions{options.verify_shapes, std::nullopt}));
  NN_ASSIGN(out.qdq_as_integers, RunQdqAsIntegers(shaped));
  NN_ASSIGN(SourceRuns before, PrepareSource(std::move(shaped), options.run_limits, out));
  NN_RETURN_IF_ERROR(RunAhead(before, options));
  NN_ASSIGN(Graph converted, import_converted());
  NN_RETURN_IF_ERROR(CheckPortCounts(source, converted));
  std::vector<DType> types;
  for (const Port& p : converted.inputs()) types.push_back(p.value->dtype());
  NN_ASSIGN(Program after,
            CompileConverted(before, std::move(converted), axes, options.run_limits, out));
  out.outputs.resize(before.output_names.size());
  Progress progress("verification runs", options.verify_runs);
  for (uint64_t run = 0; run < options.verify_runs; ++run) {
    const uint64_t seed = options.seed + run;
    out.seeds.push_back(seed);
    NN_ASSIGN(const std::vector<Tensor> inputs, InputsOf(before, seed));
    std::vector<Tensor> cast;
    for (size_t i = 0; i < inputs.size(); ++i) {
      NN_ASSIGN(const Tensor moved, Moved(inputs[i], axes.inputs[i]));
      NN_ASSIGN(Tensor t, CastTo(moved, types[i]));
      cast.push_back(std::move(t));
    }
    if (run >= before.outputs.size()) NN_RETURN_IF_ERROR(RunSource(before, seed));
    NN_ASSIGN(const std::vector<Tensor> got, after.Run(cast));
    NN_RETURN_IF_ERROR(CompareRun(before, before.outputs[run], got, axes, options, out));
    before.outputs[run].clear();
    progress.Step();
  }
  return out;
}

}  // namespace nn::app
