// The version of the library.
//
// Before 1.0, a minor release (0.1, 0.2) may change anything, and has a SOVERSION and a symbol
// version of its own; patch releases (0.1.1) only add to it. From 1.0 on, only a major release
// changes or removes what is declared in these headers, and a new SOVERSION goes with it.
#pragma once

#include <string_view>

namespace nnsuite {

// The version of the library that the program runs with, "0.1.0".
std::string_view Version();

}  // namespace nnsuite
