// HoldingsOf for flatbuffers.
#include <algorithm>
#include <cstring>

#include "formats/common/describe/holdings.h"
#include "formats/common/flatbuffers/fb_schema.h"

namespace nn::fb_schema {
namespace {

class FbHolder {
 public:
  FbHolder(const reflection::Schema& schema, std::span<const FieldUse> uses)
      : schema_(schema), uses_(uses) {}

  // Without `in_parts`, only what is not in the schema is held.
  void Walk(const fb::Table& table, const reflection::Object& type, const std::string& owner,
            bool in_parts) {
    if (const Status known = CheckFields(table, type); !known)
      out_.push_back({"unknown field", owner.empty() ? std::string(ShortName(type.name())) : owner,
                      DigestOf(known.error().message()), ""});
    for (const reflection::Field* field : *type.fields()) {
      if (field->deprecated() || !table.CheckField(field->offset())) continue;
      const FieldUse* const use = in_parts ? UseOf(*field, type) : nullptr;
      if (in_parts && (use == nullptr || use->kind == FieldUse::Kind::kHeld))
        Hold(table, *field, type, use, owner);
      else
        WalkField(table, *field, type, owner,
                  use != nullptr && use->kind == FieldUse::Kind::kParts);
    }
  }

  std::vector<Holding> Take() { return std::move(out_); }

 private:
  const FieldUse* UseOf(const reflection::Field& field, const reflection::Object& type) const {
    const std::string full =
        std::string(ShortName(type.name())) + "." + std::string(View(field.name()));
    const auto row = std::ranges::find(uses_, std::string_view(full), &FieldUse::field);
    return row == uses_.end() ? nullptr : &*row;
  }

  // The table's own name, or its owner's.
  static std::string NameOf(const fb::Table& table, const reflection::Object& type,
                            const std::string& owner) {
    const reflection::Field* const name = type.fields()->LookupByKey("name");
    if (name == nullptr || name->type()->base_type() != reflection::String) return owner;
    const auto* const text = table.GetPointer<const fb::String*>(name->offset());
    return text == nullptr || text->size() == 0 ? owner : std::string(View(text));
  }

  // Calls fn(table, type) for the tables in a field.
  template <typename Fn>
  void ForEachTable(const fb::Table& table, const reflection::Field& field,
                    const reflection::Object& owner_type, const Fn& fn) {
    const reflection::Type& type = *field.type();
    if (type.base_type() == reflection::Union) {
      const auto member = UnionMember(table, field, owner_type, schema_);
      if (member) fn(*table.GetPointer<const fb::Table*>(field.offset()), **member);
    } else if (type.base_type() == reflection::Obj && !IsStruct(type, schema_)) {
      fn(*table.GetPointer<const fb::Table*>(field.offset()), TableOf(type, schema_));
    } else if (type.base_type() == reflection::Vector && type.element() == reflection::Obj &&
               !TableOf(type, schema_).is_struct()) {
      const auto& list =
          *table.GetPointer<const fb::Vector<fb::Offset<fb::Table>>*>(field.offset());
      for (fb::uoffset_t i = 0; i < list.size(); ++i) fn(*list.Get(i), TableOf(type, schema_));
    }
  }

  void WalkField(const fb::Table& table, const reflection::Field& field,
                 const reflection::Object& type, const std::string& owner, bool in_parts) {
    ForEachTable(table, field, type, [&](const fb::Table& t, const reflection::Object& of) {
      Walk(t, of, NameOf(t, of, owner), in_parts);
    });
  }

  // The bytes of a scalar, a string or a list of numbers; "" for others.
  static std::string ContentsOf(const fb::Table& table, const reflection::Field& field) {
    const reflection::Type& type = *field.type();
    if (IsScalar(type.base_type()))
      return {reinterpret_cast<const char*>(table.GetAddressOf(field.offset())),
              fb::GetTypeSize(type.base_type())};
    const bool is_text = type.base_type() == reflection::String;
    if (!is_text && (type.base_type() != reflection::Vector || !IsScalar(type.element())))
      return "";
    const auto* at = table.GetPointer<const uint8_t*>(field.offset());
    const size_t width = is_text ? 1 : fb::GetTypeSize(type.element());
    return {reinterpret_cast<const char*>(at) + sizeof(fb::uoffset_t),
            fb::ReadScalar<fb::uoffset_t>(at) * width};
  }

  void Hold(const fb::Table& table, const reflection::Field& field, const reflection::Object& type,
            const FieldUse* use, const std::string& owner) {
    std::string kind(use == nullptr ? View(field.name()) : use->holding);
    std::ranges::replace(kind, '_', ' ');
    const auto add = [&](const std::string& name, const std::string& contents) {
      out_.push_back(
          {kind, name, DigestOf(contents), std::string(use == nullptr ? "" : use->becomes)});
    };
    bool has_tables = false;
    ForEachTable(table, field, type, [&](const fb::Table& t, const reflection::Object& of) {
      has_tables = true;
      std::string contents;
      for (const reflection::Field* f : *of.fields())
        if (t.CheckField(f->offset())) contents += ContentsOf(t, *f);
      add(NameOf(t, of, owner), contents);
    });
    const std::string contents = ContentsOf(table, field);
    if (!has_tables && !contents.empty()) add(owner, contents);
  }

  const reflection::Schema& schema_;
  std::span<const FieldUse> uses_;
  std::vector<Holding> out_;
};

}  // namespace
}  // namespace nn::fb_schema

namespace nn {

std::vector<Holding> HoldingsOf(const flatbuffers::Table& table, const reflection::Object& type,
                                const reflection::Schema& schema, std::span<const FieldUse> uses) {
  fb_schema::FbHolder holder(schema, uses);
  holder.Walk(table, type, "", true);
  return holder.Take();
}

}  // namespace nn
