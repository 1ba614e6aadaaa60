// The lines of the texts that document rules: *.examples and *.clauses.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nn {

// A line, and the indented lines below it without the indentation of two spaces. Lines that begin
// with "#" are comments. Empty lines matter only between those below.
struct DocLine {
  std::string_view line;
  std::vector<std::string_view> below;

  std::string Joined() const;  // a line that continues below
  std::string Block() const;   // the lines below
};

std::vector<DocLine> ReadDocText(std::string_view text);

}  // namespace nn
