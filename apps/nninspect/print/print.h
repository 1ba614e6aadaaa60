// The output of nninspect as text and CSV. JSON and pictures are the library's.
#pragma once

#include <string>

#include "apps/nninspect/inspection.h"
#include "apps/nninspect/options.h"

namespace nn::app {

// The requested parts as text, with the summary unless only parts were requested.
std::string InspectionText(const Inspection& inspection, const InspectOptions& options);
// The requested table.
std::string InspectionCsv(const Inspection& inspection);

}  // namespace nn::app
