#include "formats/common/spec/table.h"

#include <fmt/core.h>

#include <string>

namespace nn::spec {

Index::Index(std::span<const Text> texts) {
  for (const Text& text : texts) {
    Rows rows(text.text);
    while (!rows.Next().empty()) {
      const std::string_view name = Cursor(rows.row()).Word();
      Place& place = operators_[name];
      if (place.text == nullptr) place = {&text, rows.row()};
      // The rows of an operator follow one another.
      const char* const start = place.rows.data();
      place.rows = {start, static_cast<size_t>(rows.row().data() + rows.row().size() - start)};
    }
  }
}

std::string Range::ToString() const {
  if (high < 0) return fmt::format("{} or more", low);
  if (low == high) return fmt::format("{}", low);
  return fmt::format("{} {} {}", low, ends_only ? "or" : "to", high);
}

}  // namespace nn::spec
