// Probabilities of classes from those of pairs of classes.
#pragma once

#include <cstdint>

#include "formats/onnx/import/import.h"

namespace nn::onnx {

// pairs: [N, classes * (classes - 1) / 2] of f32, between 0 and 1, for the pairs (0, 1), (0, 2),
// ..., (1, 2), ...: the probability of the first class if it is one of both. Returns [N, classes].
// The method is the second one of Wu, Lin and Weng (Probability Estimates for Multi-class
// Classification by Pairwise Coupling, 2004) with the stopping rule of LIBSVM, so rows take
// different numbers of iterations.
Result<Value*> CoupledProbabilities(ImportContext& ctx, const Term& pairs, int64_t classes);

}  // namespace nn::onnx
