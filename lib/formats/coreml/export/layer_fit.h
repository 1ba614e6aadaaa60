// How graph nodes fit the signatures of layers: each is written on trial, and its layers are
// compared with the table (signature.h) and the constraints (signature_constraints.h). These alone
// therefore determine what Core ML can represent.
//
// Design: docs/design/034-trial-writes.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "formats/coreml/file/fields.h"
#include "ir/graph.h"

namespace nn::coreml {

// The first constraint that a layer of a node breaks.
struct LayerMisfit {
  std::string_view label;  // "axes-in-range"; "" if the node cannot be written at all
  std::string text;        // "clip has minVal 2, which is greater than maxVal 1"
};

// nullopt if the node can be written as layers that follow their signatures. Requires that
// ExportRow::why_not accepts the node.
std::optional<LayerMisfit> FindLayerMisfit(const Node& node);

// The first specification version that has all layers of a network message.
int64_t VersionOfLayers(const Message& network);

}  // namespace nn::coreml
