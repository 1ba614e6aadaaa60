// The weights of layers, with the sizes that the layers' parameters give them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "coreml_neural_network.pb.h"

namespace nn::coreml {

class Subject;
struct LayerAt;

// In which of its fields a WeightParams has values.
enum class Storage : uint8_t { kNone, kFloat, kHalf, kQuantised, kInt8, kSeveral };

enum class WeightUse : uint8_t {
  kRequired,
  kPlain,    // required, and not quantised
  kFloats,   // required, of full precision
  kProduct,  // of innerProduct or batchedMatmul; the owner's checker lets them be absent
  kUnused,   // of a batch normalisation that computes it
  kAlpha,    // of an activation; its size is that of an axis of the input
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
  uint64_t values = 0;    // or bytes that there are, by `storage`
  uint64_t elements = 0;  // that it is to have
  uint64_t channels = 1;  // scales of a linear quantisation: one, or so many
  bool is_bias = false;
  bool int8_dynamic = false;  // under int8DynamicQuantize

  std::string name() const;  // "convolution.weights", "biDirectionalLSTM.weightParams[1]. ..."
  bool is_sized() const {
    return use != WeightUse::kUnused && use != WeightUse::kAlpha && use != WeightUse::kCustom;
  }
};

// Of all layers, in their order.
std::vector<Weights> CollectWeights(const Subject& s);

}  // namespace nn::coreml
