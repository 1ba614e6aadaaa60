// Executes graphs on the CPU. Every output has the same bits for every backend, SIMD target and
// number of threads. NaN in an output is always the same quiet NaN.
//
//   nnsuite::Result<nnsuite::Program> program = nnsuite::Program::Compile(*graph);
//   if (!program) ...
//   nnsuite::Result<std::vector<nnsuite::Tensor>> outputs = program->Run(inputs);
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nnsuite/error.h"
#include "nnsuite/graph.h"
#include "nnsuite/options.h"
#include "nnsuite/progress.h"
#include "nnsuite/tensor.h"

namespace nnsuite {

enum class Backend : uint8_t {
  kSimd,       // planned, fused, packed, vectorized
  kReference,  // scalar reference evaluation, node by node
};

struct ProgramOptions {
  Backend backend = Backend::kSimd;
  size_t threads = 1;     // of a run, counting the caller; 0: one per processor
  bool fuse = true;       // whether elementwise nodes may join the step that produces their input
  RunLimits limits = {};  // of each run
};

// An input or output of a program.
struct PortType {
  std::string name;
  ValueType type;
};

// A compiled graph: planned once, for fixed input shapes, and run many times. Movable. Its const
// member functions may be called concurrently; one program serves any number of threads.
class Program {
 public:
  // Copies what it needs of the graph, whose inputs must have known shapes (Graph::SetInputShapes,
  // SetBatch). Errors: kUsage if an input has no known shape, kModel, kUnsupported (naming the
  // operator), kLimit if a run would exceed the limits, detected before memory for it is allocated.
  static Result<Program> Compile(const Graph& graph, const ProgramOptions& options = {});
  // The same without copying the graph.
  static Result<Program> Compile(Graph&& graph, const ProgramOptions& options = {});

  Program(Program&&) noexcept;
  Program& operator=(Program&&) noexcept;
  ~Program();

  // In the graph's order. The dimensions of outputs that are known only during a run are not
  // numbers.
  const std::vector<PortType>& inputs() const;
  const std::vector<PortType>& outputs() const;

  // Inputs in the graph's order; types and shapes must be those of inputs() (kUsage otherwise).
  // kModel: the contents of an input lead to a shape that differs from the declared one, or an
  // operator rejects them (an index out of range). kLimit: shapes known only at run time exceed the
  // limits. On error there are no outputs.
  //
  // Runs that overlap have memory and threads of their own, which are kept for later runs.
  //
  // `progress` is told of "steps", and again with the same numbers while a step of operators with
  // regions runs.
  Result<std::vector<Tensor>> Run(std::span<const Tensor> inputs,
                                  const ProgressCallback& progress = nullptr) const;

  // Contents for the inputs: the same as those of `nnrun --seed SEED`, in the ranges that the
  // operators of the graph accept (of indices, for example). Errors: kLimit.
  Result<std::vector<Tensor>> SeededInputs(uint64_t seed) const;

  // Bytes of the memory for intermediate values of one run, and of packed weights, which all runs
  // share.
  uint64_t arena_bytes() const;
  uint64_t packed_bytes() const;

 private:
  friend struct nn::api::Access;
  struct Impl;
  explicit Program(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Names of the SIMD targets that this processor supports, best first: "AVX3", "AVX2", "SSE4",
// "NEON_DOT", "NEON", "SCALAR", ...
std::vector<std::string> SimdTargets();

// Restricts kernels to this SIMD target; an empty name restores the choice by processor. kUsage for
// names that SimdTargets() does not list. Applies to the whole process; no program may run
// meanwhile.
Status UseSimdTarget(std::string_view name);

}  // namespace nnsuite
