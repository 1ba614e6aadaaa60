// nnconvert --calibrate.
#pragma once

#include "apps/nnconvert/options.h"
#include "base/status.h"

namespace nn::app {

// Sets QuantizeOptions::seeded to N of "seeded:N". kUsage for other texts that begin so.
Status SetSeededSamples(ConvertArguments& o);

bool TakesSampleFiles(const ConvertArguments& o);

// kUsage for samples that the quantization does not use, or lacks.
Status CheckSamples(const ConvertArguments& o);

}  // namespace nn::app
