#include "base/text/table.h"

#include <algorithm>

#include "base/text/text.h"

namespace nn {

void Table::Add(std::initializer_list<std::string_view> cells) {
  for (const std::string_view cell : cells) ends_.push_back(cells_.append(cell).size());
}

void Table::AddRow(const std::vector<std::string>& cells) {
  for (const std::string& cell : cells) ends_.push_back(cells_.append(cell).size());
}

std::string_view Table::Cell(size_t row, size_t column) const {
  const size_t i = row * columns_.size() + column;
  const size_t begin = i == 0 ? 0 : ends_[i - 1];
  return std::string_view(cells_).substr(begin, ends_[i] - begin);
}

std::vector<size_t> Table::ShownColumns() const {
  std::vector<size_t> shown;
  for (size_t i = 0; i < columns_.size(); ++i) {
    bool filled = empty();
    for (size_t row = 0; row < rows() && !filled; ++row) filled = !Cell(row, i).empty();
    if (filled) shown.push_back(i);
  }
  return shown;
}

std::string Table::Text(size_t indent) const {
  const std::vector<size_t> shown = ShownColumns();
  std::vector<size_t> widths(columns_.size());
  for (const size_t i : shown) {
    widths[i] = DisplayWidth(columns_[i].title);
    for (size_t row = 0; row < rows(); ++row)
      widths[i] = std::max(widths[i], DisplayWidth(Cell(row, i)));
  }

  std::string out;
  const auto line = [&](const auto& cell) {
    const size_t begin = out.size();
    out.append(indent, ' ');
    bool first = true;
    for (const size_t i : shown) {
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
  if (titled) line([&](size_t i) { return std::string_view(columns_[i].title); });
  for (size_t row = 0; row < rows(); ++row) line([&](size_t i) { return Cell(row, i); });
  return out;
}

}  // namespace nn
