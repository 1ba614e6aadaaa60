// The fields and types of a binary schema (flatbuffers/reflection.h), for dumps (fb_json.h).
#pragma once

#include <flatbuffers/flatbuffers.h>
#include <flatbuffers/reflection.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace nn::fb_schema {

namespace fb = flatbuffers;
using fb::IsScalar;
using reflection::BaseType;

// The member of a table that holds its outer data.
inline constexpr std::string_view kDataKey = "$data";

std::string_view View(const fb::String* text);

// "Operator" of "nn.tflite.fb.Operator".
std::string_view ShortName(const fb::String* full_name);

// The attribute "names" of the suite's schemas; null if the field does not have it.
const reflection::KeyValue* NamesOf(const reflection::Field& field);

// The enumeration that a field's numbers belong to, by its type or by the attribute "names"; null
// if they do not.
const reflection::Enum* EnumOf(const reflection::Field& field, const reflection::Schema& schema);

// Null if the number has no name.
const reflection::EnumVal* ValueOf(const reflection::Enum& type, int64_t number);

// The table for a value of a union's type field; null if there is none.
const reflection::Object* MemberOf(const reflection::Enum& type, int64_t number,
                                   const reflection::Schema& schema);

// Requires a type of tables or structs.
const reflection::Object& TableOf(const reflection::Type& type, const reflection::Schema& schema);
bool IsStruct(const reflection::Type& type, const reflection::Schema& schema);

// "shape, type, buffer".
std::string FieldNames(const reflection::Object& type);

// The field with the type of a union.
const reflection::Field* TypeFieldOf(const reflection::Field& field,
                                     const reflection::Object& table);

bool IsByteString(const reflection::Type& type);

// kUnsupported, with the number, for a field of the table that is not in the schema.
Status CheckFields(const fb::Table& table, const reflection::Object& type);

// The table of a union in `field` of a table. kUnsupported if it is not in the schema.
Result<const reflection::Object*> UnionMember(const fb::Table& table,
                                              const reflection::Field& field,
                                              const reflection::Object& owner,
                                              const reflection::Schema& schema);

// The error about a field whose type dumps do not support.
Status Unsupported(const reflection::Field& field);

// Calls fn with a value of a scalar's C++ type.
template <typename Fn>
auto WithScalar(BaseType type, Fn fn) {
  switch (type) {
    case reflection::Byte:
      return fn(int8_t{});
    case reflection::Short:
      return fn(int16_t{});
    case reflection::UShort:
      return fn(uint16_t{});
    case reflection::Int:
      return fn(int32_t{});
    case reflection::UInt:
      return fn(uint32_t{});
    case reflection::Long:
      return fn(int64_t{});
    case reflection::ULong:
      return fn(uint64_t{});
    case reflection::Float:
      return fn(float{});
    case reflection::Double:
      return fn(double{});
    default:  // Bool, UType, UByte
      return fn(uint8_t{});
  }
}

}  // namespace nn::fb_schema
