// Costs of operators as text and CSV.
#pragma once

#include <string>

#include "inspect/report/cost.h"

namespace nn::app {

std::string CostText(const inspect::ModelCost& cost);
std::string CostCsv(const inspect::ModelCost& cost);

}  // namespace nn::app
