// A bill of materials of a model: nninspect --format cyclonedx.
#pragma once

#include "apps/nninspect/options.h"
#include "base/json/json.h"
#include "base/status.h"

namespace nn::app {

// A CycloneDX 1.6 document about the model as a machine-learning-model component: files with
// digests, inputs and outputs, operators, number of parameters, and the license, authors,
// description and version that its metadata has. Equal models give equal bytes: it has no time, and
// its serial number is made from the digests.
//
// Errors are those of inspect::Load, of digests, and kIo; kUsage for standard input, whose digest
// is unknown.
Result<Json> BillOfMaterials(const InspectOptions& options);

}  // namespace nn::app
