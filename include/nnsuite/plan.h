// What programs do in a run, as nnrun --explain-plan and --trace tell.
//
//   std::cout << nnsuite::ExplainPlan(program).text;
#pragma once

#include <span>
#include <string>

#include "nnsuite/error.h"
#include "nnsuite/program.h"
#include "nnsuite/tensor.h"

namespace nnsuite {

struct PlanReport {
  std::string text;  // what nnrun prints: a table of the steps, and one of the plan
  // What nnrun --explain-plan --format json prints, without the version and the model. "plan" is
  // null for the reference backend, and for programs with strings or with shapes that only a run
  // knows.
  std::string report;
};

PlanReport ExplainPlan(const Program& program);

// Runs the program and records which thread did what, and when: Chrome trace events, for
// chrome://tracing and Perfetto, which show `name` as that of the process. Errors: kUsage for a
// program without a plan, and those of Program::Run.
Result<std::string> TraceRun(const Program& program, std::span<const Tensor> inputs,
                             const std::string& name = "nnsuite");

}  // namespace nnsuite
