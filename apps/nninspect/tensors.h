// The list of constant tensors: nninspect --tensors.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/nninspect/loaded.h"
#include "apps/nninspect/statistics.h"
#include "base/json.h"

namespace nn::app {

struct TensorRow {
  TensorEntry entry;
  // With --stats: the statistics, or why they are unavailable.
  std::optional<TensorStatistics> statistics;
  std::string problem;
};

// Weights are read only for statistics, one tensor at a time.
Result<std::vector<TensorRow>> ListTensors(const LoadedModel& model, bool statistics);
void AddStatistics(TensorRow& row);

// "inline", "inline, buffer 12", "w.bin at 4096".
std::string StoredText(const TensorEntry& entry);

std::string TensorsText(const ModelSummary& summary, const std::vector<TensorRow>& rows);
std::string TensorsCsv(const ModelSummary& summary, const std::vector<TensorRow>& rows);
Json TensorsJson(const std::vector<TensorRow>& rows);
Json TensorJson(const TensorRow& row);

}  // namespace nn::app
