// The elementary functions of elementary-inl.h on single floats.
#pragma once

#include "ops/elementary-inl.h"
#include "ops/scalar.h"

namespace nn {

using ScalarFunctions = scalar::Elementary<ScalarMachine>;

}  // namespace nn
