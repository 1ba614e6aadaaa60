// The version of the library.
//
// Before 1.0, a minor release (0.1, 0.2) may change anything, and has its own SOVERSION and symbol
// version; patch releases (0.1.1) only add declarations. From 1.0 on, only a major release changes
// or removes declarations in these headers, and it has a new SOVERSION.
#pragma once

#include <string_view>

namespace nnsuite {

// The version of the library that the program runs with, "0.1.0".
std::string_view Version();

}  // namespace nnsuite
