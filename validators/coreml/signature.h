// The signatures of Core ML layers: the number of inputs and outputs, and their ranks.
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
  bool same_rank;       // the first input and the first output have the same rank
  int min_rank;         // of the first input
  int max_rank;         // -1: no limit
  bool first_versions;  // specification versions 1 to 3 have the layer
};

// nullptr for an unknown layer.
const Signature* FindSignature(int layer);

// What a layer with its parameters requires of the ranks of its first input and first output.
struct RankRule {
  bool same = false;
  int min = 0;
  int max = -1;  // -1: no limit
};

// `signature` is that of the layer; `ranks_listed`: the layer declares the ranks of its inputs.
RankRule RankRuleOf(const pb::NeuralNetworkLayer& layer, const Signature& signature,
                    bool ranks_listed);

// Whether specification versions 1 to 3 have the layer with its parameters. A network with any
// other layer has exact ranks.
bool IsOfFirstVersions(const pb::NeuralNetworkLayer& layer, const Signature* signature);

}  // namespace nn::coreml
