#include "ir/op_def.h"
#include "ops/ops.h"

namespace nn {

void RegisterElementwiseOps(OpRegistry&) {}

}  // namespace nn
