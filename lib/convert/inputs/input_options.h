// The description of nnsuite::InputOptions: what nnrun, C and Python call its members, and what
// they do.
//
// Design: docs/design/069-described-options.md.
#pragma once

#include "base/options.h"
#include "base/status.h"
#include "nnsuite/inputs.h"

namespace nn {

// Without the limits, which have a table of their own (ReadLimitTable()).
OptionTable InputOptionTable();

// kUsage for members out of range.
Status CheckInputOptions(const nnsuite::InputOptions& options);

}  // namespace nn
