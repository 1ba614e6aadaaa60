#include "validators/doc_text.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace nn {

std::string DocLine::Joined() const {
  std::string text(line);
  for (const std::string_view more : below)
    if (!more.empty()) text.append(" ").append(more);
  return text;
}

std::string DocLine::Block() const {
  return fmt::format("{}", fmt::join(below, "\n"));
}

std::vector<DocLine> ReadDocText(std::string_view text) {
  std::vector<DocLine> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.starts_with('#')) continue;
    if (!line.empty() && !line.starts_with("  ")) {
      lines.push_back({line, {}});
    } else if (!lines.empty()) {
      line.remove_prefix(std::min<size_t>(2, line.size()));
      lines.back().below.push_back(line);
    }
  }
  for (DocLine& line : lines)
    while (!line.below.empty() && line.below.back().empty()) line.below.pop_back();
  return lines;
}

}  // namespace nn
