// The plan of a program as text and JSON.
#pragma once

#include <string>

#include "base/json/json.h"
#include "base/status.h"
#include "exec/program.h"

namespace nn {

// kUsage if the program has no plan as a whole (Program::planned()).
Status RequirePlan(const Program& program);

// {"target", "plan"}; the plan is null if there is none as a whole.
Json PlanJson(const Program& program);
// Tables of the steps and of the plan, or a line that says why there is none.
std::string PlanText(const Program& program);

// "f32[1, 16, 16, 16]".
std::string TypeText(const OperandInfo& operand);

}  // namespace nn
