// The runs of a verification: which shapes and inputs, and what the source computes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "convert/verify/verify.h"
#include "exec/program.h"
#include "ir/graph.h"
#include "ir/tensor.h"
#include "ops/support/domain.h"

namespace nn {

// One run.
struct PlannedRun {
  const VerifyInputs* given = nullptr;
  const RunStep* step = nullptr;
  uint64_t seed = 0;
  int narrowing = 0;  // the level of Narrowed() that the source accepts
  // The last inputs of the source, as the run before left them; none in the first run.
  std::vector<Tensor> states = {};
};

// The source, prepared for runs of one shape. The graph itself is freed, because it can be larger
// than all memory of a run.
struct SourceRuns {
  std::optional<Program> program;
  std::vector<std::string> input_names, output_names;
  std::vector<Type> input_types;  // with all dimensions known
  std::vector<Type> output_types;
  std::vector<Domain> domains;  // of the inputs
  // What is generated for each input: a quantized type is dequantized.
  std::vector<Type> generated_types;
  std::vector<bool> quantized;              // by output
  std::vector<std::optional<float>> steps;  // StepOf(), by output; quantized ones have none
  std::map<std::string, int64_t> symbols;
  std::vector<PlannedRun> runs;
  std::vector<std::vector<Tensor>> outputs;  // of the runs so far
};

// A program with the limits and threads of the verification.
Result<Program> CompileToVerify(Graph&& graph, const VerifyOptions& options);

// The error of a run that exceeds the limits.
Error TooMuch(const Error& error);

// The shapes and runs on given inputs: one shape for each set whose inputs have other shapes than
// those of the set before.
Result<std::vector<SourceRuns>> PlanGiven(Graph source, const std::vector<VerifyInputs>& sets,
                                          const VerifyOptions& options);

// The shapes and runs on generated inputs; runs of one shape are adjacent.
Result<std::vector<SourceRuns>> PlanGenerated(Graph source, const VerifyOptions& options);

// Whether an input of the run is generated.
bool Generates(const PlannedRun& run);

// Whether input `i` of `count` is a state that the run before left.
bool IsCarried(const PlannedRun& run, size_t i, size_t count);

Result<std::vector<Tensor>> InputsOf(const SourceRuns& source, const PlannedRun& run,
                                     const VerifyOptions& options);

// Runs the next one, with the states that the run before left in `states`; tries narrower domains
// if the source rejects generated inputs.
Status RunSource(SourceRuns& source, const VerifyOptions& options, std::vector<Tensor>& states);

// Runs as often as the results fit in memory, and frees the programs that are no longer needed.
Status RunAhead(std::vector<SourceRuns>& shapes, const VerifyOptions& options,
                std::vector<Tensor>& states);

}  // namespace nn
