// The requirements of a format on the inputs and outputs of a written model.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "ir/graph.h"

namespace nn {

struct InterfaceRules {
  std::string_view label;        // of the format, for messages
  bool inputs = false;           // at least one
  bool outputs = false;          // at least one
  bool distinct_names = false;   // no output has the name of an input
  bool distinct_values = false;  // none does, unless it is that input
  bool ranks = false;            // ranks of inputs and outputs are known
  int64_t least_size = 0;        // of a dimension of an input or output
};

// kUnsupported for the first input or output that the format cannot hold for a reason.
Status CheckEachPort(const Graph& graph,
                     const std::function<std::optional<std::string>(const Value&)>& why_not);

// kUnsupported, with the name and a remedy, if the format does not support the interface.
Status CheckInterface(const Graph& graph, const InterfaceRules& rules);

}  // namespace nn
