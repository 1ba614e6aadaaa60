// The description of nnsuite::ExpectOptions: what nnrun, C and Python call its members, and what
// they do.
//
// Design: docs/design/069-described-options.md.
#pragma once

#include "base/options.h"
#include "base/status.h"
#include "nnsuite/outputs.h"

namespace nn {

using nnsuite::ExpectOptions;

// Without the limits, which have a table of their own (ReadLimitTable()).
OptionTable ExpectOptionTable();

// kUsage for tolerances that are no numbers, or negative.
Status CheckExpectOptions(const ExpectOptions& options);

}  // namespace nn
