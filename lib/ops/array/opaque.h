// Placeholders for unsupported operators of a file.
#pragma once

#include <span>
#include <string>

#include "ir/attrs.h"

namespace nn {

struct OpaqueAttrs {
  std::string op;      // the operator's name in its format
  std::string reason;  // why it was not imported; empty if it only depends on such an operator
  static std::span<const AttrField> Fields();
};

}  // namespace nn
