#pragma once

#include "exec/runtime/planning/plan.h"

namespace nn {

// Plans an elementwise node on integers, bool or mixed types (rows.cc); false if no kernel supports
// it.
Result<bool> PlanRows(PlanContext& ctx);

}  // namespace nn
