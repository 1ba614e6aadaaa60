#include "apps/nninspect/print/tensors.h"

#include "apps/nninspect/csv.h"
#include "apps/nninspect/print/statistics.h"
#include "base/checked_math.h"
#include "base/text/table.h"
#include "base/text/text.h"
#include "inspect/report/shape_text.h"

namespace nn::app {
namespace {

// The first operators that use a tensor: "#3 Conv conv1".
std::string UsersText(const ModelSummary& summary, const TensorEntry& entry, size_t shown) {
  std::string out;
  for (size_t i = 0; i < entry.users.size(); ++i) {
    if (i == shown) return out + fmt::format(", ... {} in all", entry.users.size());
    const OperatorSummary& op = summary.operators[entry.users[i]];
    out += fmt::format("{}#{} {}", i == 0 ? "" : ", ", entry.users[i], Escape(op.op));
  }
  return out;
}

std::string DistinctText(const inspect::TensorStatistics& s) {
  std::string out;
  if (s.distinct)
    for (const Json& v : *s.distinct) out += (out.empty() ? "" : " ") + v.dump();
  return out;
}

}  // namespace

std::string StoredText(const TensorEntry& e) {
  if (e.external) return e.location;
  return e.location.empty() ? "inline" : "inline, " + e.location;
}

std::string TensorsText(const ModelSummary& summary, const std::vector<inspect::TensorRow>& rows,
                        bool histograms) {
  constexpr size_t kShownUsers = 3;
  Table table({{"name"},
               {"scope"},
               {"type"},
               {"shape"},
               {"bytes", Align::kRight},
               {"stored"},
               {"quantization"},
               {"used by"},
               {"statistics"},
               {"histogram"}});
  uint64_t total = 0;
  for (const inspect::TensorRow& r : rows) {
    const TensorEntry& e = r.entry;
    total = CheckedAdd(total, e.bytes).value_or(UINT64_MAX);
    table.Add({Escape(e.name), Escape(e.scope), e.type, inspect::ShapeText(e.shape),
               WithThousands(e.bytes), Escape(StoredText(e)),
               EscapeControls(inspect::QuantizationText(r)), UsersText(summary, e, kShownUsers),
               r.statistics ? StatisticsText(*r.statistics) : EscapeControls(r.problem),
               histograms && r.statistics ? HistogramText(*r.statistics) : ""});
  }
  return fmt::format("\nConstant tensors: {} ({})\n{}", WithThousands(rows.size()),
                     HumanBytes(total), table.empty() ? "" : table.Text(2));
}

std::string TensorsCsv(const ModelSummary& summary, const std::vector<inspect::TensorRow>& rows) {
  std::string out = CsvLine({"name", "scope", "type", "shape", "bytes", "storage", "location",
                             "used_by", "count", "min", "max", "mean", "standard_deviation",
                             "zeros", "nans", "infinities", "distinct", "problem", "quantization"});
  const auto number = [](const std::optional<double>& v) {
    return v ? fmt::format("{}", *v) : std::string();
  };
  for (const inspect::TensorRow& r : rows) {
    const TensorEntry& e = r.entry;
    std::string shape;
    for (const int64_t d : e.shape) shape += (shape.empty() ? "" : "x") + std::to_string(d);
    std::vector<std::string> cells = {e.name,
                                      e.scope,
                                      e.type,
                                      shape,
                                      std::to_string(e.bytes),
                                      e.external ? "external" : "inline",
                                      e.location,
                                      UsersText(summary, e, e.users.size())};
    if (const auto& s = r.statistics)
      cells.insert(cells.end(),
                   {std::to_string(s->count), s->min.is_null() ? "" : s->min.dump(),
                    s->max.is_null() ? "" : s->max.dump(), number(s->mean), number(s->deviation),
                    std::to_string(s->zeros), std::to_string(s->nans),
                    std::to_string(s->infinities), DistinctText(*s), ""});
    else
      cells.insert(cells.end(), {"", "", "", "", "", "", "", "", "", r.problem});
    cells.push_back(inspect::QuantizationText(r));
    out += CsvLine(cells);
  }
  return out;
}

}  // namespace nn::app
