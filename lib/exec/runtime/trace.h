// Records which thread ran which work item, and when.
#pragma once

#include <chrono>
#include <vector>

#include "exec/program.h"
#include "exec/runtime/step.h"

namespace nn {

class Tracer {
 public:
  using Clock = std::chrono::steady_clock;

  // Created by the thread that runs the plan, when the run begins.
  Tracer();
  // For each step in turn.
  void BeginStep(const Step& step);
  // Runs a work item of the current step, on any thread.
  void RunItem(const Step& step, const Memory& memory, size_t item);
  void EndStep();

  RunTrace Result() const;

 private:
  struct Item {
    Clock::time_point begin, end;
    uint32_t thread = 0;
  };
  struct StepItems {
    Clock::time_point begin, end;
    std::vector<Item> items;
  };

  const Clock::time_point begin_;
  const uint32_t caller_;
  std::vector<StepItems> steps_;
};

}  // namespace nn
