// The description of nnsuite::InputOptions: what nnrun, C and Python call its members, and what
// they do.
//
// Design: docs/design/069-described-options.md.
#pragma once

#include "base/options.h"
#include "nnsuite/inputs.h"

namespace nn {

// Without the limits, which have a table of their own (ReadLimitTable()).
OptionTable InputOptionTable();

}  // namespace nn
