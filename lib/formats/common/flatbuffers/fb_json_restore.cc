// RestoreFlatbuffer.
#include <algorithm>
#include <cstring>

#include "formats/common/flatbuffers/fb_json.h"
#include "formats/common/flatbuffers/fb_schema.h"

namespace nn::fb_schema {
namespace {

template <typename T>
Result<T> ReadScalar(const DumpNode& in, BaseType type, const reflection::Enum* names) {
  if constexpr (std::is_same_v<T, float>) {
    return in.Float();
  } else if constexpr (std::is_same_v<T, double>) {
    return in.Double();
  } else {
    if (names != nullptr && in.IsString()) {
      NN_ASSIGN(const std::string name, in.String());
      for (const reflection::EnumVal* v : *names->values())
        if (View(v->name()) == name) return static_cast<T>(v->value());
      return in.Bad("{} has no enumerator {}; use a number for unnamed values",
                    ShortName(names->name()), Quote(name));
    }
    if (type == reflection::Bool && in.IsBool()) {
      NN_ASSIGN(const bool value, in.Bool());
      return static_cast<T>(value);
    }
    return in.Integer<T>();
  }
}

class FbRestorer {
 public:
  FbRestorer(const reflection::Schema& schema, int max_depth)
      : schema_(schema), max_depth_(max_depth) {
    builder_.ForceDefaults(true);
  }

  Result<RestoredFlatbuffer> Run(const DumpNode& dump) {
    NN_ASSIGN(const fb::uoffset_t root, ReadTable(dump, *schema_.root_table(), 1));
    builder_.Finish(fb::Offset<fb::Table>(root), schema_.file_ident()->c_str());
    RestoredFlatbuffer out;
    out.file = builder_.Release();
    // Offsets count from the end, which does not move.
    for (const Outer& o : outer_data_)
      out.outer_data.push_back({out.file.size() - o.table, o.type, o.bytes});
    return out;
  }

 private:
  // A field of a table to build: the bytes of a scalar or struct, or the offset of the value.
  struct Slot {
    const reflection::Field* field;
    std::string bytes;
    fb::uoffset_t offset = 0;
  };
  struct Outer {
    fb::uoffset_t table;
    std::string_view type;
    Blob bytes;
  };

  Result<fb::uoffset_t> ReadTable(const DumpNode& in, const reflection::Object& type, int depth) {
    if (depth > max_depth_)
      return LimitError("{}: tables are nested deeper than {} (max-depth)", in.Place(), max_depth_);
    std::vector<Slot> slots;
    std::optional<Blob> data;
    NN_RETURN_IF_ERROR(
        in.ForEachMember([&](const std::string& name, const DumpNode& member) -> Status {
          if (name == kDataKey) {
            NN_ASSIGN(data, member.Bytes());
            return {};
          }
          const reflection::Field* field = type.fields()->LookupByKey(name.c_str());
          if (field == nullptr)
            return member.Bad("{} has no field {}; it has {}", ShortName(type.name()), Quote(name),
                              FieldNames(type));
          return ReadField(in, member, *field, type, depth, slots.emplace_back(Slot{field, {}}));
        }));
    for (const reflection::Field* field : *type.fields())
      if (field->required() &&
          std::none_of(slots.begin(), slots.end(), [&](const Slot& s) { return s.field == field; }))
        return in.Bad("the field \"{}\" is missing", View(field->name()));
    const fb::uoffset_t table = Build(slots);
    if (data) outer_data_.push_back({table, ShortName(type.name()), *data});
    return table;
  }

  fb::uoffset_t Build(std::vector<Slot>& slots) {
    // Wide fields first, to avoid padding.
    const auto width = [](const Slot& s) { return fb::GetTypeSize(s.field->type()->base_type()); };
    std::sort(slots.begin(), slots.end(), [&](const Slot& a, const Slot& b) {
      return std::pair(width(a), a.field->id()) > std::pair(width(b), b.field->id());
    });
    const fb::uoffset_t start = builder_.StartTable();
    for (const Slot& s : slots) {
      if (IsStruct(*s.field->type(), schema_)) {
        builder_.Align(static_cast<size_t>(TableOf(*s.field->type(), schema_).minalign()));
        builder_.PushBytes(reinterpret_cast<const uint8_t*>(s.bytes.data()), s.bytes.size());
        builder_.AddStructOffset(s.field->offset(), builder_.GetSize());
        continue;
      }
      if (!IsScalar(s.field->type()->base_type())) {
        builder_.AddOffset(s.field->offset(), fb::Offset<void>(s.offset));
        continue;
      }
      WithScalar(s.field->type()->base_type(), [&](auto value) {
        std::memcpy(&value, s.bytes.data(), sizeof(value));
        builder_.AddElement(s.field->offset(), value);
      });
    }
    return builder_.EndTable(start);
  }

