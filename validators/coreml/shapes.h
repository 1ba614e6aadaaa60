// Sizes of the blobs of a network of rank 5: sequence, batch, channel, height, width.
#pragma once

#include <optional>
#include <string>

#include "validators/coreml/subject.h"

namespace nn::coreml {

struct ShapeFault {
  int layer = -1;       // in the network; -1 for inputs and outputs of the model
  std::string message;  // "height of \"x\" would be 3 and 5 or more"
};

// Follows sizes from the inputs forwards and from the outputs backwards, until nothing is learnt
// anew, as the owner's checker does for networks of specification versions 1 to 3. The first
// contradiction; nullopt if there is none, or if a network with very many inputs takes more than
// a fixed number of steps.
std::optional<ShapeFault> FindShapeFault(const NetworkAt& network);

}  // namespace nn::coreml
