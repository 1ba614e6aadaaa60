// nnconvert's arguments and the parts of a conversion.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "apps/common/model.h"
#include "base/json.h"
#include "exec/run_limits.h"
#include "formats/format.h"
#include "passes/legalize.h"
#include "tensorio/compare.h"

namespace nn::app {

// The default of --max-work for a verification run: some tens of seconds on one core.
inline constexpr double kVerificationWork = 1e12;

struct ConvertOptions {
  ReadLimits limits;
  RunLimits run_limits;  // of each run of the verification
  std::string input;
  std::string output;
  std::string to;
  std::string format = "text";
  ShapeOptions shapes;
  int64_t opset = 0;
  std::vector<std::string> rename_inputs;  // "OLD=NEW"
  std::vector<std::string> rename_outputs;
  bool fold_batch_norm = false;
  bool rewrite = false;
  ExternalData external_data;
  DumpOptions dump;
  bool dry_run = false;
  bool quiet = false;  // no report of success, unless in JSON
  bool support = false;
  // Verification
  bool verify = true;
  uint64_t seed = 0;
  uint64_t verify_runs = 3;
  std::vector<std::string> verify_shapes;
  double atol = 1e-6;
  double rtol = 1e-5;
};

// One output, over all runs of the verification.
struct OutputDrift {
  std::string name;
  std::string type;
  Comparison worst;     // of the run with the largest difference
  double relative = 0;  // its largest difference over the output's largest magnitude
  std::string where;    // Describe() of that run
};

struct Verification {
  std::vector<uint64_t> seeds;
  // Sizes of symbols chosen for these runs only.
  std::vector<std::pair<std::string, int64_t>> symbols;
  // Operators between dequantize and quantize were run as integer operators.
  bool qdq_as_integers = false;
  std::vector<OutputDrift> outputs;
  bool passed = true;
};

// Runs both graphs on the same seeded inputs. The converted graph has the inputs and outputs of
// `source` in the same order, with axes permuted by `axes`. It is imported after the source has
// run, so that large graphs are not in memory together. Elements of quantized outputs may differ by
// one step.
Result<Verification> VerifyConversion(Graph source,
                                      const std::function<Result<Graph>()>& import_converted,
                                      const InterfaceAxes& axes, const ConvertOptions& options);

}  // namespace nn::app
