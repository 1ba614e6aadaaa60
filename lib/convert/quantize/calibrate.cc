#include "convert/quantize/calibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "base/thread_pool.h"
#include "convert/quantize/histogram.h"
#include "exec/stepper.h"
#include "ir/op_def.h"
#include "ops/quant/int8_rules.h"
#include "passes/core/ports.h"

namespace nn {
namespace {

// Generated samples are not those of the verification.
constexpr uint64_t kFirstSeed = uint64_t{1} << 32;

// Runs the graph, prepared for the shapes of the last sample.
class SampleRuns {
 public:
  SampleRuns(const Graph& graph, const std::vector<const Value*>& values, const VerifyOptions& runs)
      : graph_(graph), values_(values), runs_(runs) {}

  Status Start(std::vector<Tensor> inputs) {
    NN_RETURN_IF_ERROR(PrepareFor(inputs));
    NN_RETURN_IF_ERROR(stepper_->Start(std::move(inputs)));
    for (size_t i = 0; i < values_.size(); ++i) stepper_->Keep(Observed(i));
    return {};
  }
  // The contents of value i, each of which is taken once.
  Result<Tensor> Take(size_t i) {
    NN_RETURN_IF_ERROR(stepper_->Compute(Observed(i)));
    Tensor out = stepper_->At(Observed(i));
    stepper_->Release(Observed(i));
    return out;
  }

  Status Run(std::vector<Tensor> inputs, const ObserveValue& observe) {
    NN_RETURN_IF_ERROR(Start(std::move(inputs)));
    for (size_t i = 0; i < values_.size(); ++i) {
      NN_ASSIGN(const Tensor contents, Take(i));
      NN_RETURN_IF_ERROR(observe(i, contents));
    }
    return {};
  }

 private:
  Status PrepareFor(const std::vector<Tensor>& inputs) {
    std::vector<std::vector<int64_t>> dims;
    std::map<std::string, std::vector<int64_t>> shapes;
    for (size_t i = 0; i < inputs.size(); ++i) {
      dims.push_back(inputs[i].dims());
      shapes[graph_.inputs()[i].name] = inputs[i].dims();
    }
    if (stepper_ && dims == dims_) return {};
    Graph graph = graph_.Clone();
    std::map<int64_t, Value*> by_id;
    for (Value& v : graph.values()) by_id[v.id()] = &v;
    for (size_t i = 0; i < values_.size(); ++i)
      graph.AddOutput(fmt::format("observed {}", i), by_id.at(values_[i]->id()));
    NN_RETURN_IF_ERROR(BindInputs(graph, shapes));
    ProgramOptions options;
    options.limits = runs_.limits;
    options.threads = runs_.threads == 0 ? AvailableProcessors() : runs_.threads;
    stepper_.reset();
    NN_ASSIGN(stepper_, Stepper::Create(std::move(graph), options));
    dims_ = std::move(dims);
    return {};
  }

  // The last outputs of the prepared graph.
  const Value* Observed(size_t i) const {
    const auto& ports = stepper_->graph().outputs();
    return ports[ports.size() - values_.size() + i].value;
  }

