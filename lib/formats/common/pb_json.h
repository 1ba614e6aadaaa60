// Protobuf messages in dumps: an object whose members are the fields that are there, in the names
// of the schema. Enumerators are names, or numbers where there is none; a map is an array of
// entries. Fields that the schema does not have are the member "$unknown", an array of
// {"field": 300, "varint": 1}, with "fixed32", "fixed64" or "bytes" for the other wire types.
#pragma once

#include <google/protobuf/message.h>

#include <functional>
#include <span>
#include <string_view>

#include "base/status.h"
#include "formats/common/dump.h"
#include "formats/common/dump_writer.h"
#include "formats/common/pb_payload.h"

namespace nn {

// Full names of bytes fields that hold text, and are written as text.
using PbTextFields = std::span<const std::string_view>;

// What is known of the data that a bytes field or a list of numbers holds; of a list, the type is
// the field's own, whatever is said here.
using PbDataInfo = std::function<DataInfo(const google::protobuf::Message& message,
                                          const google::protobuf::FieldDescriptor& field)>;

// kUnsupported for an array of which some pieces are payloads and others are not: its order is
// lost.
Status DumpMessage(const google::protobuf::Message& message, const PayloadTable& payloads,
                   PbTextFields text_fields, const PbDataInfo& data_info, DumpWriter& out);

// The inverse, into an empty message. kLimit beyond `max_depth` nested messages.
Status RestoreMessage(const DumpNode& dump, PbTextFields text_fields, int max_depth,
                      google::protobuf::Message* message, PayloadTable& payloads);

}  // namespace nn
