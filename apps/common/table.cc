#include "apps/common/table.h"

#include <algorithm>

#include "base/text.h"

namespace nn::app {

std::string Table::Text(size_t indent) const {
  std::vector<std::string> titles;
  std::vector<size_t> widths;
  for (const Column& c : columns_) {
    titles.push_back(c.title);
    widths.push_back(DisplayWidth(c.title));
  }
  for (size_t i = 0; i < widths.size() && !rows_.empty(); ++i) {
    size_t contents = 0;
    for (const auto& row : rows_) contents = std::max(contents, DisplayWidth(row[i]));
    widths[i] = contents == 0 ? 0 : std::max(widths[i], contents);
  }

  std::string out;
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string text(indent, ' ');
    bool first = true;
    for (size_t i = 0; i < cells.size(); ++i) {
      if (widths[i] == 0) continue;
      if (!first) text += "  ";
      first = false;
      const std::string padding(widths[i] - DisplayWidth(cells[i]), ' ');
      text += columns_[i].align == Align::kRight ? padding + cells[i] : cells[i] + padding;
    }
    text.resize(text.find_last_not_of(' ') + 1);
    out += text + "\n";
  };
  const bool titled = std::any_of(columns_.begin(), columns_.end(),
                                  [](const Column& c) { return !c.title.empty(); });
  if (titled) line(titles);
  for (const auto& row : rows_) line(row);
  return out;
}

}  // namespace nn::app
