// The options tables of operators, accessed by field name through the embedded schema.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "formats/tflite/file/native.h"
#include "ir/attrs.h"

namespace reflection {
struct Schema;
}  // namespace reflection

namespace nn::tflite {

// schemas/tflite.fbs as data.
const reflection::Schema& Schema();

// The kind of options of an operator below 162; NONE if it has none.
fb::BuiltinOptions OptionsOf(fb::BuiltinOperator op);

// A field of the operator's options: a number, or the default if the field or the whole table is
// absent. kInternal for an unknown name.
Result<AttrValue> ReadOption(const fb::Operator& op, fb::BuiltinOptions kind,
                             std::string_view field);

// Options of a kind with numbers by field name.
Result<flatbuffers::Offset<void>> WriteOptions(
    flatbuffers::FlatBufferBuilder& builder, fb::BuiltinOptions kind,
    const std::vector<std::pair<std::string_view, AttrValue>>& fields);

// All fields of an operator's options as text, enumerators by name; absent ones have their default.
// Lists are truncated to 16 elements unless in full. Custom options are shown as their size, and in
// full with their SHA-256.
std::vector<std::pair<std::string, std::string>> DescribeOptions(const fb::Operator& op,
                                                                 bool in_full);

}  // namespace nn::tflite
