// nnrun's arguments, and the report of a run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/common/model/many.h"
#include "base/json/json.h"
#include "base/options.h"
#include "convert/inputs/run_inputs.h"
#include "convert/runs/sequence.h"
#include "exec/bench.h"
#include "exec/program.h"
#include "nnsuite/outputs.h"

namespace nn::app {

struct RunOptions : RunInputs {
  std::string function;
  std::string test_data;
  SequenceOptions sequence;
  // Results
  std::string output;
  std::string labels;
  nnsuite::ExpectOptions expected;  // the tolerances are also those of other comparisons
  std::string save_steps;
  std::string save_inputs;
  std::string against;
  std::string write_repro;
  std::string search_dtype;
  bool digest = false;
  bool resume = false;  // several models: only those without a file of outputs
  ManyOptions many;
  bool explain_plan = false;
  std::string trace;
  std::string format = "text";
  // Execution
  ProgramOptions execution = {.threads = 0};
  std::string target;
  bool list_targets = false;
  // Timing
  bool bench = false;
  BenchOptions timing;

  // `execution`, with the number of threads.
  ProgramOptions program() const;
  // Whether values other than the outputs are written.
  bool saves_values() const { return !save_steps.empty() || !save_inputs.empty(); }
  // Whether --inputs is a folder.
  bool runs_folder() const;
};

// What the program calls the members that are no option of the library, and what they do.
OptionTable RunOptionTable();

// Results in both forms of --format; one of them is printed.
struct RunReport {
  std::string text;
  Json json = Json::object();
};

}  // namespace nn::app
