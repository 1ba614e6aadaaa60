#include "formats/common/flatbuffers/fb_schema.h"

#include "base/text/text.h"

namespace nn::fb_schema {

std::string_view View(const fb::String* text) {
  return {text->c_str(), text->size()};
}

std::string_view ShortName(const fb::String* full_name) {
  const std::string_view name = View(full_name);
  const size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

const reflection::KeyValue* NamesOf(const reflection::Field& field) {
  return field.attributes() == nullptr ? nullptr : field.attributes()->LookupByKey("names");
}

const reflection::Enum* EnumOf(const reflection::Field& field, const reflection::Schema& schema) {
  if (IsScalar(field.type()->base_type()) || IsScalar(field.type()->element()))
    if (const int32_t index = field.type()->index(); index >= 0)
      return schema.enums()->Get(static_cast<fb::uoffset_t>(index));
  const auto* names = NamesOf(field);
  return names == nullptr ? nullptr : schema.enums()->LookupByKey(names->value()->c_str());
}

const reflection::EnumVal* ValueOf(const reflection::Enum& type, int64_t number) {
  return type.values()->LookupByKey(number);
}

const reflection::Object* MemberOf(const reflection::Enum& type, int64_t number,
                                   const reflection::Schema& schema) {
  const reflection::EnumVal* value = ValueOf(type, number);
  if (value == nullptr || value->union_type() == nullptr || value->union_type()->index() < 0)
    return nullptr;
  return schema.objects()->Get(static_cast<fb::uoffset_t>(value->union_type()->index()));
}

const reflection::Object& TableOf(const reflection::Type& type, const reflection::Schema& schema) {
  return *schema.objects()->Get(static_cast<fb::uoffset_t>(type.index()));
}

bool IsStruct(const reflection::Type& type, const reflection::Schema& schema) {
  return type.base_type() == reflection::Obj && TableOf(type, schema).is_struct();
}

std::string FieldNames(const reflection::Object& type) {
  std::string out;
  for (const reflection::Field* field : *type.fields())
    out.append(out.empty() ? "" : ", ").append(View(field->name()));
  return out;
}

const reflection::Field* TypeFieldOf(const reflection::Field& field,
                                     const reflection::Object& table) {
  return table.fields()->LookupByKey((field.name()->str() + fb::UnionTypeFieldSuffix()).c_str());
}

bool IsByteString(const reflection::Type& type) {
  return type.element() == reflection::UByte && type.index() < 0;
}

Status CheckFields(const fb::Table& table, const reflection::Object& type) {
  const auto end = fb::ReadScalar<fb::voffset_t>(table.GetVTable());
  for (fb::voffset_t at = fb::FieldIndexToOffset(static_cast<fb::voffset_t>(type.fields()->size()));
       at < end; at = static_cast<fb::voffset_t>(at + sizeof(fb::voffset_t)))
    if (table.GetOptionalFieldOffset(at) != 0)
      return UnsupportedError("{} has a field {} that is not in this program's schema",
                              ShortName(type.name()), (at - 4) / 2);
  return {};
}

Result<const reflection::Object*> UnionMember(const fb::Table& table,
                                              const reflection::Field& field,
                                              const reflection::Object& owner,
                                              const reflection::Schema& schema) {
  const reflection::Field* type_field = TypeFieldOf(field, owner);
  const auto number = table.GetField<uint8_t>(type_field->offset(), 0);
  const auto* member = MemberOf(*EnumOf(*type_field, schema), number, schema);
  if (member == nullptr)
    return UnsupportedError("{} of {} has type {}, which is not in this program's schema",
                            View(field.name()), ShortName(owner.name()), number);
  return member;
}

Status Unsupported(const reflection::Field& field) {
  return UnsupportedError("the schema type of {} is unsupported", Quote(View(field.name())));
}

}  // namespace nn::fb_schema
