// The description of nnsuite::EditOptions: what nnconvert, C and Python call each part of an edit,
// and what it does.
//
// Design: docs/design/069-described-options.md.
#pragma once

#include "base/options.h"

namespace nn::edit {

OptionTable EditOptionTable();

}  // namespace nn::edit
