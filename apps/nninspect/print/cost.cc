#include "apps/nninspect/print/cost.h"

#include "apps/nninspect/csv.h"
#include "base/text/table.h"
#include "base/text/text.h"

namespace nn::app {
namespace {

std::string NumberText(const std::optional<uint64_t>& n) {
  return n ? WithThousands(*n) : "?";
}

std::string Share(const std::optional<uint64_t>& part, uint64_t whole) {
  if (!part || whole == 0) return {};
  return fmt::format("{:.1f}%", 100.0 * static_cast<double>(*part) / static_cast<double>(whole));
}

std::string Or(const std::optional<uint64_t>& n) {
  return n ? std::to_string(*n) : std::string();
}

// The rows with unknown multiply-adds, by operator and reason.
std::string UnknownText(const inspect::ModelCost& cost) {
  std::map<std::pair<std::string, std::string>, uint64_t> kinds;
  for (const inspect::OperatorCost& r : cost.operators)
    if (!r.unknown.empty()) ++kinds[{r.op, r.unknown}];
  Table table({{""}, {"", Align::kRight}, {""}});
  for (const auto& [kind, count] : kinds)
    table.Add({Escape(kind.first), WithThousands(count), kind.second});
  return table.empty() ? "" : "\nNot counted\n" + table.Text(2);
}

}  // namespace

std::string CostText(const inspect::ModelCost& cost) {
  Table table({{"#", Align::kRight},
               {"operator"},
               {"name"},
               {"output"},
               {"multiply-adds", Align::kRight},
               {"", Align::kRight},
               {"parameters", Align::kRight},
               {"bytes read", Align::kRight},
               {"bytes written", Align::kRight}});
  for (const inspect::OperatorCost& r : cost.operators)
    table.Add({r.index < 0 ? "" : std::to_string(r.index), Escape(r.op), Escape(r.name),
               Escape(r.output), NumberText(r.multiply_adds),
               Share(r.multiply_adds, cost.multiply_adds), WithThousands(r.parameters),
               NumberText(r.bytes_read), NumberText(r.bytes_written)});
  std::string out = "\nCost\n" + table.Text(2);
  const auto rest = [](uint64_t count, std::string_view what) {
    return count == 0
               ? std::string()
               : fmt::format(" (not counted: {}, whose {} unknown)",
                             count == 1 ? "1 operator" : WithThousands(count) + " operators", what);
  };
  Table totals({{""}, {""}});
  totals.Add({"Multiply-adds",
              WithThousands(cost.multiply_adds) + rest(cost.unknown, "multiply-adds are")});
  totals.Add({"Parameters", WithThousands(cost.parameters)});
  totals.Add({"Bytes read", HumanBytes(cost.bytes_read) + rest(cost.unsized, "sizes are")});
  totals.Add({"Bytes written", HumanBytes(cost.bytes_written)});
  std::string peak = "unknown, because shapes are";
  if (cost.peak_bytes) {
    peak = HumanBytes(*cost.peak_bytes);
    if (!cost.operators.empty()) {
      const inspect::OperatorCost& r = cost.operators[cost.peak_operator];
      peak += fmt::format(" at #{} {}", r.index, Escape(r.op));
    }
  }
  totals.Add({"Peak of activations", peak});
  return out + UnknownText(cost) + "\n" + totals.Text(2);
}

std::string CostCsv(const inspect::ModelCost& cost) {
  std::string out = CsvLine({"index", "operator", "name", "output", "multiply_adds", "parameters",
                             "bytes_read", "bytes_written", "unknown"});
  for (const inspect::OperatorCost& r : cost.operators)
    out += CsvLine({r.index < 0 ? "" : std::to_string(r.index), r.op, r.name, r.output,
                    Or(r.multiply_adds), std::to_string(r.parameters), Or(r.bytes_read),
                    Or(r.bytes_written), r.unknown});
  return out;
}

}  // namespace nn::app
