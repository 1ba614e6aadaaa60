// An ONNX model as protobuf message, with large tensor data as views of the file.
#pragma once

#include <google/protobuf/arena.h>

#include <filesystem>

#include "base/file/blob.h"
#include "formats/common/protobuf/pb_payload.h"
#include "formats/format.h"
#include "onnx.pb.h"

namespace nn::onnx {

struct Model : NativeModel {
  // Allocates a million small messages, and frees them, in a fraction of the heap's time.
  google::protobuf::Arena arena{LargeBlocks()};
  pb::ModelProto& proto = *google::protobuf::Arena::CreateMessage<pb::ModelProto>(&arena);
  PayloadTable payloads;
  Blob file;
  std::filesystem::path directory;  // of the file; external data is below it

  static google::protobuf::ArenaOptions LargeBlocks() {
    google::protobuf::ArenaOptions options;
    options.max_block_size = size_t{1} << 20;
    return options;
  }
};

// A model that the format's reader made, as the roles of the format get it.
inline const Model& ModelOf(const NativeModel& model) {
  return static_cast<const Model&>(model);
}

// The imported version of the operator set `domain`; 0 if there is none. ONNX files before IR
// version 3 import version 1 of the default domain implicitly.
int64_t OpsetVersion(const pb::ModelProto& model, std::string_view domain);

// The same for the operator sets of a function; 0 if there is none.
using OperatorSets = google::protobuf::RepeatedPtrField<pb::OperatorSetIdProto>;
int64_t OpsetVersion(const OperatorSets& sets, std::string_view domain);

// OperatorSummary::scope of the operators in a subgraph, an attribute of the node at `index` in
// `scope`.
std::string SubgraphName(const std::string& scope, const pb::NodeProto& node, int64_t index,
                         std::string_view attribute);

// The domain, with "ai.onnx" mapped to "", its alias.
std::string_view NormalDomain(std::string_view domain);

}  // namespace nn::onnx
