// The output of nninspect as text and CSV. JSON and pictures are the library's.
#pragma once

#include <string>
#include <vector>

#include "apps/nninspect/inspection.h"
#include "apps/nninspect/options.h"
#include "inspect/diff/diff.h"
#include "inspect/report/cost.h"
#include "inspect/report/node.h"
#include "inspect/report/parts_json.h"
#include "inspect/report/statistics.h"
#include "inspect/report/tensors.h"
#include "inspect/report/tree.h"
#include "inspect/report/values.h"

namespace nn::app {

using inspect::DiffJson;
using inspect::InspectionJson;
using inspect::ReportHead;
using inspect::StatisticsJson;

// The requested parts as text, with the summary unless only parts were requested.
std::string InspectionText(const Inspection& inspection, const InspectOptions& options);
// The requested table.
std::string InspectionCsv(const Inspection& inspection);

std::string DiffText(const inspect::LoadedModel& a, const inspect::LoadedModel& b,
                     const inspect::ModelDiff& diff);

std::string NodesText(const std::vector<inspect::NodeDetails>& nodes, bool histograms);

std::string TreeText(const inspect::TreeBranch& tree);

std::string TensorsText(const ModelSummary& summary, const std::vector<inspect::TensorRow>& rows,
                        bool histograms);
std::string TensorsCsv(const ModelSummary& summary, const std::vector<inspect::TensorRow>& rows);
// "inline", "inline, buffer 12", "w.bin at 4096".
std::string StoredText(const TensorEntry& entry);

// "min -0.5, max 0.5, mean 0.01, deviation 0.1, 3 zeros, values 0, 1".
std::string StatisticsText(const inspect::TensorStatistics& statistics);
// A bar for each part, "▁▃█▂"; parts without elements are blank.
std::string HistogramText(const inspect::TensorStatistics& statistics);

std::string ValuesText(const std::vector<ValueEntry>& values);
std::string ValuesCsv(const std::vector<ValueEntry>& values);

std::string CostText(const inspect::ModelCost& cost);
std::string CostCsv(const inspect::ModelCost& cost);
std::string MicroText(const Result<MicroModel>& micro);

}  // namespace nn::app
