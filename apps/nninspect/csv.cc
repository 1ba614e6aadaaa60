#include "apps/nninspect/csv.h"

#include "base/text.h"

namespace nn::app {

std::string CsvLine(const std::vector<std::string>& cells) {
  std::string out;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) out += ',';
    const std::string text = EscapeControls(cells[i]);
    if (text.find_first_of(",\"") == std::string::npos) {
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
