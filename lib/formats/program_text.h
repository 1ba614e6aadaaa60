// Programs in the notation of the owner of their format.
#pragma once

#include <string>

#include "base/status.h"
#include "formats/format.h"

namespace nn {

// MIL of an ML Program of Core ML, as compiled models have it. kUnsupported, with a name, for other
// models and for what the notation cannot hold.
Result<std::string> ProgramText(const ReadModel& model);

}  // namespace nn