  Status ReadField(const DumpNode& owner_node, const DumpNode& in, const reflection::Field& field,
                   const reflection::Object& owner, int depth, Slot& out) {
    const reflection::Type& type = *field.type();
    if (IsScalar(type.base_type()))
      return WithScalar(type.base_type(), [&](auto zero) -> Status {
        NN_ASSIGN(const auto value,
                  ReadScalar<decltype(zero)>(in, type.base_type(), EnumOf(field, schema_)));
        out.bytes.assign(reinterpret_cast<const char*>(&value), sizeof(value));
        return {};
      });
    switch (type.base_type()) {
      case reflection::String: {
        NN_ASSIGN(out.offset, ReadString(in));
        return {};
      }
      case reflection::Vector: {
        NN_ASSIGN(out.offset, ReadVector(in, field, depth));
        return {};
      }
      case reflection::Obj: {
        if (IsStruct(type, schema_)) return ReadStruct(in, TableOf(type, schema_), out.bytes);
        NN_ASSIGN(out.offset, ReadTable(in, TableOf(type, schema_), depth + 1));
        return {};
      }
      case reflection::Union: {
        const reflection::Field* type_field = TypeFieldOf(field, owner);
        const auto type_node = owner_node.Find(type_field->name()->str());
        if (!type_node)
          return in.Bad("{}, the type of the union, is missing", Quote(View(type_field->name())));
        const reflection::Enum& types = *EnumOf(*type_field, schema_);
        NN_ASSIGN(const auto number, ReadScalar<uint8_t>(*type_node, reflection::UType, &types));
        const auto* member = MemberOf(types, number, schema_);
        if (member == nullptr)
          return in.Bad("{} has no table of type {}", ShortName(types.name()), number);
        NN_ASSIGN(out.offset, ReadTable(in, *member, depth + 1));
        return {};
      }
      default:
        return Unsupported(field);
    }
  }

  // Omitted members are zero.
  Status ReadStruct(const DumpNode& in, const reflection::Object& type, std::string& out) {
    out.assign(static_cast<size_t>(type.bytesize()), '\0');
    return in.ForEachMember([&](const std::string& name, const DumpNode& member) -> Status {
      const reflection::Field* field = type.fields()->LookupByKey(name.c_str());
      if (field == nullptr)
        return member.Bad("{} has no field {}; it has {}", ShortName(type.name()), Quote(name),
                          FieldNames(type));
      return WithScalar(field->type()->base_type(), [&](auto zero) -> Status {
        NN_ASSIGN(const auto value, ReadScalar<decltype(zero)>(member, field->type()->base_type(),
                                                               EnumOf(*field, schema_)));
        std::memcpy(out.data() + field->offset(), &value, sizeof(value));
        return {};
      });
    });
  }

  Status CheckSpace(const DumpNode& in, size_t bytes) const {
    constexpr size_t kSlack = size_t{1} << 16;
    if (builder_.GetSize() + bytes + kSlack > FLATBUFFERS_MAX_BUFFER_SIZE)
      return LimitError("{}: a flatbuffer has at most 2 GiB", in.Place());
    return {};
  }

  Result<fb::uoffset_t> ReadString(const DumpNode& in) {
    NN_ASSIGN(const std::string text, in.Text());
    NN_RETURN_IF_ERROR(CheckSpace(in, text.size()));
    return builder_.CreateString(text).o;
  }

  Result<fb::uoffset_t> ReadVector(const DumpNode& in, const reflection::Field& field, int depth) {
    const reflection::Type& type = *field.type();
    if (IsScalar(type.element())) return ReadScalars(in, field);
    if (type.element() != reflection::String &&
        (type.element() != reflection::Obj || TableOf(type, schema_).is_struct()))
      return tl::unexpected(Unsupported(field).error());
    std::vector<fb::Offset<void>> offsets;
    NN_RETURN_IF_ERROR(in.ForEachElement([&](const DumpNode& element) -> Status {
      NN_ASSIGN(const fb::uoffset_t offset,
                type.element() == reflection::String
                    ? ReadString(element)
                    : ReadTable(element, TableOf(type, schema_), depth + 1));
      offsets.emplace_back(offset);
      return {};
    }));
    NN_RETURN_IF_ERROR(CheckSpace(in, offsets.size() * sizeof(fb::uoffset_t)));
    return builder_.CreateVector(offsets).o;
  }

  Result<fb::uoffset_t> ReadScalars(const DumpNode& in, const reflection::Field& field) {
    const reflection::Type& type = *field.type();
    const size_t width = fb::GetTypeSize(type.element());
    if (IsByteString(type) && !in.IsBytesObject() && !in.IsArray()) {
      NN_ASSIGN(const Blob bytes, in.Bytes());
      return AddVector(in, bytes.bytes(), width, field);
    }
    if (in.IsBytesObject()) {
      NN_ASSIGN(const Blob bytes, in.ArrayBytes(width));
      return AddVector(in, bytes.bytes(), width, field);
    }
    std::string bytes;
    NN_RETURN_IF_ERROR(in.ForEachElement([&](const DumpNode& element) -> Status {
      return WithScalar(type.element(), [&](auto zero) -> Status {
        using T = decltype(zero);
        NN_ASSIGN(const T value, ReadScalar<T>(element, type.element(), EnumOf(field, schema_)));
        bytes.append(reinterpret_cast<const char*>(&value), sizeof(T));
        return {};
      });
    }));
    return AddVector(in, std::as_bytes(std::span(bytes)), width, field);
  }

  Result<fb::uoffset_t> AddVector(const DumpNode& in, std::span<const std::byte> bytes,
                                  size_t width, const reflection::Field& field) {
    NN_RETURN_IF_ERROR(CheckSpace(in, bytes.size()));
    const size_t count = bytes.size() / width;
    if (const auto* attributes = field.attributes())
      if (const auto* align = attributes->LookupByKey("force_align"))
        builder_.ForceVectorAlignment(count, width, std::stoul(align->value()->str()));
    builder_.StartVector(count, width);
    builder_.PushBytes(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
    return builder_.EndVector(count);
  }

  const reflection::Schema& schema_;
  int max_depth_;
  fb::FlatBufferBuilder builder_;
  std::vector<Outer> outer_data_;
};

}  // namespace
}  // namespace nn::fb_schema

namespace nn {

Result<RestoredFlatbuffer> RestoreFlatbuffer(const DumpNode& dump, const reflection::Schema& schema,
                                             int max_depth) {
  return fb_schema::FbRestorer(schema, max_depth).Run(dump);
}

}  // namespace nn
