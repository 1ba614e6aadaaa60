// Describes a plan for users.
#pragma once

#include <unordered_map>

#include "exec/program.h"
#include "exec/runtime/planning/plan.h"

namespace nn {

// `views` must have the view of every value that steps read or write. Offsets in the arena must
// have been assigned.
PlanInfo DescribePlan(const Graph& graph, const Plan& plan,
                      const std::unordered_map<const Value*, MemoryView>& views);

StepInfo DescribeStep(const Step& step);

}  // namespace nn
