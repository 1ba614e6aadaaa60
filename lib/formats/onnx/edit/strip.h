// Removes what a model has for its readers only.
#pragma once

#include "formats/common/edit/native_edit.h"
#include "onnx.pb.h"

namespace nn::onnx {

// Removes doc_string, metadata_props, the names of nodes, and the chosen names of values, which
// become short ones; those of the inputs and outputs of the main graph and of functions stay.
void StripModel(const NativeEdit::Strip& strip, pb::ModelProto& model);

}  // namespace nn::onnx
