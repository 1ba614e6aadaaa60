#include "inspect/report/tensors.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/file/file.h"
#include "ir/types/type.h"

namespace nn::inspect {
namespace {

// "scale 0.5", "3 scales 0.1 to 0.5", "3 scales 0.5".
template <typename T, typename Fn>
std::string Range(const std::vector<T>& values, const char* what, Fn text) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const std::string range =
      *low < *high ? fmt::format("{} to {}", text(*low), text(*high)) : text(*low);
  return values.size() == 1
             ? fmt::format("{} {}", what, range)
             : fmt::format("{} {}{} {}", values.size(), what,
                           std::string_view(what).ends_with("s") ? "es" : "s", range);
}

}  // namespace

std::string QuantizationText(const StoredQuantization& q) {
  const auto real = [](float v) { return FloatText(v); };
  if (!q.table.empty()) return "table of " + Range(q.table, "value", real);
  if (q.scales.empty()) return {};
  std::string out = Range(q.scales, "scale", real);
  if (q.block > 0) out += fmt::format(" of blocks of {}", q.block);
  if (q.scales.size() > 1 && q.axis >= 0) out += fmt::format(" along axis {}", q.axis);
  if (!q.zero_points.empty())
    out += ", " + Range(q.zero_points, "zero point", [](int64_t v) { return std::to_string(v); });
  else if (q.biases.empty())
    out += ", zero point 0";
  if (!q.biases.empty()) out += ", " + Range(q.biases, "bias", real);
  return out;
}

std::string QuantizationText(const TensorRow& row) {
  return row.quantization ? QuantizationText(*row.quantization) : row.quantization_problem;
}

void AddQuantization(TensorRow& row) {
  if (!row.entry.quantization) return;
  if (auto quantization = row.entry.quantization())
    row.quantization = *std::move(quantization);
  else
    row.quantization_problem = quantization.error().message();
}

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
    rows.push_back({std::move(e), {}, {}, {}, {}});
    AddQuantization(rows.back());
    if (statistics) AddStatistics(rows.back());
  }
  return rows;
}

}  // namespace nn::inspect
