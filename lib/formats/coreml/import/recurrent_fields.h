// The fields of Core ML's recurrent layers.
#pragma once

#include <array>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ops/recurrent/recurrent.h"

namespace nn::coreml {

// The limit on cell states that the format reads from 0.
inline constexpr float kDefaultCellClip = 50;
inline constexpr float kNoCellClip = std::numeric_limits<float>::max();

// The activations of recurrent layers. Their parameters are fixed, except for those of linear.
struct RecurrentActivationRow {
  std::string_view field;  // of ActivationParams
  RecurrentActivation activation;
  float alpha, beta;
};
inline constexpr RecurrentActivationRow kRecurrentActivations[] = {
    {"linear", RecurrentActivation::kAffine, 1, 0},
    {"sigmoid", RecurrentActivation::kSigmoid, 0, 0},
    {"tanh", RecurrentActivation::kTanh, 0, 0},
    {"scaledTanh", RecurrentActivation::kScaledTanh, 1.7159F, 2.0F / 3},
    {"sigmoidHard", RecurrentActivation::kHardSigmoid, 0.2F, 0.5F},
    {"ReLU", RecurrentActivation::kRelu, 0, 0},
};

// The fields of the gates of the graph's operators, in their order.
inline constexpr std::string_view kGruGates[] = {"updateGate", "resetGate", "outputGate"};
inline constexpr std::string_view kLstmGates[] = {"inputGate", "outputGate", "forgetGate",
                                                  "blockInput"};
inline constexpr size_t kForgetGate = 2;
inline constexpr size_t kPeepholeGates = 3;

inline std::string GateField(std::string_view gate, std::string_view what) {
  return std::string(gate) + std::string(what);
}

// The fields of each gate: its matrices and its bias.
inline std::vector<std::array<std::string, 3>> GateFields(std::span<const std::string_view> gates) {
  std::vector<std::array<std::string, 3>> out;
  for (const std::string_view gate : gates)
    out.push_back({GateField(gate, "WeightMatrix"), GateField(gate, "RecursionMatrix"),
                   GateField(gate, "BiasVector")});
  return out;
}

}  // namespace nn::coreml
