// nnconvert's arguments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/common/model/model.h"
#include "apps/common/ports/port_arrays.h"
#include "apps/nnconvert/report/c_source.h"
#include "base/json/json.h"
#include "convert/verify/verify.h"
#include "edit/plan.h"
#include "exec/run_limits.h"
#include "formats/format.h"
#include "nnsuite/convert.h"

namespace nn::app {

// The default of --max-work for a verification run: some tens of seconds on one core.
inline constexpr double kVerificationWork = 1e12;

struct ConvertArguments {
  ReadLimits limits;
  RunLimits run_limits;  // of each run of the verification
  std::string input;
  std::string output;
  std::string to;
  std::string format = "text";
  ShapeOptions shapes;
  nnsuite::GraphEdits graph_edits;
  std::vector<std::string> fixed_inputs;    // "NAME=VALUE", or an archive
  std::vector<std::string> clipped_inputs;  // "NAME=MIN,MAX"
  int64_t opset = 0;
  std::vector<std::string> rename_inputs;  // "OLD=NEW"
  std::vector<std::string> rename_outputs;
  edit::EditOptions native_edits;
  std::string patch;  // a file; "": none
  bool fold_batch_norm = false;
  std::optional<int64_t> unroll = std::nullopt;
  bool fuse = false;
  bool simplify = false;
  bool allow_rounding = false;
  bool dequantize = false;
  bool float32 = false;
  bool fp16 = false;
  bool bf16 = false;
  // With either of them:
  bool weights_only = false;
  bool half_interface = false;
  std::vector<std::string> keep_float32;  // patterns; also with `quantize`
  std::string quantize;                   // "int8", "weights-int8", "weights-int4:32"; "": not
  // With it:
  std::vector<std::string> calibrate;  // files and folders, or "seeded:N"
  std::string calibrate_method = "minmax";
  bool symmetric = false;
  bool per_tensor = false;
  bool bias_correction = false;
  bool equalize = false;
  bool integer_interface = false;
  bool states = false;
  bool rewrite = false;
  ExternalData external_data;
  bool infer_shapes = false;
  DumpOptions dump;
  CSourceOptions c_source;
  bool dry_run = false;
  bool quiet = false;  // no report of success, unless in JSON
  bool support = false;
  std::string report;  // a file; "": none
  std::string attest;  // a file; "": none
  // For folders
  std::optional<uint64_t> jobs;
  bool force = false;
  // Not options: set by other parts of the program.
  bool digests = false;  // of all files
  Json given;            // CommandLine::GivenOptions()
  bool messages = true;  // progress of the runs, names of side files
  // Verification
  bool verify = true;
  uint64_t seed = VerifyOptions().seed;
  uint64_t verify_runs = VerifyOptions().runs;
  size_t threads = 0;  // of a run; 0: one per processor
  std::vector<std::string> verify_shapes;
  std::vector<std::string> verify_inputs;
  ArrayOptions arrays;  // of verify_inputs
  double atol = VerifyOptions().atol;
  double rtol = VerifyOptions().rtol;
};

// The given options that decide what is written, or how it is verified: all but a list of those
// that do not. For attestations and the state of a folder, which a new option thus cannot miss.
Json DecidingOptions(const ConvertArguments& arguments);

}  // namespace nn::app
