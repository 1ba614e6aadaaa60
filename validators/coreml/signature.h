// What the layers of a Core ML network take and give: counts of blobs and their ranks.
#pragma once

#include <optional>

namespace nn::coreml {

struct Signature {
  int layer;  // field number in NeuralNetworkLayer
  int min_inputs;
  int max_inputs;  // -1: any number
  int min_outputs;
  int max_outputs;
  bool same_rank;       // of first input and first output
  int min_rank;         // of the first input
  int max_rank;         // -1: no limit
  bool first_versions;  // exists since specification version 1 to 3
};

// nullptr for a layer that is not known.
const Signature* FindSignature(int layer);

}  // namespace nn::coreml
