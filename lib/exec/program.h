// Executes graphs on the CPU. A Program is planned once, for fixed input shapes, and run many
// times.
//
// Every output has the same bits whatever the backend, the SIMD target and the number of threads
// (ARCHITECTURE.md, "Arithmetic contract"). NaN in an output is always the same quiet NaN.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "ir/graph.h"
#include "ir/tensor.h"

namespace nn {

enum class Backend : uint8_t {
  kSimd,       // planned, fused, packed, vectorised
  kReference,  // the scalar reference evaluation, node by node
};

struct ProgramOptions {
  Backend backend = Backend::kSimd;
  size_t threads = 1;
  bool fuse = true;  // whether elementwise steps may join the step that feeds them
  uint64_t max_memory = uint64_t{64} << 30;  // of intermediate values, in bytes
};

// What one step of a plan is and costs.
struct StepInfo {
  std::string label;  // "conv+add+relu features.0"
  int64_t multiply_adds = 0;
  uint64_t bytes = 0;      // read and written, weights included
  bool reference = false;  // the scalar reference evaluation: there is no kernel for the node
};

class Program {
 public:
  // Requires a graph whose inputs have known shapes (BindInputShapes); it is copied. Errors:
  // kModel, kUnsupported (naming the operator), kLimit.
  static Result<Program> Compile(const Graph& graph, const ProgramOptions& options);

  Program(Program&&) noexcept;
  Program& operator=(Program&&) noexcept;
  ~Program();

  // Inputs in the graph's order; types and shapes must be those of the plan (kUsage otherwise).
  Result<std::vector<Tensor>> Run(std::span<const Tensor> inputs);

  const std::vector<StepInfo>& steps() const;
  // Milliseconds of each step in the last run, when profiling is on.
  void set_profiling(bool on);
  const std::vector<double>& step_milliseconds() const;
  // Bytes of the arena for intermediate values, and of packed weights.
  uint64_t arena_bytes() const;
  uint64_t packed_bytes() const;

 private:
  struct Impl;
  explicit Program(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Names of the SIMD targets that this processor can run, best first: "AVX3", "AVX2", "SSE4",
// "NEON", "SCALAR", ...
std::vector<std::string> SimdTargets();

// Lets kernels use this target only; an empty name restores the choice by processor. kUsage for
// names that SimdTargets() does not list. For the whole process.
Status UseSimdTarget(std::string_view name);

}  // namespace nn
