#include "apps/nninspect/print/statistics.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/text/text.h"

namespace nn::app {
namespace {

std::string NumberText(const Json& v) {
  if (v.is_number_float()) return fmt::format("{}", static_cast<float>(v.get<double>()));
  return v.is_string() ? Quote(v.get<std::string>()) : v.dump();
}

}  // namespace

std::string StatisticsText(const inspect::TensorStatistics& s) {
  std::string out;
  const auto add = [&](const std::string& text) { out += (out.empty() ? "" : ", ") + text; };
  if (s.mean) {
    add("min " + NumberText(s.min));
    add("max " + NumberText(s.max));
    add(fmt::format("mean {:.6g}", *s.mean));
    add(fmt::format("deviation {:.6g}", *s.deviation));
    add(fmt::format("{} {}", WithThousands(s.zeros), s.zeros == 1 ? "zero" : "zeros"));
  }
  if (s.nans > 0) add(WithThousands(s.nans) + " NaN");
  if (s.infinities > 0) add(WithThousands(s.infinities) + " infinite");
  if (!s.distinct) return out;
  std::string values;
  for (const Json& v : *s.distinct) values += (values.empty() ? "" : " ") + NumberText(v);
  if (!values.empty()) add("values " + values);
  return out;
}

std::string HistogramText(const inspect::TensorStatistics& s) {
  constexpr std::string_view kBars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  if (!s.histogram) return {};
  const auto& counts = s.histogram->counts;
  const auto most = static_cast<double>(*std::max_element(counts.begin(), counts.end()));
  std::string out = "|";
  for (const uint64_t n : counts) {
    const auto bar = static_cast<size_t>(static_cast<double>(n) / most * 8);
    out += n == 0 ? " " : kBars[std::min<size_t>(bar, 7)];
  }
  return out + "|";
}

}  // namespace nn::app
