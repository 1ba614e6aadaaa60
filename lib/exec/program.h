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
#include "exec/run_limits.h"
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
  RunLimits limits;
};

// What one step of a plan is and costs.
struct StepInfo {
  std::string label;  // "conv+add+relu features.0"
  int64_t multiply_adds = 0;
  uint64_t bytes = 0;         // read and written, weights included
  bool reference = false;     // the scalar reference evaluation: there is no kernel for the node
  size_t grid = 1;            // independent items that threads share
  uint64_t packed_bytes = 0;  // weights in the kernel's own order
};

// Where something lies during a run.
enum class Storage : uint8_t {
  kInput,     // a graph input, the caller's
  kOutput,    // a graph output
  kArena,     // an intermediate value
  kConstant,  // as the model has it
  kPacked,    // a constant in the kernel's own order, or a part of the step itself
  kScratch,   // in the arena, of no value: what a step needs for itself or hands to the next one
};

// "arena", ...
std::string_view StorageName(Storage storage);

// What a step reads or writes.
struct OperandInfo {
  std::string name;  // of the value ("%12" without one); empty for what belongs to no value
  DType dtype = DType::kF32;
  std::vector<int64_t> shape;  // channels last, as the step sees it
  uint64_t bytes = 0;
  Storage storage = Storage::kArena;
  uint64_t offset = 0;    // bytes from the start of the arena, input, output or constant
  std::string within;     // the value in whose memory it lies, where it has none of its own
  size_t row_stride = 0;  // elements between rows, where they are further apart than they are long

  bool has_value() const { return !name.empty(); }
};

struct OperatorInfo {
  std::string op;
  std::string name;
};

struct PlannedStep {
  StepInfo info;
  std::vector<OperatorInfo> operators;  // computed in this order; none for a copy to an output
  std::vector<OperandInfo> reads;       // packed constants stand with their operators' last step
  std::vector<OperandInfo> writes;
  uint64_t alive_bytes = 0;  // of the arena, while it runs
};

// A plan as a whole. Bytes of the arena are multiples of its alignment.
struct PlanInfo {
  std::vector<PlannedStep> steps;
  uint64_t arena_bytes = 0;
  uint64_t unshared_bytes = 0;  // of the same values and temporaries with memory of their own each
  uint64_t peak_bytes = 0;      // largest alive_bytes, and the first step that has it
  size_t peak_step = 0;
  uint64_t packed_bytes = 0;
  size_t packed_steps = 0;    // that have packed weights
  size_t folded_nodes = 0;    // computed at planning time, or needed by no output
  size_t planned_nodes = 0;   // what is left, rearrangements of axes included
  size_t fused_nodes = 0;     // computed within the step of another
  size_t stepless_nodes = 0;  // views: their results lie where their inputs do
};

// What one thread did of a step, from its first item to the end of its last. Thread 0 is the one
// that called Run().
struct TraceSpan {
  size_t step = 0;
  size_t thread = 0;
  std::vector<size_t> items;  // in the order in which they were run
  double begin = 0, end = 0;  // microseconds since the run began
};

struct RunTrace {
  std::vector<TraceSpan> steps;    // each as a whole, in order, without items
  std::vector<TraceSpan> threads;  // one a step and thread that had a part in it
};

class Program {
 public:
  // Requires a graph whose inputs have known shapes (BindInputShapes); it is copied unless it is
  // given away. Errors: kModel, kUnsupported (naming the operator), kLimit: a run would take more
  // than the options allow, found out before memory for it is allocated.
  static Result<Program> Compile(const Graph& graph, const ProgramOptions& options);
  static Result<Program> Compile(Graph&& graph, const ProgramOptions& options);

  Program(Program&&) noexcept;
  Program& operator=(Program&&) noexcept;
  ~Program();

  // Inputs in the graph's order; types and shapes must be those of the plan (kUsage otherwise).
  // kModel: the contents of an input give a value another shape than the file declares, or an
  // operator cannot take them (an index out of range). kLimit: with shapes that only the run tells,
  // it takes more than the options allow. There are no outputs then.
  Result<std::vector<Tensor>> Run(std::span<const Tensor> inputs);

  // What is run: the graph that was given, rewritten, with its inputs and outputs in their order
  // and under their names. It lives as long as the program.
  const Graph& graph() const;
  // Whether there is a plan: the reference backend has none, nor has a graph with strings or with
  // shapes that only a run can tell.
  bool planned() const;
  const std::vector<StepInfo>& steps() const;
  // Everything about the plan; empty without one.
  PlanInfo Explain() const;
  // Milliseconds of each step in the last run, when profiling is on.
  void set_profiling(bool on);
  const std::vector<double>& step_milliseconds() const;
  // Who ran what in the last run, when tracing is on, which takes two looks at the clock an item.
  void set_tracing(bool on);
  RunTrace trace() const;
  // Bytes of the arena for intermediate values, and of packed weights.
  uint64_t arena_bytes() const;
  uint64_t packed_bytes() const;

 private:
  struct Impl;
  explicit Program(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Names of the SIMD targets that this processor can run, best first: "AVX3", "AVX2", "SSE4",
// "NEON_DOT", "NEON", "SCALAR", ...
std::vector<std::string> SimdTargets();

// Lets kernels use this target only; an empty name restores the choice by processor. kUsage for
// names that SimdTargets() does not list. For the whole process.
Status UseSimdTarget(std::string_view name);

}  // namespace nn
