// The description of a model that is written: features, metadata, and what makes it a classifier.
#pragma once

#include <string_view>

#include "base/status.h"
#include "formats/coreml/fields.h"
#include "formats/format.h"
#include "ir/graph.h"

namespace nn::coreml {

// The field of Model for the network: that of a classifier where the graph's metadata has the
// classes and one of its outputs is known to be their scores.
std::string_view NetworkKind(const Graph& graph);

// The lowest specification version that has the features of inputs and outputs.
int64_t InterfaceVersion(const Graph& graph);

// kUnsupported for inputs and outputs that are no arrays of Core ML.
Status WriteDescription(const Graph& graph, const ExportOptions& options, Writer description);

// Does nothing to networks that are no classifiers.
void WriteClassifier(const Graph& graph, Writer root, Writer network);

}  // namespace nn::coreml
