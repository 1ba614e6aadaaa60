// The JSON forms of the parts of an inspection.
#pragma once

#include <vector>

#include "base/json/json.h"
#include "inspect/report/inspection.h"
#include "inspect/report/statistics.h"

namespace nn::inspect {

Json NodesJson(const std::vector<NodeDetails>& nodes, bool histograms);
Json TreeJson(const TreeBranch& tree);
Json TensorsJson(const std::vector<TensorRow>& rows, bool histograms);
Json StatisticsJson(const TensorStatistics& statistics, bool histogram = false);
Json ValuesJson(const std::vector<ValueEntry>& values);
Json CostJson(const ModelCost& cost);
Json MicroJson(const Result<MicroModel>& micro);

}  // namespace nn::inspect
