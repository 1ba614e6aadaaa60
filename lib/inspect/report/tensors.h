// The constant tensors of a model.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "formats/format.h"
#include "inspect/loaded.h"
#include "inspect/report/statistics.h"

namespace nn::inspect {

struct TensorRow {
  TensorEntry entry;  // `read` refers to the model
  // If requested: the statistics, or why the tensor cannot be read.
  std::optional<TensorStatistics> statistics;
  std::string problem;
  // If the tensor has one: its quantization, or why it cannot be read.
  std::optional<StoredQuantization> quantization;
  std::string quantization_problem;
};

// "scale 0.02, zero point 3", "32 scales 0.01 to 0.3 along axis 0"; "" without one.
std::string QuantizationText(const StoredQuantization& q);
std::string QuantizationText(const TensorRow& row);

// All constant tensors in file order, with their quantization. Weights are read only for
// statistics, one tensor at a time. The errors of TensorsOf; a tensor that cannot be read is not an
// error.
Result<std::vector<TensorRow>> ListTensors(const LoadedModel& model, bool statistics);

void AddQuantization(TensorRow& row);
// Reads the tensor and sets `statistics`, or `problem`.
void AddStatistics(TensorRow& row);

}  // namespace nn::inspect
