// Comparisons of outputs, as the public interface has them.
#pragma once

#include <vector>

#include "convert/outputs/expectation.h"
#include "nnsuite/outputs.h"

namespace nn::api {

std::vector<nnsuite::OutputCheck> WrapOutputs(const Expectation& expectation);

}  // namespace nn::api
