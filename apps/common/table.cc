#include "apps/common/table.h"

#include <algorithm>

#include "base/text.h"

namespace nn::app {

void Table::Add(std::initializer_list<std::string_view> cells) {
  for (const std::string_view cell : cells) ends_.push_back(cells_.append(cell).size());
}

std::string_view Table::Cell(size_t row, size_t column) const {
  const size_t i = row * columns_.size() + column;
  const size_t begin = i == 0 ? 0 : ends_[i - 1];
  return std::string_view(cells_).substr(begin, ends_[i] - begin);
}

std::string Table::Text(size_t indent) const {
  const size_t rows = ends_.size() / columns_.size();
  std::vector<std::string_view> titles;
  std::vector<size_t> widths;
  for (size_t i = 0; i < columns_.size(); ++i) {
    titles.push_back(columns_[i].title);
    const size_t title = DisplayWidth(titles[i]);
    size_t contents = 0;
    for (size_t row = 0; row < rows; ++row)
      contents = std::max(contents, DisplayWidth(Cell(row, i)));
    widths.push_back(contents == 0 && rows > 0 ? 0 : std::max(title, contents));
  }

  std::string out;
  const auto line = [&](const auto& cell) {
    const size_t begin = out.size();
    out.append(indent, ' ');
    bool first = true;
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (widths[i] == 0) continue;
      if (!first) out += "  ";
      first = false;
      const std::string_view text = cell(i);
      const size_t padding = widths[i] - DisplayWidth(text);
      if (columns_[i].align == Align::kRight) out.append(padding, ' ');
      out += text;
      if (columns_[i].align == Align::kLeft) out.append(padding, ' ');
    }
    while (out.size() > begin && out.back() == ' ') out.pop_back();
    out += '\n';
  };
  const bool titled = std::any_of(columns_.begin(), columns_.end(),
                                  [](const Column& c) { return !c.title.empty(); });
  if (titled) line([&](size_t i) { return titles[i]; });
  for (size_t row = 0; row < rows; ++row) line([&](size_t i) { return Cell(row, i); });
  return out;
}

}  // namespace nn::app
