// What the layers of a Core ML network take and give: counts of blobs and their ranks.
#pragma once

namespace nn::coreml {

namespace pb {
class NeuralNetworkLayer;
}

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

// What a layer asks of the ranks of its first input and its first output, parameters considered.
struct RankRule {
  bool same = false;
  int min = 0;
  int max = -1;  // -1: no limit
};

// For a layer of that signature. `ranks_listed`: the layer declares ranks of its own inputs.
RankRule RankRuleOf(const pb::NeuralNetworkLayer& layer, const Signature& signature,
                    bool ranks_listed);

// Whether specification versions 1 to 3 have the layer, with the parameters that it has. One that
// they do not have makes the whole network one of exact ranks.
bool IsOfFirstVersions(const pb::NeuralNetworkLayer& layer, const Signature* signature);

}  // namespace nn::coreml
