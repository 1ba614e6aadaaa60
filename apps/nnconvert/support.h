// Which operators are read, written and executed.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace nn::app {

// How many forms of an operator tests/cross writes in a format, with the same operators or with
// others, and how many are refused by name.
struct SupportCell {
  std::string_view op;
  std::string_view format;
  int one_to_one = 0;
  int rewritten = 0;
  int refused = 0;
};

// Written by scripts/update-grid; a test compares it with what tests/cross finds.
std::span<const SupportCell> SupportCells();

// SUPPORT.md, generated from the tables of import, export and execution.
std::string SupportMarkdown(std::span<const SupportCell> cells = SupportCells());

}  // namespace nn::app
