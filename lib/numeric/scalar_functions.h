// The elementary functions of elementary-inl.h on single floats.
#pragma once

#include "numeric/elementary-inl.h"
#include "numeric/scalar.h"

namespace nn {

using ScalarFunctions = scalar::Elementary<ScalarMachine>;

}  // namespace nn
