// Tells people what a plan is.
#pragma once

#include <unordered_map>

#include "exec/plan.h"
#include "exec/program.h"

namespace nn {

// `places` has the place of every value that steps read or write. Offsets in the arena must have
// been assigned.
PlanInfo DescribePlan(const Graph& graph, const Plan& plan,
                      const std::unordered_map<const Value*, Place>& places);

StepInfo DescribeStep(const Step& step);

}  // namespace nn
