// Whether options of a conversion ask for what the model of the file has.
#pragma once

#include "base/status.h"
#include "convert/convert.h"
#include "formats/format.h"

namespace nn {

// kUsage, with its name, for --input-shape if the inputs are declared with all of these shapes, and
// for --embed-data without data in other files.
Status CheckSourceEffects(const ReadModel& read, const ConvertJob& options);

}  // namespace nn
