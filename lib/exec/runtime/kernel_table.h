// The list of kernels: every function Add<Family>Kernels(std::vector<KernelInfo>&) in lib/exec/plan
// is found by the build.
#pragma once

#include <vector>

#include "exec/runtime/planning/plan.h"

namespace nn {

std::vector<KernelInfo> AllKernels();

}  // namespace nn
