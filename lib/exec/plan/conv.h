#pragma once

#include "exec/runtime/planning/plan.h"

namespace nn {

// Convolution on quantized types (conv_quant.cc); false if there is no kernel for the node.
Result<bool> PlanQuantConv(PlanContext& ctx);

}  // namespace nn
