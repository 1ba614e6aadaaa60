// How graph nodes fit TensorFlow Lite: each is written on trial, and its operators are compared
// with their signatures (spec/signature.h) and the constraints (constraints/constraint.h).
//
// Design: docs/design/034-trial-writes.md.
#pragma once

#include <optional>
#include <string>

#include "ir/graph.h"

namespace nn::tflite {

// Why the interpreter would reject an operator of a node; nullopt if it would not. Requires that
// ExportRow::why_not accepts the node.
std::optional<std::string> FindOperatorMisfit(const Node& node);

}  // namespace nn::tflite
