// Decompositions of operators that an older operator set lacks, or has in a narrower form.
// Design: docs/design/035-onnx-operator-sets.md.
#pragma once

#include <span>

#include "rewrite/target.h"

namespace nn::onnx {

// In the order in which they are tried on a node that the operator set cannot express. Unlike those
// of OnnxTarget(), some of them round differently.
std::span<const Rewrite> Lowerings();
// What the older operator sets have in one form only.
inline constexpr TargetForms kOlderForms = {.time_first = true};

}  // namespace nn::onnx
