// The output of nninspect as text, CSV and JSON. Pictures are the library's (inspect/picture.h).
#pragma once

#include <string>
#include <vector>

#include "apps/nninspect/inspection.h"
#include "apps/nninspect/options.h"
#include "base/json.h"
#include "inspect/cost.h"
#include "inspect/diff.h"
#include "inspect/node.h"
#include "inspect/statistics.h"
#include "inspect/tensors.h"
#include "inspect/tree.h"
#include "inspect/values.h"

namespace nn::app {

// The first members of every JSON report: its version and the tool.
Json ReportHead();

// The requested parts as text, with the summary unless only parts were requested.
std::string InspectionText(const Inspection& inspection, const InspectOptions& options);
// Follows schemas/nninspect.schema.json.
Json InspectionJson(const Inspection& inspection, const InspectOptions& options);
// The requested table.
std::string InspectionCsv(const Inspection& inspection);

std::string DiffText(const inspect::LoadedModel& a, const inspect::LoadedModel& b,
                     const inspect::ModelDiff& diff);
// Follows schemas/nninspect-diff.schema.json.
Json DiffJson(const inspect::LoadedModel& a, const inspect::LoadedModel& b,
              const inspect::ModelDiff& diff);

std::string NodesText(const std::vector<inspect::NodeDetails>& nodes, bool histograms);
Json NodesJson(const std::vector<inspect::NodeDetails>& nodes, bool histograms);

std::string TreeText(const inspect::TreeBranch& tree);
Json TreeJson(const inspect::TreeBranch& tree);

std::string TensorsText(const ModelSummary& summary, const std::vector<inspect::TensorRow>& rows,
                        bool histograms);
std::string TensorsCsv(const ModelSummary& summary, const std::vector<inspect::TensorRow>& rows);
Json TensorsJson(const std::vector<inspect::TensorRow>& rows, bool histograms);
// "inline", "inline, buffer 12", "w.bin at 4096".
std::string StoredText(const TensorEntry& entry);

// "min -0.5, max 0.5, mean 0.01, deviation 0.1, 3 zeros, values 0, 1".
std::string StatisticsText(const inspect::TensorStatistics& statistics);
Json StatisticsJson(const inspect::TensorStatistics& statistics, bool histogram = false);
// A bar for each part, "▁▃█▂"; parts without elements are blank.
std::string HistogramText(const inspect::TensorStatistics& statistics);

std::string ValuesText(const std::vector<ValueEntry>& values);
std::string ValuesCsv(const std::vector<ValueEntry>& values);
Json ValuesJson(const std::vector<ValueEntry>& values);

std::string CostText(const inspect::ModelCost& cost);
std::string CostCsv(const inspect::ModelCost& cost);
Json CostJson(const inspect::ModelCost& cost);
std::string MicroText(const Result<MicroModel>& micro);
Json MicroJson(const Result<MicroModel>& micro);

}  // namespace nn::app
