// The limits of a run. Operations on elements are counted by WorkOf (ir/eval.h).
#pragma once

#include "nnsuite/options.h"

namespace nn {

using nnsuite::RunLimits;

}  // namespace nn
