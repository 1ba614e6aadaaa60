#include "formats/common/fb_json.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "base/file.h"

namespace nn {
namespace {

namespace fb = flatbuffers;
using reflection::BaseType;

constexpr std::string_view kDataKey = "$data";

// Shared vectors are written once per table.
constexpr uint64_t kMaxGrowth = 16;
constexpr uint64_t kGrowthSlack = uint64_t{1} << 20;

std::string_view View(const fb::String* text) {
  return {text->c_str(), text->size()};
}

// "Operator" of "nn.tflite.fb.Operator".
std::string_view ShortName(const fb::String* full_name) {
  const std::string_view name = View(full_name);
  const size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

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

bool IsScalar(BaseType type) {
  return fb::IsScalar(type);
}

// The attribute "names" of the suite's schemas; null if the field does not have it.
const reflection::KeyValue* NamesOf(const reflection::Field& field) {
  return field.attributes() == nullptr ? nullptr : field.attributes()->LookupByKey("names");
}

// The enumeration that a field's numbers belong to, by its type or by the attribute "names"; null
// if they do not.
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

// The table for a value of a union's type field; null if there is none.
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

// The field with the type of a union.
const reflection::Field* TypeFieldOf(const reflection::Field& field,
                                     const reflection::Object& table) {
  return table.fields()->LookupByKey((field.name()->str() + fb::UnionTypeFieldSuffix()).c_str());
}

bool IsByteString(const reflection::Type& type) {
  return type.element() == reflection::UByte && type.index() < 0;
}

Status Unsupported(const reflection::Field& field) {
  return UnsupportedError("the schema type of {} is unsupported", Quote(View(field.name())));
}

template <typename T>
void WriteScalar(T value, BaseType type, const reflection::Enum* names, DumpWriter& out) {
  const reflection::EnumVal* name =
      names == nullptr ? nullptr : ValueOf(*names, static_cast<int64_t>(value));
  if (name != nullptr)
    out.String(View(name->name()));
  else if (type == reflection::Bool && value <= 1)
    out.Bool(value != 0);
  else
    out.Number(value);
}

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

// ---- Writing ------------------------------------------------------------------------------------

class FbDumper {
 public:
  FbDumper(const StableFlatbuffer& flatbuffer, const reflection::Schema& schema,
           const FbOuterData& outer_data, const FbDataInfo& data_info, DumpWriter& out)
      : flatbuffer_(flatbuffer),
        file_(flatbuffer.structure()),
        schema_(schema),
        outer_data_(outer_data),
        data_info_(data_info),
        out_(out),
        verifier_(reinterpret_cast<const uint8_t*>(file_.data()),
                  std::min<size_t>(file_.size(), FLATBUFFERS_MAX_BUFFER_SIZE - 1),
                  static_cast<fb::uoffset_t>(ReadLimits{}.max_depth),
                  static_cast<fb::uoffset_t>(ReadLimits{}.max_items)),
        left_(kMaxGrowth * file_.size() + kGrowthSlack) {}

  Status Run() {
    if (verifier_.VerifyOffset(0) == 0) return Damaged("the root");
    return WriteTable(*fb::GetRoot<fb::Table>(file_.data()), *schema_.root_table());
  }

 private:
  static Status Damaged(std::string_view what) {
    return ParseError("the flatbuffer is damaged or exceeds the limits of nesting or tables: {}",
                      what);
  }

  // The fields of a table by their ids.
  const std::vector<const reflection::Field*>& FieldsOf(const reflection::Object& type) {
    std::vector<const reflection::Field*>& fields = fields_[&type];
    if (fields.empty()) {
      fields.assign(type.fields()->begin(), type.fields()->end());
      std::sort(fields.begin(), fields.end(),
                [](const auto* a, const auto* b) { return a->id() < b->id(); });
    }
    return fields;
  }

  Status CheckFields(const fb::Table& table, const reflection::Object& type) {
    const auto& fields = FieldsOf(type);
    const auto end = fb::ReadScalar<fb::voffset_t>(table.GetVTable());
    for (fb::voffset_t at = fb::FieldIndexToOffset(static_cast<fb::voffset_t>(fields.size()));
         at < end; at = static_cast<fb::voffset_t>(at + sizeof(fb::voffset_t)))
      if (table.GetOptionalFieldOffset(at) != 0)
        return UnsupportedError("{} has a field {} that is not in this program's schema",
                                ShortName(type.name()), (at - 4) / 2);
    return {};
  }

  Status WriteTable(const fb::Table& table, const reflection::Object& type) {
    if (!table.VerifyTableStart(verifier_)) return Damaged(ShortName(type.name()));
    NN_RETURN_IF_ERROR(CheckFields(table, type));
    out_.BeginObject();
    for (const reflection::Field* field : FieldsOf(type)) {
      if (!table.CheckField(field->offset()) && NamesOf(*field) == nullptr) continue;
      out_.Key(View(field->name()));
      NN_RETURN_IF_ERROR(WriteField(table, *field, type));
    }
    if (const auto data = outer_data_(table, ShortName(type.name()))) {
      NN_RETURN_IF_ERROR(Take(data->size()));
      out_.Key(kDataKey);
      out_.Data(*data, data_info_(table, ShortName(type.name())));
      DropResidentPages(*data);
    }
    out_.EndObject();
    verifier_.EndTable();
    return {};
  }

  Status WriteField(const fb::Table& table, const reflection::Field& field,
                    const reflection::Object& owner) {
    const reflection::Type& type = *field.type();
    if (IsScalar(type.base_type())) {
      return WithScalar(type.base_type(), [&](auto zero) -> Status {
        using T = decltype(zero);
        if (!table.VerifyField<T>(verifier_, field.offset(), sizeof(T)))
          return Damaged(View(field.name()));
        WriteScalar(table.GetField<T>(field.offset(), zero), type.base_type(),
                    EnumOf(field, schema_), out_);
        return {};
      });
    }
    if (IsStruct(type, schema_)) return WriteStruct(table, field);
    if (!table.VerifyOffset(verifier_, field.offset())) return Damaged(View(field.name()));
    const auto* pointer = table.GetPointer<const uint8_t*>(field.offset());
    switch (type.base_type()) {
      case reflection::String:
        return WriteString(reinterpret_cast<const fb::String*>(pointer), field);
      case reflection::Vector:
        return WriteVector(pointer, field, table, owner);
      case reflection::Obj:
        return WriteTable(*reinterpret_cast<const fb::Table*>(pointer), TableOf(type, schema_));
      case reflection::Union: {
        const reflection::Field* type_field = TypeFieldOf(field, owner);
        const auto number = table.GetField<uint8_t>(type_field->offset(), 0);
        const auto* member = MemberOf(*EnumOf(*type_field, schema_), number, schema_);
        if (member == nullptr)
          return UnsupportedError("{} of {} has type {}, which is not in this program's schema",
                                  View(field.name()), ShortName(owner.name()), number);
        return WriteTable(*reinterpret_cast<const fb::Table*>(pointer), *member);
      }
      default:
        return Unsupported(field);
    }
  }

  // Structs of scalars.
  Status WriteStruct(const fb::Table& table, const reflection::Field& field) {
    const reflection::Object& type = TableOf(*field.type(), schema_);
    const uint8_t* at = table.GetAddressOf(field.offset());
    if (!verifier_.Verify(static_cast<size_t>(at - reinterpret_cast<const uint8_t*>(file_.data())),
                          static_cast<size_t>(type.bytesize())))
      return Damaged(View(field.name()));
    out_.BeginObject();
    for (const reflection::Field* f : FieldsOf(type)) {
      if (!IsScalar(f->type()->base_type())) return Unsupported(*f);
      out_.Key(View(f->name()));
      WithScalar(f->type()->base_type(), [&](auto value) {
        std::memcpy(&value, at + f->offset(), sizeof(value));
        WriteScalar(value, f->type()->base_type(), EnumOf(*f, schema_), out_);
      });
    }
    out_.EndObject();
    return {};
  }

  Status WriteString(const fb::String* text, const reflection::Field& field) {
    if (!verifier_.VerifyString(text)) return Damaged(View(field.name()));
    NN_RETURN_IF_ERROR(Take(text->size()));
    out_.Text(View(text));
    return {};
  }

  Status WriteVector(const uint8_t* pointer, const reflection::Field& field, const fb::Table& owner,
                     const reflection::Object& owner_type) {
    const reflection::Type& type = *field.type();
    const BaseType element = type.element();
    const size_t width = fb::GetTypeSize(element);
    if (!verifier_.VerifyVectorOrString(pointer, width)) return Damaged(View(field.name()));
    const auto count = fb::ReadScalar<fb::uoffset_t>(pointer);
    const auto* begin = reinterpret_cast<const std::byte*>(pointer) + sizeof(fb::uoffset_t);
    const Blob data = flatbuffer_.View(begin, count * width);
    NN_RETURN_IF_ERROR(Take(data.size()));
    if (IsScalar(element)) {
      if (IsByteString(type))
        out_.Data(data, data_info_(owner, ShortName(owner_type.name())));
      else
        WriteScalars(data, field);
      DropResidentPages(data);
      return {};
    }
    if (element != reflection::String &&
        (element != reflection::Obj || TableOf(type, schema_).is_struct()))
      return Unsupported(field);
    out_.BeginArray(element == reflection::String);
    for (size_t i = 0; i < count; ++i) {
      const auto* at = reinterpret_cast<const uint8_t*>(begin) + i * width;
      if (!verifier_.VerifyOffset(
              static_cast<size_t>(at - reinterpret_cast<const uint8_t*>(file_.data()))))
        return Damaged(View(field.name()));
      const uint8_t* entry = at + fb::ReadScalar<fb::uoffset_t>(at);
      NN_RETURN_IF_ERROR(
          element == reflection::String
              ? WriteString(reinterpret_cast<const fb::String*>(entry), field)
              : WriteTable(*reinterpret_cast<const fb::Table*>(entry), TableOf(type, schema_)));
    }
    out_.EndArray();
    return {};
  }

  void WriteScalars(const Blob& data, const reflection::Field& field) {
    const reflection::Type& type = *field.type();
    const std::span<const std::byte> bytes = data.bytes();
    if (bytes.size() >= kDumpArrayBytes) {
      WithScalar(type.element(),
                 [&](auto zero) { out_.LongList(data, {kDTypeOf<decltype(zero)>}); });
      return;
    }
    const reflection::Enum* names = EnumOf(field, schema_);
    out_.BeginArray(true);
    WithScalar(type.element(), [&](auto zero) {
      using T = decltype(zero);
      for (size_t at = 0; at < bytes.size(); at += sizeof(T)) {
        T value;
        std::memcpy(&value, bytes.data() + at, sizeof(T));
        WriteScalar(value, type.element(), names, out_);
      }
    });
    out_.EndArray();
  }

  Status Take(uint64_t bytes) {
    if (bytes > left_)
      return LimitError("tables share data too often; the dump would be too large");
    left_ -= bytes;
    return {};
  }

  const StableFlatbuffer& flatbuffer_;
  const Blob& file_;  // the structure
  const reflection::Schema& schema_;
  const FbOuterData& outer_data_;
  const FbDataInfo& data_info_;
  DumpWriter& out_;
  fb::Verifier verifier_;
  uint64_t left_;
  std::map<const reflection::Object*, std::vector<const reflection::Field*>> fields_;
};

// ---- Reading ------------------------------------------------------------------------------------

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

Status DumpFlatbuffer(const StableFlatbuffer& flatbuffer, const reflection::Schema& schema,
                      const FbOuterData& outer_data, const FbDataInfo& data_info, DumpWriter& out) {
  return FbDumper(flatbuffer, schema, outer_data, data_info, out).Run();
}

Result<RestoredFlatbuffer> RestoreFlatbuffer(const DumpNode& dump, const reflection::Schema& schema,
                                             int max_depth) {
  return FbRestorer(schema, max_depth).Run(dump);
}

}  // namespace nn
