// The description of nnsuite::ExpectOptions: what nnrun, C and Python call its members, and what
// they do.
//
// Design: docs/design/069-described-options.md.
#pragma once

#include "base/options.h"
#include "nnsuite/outputs.h"

namespace nn {

using nnsuite::ExpectOptions;

// Without the limits, which have a table of their own (ReadLimitTable()).
OptionTable ExpectOptionTable();

}  // namespace nn
