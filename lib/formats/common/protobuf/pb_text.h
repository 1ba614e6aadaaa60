// Text forms of protobuf messages: protobuf's text format (.textproto) and its JSON mapping,
// compatible with other tools. Whole messages are held in memory, including weights.
#pragma once

#include <google/protobuf/message.h>

#include <cstdint>
#include <span>
#include <string_view>

#include "base/file/blob.h"
#include "base/status.h"
#include "formats/common/protobuf/pb_payload.h"

namespace nn {

enum class PbForm : uint8_t { kBinary, kText, kJson };

// The form that the bytes look like: JSON begins with a brace, text with a field's name and ":",
// "{" or "<", after comments ("#").
PbForm PbFormOf(std::span<const std::byte> bytes);
// By a path's extension: .textproto, .txtpb, .pbtxt, .prototxt; .onnxjson; binary for all others.
PbForm PbFormOfPath(std::string_view path);

// Parses text or JSON into an empty message. kParse, with line and column (text), for syntax errors
// and unknown fields; kLimit for text above 2 GiB.
Status ParsePbText(PbForm form, const Blob& text, int max_depth, google::protobuf::Message* message,
                   PayloadTable& payloads);

// kUnsupported, by name, for contents that a text form cannot represent: unknown fields, NaNs with
// non-default bits and, in JSON, text that is not UTF-8. kLimit for messages of more than 512 MiB.
Result<Blob> PrintPbText(PbForm form, const google::protobuf::Message& message,
                         const PayloadTable& payloads);

}  // namespace nn
