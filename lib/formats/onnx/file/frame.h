// What a rewritten ONNX model keeps of its source: metadata, producer, documentation, also of
// operators and constants, and the declarations of inputs and outputs.
#pragma once

#include "formats/format.h"
#include "ir/graph.h"
#include "onnx.pb.h"

namespace nn::onnx {

// Writes the texts that a graph has of a model in another format: its description, and metadata
// entries under the names that they had there.
void WriteTexts(const Graph& graph, pb::ModelProto& out);

// Puts the frame around the written graph. A declaration is kept if the type is unchanged, or is
// that of an output whose shape follows only from the run while all inputs are unchanged. The IR
// version is that of the frame if the operator set is.
void ApplyFrame(const NativeModel& frame, const Graph& graph, pb::ModelProto& out);

}  // namespace nn::onnx
