// ONNX names of recurrent activations.
#pragma once

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>

#include "base/status.h"
#include "formats/onnx/import/import.h"
#include "ops/recurrent/recurrent.h"

namespace nn::onnx {

struct RecurrentActivationName {
  std::string_view onnx;
  RecurrentActivation activation;
  // The parameters it reads from activation_alpha and activation_beta, with defaults for lists that
  // are too short.
  std::optional<float> alpha;
  std::optional<float> beta;
};

inline constexpr RecurrentActivationName kRecurrentActivations[] = {
    {"Affine", RecurrentActivation::kAffine, 1.0f, 0.0f},
    {"Elu", RecurrentActivation::kElu, 1.0f, std::nullopt},
    {"HardSigmoid", RecurrentActivation::kHardSigmoid, 0.2f, 0.5f},
    {"LeakyRelu", RecurrentActivation::kLeakyRelu, 0.01f, std::nullopt},
    {"Relu", RecurrentActivation::kRelu, std::nullopt, std::nullopt},
    {"ScaledTanh", RecurrentActivation::kScaledTanh, 1.0f, 1.0f},
    {"Sigmoid", RecurrentActivation::kSigmoid, std::nullopt, std::nullopt},
    {"Softplus", RecurrentActivation::kSoftplus, std::nullopt, std::nullopt},
    {"Softsign", RecurrentActivation::kSoftsign, std::nullopt, std::nullopt},
    {"Tanh", RecurrentActivation::kTanh, std::nullopt, std::nullopt},
    {"ThresholdedRelu", RecurrentActivation::kThresholdedRelu, 1.0f, std::nullopt},
};

// The activation of that name, case-insensitive as in other runtimes; null if there is none.
inline const RecurrentActivationName* FindRecurrentActivation(std::string_view name) {
  const auto same = [](unsigned char a, unsigned char b) {
    return std::tolower(a) == std::tolower(b);
  };
  for (const RecurrentActivationName& row : kRecurrentActivations)
    if (std::equal(row.onnx.begin(), row.onnx.end(), name.begin(), name.end(), same)) return &row;
  return nullptr;
}

// Reads the attributes that all recurrent operators have.
Status ReadRecurrentAttrs(const ImportContext& ctx, RecurrentAttrs& a);

}  // namespace nn::onnx
