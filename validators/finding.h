// Findings of a validator about a model, and the rules that they break (nnsuite/validate.h).
#pragma once

#include "nnsuite/validate.h"

namespace nn {

using nnsuite::Finding;
using nnsuite::Location;
using nnsuite::RuleInfo;
using nnsuite::Severity;
using nnsuite::SeverityName;
using nnsuite::StaleEntry;

}  // namespace nn
