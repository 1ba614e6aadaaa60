// Tables of text with aligned columns.
#pragma once

#include <string>
#include <vector>

namespace nn::app {

enum class Align { kLeft, kRight };

struct Column {
  std::string title;
  Align align = Align::kLeft;
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // One cell per column, without line breaks or control characters (see Escape).
  void Add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const { return rows_.empty(); }

  // Title line and rows, columns two spaces apart, each line after `indent` spaces and ended by a
  // newline. Empty columns are omitted.
  std::string Text(size_t indent = 0) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace nn::app
