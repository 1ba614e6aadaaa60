// Whether options of a conversion ask for what the model of the file has.
#pragma once

#include "base/status.h"
#include "formats/format.h"
#include "formats/given_inputs.h"

namespace nn {

// kUsage, with its name, for --input-shape if the inputs are declared with all of these shapes, and
// for --embed-data (`embeds`) without data in other files.
Status CheckSourceEffects(const ReadModel& read, const InputShapes& shapes, bool embeds);

}  // namespace nn
