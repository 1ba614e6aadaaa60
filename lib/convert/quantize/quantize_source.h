// nnconvert --quantize: the settings, the change of the source graph, and what it does to values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "convert/quantize/calibrate.h"
#include "convert/verify/verify.h"
#include "ir/graph.h"
#include "passes/quantize/quantize.h"
#include "rewrite/legalize.h"

namespace nn {

struct QuantizeSettings {
  // Only weights are stored as integers (QuantizeWeights() in passes/quantize/quantize.h);
  // operators compute in float32. Otherwise QuantizeInt8(), which needs samples.
  bool weights_only = false;
  QuantizeOptions options;
  CalibrationOptions calibration;
  bool equalize = false;           // EqualizeChannels()
  bool correct_biases = false;     // CorrectBiases()
  bool integer_interface = false;  // QuantizePorts()
};

struct QuantizeOutcome {
  QuantizeSummary summary;
  uint64_t samples = 0;   // of the calibration
  int64_t equalized = 0;  // pairs of products
  int64_t corrected = 0;  // products with another bias
};

// Changes the graph for a target; with `measure`, QuantizedValue::snr_db of every value is measured
// in the runs of the verification. kUsage for a quantized model, without samples, without weights
// to quantize, and for a setting that changes nothing; kUnsupported without operators that the
// target computes with integers.
Result<QuantizeOutcome> QuantizeSource(Graph& graph, const Target& target,
                                       const QuantizeSettings& settings, const VerifyOptions& runs,
                                       bool measure);

}  // namespace nn
