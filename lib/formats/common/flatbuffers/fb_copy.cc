#include "formats/common/flatbuffers/fb_copy.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "formats/common/flatbuffers/fb_schema.h"

namespace nn {

namespace fb = flatbuffers;
using fb_schema::TableOf;
using fb_schema::View;
using fb_schema::WithScalar;

namespace {

// The list that a field's numbers refer to; "" if they are no indices.
std::string_view ListOf(const reflection::Field& field) {
  const auto* attributes = field.attributes();
  const auto* refers = attributes == nullptr ? nullptr : attributes->LookupByKey("refers_to");
  return refers == nullptr ? std::string_view() : View(refers->value());
}

int64_t NumberAt(const void* at, reflection::BaseType type) {
  return WithScalar(type, [&](auto value) {
    std::memcpy(&value, at, sizeof(value));
    return static_cast<int64_t>(value);
  });
}

Status ReferencesOf(const fb::Table& table, const reflection::Field& field, std::string_view list,
                    const FbReference& fn) {
  const reflection::Type& type = *field.type();
  if (fb::IsScalar(type.base_type())) {
    const uint8_t* at = table.GetAddressOf(field.offset());
    return fn(list, at == nullptr ? field.default_integer() : NumberAt(at, type.base_type()));
  }
  const auto* vector = table.GetPointer<const uint8_t*>(field.offset());
  if (vector == nullptr) return {};
  const auto count = fb::ReadScalar<fb::uoffset_t>(vector);
  const size_t width = fb::GetTypeSize(type.element());
  for (size_t i = 0; i < count; ++i)
    NN_RETURN_IF_ERROR(
        fn(list, NumberAt(vector + sizeof(fb::uoffset_t) + i * width, type.element())));
  return {};
}

}  // namespace

const reflection::Object& FbTypeOf(std::string_view name, const reflection::Schema& schema) {
  const std::string_view root = View(schema.root_table()->name());
  const std::string full = std::string(root.substr(0, root.rfind('.') + 1)).append(name);
  return *schema.objects()->LookupByKey(full.c_str());
}

Status ForEachReference(const fb::Table& table, const reflection::Object& type,
                        const reflection::Schema& schema, const FbReference& fn) {
  for (const reflection::Field* field : *type.fields()) {
    if (field->deprecated()) continue;
    if (const std::string_view list = ListOf(*field); !list.empty()) {
      NN_RETURN_IF_ERROR(ReferencesOf(table, *field, list, fn));
      continue;
    }
    const reflection::Type& t = *field->type();
    const auto* below = table.CheckField(field->offset()) && !fb::IsScalar(t.base_type())
                            ? table.GetPointer<const fb::Table*>(field->offset())
                            : nullptr;
    if (below == nullptr) continue;
    if (t.base_type() == reflection::Obj && !TableOf(t, schema).is_struct())
      NN_RETURN_IF_ERROR(ForEachReference(*below, TableOf(t, schema), schema, fn));
    if (t.base_type() == reflection::Union) {
      NN_ASSIGN(const auto* const member, fb_schema::UnionMember(table, *field, type, schema));
      NN_RETURN_IF_ERROR(ForEachReference(*below, *member, schema, fn));
    }
    if (t.base_type() == reflection::Vector && t.element() == reflection::Obj &&
        !TableOf(t, schema).is_struct())
      for (const auto* element : *reinterpret_cast<const fb::Vector<fb::Offset<fb::Table>>*>(below))
        NN_RETURN_IF_ERROR(ForEachReference(*element, TableOf(t, schema), schema, fn));
  }
  return {};
}

// A field of a table to build: the bytes of a scalar or struct, or the offset of the value.
struct FbCopier::Slot {
  const reflection::Field* field;
  std::string bytes;
  fb::uoffset_t offset = 0;
};

FbCopier::FbCopier(const StableFlatbuffer& source, const reflection::Schema& schema)
    : source_(source),
      schema_(schema),
      verifier_(reinterpret_cast<const uint8_t*>(source.structure().data()),
                std::min<size_t>(source.structure().size(), FLATBUFFERS_MAX_BUFFER_SIZE - 1),
                std::numeric_limits<fb::uoffset_t>::max(),
                std::numeric_limits<fb::uoffset_t>::max()) {
  builder_.ForceDefaults(true);
}

Status FbCopier::CheckSpace(size_t bytes) const {
  constexpr size_t kSlack = size_t{1} << 16;
  if (builder_.GetSize() + bytes + kSlack > FLATBUFFERS_MAX_BUFFER_SIZE)
    return LimitError("a flatbuffer has at most 2 GiB");
  return {};
}

Result<fb::uoffset_t> FbCopier::CopyTable(const fb::Table& table, const reflection::Object& type,
                                          Changes changes) {
  const std::string_view name = fb_schema::ShortName(type.name());
  if (!table.VerifyTableStart(verifier_))
    return ParseError("a {} of the flatbuffer is damaged", name);
  NN_RETURN_IF_ERROR(fb_schema::CheckFields(table, type));
  NN_RETURN_IF_ERROR(Change(table, name, changes));
  std::vector<Slot> slots;
  for (const reflection::Field* field : *type.fields())
    NN_RETURN_IF_ERROR(AddSlot(table, *field, type, changes, slots));
  NN_RETURN_IF_ERROR(CheckSpace(0));
  // Wide fields first, to avoid padding.
  const auto width = [](const Slot& s) { return fb::GetTypeSize(s.field->type()->base_type()); };
  std::sort(slots.begin(), slots.end(), [&](const Slot& a, const Slot& b) {
    return std::pair(width(a), a.field->id()) > std::pair(width(b), b.field->id());
  });
  const fb::uoffset_t start = builder_.StartTable();
  for (const Slot& s : slots) {
    if (fb_schema::IsStruct(*s.field->type(), schema_)) {
      builder_.Align(static_cast<size_t>(TableOf(*s.field->type(), schema_).minalign()));
      builder_.PushBytes(reinterpret_cast<const uint8_t*>(s.bytes.data()), s.bytes.size());
      builder_.AddStructOffset(s.field->offset(), builder_.GetSize());
    } else if (!fb::IsScalar(s.field->type()->base_type())) {
      builder_.AddOffset(s.field->offset(), fb::Offset<void>(s.offset));
    } else {
      WithScalar(s.field->type()->base_type(), [&](auto value) {
        std::memcpy(&value, s.bytes.data(), sizeof(value));
        builder_.AddElement(s.field->offset(), value);
      });
    }
  }
  const fb::uoffset_t copy = builder_.EndTable(start);
  verifier_.EndTable();
  Copied(table, name, copy);
  return copy;
}

Status FbCopier::AddSlot(const fb::Table& table, const reflection::Field& field,
                         const reflection::Object& type, const Changes& changes,
                         std::vector<Slot>& slots) {
  const reflection::Type& t = *field.type();
  const auto number = [&](int64_t value) {
    return WithScalar(t.base_type(), [&](auto zero) {
      const auto v = static_cast<decltype(zero)>(value);
      return std::string(reinterpret_cast<const char*>(&v), sizeof(v));
    });
  };
  if (const auto it = changes.changes_.find(field.offset()); it != changes.changes_.end()) {
    const Changes::Change& change = it->second;
    if (change.kind == Changes::Kind::kNumber)
      slots.push_back({&field, number(change.number)});
    else if (change.kind == Changes::Kind::kOffset)
      slots.push_back({&field, {}, change.offset});
    return {};
  }
  const bool is_present = table.CheckField(field.offset());
  if (fb::IsScalar(t.base_type())) {
    std::string bytes = number(field.default_integer());
    const uint8_t* at = table.GetAddressOf(field.offset());
    if (at != nullptr &&
        !verifier_.Verify(
            static_cast<size_t>(at - reinterpret_cast<const uint8_t*>(source_.structure().data())),
            bytes.size()))
      return ParseError("{} of the flatbuffer is damaged", View(field.name()));
    if (at != nullptr) bytes.assign(reinterpret_cast<const char*>(at), bytes.size());
    if (const std::string_view list = ListOf(field); !list.empty()) {
      const std::string before = bytes;
      NN_RETURN_IF_ERROR(Renumber(list, t.base_type(), reinterpret_cast<std::byte*>(bytes.data())));
      if (is_present || bytes != before) slots.push_back({&field, std::move(bytes)});
    } else if (is_present) {
      slots.push_back({&field, std::move(bytes)});
    }
    return {};
  }
  if (!is_present) return {};
  if (fb_schema::IsStruct(t, schema_)) {
    const auto size = static_cast<size_t>(TableOf(t, schema_).bytesize());
    const uint8_t* at = table.GetAddressOf(field.offset());
    if (!verifier_.Verify(
            static_cast<size_t>(at - reinterpret_cast<const uint8_t*>(source_.structure().data())),
            size))
      return ParseError("{} of the flatbuffer is damaged", View(field.name()));
    slots.push_back({&field, std::string(reinterpret_cast<const char*>(at), size)});
    return {};
  }
  NN_ASSIGN(const fb::uoffset_t offset, CopyField(table, field, type));
  slots.push_back({&field, {}, offset});
  return {};
}

Result<fb::uoffset_t> FbCopier::CopyField(const fb::Table& table, const reflection::Field& field,
                                          const reflection::Object& type) {
  const reflection::Type& t = *field.type();
  if (!table.VerifyOffset(verifier_, field.offset()))
    return ParseError("{} of the flatbuffer is damaged", View(field.name()));
  const auto* pointer = table.GetPointer<const uint8_t*>(field.offset());
  switch (t.base_type()) {
    case reflection::String: {
      const auto* text = reinterpret_cast<const fb::String*>(pointer);
      if (!verifier_.VerifyString(text))
        return ParseError("{} of the flatbuffer is damaged", View(field.name()));
      const auto [it, added] = shared_.try_emplace({pointer, &field}, 0);
      if (!added) return it->second;
      NN_RETURN_IF_ERROR(CheckSpace(text->size()));
      return it->second = builder_.CreateString(text).o;
    }
    case reflection::Vector:
      return CopyVector(pointer, field);
    case reflection::Obj:
      return CopyTable(*reinterpret_cast<const fb::Table*>(pointer), TableOf(t, schema_));
    case reflection::Union: {
      NN_ASSIGN(const auto* const member, fb_schema::UnionMember(table, field, type, schema_));
      return CopyTable(*reinterpret_cast<const fb::Table*>(pointer), *member);
    }
    default:
      return tl::unexpected(fb_schema::Unsupported(field).error());
  }
}

Result<fb::uoffset_t> FbCopier::CopyVector(const uint8_t* vector, const reflection::Field& field) {
  const reflection::Type& t = *field.type();
  const size_t width = fb::GetTypeSize(t.element());
  if (!verifier_.VerifyVectorOrString(vector, width))
    return ParseError("{} of the flatbuffer is damaged", View(field.name()));
  const auto count = fb::ReadScalar<fb::uoffset_t>(vector);
  if (fb::IsScalar(t.element())) {
    const bool is_fixed = ListOf(field).empty();
    const std::pair key(static_cast<const void*>(vector), &field);
    if (const auto it = shared_.find(key); is_fixed && it != shared_.end()) return it->second;
    const Blob bytes = source_.View(vector + sizeof(fb::uoffset_t), count * width);
    NN_ASSIGN(const fb::uoffset_t copy, CopyNumbers(bytes.bytes(), count, field));
    if (is_fixed) shared_[key] = copy;
    return copy;
  }
  if (t.element() != reflection::Obj || TableOf(t, schema_).is_struct())
    return tl::unexpected(fb_schema::Unsupported(field).error());
  std::vector<fb::Offset<void>> offsets;
  for (const auto* element : *reinterpret_cast<const fb::Vector<fb::Offset<fb::Table>>*>(vector)) {
    NN_ASSIGN(const fb::uoffset_t offset, CopyTable(*element, TableOf(t, schema_)));
    offsets.emplace_back(offset);
  }
  NN_RETURN_IF_ERROR(CheckSpace(offsets.size() * sizeof(fb::uoffset_t)));
  return builder_.CreateVector(offsets).o;
}

Result<fb::uoffset_t> FbCopier::CopyNumbers(std::span<const std::byte> bytes, size_t count,
                                            const reflection::Field& field) {
  const reflection::BaseType type = field.type()->element();
  const size_t width = fb::GetTypeSize(type);
  NN_RETURN_IF_ERROR(CheckSpace(bytes.size()));
  std::vector<std::byte> renumbered;
  if (const std::string_view list = ListOf(field); !list.empty()) {
    renumbered.assign(bytes.begin(), bytes.end());
    for (size_t at = 0; at < renumbered.size(); at += width)
      NN_RETURN_IF_ERROR(Renumber(list, type, renumbered.data() + at));
    bytes = renumbered;
  }
  if (const auto* attributes = field.attributes())
    if (const auto* align = attributes->LookupByKey("force_align"))
      builder_.ForceVectorAlignment(count, width, std::stoul(align->value()->str()));
  builder_.StartVector(count, width);
  builder_.PushBytes(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  return builder_.EndVector(count);
}

Status FbCopier::Renumber(std::string_view list, reflection::BaseType type, std::byte* number) {
  const int64_t before = NumberAt(number, type);
  if (before < 0) return {};
  NN_ASSIGN(const int64_t after, Renumbered(list, before));
  return WithScalar(type, [&](auto value) -> Status {
    value = static_cast<decltype(value)>(after);
    std::memcpy(number, &value, sizeof(value));
    return {};
  });
}

}  // namespace nn
