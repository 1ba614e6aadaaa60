// What formats require of the inputs and outputs of a model that is written.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

#include "base/status.h"
#include "ir/graph.h"

namespace nn {

struct InterfaceRules {
  std::string_view label;       // of the format, for messages
  bool inputs = false;          // at least one
  bool outputs = false;         // at least one
  bool distinct_names = false;  // an output of an input's name is that input
  bool ranks = false;           // of inputs and outputs are known
  int64_t least_size = 0;       // of a dimension of an input or output
};

// kUnsupported, with the name and what to do, for an interface that the format cannot have.
Status CheckInterface(const Graph& graph, const InterfaceRules& rules);

}  // namespace nn
