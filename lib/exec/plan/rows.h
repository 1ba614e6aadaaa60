#pragma once

#include "exec/runtime/plan.h"

namespace nn {

// Plans an elementwise node on integers, bool or mixed types (plan_rows.cc); false if no kernel
// supports it.
Result<bool> PlanRows(PlanContext& ctx);

}  // namespace nn
