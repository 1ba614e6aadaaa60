// A small plan that a step of a larger one runs for each of its items.
#pragma once

#include <memory>
#include <span>

#include "exec/plan.h"

namespace nn {

class SubPlan {
 public:
  // For a graph of one output. nullopt where a node has no kernel.
  static Result<std::optional<SubPlan>> Create(Graph graph);

  SubPlan(SubPlan&&) noexcept;
  SubPlan& operator=(SubPlan&&) noexcept;
  ~SubPlan();

  // Of the memory that a run needs, aligned as a Buffer.
  size_t arena_bytes() const;
  // Inputs in the graph's order, dense. May run several times at once, with memory of its own each.
  void Run(std::span<std::byte* const> inputs, std::byte* output, std::byte* arena) const;

 private:
  struct Impl;
  explicit SubPlan(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace nn
