// The parts of reports about --quantize.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "apps/common/program.h"
#include "apps/nnconvert/report/report.h"
#include "base/text/text.h"

namespace nn::app {
namespace {

std::string Counted(int64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string FloatsText(const QuantizeSummary& s) {
  std::string out;
  for (const auto& [op, count] : s.floats)
    out += fmt::format("{}{}{}", out.empty() ? "" : ", ", op,
                       count == 1 ? "" : fmt::format(" x{}", count));
  return out;
}

// The SNR of a value; that of an unknown one follows all others.
double SnrOrInfinity(const QuantizedValue& v) {
  return v.snr_db.value_or(std::numeric_limits<double>::infinity());
}

}  // namespace

std::string DecibelText(double snr) {
  return std::isinf(snr) ? (snr > 0 ? "inf" : "-inf") : fmt::format("{:.1f}", snr);
}

std::vector<std::string> QuantizeTexts(const ConvertReport& report) {
  const Conversion& c = report.conversion;
  if (!c.quantize) return {};
  const QuantizeSummary& s = c.quantize->summary;
  std::vector<std::string> out;
  std::string first = "quantized: " + Counted(s.weights, "constant");
  if (s.operators > 0) first += ", " + Counted(s.operators, "operator");
  if (s.kept > 0) first += fmt::format("; {} kept in float32", Counted(s.kept, "operator"));
  if (c.quantize->samples > 0)
    first += fmt::format("; calibrated on {}",
                         Counted(static_cast<int64_t>(c.quantize->samples), "sample"));
  out.push_back(std::move(first));
  if (!s.floats.empty()) out.push_back("in float32, without integer arithmetic: " + FloatsText(s));
  if (c.quantize->equalized > 0)
    out.push_back(fmt::format("equalized the channels between {} of products",
                              Counted(c.quantize->equalized, "pair")));
  if (c.quantize->corrected > 0)
    out.push_back("corrected the biases of " + Counted(c.quantize->corrected, "product"));
  if (report.bytes && c.bytes_before > 0)
    out.push_back(fmt::format(
        "size: {} -> {} ({:.1f} %)", HumanBytes(c.bytes_before), HumanBytes(*report.bytes),
        100 * static_cast<double>(*report.bytes) / static_cast<double>(c.bytes_before)));
  return out;
}

Table QuantizedValuesTable(const QuantizeOutcome& outcome, size_t most) {
  const auto& values = outcome.summary.values;
  Table table({{values.size() > most ? "lowest SNR of values" : "value"},
               {"operator"},
               {"type"},
               {"SNR dB", Align::kRight}});
  std::vector<const QuantizedValue*> shown;
  shown.reserve(values.size());
  for (const QuantizedValue& v : values) shown.push_back(&v);
  if (shown.size() > most) {
    std::ranges::stable_sort(shown, {}, [](const QuantizedValue* v) { return SnrOrInfinity(*v); });
    shown.resize(most);
  }
  for (const QuantizedValue* v : shown)
    table.Add({v->name.empty() ? fmt::format("%{}", v->real) : Escape(v->name), Escape(v->op),
               v->type, v->snr_db ? DecibelText(*v->snr_db) : "-"});
  return table;
}

}  // namespace nn::app
