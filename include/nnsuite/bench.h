// Measures the latency of programs, as nnrun --bench does.
//
//   auto measured = nnsuite::MeasureLatency(program, inputs, {.runs = 100});
//   if (!measured) ...
//   std::cout << measured->latency.median << " ms\n";
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "nnsuite/error.h"
#include "nnsuite/program.h"
#include "nnsuite/progress.h"
#include "nnsuite/tensor.h"

namespace nnsuite {

struct BenchOptions {
  int64_t warmup = 3;    // runs that are not timed
  int64_t runs = 10;     // timed runs
  bool profile = false;  // also measures each step
};

// Of the timed runs, in milliseconds.
struct Latency {
  double median = 0;  // of an even number of runs: the mean of the middle two
  double min = 0;
  double mean = 0;
  double p90 = 0;  // the smallest one that at least nine tenths of the runs do not exceed
};

// A step of a program: an operator, and those that are fused with it.
struct StepTime {
  std::string label;        // "conv+add+relu features.0"
  std::string kind;         // "conv+add+relu"
  double milliseconds = 0;  // the mean of the timed runs
  int64_t multiply_adds = 0;
  uint64_t bytes = 0;      // read and written, weights included
  bool reference = false;  // by reference evaluation, because there is no kernel
};

struct LatencyReport {
  Latency latency;
  std::vector<StepTime> steps;  // of a profile; none if the program has no plan as a whole
  std::string text;             // what nnrun prints
  // What nnrun --bench --format json prints, without the version and the model.
  std::string report;
};

// `progress` is told of "runs", warmup included. Errors: kUsage for options out of range; those of
// Program::Run.
Result<LatencyReport> MeasureLatency(const Program& program, std::span<const Tensor> inputs,
                                     const BenchOptions& options = {},
                                     const ProgressCallback& progress = nullptr);

}  // namespace nnsuite
