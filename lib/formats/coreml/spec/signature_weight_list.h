// The weights of layers, with the sizes that the parameters of the layers require.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "coreml_neural_network.pb.h"
#include "formats/common/protobuf/pb_payload.h"

namespace nn::coreml {

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
  const pb::NeuralNetworkLayer* layer = nullptr;
  std::string_view field;  // "convolution.weights"
  int part = -1;           // of biDirectionalLSTM.weightParams
  const pb::WeightParams* params = nullptr;
  WeightUse use = WeightUse::kRequired;
  Storage storage = Storage::kNone;
  uint64_t values = 0;    // stored values, or bytes for the byte fields
  uint64_t elements = 0;  // required by the parameters of the layer
  uint64_t channels = 1;  // a linear quantization has one scale or this many
  // Of the quantization.
  uint64_t scales = 0;
  uint64_t biases = 0;
  uint64_t table_entries = 0;
  bool is_bias = false;
  bool int8_dynamic = false;  // under int8DynamicQuantize

  std::string name() const;  // "convolution.weights", "biDirectionalLSTM.weightParams[1]. ..."
  bool is_sized() const {
    return use != WeightUse::kUnused && use != WeightUse::kAlpha && use != WeightUse::kCustom;
  }
};

// The number of values of a field of a message, or of its bytes, wherever they are stored.
using WeightSize = std::function<uint64_t(const google::protobuf::Message& message, int field)>;

// WeightSize of messages whose large fields are in `payloads`.
uint64_t ElementsOf(const PayloadTable& payloads, const google::protobuf::Message& message,
                    int field);

std::vector<Weights> WeightsOf(const pb::NeuralNetworkLayer& layer, const WeightSize& size);

}  // namespace nn::coreml
