// The description of nnsuite::CheckOptions: what nnvalidate, C and Python call its members, and
// what they do.
//
// Design: docs/design/069-described-options.md.
#pragma once

#include "base/options.h"

namespace nn {

// Without the options of its structures, which have tables of their own (ValidateOptionTable(),
// AssertionTable()).
OptionTable CheckOptionTable();

}  // namespace nn
