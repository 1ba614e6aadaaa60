// Sizes of the blobs of a network of rank 5: sequence, batch, channel, height, width.
#pragma once

#include <optional>
#include <string>

#include "validators/coreml/rule_context.h"

namespace nn::coreml {

struct ShapeFault {
  int layer = -1;       // in the network; -1 for inputs and outputs of the model
  std::string message;  // "the height of \"x\" has conflicting sizes: 3 and 5 or more"
};

// Propagates sizes forwards from the inputs and backwards from the outputs to a fixed point, as the
// vendor's checker does for networks of specification versions 1 to 3. Returns the first
// contradiction; nullopt if there is none, or if a network with very many inputs takes more than
// a fixed number of steps.
std::optional<ShapeFault> FindShapeFault(const NetworkAt& network);

}  // namespace nn::coreml
