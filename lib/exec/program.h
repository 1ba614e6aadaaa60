// Executes graphs on the CPU. A Program is planned once, for fixed input shapes, and run many
// times.
//
// Every output has the same bits for every backend, SIMD target and number of threads
// (docs/spec/arithmetic.md). NaN in an output is always the same quiet NaN.
//
// Design: docs/design/046-execution-plans.md.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "exec/run_limits.h"
#include "ir/graph.h"
#include "ir/tensor.h"
#include "nnsuite/program.h"

namespace nn {

using nnsuite::Backend;
using nnsuite::ProgramOptions;

// One step of a plan and its cost.
struct StepInfo {
  std::string label;             // "conv+add+relu features.0"
  std::string kind;              // "conv+add+relu", also for auxiliary steps of these operators
  std::vector<int64_t> sources;  // Node::source of the operators, each once; the main one first
  int64_t multiply_adds = 0;
  uint64_t bytes = 0;         // read and written, weights included
  bool reference = false;     // scalar reference evaluation: no kernel supports the node
  size_t grid = 1;            // independent work items, distributed to threads
  uint64_t packed_bytes = 0;  // weights in the kernel's own order
};

// The memory that holds a value during a run.
enum class Storage : uint8_t {
  kInput,     // a graph input, owned by the caller
  kOutput,    // a graph output
  kArena,     // an intermediate value
  kConstant,  // as in the model
  kPacked,    // a constant in the kernel's own order, or a part of the step itself
  kScratch,   // temporary memory in the arena, of a step or between two steps
};

// "arena", ...
std::string_view StorageName(Storage storage);

// An operand of a step.
struct OperandInfo {
  std::string name;  // of the value ("%12" without one); empty if it belongs to no value
  DType dtype = DType::kF32;
  std::vector<int64_t> shape;  // channels last, as the step sees it
  uint64_t bytes = 0;
  Storage storage = Storage::kArena;
  uint64_t offset = 0;    // bytes from the start of the arena, input, output or constant
  std::string within;     // the value whose memory it shares, if it is a view
  size_t row_stride = 0;  // elements between rows, if they are strided

  bool has_value() const { return !name.empty(); }
};

struct OperatorInfo {
  std::string op;
  std::string name;
};

struct PlannedStep {
  StepInfo info;
  std::vector<OperatorInfo> operators;  // computed in this order; none for a copy to an output
  std::vector<OperandInfo>
      reads;  // packed constants are listed at the last step of their operators
  std::vector<OperandInfo> writes;
  uint64_t alive_bytes = 0;  // live bytes of the arena during the step
};

// A plan as a whole. Bytes of the arena are multiples of its alignment.
struct PlanInfo {
  std::vector<PlannedStep> steps;
  uint64_t arena_bytes = 0;
  uint64_t unshared_bytes = 0;  // of the same values and temporaries without sharing memory
  uint64_t peak_bytes = 0;      // largest alive_bytes, and the first step that has it
  size_t peak_step = 0;
  uint64_t packed_bytes = 0;
  size_t packed_steps = 0;    // steps with packed weights
  size_t folded_nodes = 0;    // computed at planning time, or needed by no output
  size_t planned_nodes = 0;   // the remaining nodes, including permutes
  size_t fused_nodes = 0;     // computed within the step of another node
  size_t stepless_nodes = 0;  // views: results in the memory of their inputs
};

// The part of a step that one thread ran, from its first work item to the end of its last. Thread 0
// is the caller of Run().
struct TraceSpan {
  size_t step = 0;
  size_t thread = 0;
  std::vector<size_t> items;  // in execution order
  double begin = 0, end = 0;  // microseconds since the start of the run
};

struct RunTrace {
  std::vector<TraceSpan> steps;    // each as a whole, in order, without items
  std::vector<TraceSpan> threads;  // one per step and participating thread
};

// What to record and to tell of a run; null: nothing. Records are empty without a plan.
struct RunRecord {
  std::vector<double>* step_milliseconds = nullptr;  // of each step
  RunTrace* trace = nullptr;                         // reads the clock twice per work item
  // Told, on the calling thread, that `done` of `total` steps are done, and again with the same
  // numbers while a step runs regions. Steps are operators without a plan. An error ends the run.
  std::function<Status(uint64_t done, uint64_t total)> progress = nullptr;
};

// A compiled graph. Movable, not copyable. Its const member functions may be called concurrently.
class Program {
 public:
  // The inputs of the graph must have known shapes (BindInputShapes). A const graph is copied.
  // Errors: kUsage if an input has no known shape, kModel, kUnsupported (naming the operator),
  // kLimit if a run would exceed the limits of the options, detected before memory for it is
  // allocated.
  static Result<Program> Compile(const Graph& graph, const ProgramOptions& options);
  static Result<Program> Compile(Graph&& graph, const ProgramOptions& options);

  Program(Program&&) noexcept;
  Program& operator=(Program&&) noexcept;
  ~Program();

  // Inputs in the graph's order; types and shapes must match the plan (kUsage otherwise). kModel:
  // the contents of an input lead to a shape that differs from the declared one, or an operator
  // rejects them (an index out of range). kLimit: shapes known only at run time exceed the limits
  // of the options. On error there are no outputs, and `record` is unspecified.
  //
  // Several runs may take place at the same time. Each of them has its own arena and its own
  // ProgramOptions::threads threads, counting the caller; they are kept for later runs. The
  // memory limit applies to each run.
  Result<std::vector<Tensor>> Run(std::span<const Tensor> inputs,
                                  const RunRecord& record = {}) const;

  // The executed graph: the given graph after rewrites, with the same inputs and outputs in order
  // and by name. It lives as long as the program.
  const Graph& graph() const;
  // Whether there is a plan of the whole graph: not for the reference backend, graphs with strings,
  // or shapes known only at run time (docs/design/047-open-shapes-in-runs.md).
  bool planned() const;
  const std::vector<StepInfo>& steps() const;
  // Those of Compile(), with the number of threads that 0 stands for.
  const ProgramOptions& options() const;
  // The description of the plan; empty if there is none.
  PlanInfo Explain() const;
  // Bytes of the arena of one run, and of packed weights.
  uint64_t arena_bytes() const;
  uint64_t packed_bytes() const;

 private:
  struct Impl;
  explicit Program(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Names of the SIMD targets that this processor supports, best first: "AVX3", "AVX2", "SSE4",
// "NEON_DOT", "NEON", "SCALAR", ...
std::vector<std::string> SimdTargets();

// Restricts kernels to this SIMD target; an empty name restores the choice by processor. kUsage for
// names that SimdTargets() does not list. Applies to the whole process.
Status UseSimdTarget(std::string_view name);
// The best one that kernels may use.
std::string SimdTargetInUse();

}  // namespace nn
