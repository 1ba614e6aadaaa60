// The weights of layers, with the sizes that the parameters of the layers require.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "coreml_neural_network.pb.h"

namespace nn::coreml {

class Subject;
struct LayerAt;

// The field in which a WeightParams stores its values.
enum class Storage : uint8_t { kNone, kFloat, kHalf, kQuantized, kInt8, kSeveral };

enum class WeightUse : uint8_t {
  kRequired,
  kPlain,    // required, and not quantized
  kFloats,   // required, of full precision
  kProduct,  // of innerProduct or batchedMatmul; the vendor's checker does not require them
  kUnused,   // of a batch normalization that computes it
  kAlpha,    // of an activation; its size depends on the input
  kCustom,   // of a custom layer
};

// One weights field of a layer.
struct Weights {
  const LayerAt* at = nullptr;
  std::string_view field;  // "convolution.weights"
  int part = -1;           // of biDirectionalLSTM.weightParams
  const pb::WeightParams* params = nullptr;
  WeightUse use = WeightUse::kRequired;
  Storage storage = Storage::kNone;
  uint64_t values = 0;    // stored values, or bytes for the byte fields
  uint64_t elements = 0;  // required by the parameters of the layer
  uint64_t channels = 1;  // a linear quantization has one scale or this many
  bool is_bias = false;
  bool int8_dynamic = false;  // under int8DynamicQuantize

  std::string name() const;  // "convolution.weights", "biDirectionalLSTM.weightParams[1]. ..."
  bool is_sized() const {
    return use != WeightUse::kUnused && use != WeightUse::kAlpha && use != WeightUse::kCustom;
  }
};

// The weights of all layers, in the order of the layers.
std::vector<Weights> CollectWeights(const Subject& s);

}  // namespace nn::coreml
