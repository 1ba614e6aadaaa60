// Ranges of the values of a graph, from runs on samples.
//
// Memory is that of a run, one sample, and a histogram for each value, whatever the number of
// samples is. All sums are of integers or in a fixed order, so the ranges are the same on every
// processor.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "convert/verify/verify.h"
#include "ir/graph.h"
#include "passes/quantize/quantize.h"

namespace nn {

enum class RangeMethod : uint8_t {
  kMinMax,
  kPercentile,  // what is left of the numbers without the largest and smallest
  kEntropy,     // the quantized numbers have the most similar distribution (Kullback-Leibler)
  kMse,         // the smallest sum of squared errors, of rounding and of saturation
};

struct CalibrationOptions {
  RangeMethod method = RangeMethod::kMinMax;
  double percentile = 99.99;
  // Calls the function for each sample; inputs that a sample lacks are generated. Null: `seeded`
  // generated samples.
  std::function<Status(const Graph&, const std::function<Status(VerifyInputs)>&)> samples = nullptr;
  uint64_t seeded = 0;
};

// Calls `observe` with the position of each of the values and its contents, for each sample, in the
// order of `values`, which is that of the graph. Returns the number of samples. Errors are those of
// the runs and of the callbacks; kUsage without a sample. Shapes, seeds and limits are those of
// `runs`.
using ObserveValue = std::function<Status(size_t value, const Tensor& contents)>;
Result<uint64_t> ObserveSamples(const Graph& graph, const std::vector<const Value*>& values,
                                const CalibrationOptions& options, const VerifyOptions& runs,
                                const ObserveValue& observe);

// Runs two graphs with the same inputs on one sample, and calls `observe` with the position and the
// contents of a value of each, one pair after another. Memory is that of both runs.
using ObservePair = std::function<Status(size_t value, const Tensor& first, const Tensor& second)>;
struct ObservedGraph {
  const Graph& graph;
  const std::vector<const Value*>& values;
};
Status ObservePairs(const ObservedGraph& first, const ObservedGraph& second,
                    const VerifyInputs& sample, const VerifyOptions& runs,
                    const ObservePair& observe);

struct Calibration {
  ValueRanges ranges;
  uint64_t samples = 0;
};
// The ranges of float32 values. Numbers that are not finite are ignored.
Result<Calibration> Calibrate(const Graph& graph, const std::vector<const Value*>& values,
                              const CalibrationOptions& options, const VerifyOptions& runs,
                              bool symmetric);

// Adds to the biases of products what the rounding of their weights subtracts from the mean of each
// channel, over all samples. Returns the number of products. (Nagel et al. 2019, section 4.2.)
Result<int64_t> CorrectBiases(Graph& graph, const QuantizeOptions& quantize,
                              const CalibrationOptions& options, const VerifyOptions& runs);

// The complete inputs of a run on a sample, with generated contents of those that it lacks.
Result<std::vector<Tensor>> InputsOfRun(const Graph& graph, const VerifyInputs& sample,
                                        uint64_t seed, const VerifyOptions& runs);

}  // namespace nn
