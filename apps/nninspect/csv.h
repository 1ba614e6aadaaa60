// Comma-separated values (RFC 4180), lines ended by a newline.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nn::app {

// Formats the cells as one line; cells with separators or quotes are quoted. Invalid UTF-8 and
// control characters are escaped as in the text format. A cell that a spreadsheet would run as a
// formula (it begins with =, +, - or @, and is no number) gets an apostrophe in front.
std::string CsvLine(const std::vector<std::string>& cells);

}  // namespace nn::app
