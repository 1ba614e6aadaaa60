#include "convert/verify/verify.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <tuple>

#include "base/text/text.h"
#include "convert/edits/interface.h"
#include "convert/quantize/quantized_drift.h"
#include "convert/quantize/quantized_form.h"
#include "convert/verify/source_runs.h"
#include "exec/program.h"
#include "ops/array/shape.h"
#include "passes/core/passes.h"
#include "passes/core/ports.h"
#include "passes/qdq/qdq.h"
#include "rewrite/interface_axes.h"

namespace nn {
namespace {

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
  auto program = CompileToVerify(std::move(graph), options);
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
    return CompileToVerify(std::move(graph), options);
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

// How one output is compared. Quantized integers stand for real numbers, and like the real numbers
// that are dequantized from them, they may be one step apart, because formats round halfway cases
// differently.
struct Measure {
  Tolerance tolerance;
  double magnitude = 0;  // what relative differences refer to; 0: none, they are the absolute ones
  double spared = 0;     // the absolute difference that agrees whatever atol and rtol are
};

Result<Measure> MeasureOf(const SourceRuns& source, size_t i, const Tensor& want,
                          const VerifyOptions& options) {
  const Type& type = source.output_types[i];
  if (!source.quantized[i]) {
    Measure out{ScaledTolerance(options.atol, options.rtol, want), LargestMagnitude(want)};
    out.tolerance.atol += double{source.steps[i].value_or(0)};
    return out;
  }
  if (type.quant->per_axis()) return Measure{{.steps = 1}, 0, 1};
  NN_ASSIGN(const Tensor real, RealTensor(want, type));
  const Tolerance allowed = ScaledTolerance(options.atol, options.rtol, real);
  const double scale = type.quant->scale();
  constexpr double kRounding = 1 + 1e-9;  // of an rtol that is a quotient of steps
  const double steps = std::min(allowed.atol / scale * kRounding, 0x1p32);
  return Measure{{.steps = 1 + static_cast<int64_t>(steps)}, LargestMagnitude(real) / scale, 1};
}

Status CompareRun(const SourceRuns& source, const std::vector<Tensor>& want,
                  const std::vector<Tensor>& got, const InterfaceAxes& axes,
                  const VerifyOptions& options, Verification& out) {
  for (size_t i = 0; i < want.size(); ++i) {
    NN_ASSIGN(const Tensor same_axes, Moved(got[i], axes.outputs[i].Inverse()));
    NN_ASSIGN(const Tensor same_type, CastTo(same_axes, want[i].dtype(), -axes.output_offsets[i]));
    NN_ASSIGN(const Measure measure, MeasureOf(source, i, want[i], options));
    const Comparison c = Compare(want[i], same_type, measure.tolerance);
    const double scale = measure.magnitude == 0 ? 1 : measure.magnitude;
    const double relative = c.max_absolute / scale;
    OutputDrift& drift = out.outputs[i];
    constexpr double kNone = std::numeric_limits<double>::infinity();
    const double accepting = measure.magnitude == 0 ? kNone : relative - measure.spared / scale;
    if (!c.agrees) drift.accepting = std::max(drift.accepting, accepting);
    if (!drift.where.empty() && !IsWorse(drift.worst, c)) continue;
    drift.name = source.output_names[i];
    drift.type = DTypeName(want[i].dtype());
    if (got[i].dtype() != want[i].dtype())
      drift.type += fmt::format(" -> {}", DTypeName(got[i].dtype()));
    drift.worst = c;
    drift.relative = relative;
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

// States of the source and of the converted graph after a run.
struct PassedOn {
  std::vector<Tensor> source, converted;
};

// Runs the converted graph as often as the source, with the same inputs, and compares.
Status RunConverted(SourceRuns& source, Graph converted, const InterfaceAxes& axes,
                    const VerifyOptions& options, uint64_t total, uint64_t& done, PassedOn& states,
                    Verification& out) {
  std::vector<DType> types;
  for (const Port& p : converted.inputs()) types.push_back(p.value->dtype());
  NN_ASSIGN(Program after, CompileConverted(source, std::move(converted), axes, options, out));
  if (options.progress && done == 0) NN_RETURN_IF_ERROR(options.progress(0, total));
  for (size_t run = 0; run < source.runs.size(); ++run) {
    if (run >= source.outputs.size()) NN_RETURN_IF_ERROR(RunSource(source, options, states.source));
    NN_ASSIGN(const std::vector<Tensor> inputs, InputsOf(source, source.runs[run], options));
    std::vector<Tensor> cast;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (IsCarried(source.runs[run], i, inputs.size())) {
        cast.push_back(states.converted[i + states.converted.size() - inputs.size()]);
        continue;
      }
      NN_ASSIGN(const Tensor moved, Moved(inputs[i], axes.inputs[i]));
      NN_ASSIGN(Tensor t, CastTo(moved, types[i], axes.input_offsets[i]));
      cast.push_back(std::move(t));
    }
    auto got = after.Run(cast);
    if (!got)
      return tl::unexpected(got.error().In("the written model rejects inputs of the model"));
    NN_RETURN_IF_ERROR(CompareRun(source, source.outputs[run], *got, axes, options, out));
    source.outputs[run].clear();
    states.converted.assign(got->end() - static_cast<std::ptrdiff_t>(options.states), got->end());
    ++done;
    if (options.progress) NN_RETURN_IF_ERROR(options.progress(done, total));
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
  std::vector<Tensor> states;
  for (SourceRuns& runs : shapes) {
    while (runs.outputs.size() < runs.runs.size())
      NN_RETURN_IF_ERROR(RunSource(runs, options, states));
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
  std::vector<Tensor> states;
  NN_RETURN_IF_ERROR(RunAhead(shapes, options, states));
  for (SourceRuns& runs : shapes)
    for (size_t k = 0; k < runs.runs.size(); ++k) {
      if (k >= runs.outputs.size()) NN_RETURN_IF_ERROR(RunSource(runs, options, states));
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
  for (SourceRuns& runs : shapes)
    for (size_t i = 0; original && i < runs.input_types.size(); ++i)
      runs.generated_types[i] = original->InputType(i, runs.input_types[i]);
  PassedOn states;
  NN_RETURN_IF_ERROR(RunAhead(shapes, options, states.source));
  if (original) {
    NN_ASSIGN(out.quantized, CompareWithQuantized(shapes, *original, options));
    original.reset();
  }
  if (!converted) {
    NN_ASSIGN(converted, import_converted());
  }
  NN_RETURN_IF_ERROR(CheckPortCounts(shapes[0], *converted));
  out.outputs.resize(shapes[0].output_names.size());
  uint64_t total = 0;
  for (const SourceRuns& s : shapes) total += s.runs.size();
  uint64_t done = 0;
  const auto run = [&](SourceRuns& s, Graph graph) -> Status {
    NN_RETURN_IF_ERROR(RunConverted(s, std::move(graph), axes, options, total, done, states, out));
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
