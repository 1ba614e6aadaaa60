// A small plan that a step of a larger one runs for each of its work items.
#pragma once

#include <memory>
#include <span>

#include "exec/runtime/planning/plan.h"

namespace nn {

class SubPlan {
 public:
  // The graph must have one output. nullopt if a node has no kernel.
  static Result<std::optional<SubPlan>> Create(Graph graph);

  SubPlan(SubPlan&&) noexcept;
  SubPlan& operator=(SubPlan&&) noexcept;
  ~SubPlan();

  // Bytes of memory that a run needs, aligned as a Buffer.
  size_t arena_bytes() const;
  // Inputs in the graph's order, dense. Thread-safe if each call has its own memory.
  void Run(std::span<std::byte* const> inputs, std::byte* output, std::byte* arena,
           StepError& error) const;

 private:
  struct Impl;
  explicit SubPlan(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace nn
