// What the executor's kernels want: spatial operators with channels last.
#pragma once

#include "passes/legalise.h"

namespace nn {

const Target& ExecTarget();

}  // namespace nn
