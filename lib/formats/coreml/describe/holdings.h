// The inventory of a file of the format.
#pragma once

#include <vector>

#include "formats/holdings.h"

namespace nn::coreml {

// HoldingsOf() of a model of the format.
std::vector<Holding> HoldingsOf(const NativeModel& model);

}  // namespace nn::coreml
