// Verifies a conversion: runs both graphs on the same inputs and compares the outputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "convert/quantize/quantized_drift.h"
#include "exec/run_limits.h"
#include "ir/graph.h"
#include "ir/tensor.h"
#include "nnsuite/convert.h"
#include "passes/interface/edits.h"
#include "rewrite/legalize.h"
#include "tensorio/compare.h"

namespace nn {

// The inputs of one run that are given, by position.
struct VerifyInputs {
  std::string label;  // where they are from, such as a path
  std::vector<std::optional<Tensor>> tensors;
};

// What a verification asks its caller for, and tells it.
struct VerifyHooks {
  // Given inputs, one set per run; `input` makes those that a set lacks. Null: none are given, and
  // there are `runs` runs. Called after `prepare`.
  std::function<Result<std::vector<VerifyInputs>>(const Graph& source)> data = nullptr;
  // The contents of input number `i` of the source, whose shape is known; run i has those of
  // seed + i. Null: SeededInput() of
  // InputDomains() (passes/facts/input_domains.h); if the source rejects them, of narrower domains.
  std::function<Result<Tensor>(std::string_view name, const Type& type, size_t i, uint64_t seed)>
      input = nullptr;
  // Sets shapes of inputs for the runs only (BindInputs() and BindBatch() in passes/core/ports.h).
  // Null: nothing is set. Dimensions that are unknown afterwards get up to three different sizes,
  // each in a part of the runs: batches are 2, 1 and 3, and other dimensions have common sizes that
  // the model accepts.
  std::function<Status(Graph& source)> prepare = nullptr;
  // Called with 0 before the first run of the converted model, and after each run. An error ends
  // the verification.
  std::function<Status(uint64_t done, uint64_t total)> progress = nullptr;
};

struct VerifyOptions : nnsuite::VerifyOptions, VerifyHooks {
  // The last inputs and outputs are states: unless they are given, the inputs of a run have what
  // the outputs had in the run before. Each model passes its own states on.
  size_t states = 0;
  // If there are any, the first of them are the generated runs.
  std::vector<RunStep> steps = {};
};

// One output, over all runs of the verification.
struct OutputDrift {
  std::string name;
  std::string type;  // "f32", or "i64 -> i32" if the converted model has another type
  Comparison worst;  // of the run with the largest difference
  // Its largest difference over the output's largest magnitude, that of real numbers for quantized
  // integers.
  double relative = 0;
  std::string where;  // Describe() of that run
  // The rtol that accepts all runs: 0 if they are within the tolerance, infinite if there is none.
  double accepting = 0;
};

struct Verification {
  uint64_t runs = 0;
  std::vector<uint64_t> seeds;      // of the runs with generated inputs
  std::vector<std::string> labels;  // of the runs with given inputs
  // Sizes of symbols chosen for these runs only, one for each shape that was run.
  std::vector<std::pair<std::string, std::vector<int64_t>>> symbols;
  // Whether the source ran only with inputs from narrower domains (Narrowed()).
  bool narrowed = false;
  // Operators between dequantize and quantize were run as integer operators.
  bool qdq_as_integers = false;
  std::vector<OutputDrift> outputs;  // in the order of the source's outputs
  // Of a source that was dequantized, or is computed in float32.
  std::optional<QuantizedDrift> quantized;
  bool passed = true;  // all outputs agree in all runs
};

// Runs both graphs on the same seeded inputs. The converted graph has the inputs and outputs of
// `source` in the same order, with axes permuted and integers shifted by `axes`. It is imported
// after the source has run, so that large graphs are not in memory together; before, if the
// source is quantized, because its form decides in which form the source runs.
//
// `quantized` is the model that the source was dequantized from, or that it computes in float32, if
// there is one. Its inputs are generated then: those of the source are the numbers that they
// represent. Verification::quantized compares both in as many runs as have results that fit in
// memory together, one at least.
//
// Outputs that drift are not an error: see Verification::passed. Errors are those of the callbacks;
// of the runs; kUsage if the model rejects all inputs, or no sizes were found that it accepts;
// kLimit beyond options.limits; kInternal if the converted graph has other
// inputs and outputs. Messages name the options of nnconvert that help.
//
// Callbacks are called on the calling thread. May be called concurrently.
Result<Verification> VerifyConversion(Graph source,
                                      const std::function<Result<Graph>()>& import_converted,
                                      const InterfaceAxes& axes, const VerifyOptions& options,
                                      std::optional<Graph> quantized = std::nullopt);

// Compares the graph with a function of the same inputs that states what it should compute, and
// adds the runs to `out`. Errors are those of VerifyConversion() and of the function.
Status VerifyFunction(Graph graph, const ModelFunction& function, const VerifyOptions& options,
                      Verification& out);

// The outputs of `source` in each run of such a verification.
Result<std::vector<std::vector<Tensor>>> RunForVerification(Graph source,
                                                            const VerifyOptions& options);

}  // namespace nn
