// Statistics of tensors as text.
#pragma once

#include <string>

#include "inspect/report/statistics.h"

namespace nn::app {

// "min -0.5, max 0.5, mean 0.01, deviation 0.1, 3 zeros, values 0, 1".
std::string StatisticsText(const inspect::TensorStatistics& statistics);
// A bar for each part, "▁▃█▂"; parts without elements are blank.
std::string HistogramText(const inspect::TensorStatistics& statistics);

}  // namespace nn::app
