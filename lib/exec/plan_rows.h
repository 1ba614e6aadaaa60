#pragma once

#include "exec/plan.h"

namespace nn {

// An elementwise node on integers, truth values or mixed types (plan_rows.cc); false if there is no
// kernel for it.
Result<bool> PlanRows(PlanContext& ctx);

}  // namespace nn
