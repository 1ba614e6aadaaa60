// The data flow of a network in execution order: which blobs exist when a layer runs, and their
// ranks.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "validators/coreml/rule_context.h"

namespace nn::coreml {

// Appends the layers of `network` to `layers`, those of a loop or branch after the layer that
// contains them, and stores faults in their blobs in `network`.
//
// A branch and the networks of a loop see the blobs that exist before them. After a branch, the
// blobs that both sides write exist. After a loop, the blobs that its condition network writes
// exist, and those of its body that the condition network writes too, or all if there is none.
// Ranks declared in nested networks are not visible outside.
// Time and space grow with the number of blobs times the depth of nesting.
void WalkNetwork(NetworkAt& network, std::deque<std::string>& lists, std::vector<LayerAt>& layers);

}  // namespace nn::coreml
