// Comma-separated values (RFC 4180), lines ended by a newline.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nn::app {

// The cells as one line; those with commas, quotes or line breaks are quoted. Bytes that are not
// UTF-8, and control characters, are escaped as in the text forms.
std::string CsvLine(const std::vector<std::string>& cells);

}  // namespace nn::app
