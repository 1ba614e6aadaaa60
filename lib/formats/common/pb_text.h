// Text forms of protobuf messages: protobuf's text format (.textproto) and its JSON mapping, as
// other tools write them. Whole messages are held in memory, weights included.
#pragma once

#include <google/protobuf/message.h>

#include <cstdint>
#include <span>
#include <string_view>

#include "base/blob.h"
#include "base/status.h"
#include "formats/common/pb_payload.h"

namespace nn {

enum class PbForm : uint8_t { kBinary, kText, kJson };

// What the bytes look like: JSON begins with a brace, text with a field's name and ":", "{" or "<",
// comments ("#") aside.
PbForm PbFormOf(std::span<const std::byte> bytes);
// By a path's extension: .textproto, .txtpb, .pbtxt, .prototxt; .onnxjson; binary for all others.
PbForm PbFormOfPath(std::string_view path);

// Parses text or JSON into an empty message. kParse with line and column (text) for what does not
// parse or is not in the schema, kLimit for text above 2 GiB.
Status ParsePbText(PbForm form, const Blob& text, int max_depth, google::protobuf::Message* message,
                   PayloadTable& payloads);

// kUnsupported for what a text form cannot hold, by name: fields that the schema does not have,
// NaNs other than the usual one, and in JSON text that is not UTF-8. kLimit for messages of more
// than 512 MiB.
Result<Blob> PrintPbText(PbForm form, const google::protobuf::Message& message,
                         const PayloadTable& payloads);

}  // namespace nn
