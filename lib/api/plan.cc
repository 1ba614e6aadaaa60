#include "nnsuite/plan.h"

#include "api/access.h"
#include "base/json/json.h"
#include "exec/plan_report.h"
#include "exec/trace_report.h"

namespace nnsuite {

PlanReport ExplainPlan(const Program& program) {
  const nn::Program& compiled = Access::Of(program);
  return {nn::PlanText(compiled), nn::JsonText(nn::PlanJson(compiled))};
}

Result<std::string> TraceRun(const Program& program, std::span<const Tensor> inputs,
                             const std::string& name) {
  const nn::Program& compiled = Access::Of(program);
  NN_RETURN_IF_ERROR(nn::RequirePlan(compiled));
  nn::RunTrace trace;
  NN_RETURN_IF_ERROR(compiled.Run(Access::Of(inputs), {.trace = &trace}));
  return nn::TraceText(compiled, trace, name);
}

}  // namespace nnsuite
