// Comma-separated values (RFC 4180), lines ended by a newline.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nn::app {

// Formats the cells as one line; cells with commas, quotes or line breaks are quoted. Invalid UTF-8
// and control characters are escaped as in the text format.
std::string CsvLine(const std::vector<std::string>& cells);

}  // namespace nn::app
