#include "apps/nninspect/csv.h"

#include <algorithm>
#include <array>

#include "base/text/from_chars.h"
#include "base/text/text.h"

namespace nn::app {
namespace {

bool IsNumber(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = FromChars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

// The full-width forms begin formulas, too.
bool IsFormula(std::string_view text) {
  constexpr std::array<std::string_view, 8> kStarts = {"=",      "+",      "-",      "@",
                                                       "\uFF1D", "\uFF0B", "\uFF0D", "\uFF20"};
  const auto starts = [&](std::string_view start) { return text.starts_with(start); };
  return text.size() > 1 && std::ranges::any_of(kStarts, starts) && !IsNumber(text);
}

}  // namespace

std::string CsvLine(const std::vector<std::string>& cells) {
  std::string out;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) out += ',';
    std::string text = EscapeControls(cells[i]);
    if (IsFormula(text)) text.insert(0, 1, '\'');
    // Some spreadsheets separate cells with semicolons.
    if (text.find_first_of(",;\"") == std::string::npos) {
      out += text;
      continue;
    }
    out += '"';
    for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
    out += '"';
  }
  return out + "\n";
}

}  // namespace nn::app
