// Differences of two models as text.
#pragma once

#include <string>

#include "inspect/diff/diff.h"
#include "inspect/loaded.h"

namespace nn::app {

std::string DiffText(const inspect::LoadedModel& a, const inspect::LoadedModel& b,
                     const inspect::ModelDiff& diff);

}  // namespace nn::app
