// Operators by scope as text.
#pragma once

#include <string>

#include "inspect/report/tree.h"

namespace nn::app {

std::string TreeText(const inspect::TreeBranch& tree);

}  // namespace nn::app
