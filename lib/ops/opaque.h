// Placeholders for operators that have no counterpart in the graph.
#pragma once

#include <span>
#include <string>

#include "ir/attrs.h"

namespace nn {

struct OpaqueAttrs {
  std::string op;      // the operator's name in its format
  std::string reason;  // why it was not imported; empty: it only follows such an operator
  static std::span<const AttrField> Fields();
};

}  // namespace nn
