#include "formats/common/flatbuffers/fb_json.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "formats/common/flatbuffers/fb_schema.h"

namespace nn::fb_schema {
namespace {

// Limit of TensorFlow Lite: data of a JSON dump, as a multiple of the file's size, plus 1 MiB.
// Shared vectors are written once per table.
constexpr uint64_t kMaxGrowth = 16;
constexpr uint64_t kGrowthSlack = uint64_t{1} << 20;

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
        NN_ASSIGN(const auto* const member, UnionMember(table, field, owner, schema_));
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

}  // namespace
}  // namespace nn::fb_schema

namespace nn {

Status DumpFlatbuffer(const StableFlatbuffer& flatbuffer, const reflection::Schema& schema,
                      const FbOuterData& outer_data, const FbDataInfo& data_info, DumpWriter& out) {
  return fb_schema::FbDumper(flatbuffer, schema, outer_data, data_info, out).Run();
}

}  // namespace nn