  const Graph& graph_;
  const std::vector<const Value*>& values_;
  const VerifyOptions& runs_;
  std::optional<Stepper> stepper_;
  std::vector<std::vector<int64_t>> dims_;
};

}  // namespace

Result<std::vector<Tensor>> InputsOfRun(const Graph& graph, const VerifyInputs& sample,
                                        uint64_t seed, const VerifyOptions& runs) {
  std::vector<Tensor> inputs;
  for (const auto& tensor : sample.tensors)
    if (tensor) inputs.push_back(*tensor);
  if (!inputs.empty() && inputs.size() == graph.inputs().size()) return inputs;
  inputs.clear();
  // The verification finds shapes and contents that the model accepts: its inputs become outputs.
  Graph shown = graph.Clone();
  const size_t first = shown.outputs().size();
  for (size_t i = 0; i < graph.inputs().size(); ++i)
    shown.AddOutput(fmt::format("input {}", i), shown.inputs()[i].value);
  VerifyOptions options = runs;
  options.runs = 1;
  options.seed = seed;
  options.progress = nullptr;
  options.data = nullptr;
  if (!sample.tensors.empty())
    options.data = [&](const Graph&) { return std::vector<VerifyInputs>{sample}; };
  NN_ASSIGN(const auto outputs, RunForVerification(std::move(shown), options));
  for (size_t i = 0; i < graph.inputs().size(); ++i) inputs.push_back(outputs[0][first + i]);
  return inputs;
}

Result<uint64_t> ObserveSamples(const Graph& graph, const std::vector<const Value*>& values,
                                const CalibrationOptions& options, const VerifyOptions& runs,
                                const ObserveValue& observe) {
  SampleRuns sample_runs(graph, values, runs);
  uint64_t count = 0;
  const auto run = [&](const VerifyInputs& sample) -> Status {
    NN_ASSIGN(std::vector<Tensor> inputs,
              InputsOfRun(graph, sample, runs.seed + kFirstSeed + count, runs));
    auto done = sample_runs.Run(std::move(inputs), observe);
    if (!done)
      return tl::unexpected(done.error().In(fmt::format(
          "calibration, sample {}", sample.label.empty() ? std::to_string(count) : sample.label)));
    ++count;
    return {};
  };
  if (options.samples) {
    NN_RETURN_IF_ERROR(options.samples(graph, run));
  } else {
    for (uint64_t i = 0; i < options.seeded; ++i) NN_RETURN_IF_ERROR(run({}));
  }
  if (count == 0) return UsageError("there are no samples for the calibration");
  return count;
}

Status ObservePairs(const ObservedGraph& first, const ObservedGraph& second,
                    const VerifyInputs& sample, const VerifyOptions& runs,
                    const ObservePair& observe) {
  SampleRuns first_run(first.graph, first.values, runs);
  SampleRuns second_run(second.graph, second.values, runs);
  const uint64_t seed = runs.seed + kFirstSeed;
  NN_ASSIGN(std::vector<Tensor> inputs, InputsOfRun(first.graph, sample, seed, runs));
  NN_RETURN_IF_ERROR(first_run.Start(std::move(inputs)));
  NN_ASSIGN(inputs, InputsOfRun(second.graph, sample, seed, runs));
  NN_RETURN_IF_ERROR(second_run.Start(std::move(inputs)));
  for (size_t i = 0; i < first.values.size(); ++i) {
    NN_ASSIGN(const Tensor a, first_run.Take(i));
    NN_ASSIGN(const Tensor b, second_run.Take(i));
    NN_RETURN_IF_ERROR(observe(i, a, b));
  }
  return {};
}

namespace {

std::span<const float> Floats(const Tensor& aligned) {
  return aligned.As<float>();
}

Result<std::vector<ValueRange>> FindExtremes(const Graph& graph,
                                             const std::vector<const Value*>& values,
                                             const CalibrationOptions& options,
                                             const VerifyOptions& runs, uint64_t& samples) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::vector<ValueRange> ranges(values.size(), {kInfinity, -kInfinity});
  const auto observe = [&](size_t i, const Tensor& contents) -> Status {
    const Tensor aligned = contents.Aligned();
    ValueRange& range = ranges[i];
    for (const float x : Floats(aligned)) {
      if (!std::isfinite(x)) continue;
      range.min = std::min(range.min, static_cast<double>(x));
      range.max = std::max(range.max, static_cast<double>(x));
    }
    return {};
  };
  NN_ASSIGN(samples, ObserveSamples(graph, values, options, runs, observe));
  for (ValueRange& range : ranges)
    if (!(range.min <= range.max)) range = {};
  return ranges;
}

}  // namespace

Result<Calibration> Calibrate(const Graph& graph, const std::vector<const Value*>& values,
                              const CalibrationOptions& options, const VerifyOptions& runs,
                              bool symmetric) {
  Calibration out;
  NN_ASSIGN(std::vector<ValueRange> ranges,
            FindExtremes(graph, values, options, runs, out.samples));
  if (options.method != RangeMethod::kMinMax) {
    // 32 MiB for all values.
    constexpr size_t kMaxBins = size_t{1} << 22;
    const size_t bins =
        std::clamp<size_t>(kMaxBins / std::max<size_t>(values.size(), 1), 256, 2048);
    std::vector<Histogram> histograms;
    histograms.reserve(ranges.size());
    for (const ValueRange& range : ranges) histograms.emplace_back(range, bins);
    const auto observe = [&](size_t i, const Tensor& contents) -> Status {
      const Tensor aligned = contents.Aligned();
      histograms[i].Add(Floats(aligned));
      return {};
    };
    NN_RETURN_IF_ERROR(ObserveSamples(graph, values, options, runs, observe).map([](uint64_t) {}));
    for (size_t i = 0; i < values.size(); ++i)
      ranges[i] = histograms[i].Choose(options.method, options.percentile, symmetric);
  }
  for (size_t i = 0; i < values.size(); ++i) out.ranges[values[i]->id()] = ranges[i];
  return out;
}

