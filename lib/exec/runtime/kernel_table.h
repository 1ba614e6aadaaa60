// The list of kernels: those of the families in exec/plan/families.h.
#pragma once

#include <vector>

#include "exec/runtime/planning/plan.h"

namespace nn {

std::vector<KernelInfo> AllKernels();

}  // namespace nn
