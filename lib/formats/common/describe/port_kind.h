// Kinds of the inputs and outputs of models.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace nn {

// Whether an input or output of a model is a tensor; others are sequences of tensors, optional
// tensors, and optional sequences of tensors, if the suite imports them.
enum class PortKind : uint8_t { kTensor, kSequence, kOptional, kOptionalSequence, kOther };
struct PortKinds {
  std::vector<std::pair<std::string, PortKind>> inputs;
  std::vector<std::pair<std::string, PortKind>> outputs;
};

}  // namespace nn
