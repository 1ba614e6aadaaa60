// The order of execution of a network: which blobs there are when a layer runs, and their ranks.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "validators/coreml/subject.h"

namespace nn::coreml {

// Appends the layers of `network` to `layers`, those of loops and branches after the one that has
// them, and notes in `network` what is wrong with their blobs.
//
// A branch, and the networks of a loop, see the blobs that are there before. What both sides of a
// branch have is there after it; so is what the condition of a loop writes, and of its body what
// the condition writes too, or all if there is no condition. Declared ranks stay inside.
// Time and space grow with the number of blobs times the depth of nesting.
void WalkNetwork(NetworkAt& network, std::deque<std::string>& lists, std::vector<LayerAt>& layers);

}  // namespace nn::coreml
