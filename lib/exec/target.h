// The legalization target of the executor's kernels: spatial operators have channels last.
#pragma once

#include "rewrite/target.h"

namespace nn {

const Target& ExecTarget();

}  // namespace nn
