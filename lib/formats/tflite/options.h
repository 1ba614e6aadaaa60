// The options tables of operators, by field name, with the help of the embedded schema.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "formats/tflite/native.h"
#include "ir/attrs.h"

namespace nn::tflite {

// The kind of options that go with an operator below 162; NONE if it has none.
fb::BuiltinOptions OptionsOf(fb::BuiltinOperator op);

// A field of the operator's options: a number, or the default where the field or the whole table is
// absent. kInternal for a name that the options do not have.
Result<AttrValue> ReadOption(const fb::Operator& op, fb::BuiltinOptions kind,
                             std::string_view field);

// Options of the given kind with the numbers given by field name.
Result<flatbuffers::Offset<void>> WriteOptions(
    flatbuffers::FlatBufferBuilder& builder, fb::BuiltinOptions kind,
    const std::vector<std::pair<std::string_view, AttrValue>>& fields);

// All fields of an operator's options as text, enumerators by name; those that are absent have
// their default. Lists end after 16 elements unless in full; of a custom operator's bytes, the
// number, and in full their SHA-256.
std::vector<std::pair<std::string, std::string>> DescribeOptions(const fb::Operator& op,
                                                                 bool in_full);

}  // namespace nn::tflite
