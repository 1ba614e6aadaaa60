// ONNX models and the files beside them that hold tensors (TensorProto.external_data, onnx.proto;
// onnx's ExternalData.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/status.h"
#include "formats/common/pb_payload.h"
#include "formats/common/side_files.h"
#include "formats/format.h"
#include "onnx.pb.h"

namespace nn::onnx {

// Where a tensor's bytes lie; kModel for keys whose value is no number. Keys that are not listed in
// the specification are left alone.
struct ExternalRange {
  std::string location;  // relative to the model's folder
  uint64_t offset = 0;
  std::optional<uint64_t> length;  // to the end of the tensor if it is not given
};
Result<ExternalRange> ReadExternalRange(const pb::TensorProto& tensor);

// The bytes of the largest file that protobuf reads: 2 GiB - 1.
inline constexpr uint64_t kMaxModelBytes = (uint64_t{1} << 31) - 1;

// The file of a model whose external tensors `files` reads, with the files that belong beside it.
// Tensors move as the options say: initializers of the graph, then of its sub-graphs, and all
// tensors that are external already, wherever they are, into a new file, from multiples of 4096
// bytes on (of 64, if smaller), so that they can be mapped; all external tensors into the model if
// they are to be embedded. Others stay what they are. kLimit for a model above kMaxModelBytes when
// all that can is outside.
Result<FileImage> Assemble(pb::ModelProto model, PayloadTable payloads, const SideFiles& files,
                           const ExportOptions& options);

}  // namespace nn::onnx
