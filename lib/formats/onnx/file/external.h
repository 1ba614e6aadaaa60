// External tensor files of ONNX models (TensorProto.external_data, onnx.proto; onnx's
// ExternalData.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/status.h"
#include "formats/common/edit/side_files.h"
#include "formats/common/protobuf/pb_payload.h"
#include "formats/format.h"
#include "onnx.pb.h"

namespace nn::onnx {

struct Model;

// The location of a tensor's bytes; kModel for values that are not numbers. Keys not in the
// specification are ignored.
struct ExternalRange {
  std::string location;  // relative to the model's folder
  uint64_t offset = 0;
  std::optional<uint64_t> length;  // if absent, the size of the tensor
};
Result<ExternalRange> ReadExternalRange(const pb::TensorProto& tensor);

// The file of a model with its side files; `model.files` reads the present external tensors. The
// options move tensors, in `model`, too: initializers of the graph, then of its subgraphs, and all
// tensors that are already external, to a new file, at multiples of 4096 bytes (of 64 for small
// tensors), so that they can be mapped; or all external tensors into the model. Other tensors are
// unchanged. kLimit if the model exceeds kMaxProtobufBytes even with all movable tensors outside.
Result<FileImage> Assemble(Model& model, const ExportOptions& options);
// The same for a copy of the message.
Result<FileImage> Assemble(const pb::ModelProto& model, PayloadTable payloads,
                           const SideFiles& files, const ExportOptions& options);

}  // namespace nn::onnx
