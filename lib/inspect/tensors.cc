#include "inspect/tensors.h"

#include <utility>

#include "base/file.h"

namespace nn::inspect {
void AddStatistics(TensorRow& row) {
  const auto tensor = row.entry.read();
  if (!tensor) {
    row.problem = tensor.error().message();
    return;
  }
  row.statistics = StatisticsOf(*tensor);
  DropResidentPages(tensor->blob());
}

Result<std::vector<TensorRow>> ListTensors(const LoadedModel& model, bool statistics) {
  NN_ASSIGN(std::vector<TensorEntry> entries, TensorsOf(model));
  std::vector<TensorRow> rows;
  rows.reserve(entries.size());
  for (TensorEntry& e : entries) {
    rows.push_back({std::move(e), {}, {}});
    if (statistics) AddStatistics(rows.back());
  }
  return rows;
}

}  // namespace nn::inspect
