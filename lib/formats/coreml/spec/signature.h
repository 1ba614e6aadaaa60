// The signatures of Core ML layers (layers.spec): the specification version that introduced each
// layer, the number of its inputs and outputs, and their ranks.
//
// What a layer requires beyond its row (lists, sizes, weights) are the constraints of
// signature_constraints.h. Validators report the layers of a file that break them, and
// legalization (layer_fit.h) compares the layers that it would write with them.
#pragma once

#include <cstdint>

#include "formats/common/spec/range.h"

namespace nn::coreml {

namespace pb {
class NeuralNetworkLayer;
}

// Limit of Core ML: axes of an array.
inline constexpr int kMaxRank = 5;

using Range = spec::Range;  // a number of blobs, or ranks
using spec::AtLeast;

// The rank of the outputs.
enum class OutputRank : uint8_t {
  kByParameters,  // or by nothing
  kFirst,         // that of the first input
  kSecond,        // that of the second input
  kLargest,       // that of the input of the largest rank
  kFirstAnd1,     // one more than that of the first input
  kOne,
  kTwo,
};

// Whether all inputs have the same rank.
enum class InputsAlike : uint8_t {
  kNo,
  kPublished,  // by the published text alone
  kChecked,    // by the vendor's checker too
};

struct Signature {
  int layer = 0;    // field number in NeuralNetworkLayer
  int version = 0;  // the first specification version that has the layer
  Range inputs;
  Range outputs;
  Range ranks;             // of the first input
  Range published_ranks;   // the same; the vendor's checker ignores them
  bool same_rank = false;  // the first input and the first output have the same rank
  OutputRank output_rank = OutputRank::kByParameters;
  int list_input = -1;  // the input that is a list of numbers, of rank 1; -1: none
  InputsAlike alike = InputsAlike::kNo;
};

// nullptr for an unknown layer.
const Signature* FindSignature(int layer);

// What a layer with its parameters requires of the ranks of its first input and first output.
struct RankRule {
  bool same = false;
  Range ranks;
};

// `signature` is that of the layer; `ranks_listed`: the layer declares the ranks of its inputs.
RankRule RankRuleOf(const pb::NeuralNetworkLayer& layer, const Signature& signature,
                    bool ranks_listed);

// Whether specification versions 1 to 3 have the layer with its parameters. A network with any
// other layer has exact ranks.
bool IsOfFirstVersions(const pb::NeuralNetworkLayer& layer, const Signature* signature);

// The first specification version that has the layer with its parameters; 1 for unknown layers.
int VersionOf(const pb::NeuralNetworkLayer& layer);

}  // namespace nn::coreml
