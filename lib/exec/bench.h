// The latency of programs.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "base/options.h"
#include "base/status.h"
#include "exec/program.h"
#include "ir/tensor.h"
#include "nnsuite/bench.h"

namespace nn {

using nnsuite::BenchOptions;
using nnsuite::Latency;

// What nnrun, C and Python call the members of the options, and what they do.
// Design: docs/design/069-described-options.md.
OptionTable BenchOptionTable();

// Limit of options: timed runs of a benchmark, and as many warmup runs.
inline constexpr int64_t kMaxBenchRuns = 1'000'000;

struct Measurement {
  Latency latency;
  std::vector<double> step_ms;  // mean of each step of the plan; empty without a profile
};

// Runs the program. `progress`, which may be null, is told how many of all runs are done; an error
// of it ends the measurement.
Result<Measurement> MeasureLatency(
    const Program& program, std::span<const Tensor> inputs, const BenchOptions& options,
    const std::function<Status(uint64_t done, uint64_t total)>& progress);

// Requires at least one time, in milliseconds.
Latency LatencyOf(std::vector<double> times);

// {"latency_ms", "threads", "runs", ...}, with {"steps", "step_kinds"} of a profile.
Json MeasurementJson(const Program& program, const BenchOptions& options,
                     const Measurement& measured);
std::string MeasurementText(const Program& program, const BenchOptions& options,
                            const Measurement& measured);

}  // namespace nn
