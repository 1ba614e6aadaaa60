// The parts of a model that edits and other code without import look at.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "formats/coreml/file/fields.h"
#include "formats/coreml/file/native.h"

namespace nn::coreml {

inline constexpr std::string_view kNetwork = "neuralNetwork";
inline constexpr std::string_view kClassifier = "neuralNetworkClassifier";

// Inputs and outputs: those of the default function if the model has functions.
struct Features {
  std::vector<Fields> inputs, outputs;
};
Features PortsOf(const Model& model);

// The networks in a branch or loop; empty for other layers.
std::vector<Fields> NestedNetworks(const Fields& layer);

}  // namespace nn::coreml
