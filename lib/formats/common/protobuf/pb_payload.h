// Large payloads of protobuf files, kept out of protobuf.
//
// A model file is mostly weights, in bytes fields and packed arrays of fixed-width numbers.
// SplitPayloads cuts every such field above a threshold out of the wire form and leaves a reference
// in its place, so that protobuf parses only the small rest: weights remain views of the mapped
// file, files above protobuf's 2 GiB limit can be read, and loading does not copy weights.
// JoinPayloads is the inverse, for writing.
//
// A reference is a length-delimited unknown field with number kReferenceField, which no schema uses
// and no file may (protobuf's own reserved numbers, 19000 to 19999, do not pass through protozero);
// it holds the field number and an index.
#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/file/blob.h"
#include "base/status.h"

namespace nn {

// Limit of all formats: bytes of a written ONNX file, apart from external data, and of a written
// Core ML model. Protobuf can read no larger file.
inline constexpr uint64_t kMaxProtobufBytes = (uint64_t{1} << 31) - 1;

// Bytes per element if the field can hold a payload (bytes, or an array of fixed-width numbers);
// else 0.
int PayloadElementSize(const google::protobuf::FieldDescriptor& field);

// Calls fn with the message and all nested messages, in the order of field numbers; stops at the
// first error.
Status ForEachMessage(google::protobuf::Message* message,
                      const std::function<Status(google::protobuf::Message* message)>& fn);

class PayloadTable {
 public:
  static constexpr int kReferenceField = (1 << 29) - 1;

  // The bytes of `field` in `message` if they were cut out; nullopt if the field, if present, is in
  // the message itself. A field that occurred several times in the file is concatenated.
  std::optional<Blob> Find(const google::protobuf::Message& message, int field) const;

  // Sets `field` of `message` to `blob`; large blobs become references.
  void Attach(google::protobuf::Message* message, int field, Blob blob);
  // Removes all payloads of a message.
  static void Detach(google::protobuf::Message* message);

  const std::vector<Blob>& blobs() const { return blobs_; }
  uint64_t Add(Blob blob) {
    blobs_.push_back(std::move(blob));
    return blobs_.size() - 1;
  }

 private:
  std::vector<Blob> blobs_;
};

struct PayloadLimits {
  size_t threshold = 1024;            // payloads from this size are cut out
  int max_depth = 100;                // nested messages
  size_t max_rest = size_t{1} << 30;  // bytes left for protobuf
};

// Parses `file` into `message`. kParse with the byte offset if it is not a valid wire form; kLimit
// beyond the limits.
Status ParseWithPayloads(const Blob& file, google::protobuf::Message* message, PayloadTable& table,
                         const PayloadLimits& limits = {});

// A blob that owns the string.
Blob BlobOf(std::string bytes);

// The wire form of `message` with all references resolved, as parts to be written one after the
// other. Payloads are not copied. Deterministic: fields and payloads are ordered by field number,
// unknown fields last.
Result<std::vector<Blob>> SerializeWithPayloads(const google::protobuf::Message& message,
                                                const PayloadTable& table);

}  // namespace nn
