// non_max_suppression for formats whose operator has one list of boxes and scores.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/status.h"
#include "ir/graph.h"

namespace nn {

// Limit of all formats: lists, batches times classes, of a non-maximum suppression that is written
// to TensorFlow Lite or Core ML. OneListEach() writes an operator for each.
inline constexpr int64_t kMaxSuppressions = 1024;

// A non_max_suppression of several batches and classes, or with another form of boxes than the
// format's (`centers`: NonMaxSuppressionAttrs::center_point_box) -> one of that form for each batch
// and class, whose results follow one another. Converted boxes round differently. False if there is
// nothing to do, or if there are more than kMaxSuppressions lists or an unknown number.
Result<bool> OneListEach(Graph& graph, Node& node, bool centers);

// Why a non_max_suppression does not have one list of a known size, and OneListEach() would not
// split it; nullopt if it has.
std::optional<std::string> WhyNotOneList(const Node& node);

}  // namespace nn
