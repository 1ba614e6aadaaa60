// What the recurrent layers of TensorFlow Lite hold (ops/recurrent_layer.cc), for the rewrites
// toward them (rewrites_recurrent.cc).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "ir/graph.h"
#include "ops/recurrent/recurrent.h"

namespace nn::tflite {

// Whether a direction runs from the last step to the first.
inline bool IsReverse(const RecurrentAttrs& a, int64_t direction) {
  return a.direction == RecurrentDirection::kReverse || direction == 1;
}

// Parts of a layer that a rewrite replaces, so that the operators need not hold them.
struct WithoutParts {
  bool lengths = false;
  bool final_states = false;
};

// Why the operators cannot hold an rnn or lstm node; nullopt if they can.
std::optional<std::string> WhyNotLayer(const Node& node, WithoutParts without);

}  // namespace nn::tflite
