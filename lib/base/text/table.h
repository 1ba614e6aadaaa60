// Tables of text with aligned columns.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace nn {

enum class Align { kLeft, kRight };

struct Column {
  std::string title;
  Align align = Align::kLeft;
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // One cell per column, without line breaks or control characters (see Escape).
  void Add(std::initializer_list<std::string_view> cells);
  void AddRow(const std::vector<std::string>& cells);
  bool empty() const { return ends_.empty(); }

  const std::vector<Column>& columns() const { return columns_; }
  size_t rows() const { return ends_.size() / columns_.size(); }
  std::string_view Cell(size_t row, size_t column) const;
  // The columns that are not empty; all if there are no rows.
  std::vector<size_t> ShownColumns() const;

  // Title line and rows, columns two spaces apart, each line after `indent` spaces and ended by a
  // newline. Empty columns are omitted.
  std::string Text(size_t indent = 0) const;

 private:
  std::vector<Column> columns_;
  // The cells, row by row, one after the other, and where each ends: a table can have a million
  // rows.
  std::string cells_;
  std::vector<size_t> ends_;
};

}  // namespace nn