namespace {

// A product whose bias can be corrected.
struct CorrectedProduct {
  Node* node;
  int axis;  // of the channels of the result
  // The node and its input that has the bias: a constant, or nothing.
  Node* adds;
  size_t input;
};

// Formats have a bias for matrices; other products are followed by an addition.
std::optional<CorrectedProduct> BiasAt(const Graph& graph, Node& node, int axis) {
  const Value* const y = node.output();
  if (node.input(2) != nullptr || node.op().category == Category::kConvolution ||
      y->type().rank() == 2)
    return CorrectedProduct{&node, axis, &node, 2};
  if (y->uses().size() != 1 || graph.IsOutput(y)) return std::nullopt;
  const Use use = y->uses()[0];
  const size_t other = use.index == 0 ? 1 : 0;
  const Value* const bias = use.node->input(other);
  if (!use.node->Is("add") || bias == nullptr || !bias->is_constant() ||
      bias->dtype() != DType::kF32 || bias->constant().rank() == 0 ||
      axis + 1 != y->type().rank() || y->type().dim(axis) != bias->constant().elements() ||
      bias->constant().dims().back() != bias->constant().elements())
    return std::nullopt;
  return CorrectedProduct{&node, axis, use.node, other};
}

std::vector<CorrectedProduct> ProductsToCorrect(Graph& graph, const QuantizeOptions& options) {
  std::vector<CorrectedProduct> out;
  for (Node& node : graph.nodes()) {
    const auto axes = ProductAxesOf(node);
    const Value* const w = node.input(1);
    const Value* const bias = node.input(2);
    if (!axes || (axes->groups != 1 && !axes->per_channel) || !w->is_constant() ||
        w->dtype() != DType::kF32 || w->type().quantized() || w->type().rank() < 2 ||
        (bias != nullptr && !bias->is_constant()) || (options.keeps && options.keeps(node)) ||
        !node.output()->type().dim(axes->result).is_const())
      continue;
    if (auto product = BiasAt(graph, node, axes->result)) out.push_back(*product);
  }
  return out;
}

// The difference that rounding makes to the weights.
Result<Tensor> RoundingErrors(const Node& node, const QuantizeOptions& options) {
  const Tensor& w = node.input(1)->constant();
  const auto axes = ProductAxesOf(node);
  const int axis = axes->per_channel && !options.per_tensor ? axes->weights_output : -1;
  NN_ASSIGN(const QuantizedTensor rounded, QuantizeSymmetric(w, axis, options.type));
  NN_ASSIGN(const Tensor reals, RealsOf(rounded));
  NN_ASSIGN(TensorBuilder b, TensorBuilder::Create(DType::kF32, w.dims()));
  for (int64_t i = 0; i < b.elements(); ++i) b.SetDouble(i, reals.GetDouble(i) - w.GetDouble(i));
  return b.Finish();
}

// The sum of the elements of each channel.
struct ChannelSums {
  std::vector<double> sums;
  double count = 0;  // of each
};

}  // namespace

Result<int64_t> CorrectBiases(Graph& graph, const QuantizeOptions& quantize,
                              const CalibrationOptions& options, const VerifyOptions& runs) {
  const std::vector<CorrectedProduct> products = ProductsToCorrect(graph, quantize);
  // Beside each product, the same with the errors of its weights.
  std::vector<const Value*> errors;
  for (const CorrectedProduct& p : products) {
    NN_ASSIGN(Tensor difference, RoundingErrors(*p.node, quantize));
    Node* const error =
        graph.AddNode(p.node->op(), {p.node->input(0), graph.AddConstant(std::move(difference))},
                      p.node->attrs(), 1, p.node);
    NN_RETURN_IF_ERROR(graph.InferAdded(error).map([](Node*) {}));
    errors.push_back(error->output());
  }
  std::vector<ChannelSums> sums(products.size());
  const auto observe = [&](size_t k, const Tensor& contents) -> Status {
    const Tensor aligned = contents.Aligned();
    const auto numbers = Floats(aligned);
    const auto axis = static_cast<size_t>(products[k].axis);
    const int64_t channels = contents.dims()[axis];
    const int64_t inner = Strides(contents.dims())[axis];
    ChannelSums& s = sums[k];
    s.sums.resize(static_cast<size_t>(channels));
    for (size_t i = 0; i < numbers.size(); ++i) {
      const auto x = static_cast<double>(numbers[i]);
      if (std::isfinite(x)) s.sums[i / static_cast<size_t>(inner) % s.sums.size()] += x;
    }
    const int64_t of_channel = channels > 0 ? contents.elements() / channels : 0;
    s.count += static_cast<double>(of_channel);
    return {};
  };
  const auto observed = ObserveSamples(graph, errors, options, runs, observe);
  for (const Value* v : errors) graph.Erase(v->def());
  if (!observed) return tl::unexpected(observed.error());
  for (size_t k = 0; k < products.size(); ++k) {
    const CorrectedProduct& p = products[k];
    const ChannelSums& s = sums[k];
    if (s.count == 0) continue;
    const Value* const old = p.adds->input(p.input);
    NN_ASSIGN(
        TensorBuilder b,
        TensorBuilder::Create(DType::kF32, old == nullptr ? std::vector<int64_t>{std::ssize(s.sums)}
                                                          : old->constant().dims()));
    for (int64_t c = 0; c < b.elements(); ++c)
      b.SetDouble(c, (old == nullptr ? 0 : old->constant().GetDouble(c)) -
                         s.sums[static_cast<size_t>(c)] / s.count);
    std::vector<Value*> inputs(p.adds->inputs().begin(), p.adds->inputs().end());
    inputs.resize(std::max(inputs.size(), p.input + 1));
    inputs[p.input] =
        graph.AddConstant(b.Finish(), old == nullptr ? SharedString() : SharedString(old->name()));
    graph.SetInputs(p.adds, std::move(inputs));
  }
  return std::ssize(products);
}

}  // namespace nn
