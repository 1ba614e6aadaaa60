// Compares the outputs of a run with expected ones, as nnrun does.
//
//   auto checks = nnsuite::CompareOutputs(program, outputs, {.file = "want.npz"});
//   if (!checks) ...
//   if (!checks->passed) std::cerr << checks->text;
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "nnsuite/error.h"
#include "nnsuite/options.h"
#include "nnsuite/program.h"
#include "nnsuite/tensor.h"

namespace nnsuite {

struct ExpectOptions {
  // A file with arrays by name, or by position as out_0, out_1, ...: .npz or .safetensors. "":
  // none.
  std::string file = {};
  std::vector<NamedTensor> arrays = {};  // the same in memory
  // The largest accepted difference of an element is atol plus rtol times the largest magnitude in
  // its array. Integers must be equal.
  std::optional<double> atol = std::nullopt;  // nullopt: 1e-6
  std::optional<double> rtol = std::nullopt;  // nullopt: 1e-5
  ReadLimits limits = {};                     // of the file
};

struct OutputCheck {
  std::string name;
  std::optional<Comparison> comparison;  // nullopt: no array is expected
};

struct OutputChecks {
  std::vector<OutputCheck> outputs;  // in the program's order
  bool passed = false;               // all that were compared agree
  std::string text;                  // a table of them, a line each
  // The member "expect" of what nnrun --expect --format json prints.
  std::string report;
};

// `outputs` are those of a run of the program. Errors: kUsage for another number of them, without
// expected arrays, and for arrays whose names match no output; those of reading the file.
Result<OutputChecks> CompareOutputs(const Program& program, std::span<const Tensor> outputs,
                                    const ExpectOptions& options);

}  // namespace nnsuite
