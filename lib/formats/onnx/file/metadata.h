// Entries of metadata_props.
#pragma once

#include <string>
#include <vector>

#include "formats/onnx/file/native.h"

namespace nn::onnx {

using MetadataEntries = google::protobuf::RepeatedPtrField<pb::StringStringEntryProto>;

// Of the entries with one key, the last, which is the one that ONNX Runtime and Graph::metadata
// have. The format requires distinct keys.
MetadataEntries LastEntries(const MetadataEntries& entries);

// Adds a note if keys of the model, its graphs, nodes, constants or values are not distinct
// (ImportedModel::notes).
void NoteRepeatedKeys(const pb::ModelProto& model, std::vector<std::string>& notes);

}  // namespace nn::onnx
