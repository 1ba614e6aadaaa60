// The description of nnsuite::ReportParts: what nninspect, C and Python call the parts of a report.
//
// Design: docs/design/069-described-options.md.
#pragma once

#include "base/options.h"

namespace nn::inspect {

OptionTable ReportPartTable();

}  // namespace nn::inspect
