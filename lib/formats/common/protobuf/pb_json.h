// Protobuf messages in dumps: an object whose members are the present fields, with the names of the
// schema. Enumerators are names, or numbers if unnamed; a map is an array of entries. Unknown
// fields are the member "$unknown", an array of {"field": 300, "varint": 1}, with "fixed32",
// "fixed64" or "bytes" for the other wire types.
#pragma once

#include <google/protobuf/message.h>

#include <functional>
#include <span>
#include <string_view>

#include "base/status.h"
#include "formats/common/describe/dump.h"
#include "formats/common/describe/dump_writer.h"
#include "formats/common/protobuf/pb_payload.h"

namespace nn {

// Full names of bytes fields that are written as text.
using PbTextFields = std::span<const std::string_view>;

// Describes the data of a bytes field or a list of numbers; for a list, the type is always the
// field's own.
using PbDataInfo = std::function<DataInfo(const google::protobuf::Message& message,
                                          const google::protobuf::FieldDescriptor& field)>;

// kUnsupported for an array with both payloads and inline pieces, because their order is lost.
Status DumpMessage(const google::protobuf::Message& message, const PayloadTable& payloads,
                   PbTextFields text_fields, const PbDataInfo& data_info, DumpWriter& out);

// The inverse, into an empty message. kParse with the place, kLimit beyond `max_depth` nested
// messages.
Status RestoreMessage(const DumpNode& dump, PbTextFields text_fields, int max_depth,
                      google::protobuf::Message* message, PayloadTable& payloads);

}  // namespace nn
