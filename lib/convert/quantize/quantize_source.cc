#include "convert/quantize/quantize_source.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <set>
#include <utility>

#include "convert/quantize/quantized_drift.h"
#include "ir/op_def.h"
#include "numeric/doubles.h"
#include "passes/core/passes.h"
#include "passes/idioms/idioms.h"
#include "passes/qdq/qdq.h"
#include "passes/simplify/simplify.h"
#include "rewrite/forms/forms.h"
#include "rewrite/target.h"
#include "rewrite/weights.h"

namespace nn {
namespace {

// The sums of a signal-to-noise ratio.
struct Energy {
  double signal = 0, noise = 0;

  void Add(const Tensor& want, const Tensor& got) {
    for (int64_t i = 0; i < want.elements(); ++i) {
      const double x = want.GetDouble(i);
      const double error = got.GetDouble(i) - x;
      if (!std::isfinite(error)) continue;
      signal += x * x;
      noise += error * error;
    }
  }
  double Decibels() const {
    if (noise == 0) return std::numeric_limits<double>::infinity();
    return 10 / std::numbers::ln10 * (LogOfAny(signal) - LogOf(noise));
  }
};

// The samples of the verification, one after another.
CalibrationOptions SamplesOf(const VerifyOptions& runs) {
  CalibrationOptions samples;
  samples.samples = [&runs](const Graph& graph,
                            const std::function<Status(VerifyInputs)>& sink) -> Status {
    std::vector<VerifyInputs> sets;
    if (runs.data) {
      NN_ASSIGN(sets, runs.data(graph));
    } else {
      for (uint64_t i = 0; i < runs.runs; ++i) {
        VerifyInputs& set = sets.emplace_back();
        NN_ASSIGN(std::vector<Tensor> inputs, InputsOfRun(graph, {}, runs.seed + i, runs));
        for (Tensor& t : inputs) set.tensors.push_back(std::move(t));
      }
    }
    for (VerifyInputs& set : sets) NN_RETURN_IF_ERROR(sink(std::move(set)));
    return {};
  };
  return samples;
}

// Runs both graphs on one sample after another; their values are those of `summary`.
Status MeasureValues(const Graph& real, const Graph& quantized, const VerifyOptions& runs,
                     QuantizeSummary& summary) {
  std::map<int64_t, const Value*> of_real, of_quantized;
  for (const Value& v : real.values()) of_real[v.id()] = &v;
  for (const Value& v : quantized.values()) of_quantized[v.id()] = &v;
  std::vector<QuantizedValue*> measured;
  std::vector<const Value*> wanted, found;
  for (QuantizedValue& v : summary.values) {
    if (v.snr_db || !of_real.contains(v.real) || !of_quantized.contains(v.integers)) continue;
    measured.push_back(&v);
    wanted.push_back(of_real[v.real]);
    found.push_back(of_quantized[v.integers]);
  }
  if (measured.empty()) return {};
  std::vector<Energy> energies(measured.size());
  const CalibrationOptions samples = SamplesOf(runs);
  const auto compare = [&](size_t i, const Tensor& want, const Tensor& stored) -> Status {
    NN_ASSIGN(const Tensor got, RealTensor(stored, found[i]->type()));
    energies[i].Add(want, got);
    return {};
  };
  const auto each_sample = [&](const VerifyInputs& set) {
    return ObservePairs({real, wanted}, {quantized, found}, set, runs, compare);
  };
  NN_RETURN_IF_ERROR(samples.samples(real, each_sample));
  for (size_t i = 0; i < measured.size(); ++i) measured[i]->snr_db = energies[i].Decibels();
  return {};
}

// Products have their batch normalizations and biases. Idioms that the target fuses are one
// operator before they are quantized: afterwards, steps of integers would enlarge the difference in
// rounding.
Status PrepareForIntegers(Graph& graph, const Target& target) {
  NN_RETURN_IF_ERROR(RunPass("dequantize constants", graph, DequantizeConstants));
  NN_RETURN_IF_ERROR(Simplify(graph));
  NN_RETURN_IF_ERROR(FoldBatchNorms(graph).map([](int) {}));
  NN_RETURN_IF_ERROR(FuseIdiomsFor(target, graph, IdiomScope::kLacked, nullptr));
  // Before filters have scales: afterwards, the filter of a group could not have those of the
  // channels of all.
  NN_RETURN_IF_ERROR(FillGroupsFor(target.forms, graph));
  return Simplify(graph);
}

// The results, by Value::id(), of the operators that make up a normalization or an activation
// together. Integers of these parts would span magnitudes.
Result<std::set<int64_t>> PartsOfIdioms(const Graph& graph) {
  Graph fused = graph.Clone();
  IdiomOptions idioms;
  idioms.takes = [](const Node& node) {
    return node.op().category == Category::kNormalization ||
           node.op().category == Category::kActivation;
  };
  NN_RETURN_IF_ERROR(FuseIdioms(fused, idioms).map([](const auto&) {}));
  NN_RETURN_IF_ERROR(RemoveDeadCode(fused));
  std::set<int64_t> parts;
  for (const Node& node : graph.nodes())
    for (const Value* v : node.outputs()) parts.insert(v->id());
  for (const Node& node : fused.nodes())
    for (const Value* v : node.outputs()) parts.erase(v->id());
  return parts;
}

}  // namespace

Result<QuantizeOutcome> QuantizeSource(Graph& graph, const Target& target,
                                       const QuantizeSettings& settings, const VerifyOptions& runs,
                                       bool measure) {
  if (IsQuantized(graph))
    return UsageError("the model is quantized; --dequantize makes it a float model");
  QuantizeOutcome out;
  QuantizeOptions options = settings.options;
  if (!settings.weights_only || settings.correct_biases || settings.equalize)
    NN_RETURN_IF_ERROR(PrepareForIntegers(graph, target));
  if (settings.equalize) {
    NN_ASSIGN(out.equalized, EqualizeChannels(graph, options.keeps));
    if (out.equalized == 0)
      return UsageError(
          "--equalize has no effect: no two products of the model are connected by nothing but "
          "operators that scale with their operand, such as relu");
  }
  std::optional<Graph> real;
  if (measure && !settings.weights_only) real = graph.Clone();
  if (settings.correct_biases) {
    NN_ASSIGN(out.corrected, CorrectBiases(graph, options, settings.calibration, runs));
    if (out.corrected == 0)
      return UsageError(
          "--bias-correction has no effect: the model has no product whose bias can be corrected");
  }
  if (settings.weights_only) {
    NN_ASSIGN(out.summary, QuantizeWeights(graph, options));
    if (out.summary.weights == 0)
      return UsageError("the model has no float32 weights of {} or more elements to quantize",
                        kMinQuantizedWeight);
    return out;
  }
  NN_ASSIGN(const std::set<int64_t> parts, PartsOfIdioms(graph));
  options.is_part = [&parts](const Node& node) {
    return std::ranges::any_of(node.outputs(),
                               [&](const Value* v) { return parts.contains(v->id()); });
  };
  const auto values = ValuesToCalibrate(graph, options);
  if (values.empty())
    return UnsupportedError("the model has no operators with integer arithmetic to quantize");
  NN_ASSIGN(const Calibration calibration,
            Calibrate(graph, values, settings.calibration, runs, options.symmetric));
  out.samples = calibration.samples;
  NN_ASSIGN(out.summary, QuantizeInt8(graph, calibration.ranges, options));
  if (!IsQuantized(graph))
    return UnsupportedError("the model has no operators with integer arithmetic to quantize");
  if (real) NN_RETURN_IF_ERROR(MeasureValues(*real, graph, runs, out.summary));
  if (settings.integer_interface) NN_RETURN_IF_ERROR(QuantizePorts(graph));
  return out;
}

}  // namespace nn
