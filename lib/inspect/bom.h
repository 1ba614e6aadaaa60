// A bill of materials of a model.
#pragma once

#include "base/json/json.h"
#include "base/status.h"
#include "inspect/loaded.h"

namespace nn::inspect {

// A CycloneDX 1.6 document about the model as a machine-learning-model component: files with
// digests, inputs and outputs, operators, number of parameters, and the license, authors,
// description and version that its metadata has. Equal models give equal bytes: it has no time, and
// its serial number is made from the digests.
//
// Errors are those of digests, and kIo; kUsage for a model without a file, such as one from
// standard input, whose digest is unknown. The model is loaded with LoadOptions::in_full.
Result<Json> BillOfMaterials(const LoadedModel& model);

}  // namespace nn::inspect
