// Operators that a format does not have.
#pragma once

#include <string>

namespace nnsuite {

// A node that the target format cannot express.
struct UnsupportedNode {
  std::string node;    // `conv "features.0" (operator 3, Conv)`
  std::string op;      // its operator in the graph
  std::string source;  // its operator in the source file
  std::string reason;  // then "; " and a remedy, if there is one: "its size is open; use --batch"
};

}  // namespace nnsuite
