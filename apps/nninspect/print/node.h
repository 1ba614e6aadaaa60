// Details of operators as text.
#pragma once

#include <string>
#include <vector>

#include "inspect/report/node.h"

namespace nn::app {

std::string NodesText(const std::vector<inspect::NodeDetails>& nodes, bool histograms);

}  // namespace nn::app
