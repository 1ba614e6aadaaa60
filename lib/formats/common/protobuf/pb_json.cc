#include "formats/common/protobuf/pb_json.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/reflection.h>
#include <google/protobuf/unknown_field_set.h>

#include <algorithm>

#include "base/file/file.h"

namespace nn {
namespace {

namespace pb = google::protobuf;
using Field = pb::FieldDescriptor;

constexpr std::string_view kUnknownKey = "$unknown";

bool Holds(PbTextFields text_fields, const Field& field) {
  return field.type() == Field::TYPE_STRING ||
         std::find(text_fields.begin(), text_fields.end(), field.full_name()) != text_fields.end();
}

std::span<const std::byte> BytesOf(const std::string& text) {
  return std::as_bytes(std::span(text));
}

// Calls fn with a value of the field's C++ number type.
template <typename Fn>
auto WithNumberType(const Field& field, Fn fn) {
  switch (field.cpp_type()) {
    case Field::CPPTYPE_INT64:
      return fn(int64_t{});
    case Field::CPPTYPE_UINT32:
      return fn(uint32_t{});
    case Field::CPPTYPE_UINT64:
      return fn(uint64_t{});
    case Field::CPPTYPE_FLOAT:
      return fn(float{});
    case Field::CPPTYPE_DOUBLE:
      return fn(double{});
    case Field::CPPTYPE_BOOL:
      return fn(bool{});
    default:  // and enumerators
      return fn(int32_t{});
  }
}

bool IsNumber(const Field& field) {
  return field.cpp_type() != Field::CPPTYPE_STRING && field.cpp_type() != Field::CPPTYPE_MESSAGE;
}

// ---- Writing ------------------------------------------------------------------------------------

class PbDumper {
 public:
  PbDumper(const PayloadTable& payloads, PbTextFields text_fields, const PbDataInfo& data_info,
           DumpWriter& out)
      : payloads_(payloads), text_fields_(text_fields), data_info_(data_info), out_(out) {}

  Status Write(const pb::Message& message) {
    out_.BeginObject();
    for (const Field* field : FieldsOf(message)) {
      out_.Key(field->name());
      NN_RETURN_IF_ERROR(WriteField(message, *field));
    }
    NN_RETURN_IF_ERROR(WriteUnknown(message.GetReflection()->GetUnknownFields(message)));
    out_.EndObject();
    return {};
  }

 private:
  // The present fields, by number.
  std::vector<const Field*> FieldsOf(const pb::Message& message) const {
    const pb::Reflection& reflection = *message.GetReflection();
    std::vector<const Field*> fields;
    reflection.ListFields(message, &fields);
    if (reflection.GetUnknownFields(message).empty()) return fields;
    const pb::Descriptor& type = *message.GetDescriptor();
    for (int i = 0; i < type.field_count(); ++i) {
      const Field* field = type.field(i);
      if (PayloadElementSize(*field) != 0 && payloads_.Find(message, field->number()) &&
          std::find(fields.begin(), fields.end(), field) == fields.end())
        fields.push_back(field);
    }
    std::sort(fields.begin(), fields.end(),
              [](const Field* a, const Field* b) { return a->number() < b->number(); });
    return fields;
  }

  Status WriteField(const pb::Message& message, const Field& field) {
    const pb::Reflection& reflection = *message.GetReflection();
    if (PayloadElementSize(field) != 0) {
      if (const auto blob = payloads_.Find(message, field.number())) {
        if (field.is_repeated() && reflection.FieldSize(message, &field) != 0)
          return UnsupportedError("{} is split into pieces of unknown order", field.full_name());
        WritePayload(message, field, *blob);
        return {};
      }
    }
    if (field.is_map()) return WriteMap(message, field);
    if (!field.is_repeated()) return WriteSingle(message, field);
    if (IsNumber(field)) {
      WriteNumbers(message, field);
      return {};
    }
    const bool messages = field.cpp_type() == Field::CPPTYPE_MESSAGE;
    out_.BeginArray(!messages);
    for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
      std::string scratch;
      if (messages)
        NN_RETURN_IF_ERROR(Write(reflection.GetRepeatedMessage(message, &field, i)));
      else
        WriteText(message, field,
                  reflection.GetRepeatedStringReference(message, &field, i, &scratch));
    }
    out_.EndArray();
    return {};
  }

  Status WriteSingle(const pb::Message& message, const Field& field) {
    const pb::Reflection& r = *message.GetReflection();
    std::string scratch;
    switch (field.cpp_type()) {
      case Field::CPPTYPE_MESSAGE:
        return Write(r.GetMessage(message, &field));
      case Field::CPPTYPE_STRING:
        WriteText(message, field, r.GetStringReference(message, &field, &scratch));
        break;
      case Field::CPPTYPE_ENUM:
        WriteNumber(field, static_cast<int32_t>(r.GetEnumValue(message, &field)));
        break;
      case Field::CPPTYPE_INT32:
        WriteNumber(field, r.GetInt32(message, &field));
        break;
      case Field::CPPTYPE_INT64:
        WriteNumber(field, r.GetInt64(message, &field));
        break;
      case Field::CPPTYPE_UINT32:
        WriteNumber(field, r.GetUInt32(message, &field));
        break;
      case Field::CPPTYPE_UINT64:
        WriteNumber(field, r.GetUInt64(message, &field));
        break;
      case Field::CPPTYPE_FLOAT:
        WriteNumber(field, r.GetFloat(message, &field));
        break;
      case Field::CPPTYPE_DOUBLE:
        WriteNumber(field, r.GetDouble(message, &field));
        break;
      case Field::CPPTYPE_BOOL:
        WriteNumber(field, r.GetBool(message, &field));
        break;
    }
    return {};
  }

  void WritePayload(const pb::Message& message, const Field& field, const Blob& blob) {
    if (field.is_repeated())
      WriteLongList(message, field, blob);
    else if (Holds(text_fields_, field))
      out_.Text({reinterpret_cast<const char*>(blob.data()), blob.size()});
    else
      out_.Data(blob, data_info_(message, field));
    DropResidentPages(blob);
  }

  void WriteLongList(const pb::Message& message, const Field& field, const Blob& blob) {
    DataInfo info = data_info_(message, field);
    WithNumberType(field, [&](auto zero) { info.type = kDTypeOf<decltype(zero)>; });
    out_.LongList(blob, info);
  }

  void WriteText(const pb::Message& message, const Field& field, const std::string& value) {
    if (Holds(text_fields_, field))
      out_.Text(value);
    else
      out_.Data(Blob(BytesOf(value), nullptr), data_info_(message, field));
  }

  template <typename T>
  void WriteNumber(const Field& field, T value) {
    const pb::EnumValueDescriptor* name =
        field.enum_type() == nullptr
            ? nullptr
            : field.enum_type()->FindValueByNumber(static_cast<int>(value));
    if (name != nullptr)
      out_.String(name->name());
    else
      out_.Number(value);
  }

  void WriteNumbers(const pb::Message& message, const Field& field) {
    WithNumberType(field, [&](auto zero) {
      using T = decltype(zero);
      const auto values = message.GetReflection()->GetRepeatedFieldRef<T>(message, &field);
      if (field.is_packed() && static_cast<size_t>(values.size()) * sizeof(T) >= kDumpArrayBytes) {
        Buffer bytes(static_cast<size_t>(values.size()) * sizeof(T));
        size_t at = 0;
        for (const T v : values) bytes.as<T>()[at++] = v;
        WriteLongList(message, field, Blob(std::move(bytes)));
        return;
      }
      out_.BeginArray(true);
      for (const T v : values) WriteNumber(field, v);
      out_.EndArray();
    });
  }

  // Sorted by key, because protobuf maps are unordered.
  Status WriteMap(const pb::Message& message, const Field& field) {
    const pb::Reflection& reflection = *message.GetReflection();
    std::vector<const pb::Message*> entries;
    entries.reserve(static_cast<size_t>(reflection.FieldSize(message, &field)));
    for (int i = 0; i < reflection.FieldSize(message, &field); ++i)
      entries.push_back(&reflection.GetRepeatedMessage(message, &field, i));
    const Field* key = field.message_type()->map_key();
    const bool text = key->cpp_type() == Field::CPPTYPE_STRING;
    std::sort(entries.begin(), entries.end(), [&](const pb::Message* a, const pb::Message* b) {
      const pb::Reflection& r = *a->GetReflection();
      return text ? r.GetString(*a, key) < r.GetString(*b, key)
                  : r.GetInt64(*a, key) < r.GetInt64(*b, key);
    });
    out_.BeginArray();
    for (const pb::Message* entry : entries) NN_RETURN_IF_ERROR(Write(*entry));
    out_.EndArray();
    return {};
  }

  Status WriteUnknown(const pb::UnknownFieldSet& unknown) {
    bool open = false;
    for (int i = 0; i < unknown.field_count(); ++i) {
      const pb::UnknownField& f = unknown.field(i);
      if (f.number() == PayloadTable::kReferenceField) continue;
      if (!open) {
        out_.Key(kUnknownKey);
        out_.BeginArray();
        open = true;
      }
      out_.BeginObject();
      out_.Key("field");
      out_.Int(f.number());
      switch (f.type()) {
        case pb::UnknownField::TYPE_VARINT:
          out_.Key("varint");
          out_.Uint(f.varint());
          break;
        case pb::UnknownField::TYPE_FIXED32:
          out_.Key("fixed32");
          out_.Uint(f.fixed32());
          break;
        case pb::UnknownField::TYPE_FIXED64:
          out_.Key("fixed64");
          out_.Uint(f.fixed64());
          break;
        case pb::UnknownField::TYPE_LENGTH_DELIMITED:
          out_.Key("bytes");
          out_.Bytes(BytesOf(f.length_delimited()));
          break;
        case pb::UnknownField::TYPE_GROUP:
          return UnsupportedError("unknown field {} is a group", f.number());
      }
      out_.EndObject();
    }
    if (open) out_.EndArray();
    return {};
  }

  const PayloadTable& payloads_;
  PbTextFields text_fields_;
  const PbDataInfo& data_info_;
  DumpWriter& out_;
};

// ---- Reading ------------------------------------------------------------------------------------

std::string FieldNames(const pb::Descriptor& type) {
  std::string out;
  for (int i = 0; i < type.field_count(); ++i)
    out += (out.empty() ? "" : ", ") + type.field(i)->name();
  return out;
}

template <typename T>
Result<T> Number(const DumpNode& in, const Field& field) {
  if constexpr (std::is_same_v<T, bool>) {
    return in.Bool();
  } else if constexpr (std::is_same_v<T, float>) {
    return in.Float();
  } else if constexpr (std::is_same_v<T, double>) {
    return in.Double();
  } else {
    if (field.enum_type() == nullptr || !in.IsString()) return in.Integer<T>();
    NN_ASSIGN(const std::string name, in.String());
    const pb::EnumValueDescriptor* value = field.enum_type()->FindValueByName(name);
    if (value == nullptr)
      return in.Bad("{} has no enumerator {}; use a number for unnamed values",
                    field.enum_type()->name(), Quote(name));
    return static_cast<T>(value->number());
  }
}

class PbRestorer {
 public:
  PbRestorer(PayloadTable& payloads, PbTextFields text_fields, int max_depth)
      : payloads_(payloads), text_fields_(text_fields), max_depth_(max_depth) {}

  Status Read(const DumpNode& dump, pb::Message* message, int depth) {
    if (depth > max_depth_)
      return LimitError("{}: messages are nested deeper than {} (max-depth)", dump.Place(),
                        max_depth_);
    return dump.ForEachMember([&](const std::string& name, const DumpNode& member) -> Status {
      if (name == kUnknownKey) return ReadUnknown(member, message);
      const Field* field = message->GetDescriptor()->FindFieldByName(name);
      if (field == nullptr)
        return member.Bad("{} has no field {}; it has {}", message->GetDescriptor()->name(),
                          Quote(name), FieldNames(*message->GetDescriptor()));
      return field->is_repeated() ? ReadRepeated(member, message, *field, depth)
                                  : ReadSingle(member, message, *field, depth);
    });
  }

 private:
  Status ReadSingle(const DumpNode& in, pb::Message* message, const Field& field, int depth) {
    const pb::Reflection& r = *message->GetReflection();
    if (const auto* oneof = field.containing_oneof(); oneof != nullptr)
      if (const Field* other = r.GetOneofFieldDescriptor(*message, oneof))
        return in.Bad("{} is also set; only one field of a oneof can be set", Quote(other->name()));
    switch (field.cpp_type()) {
      case Field::CPPTYPE_MESSAGE:
        return Read(in, r.MutableMessage(message, &field), depth + 1);
      case Field::CPPTYPE_STRING: {
        if (PayloadElementSize(field) == 0 || Holds(text_fields_, field)) {
          NN_ASSIGN(std::string text, Text(in, field));
          r.SetString(message, &field, std::move(text));
          return {};
        }
        NN_ASSIGN(const Blob bytes, in.Bytes());
        if (bytes.size() >= PayloadLimits{}.threshold)
          payloads_.Attach(message, field.number(), bytes);
        else
          r.SetString(message, &field, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
        return {};
      }
      default:
        return WithNumberType(field, [&](auto zero) -> Status {
          using T = decltype(zero);
          NN_ASSIGN(const T value, Number<T>(in, field));
          if constexpr (std::is_same_v<T, bool>)
            r.SetBool(message, &field, value);
          else if constexpr (std::is_same_v<T, float>)
            r.SetFloat(message, &field, value);
          else if constexpr (std::is_same_v<T, double>)
            r.SetDouble(message, &field, value);
          else if constexpr (std::is_same_v<T, int64_t>)
            r.SetInt64(message, &field, value);
          else if constexpr (std::is_same_v<T, uint64_t>)
            r.SetUInt64(message, &field, value);
          else if constexpr (std::is_same_v<T, uint32_t>)
            r.SetUInt32(message, &field, value);
          else if (field.enum_type() != nullptr)
            r.SetEnumValue(message, &field, value);
          else
            r.SetInt32(message, &field, value);
          return {};
        });
    }
  }

  Status ReadRepeated(const DumpNode& in, pb::Message* message, const Field& field, int depth) {
    const pb::Reflection& r = *message->GetReflection();
    if (IsNumber(field) && in.IsBytesObject()) return ReadArrayBytes(in, message, field);
    return in.ForEachElement([&](const DumpNode& element) -> Status {
      if (field.cpp_type() == Field::CPPTYPE_MESSAGE)
        return Read(element, r.AddMessage(message, &field), depth + 1);
      if (field.cpp_type() == Field::CPPTYPE_STRING) {
        if (Holds(text_fields_, field)) {
          NN_ASSIGN(std::string text, Text(element, field));
          r.AddString(message, &field, std::move(text));
        } else {
          NN_ASSIGN(const Blob bytes, element.Bytes());
          r.AddString(message, &field, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
        }
        return {};
      }
      return WithNumberType(field, [&](auto zero) -> Status {
        using T = decltype(zero);
        NN_ASSIGN(const T value, Number<T>(element, field));
        r.GetMutableRepeatedFieldRef<T>(message, &field).Add(value);
        return {};
      });
    });
  }

  Status ReadArrayBytes(const DumpNode& in, pb::Message* message, const Field& field) {
    return WithNumberType(field, [&](auto zero) -> Status {
      using T = decltype(zero);
      NN_ASSIGN(const Blob bytes, in.ArrayBytes(sizeof(T)));
      if (field.is_packed() && PayloadElementSize(field) != 0 &&
          bytes.size() >= PayloadLimits{}.threshold) {
        payloads_.Attach(message, field.number(), bytes);
        return {};
      }
      const auto list = message->GetReflection()->GetMutableRepeatedFieldRef<T>(message, &field);
      for (size_t at = 0; at < bytes.size(); at += sizeof(T)) {
        T value{};
        if constexpr (std::is_same_v<T, bool>)
          value = bytes.data()[at] != std::byte{0};
        else
          std::memcpy(&value, bytes.data() + at, sizeof(T));
        list.Add(value);
      }
      return {};
    });
  }

  static Result<std::string> Text(const DumpNode& in, const Field& field) {
    NN_ASSIGN(std::string text, in.Text());
    if (field.type() == Field::TYPE_STRING &&
        field.file()->syntax() == pb::FileDescriptor::SYNTAX_PROTO3 && !IsUtf8(text))
      return in.Bad("the string of {} must be UTF-8", field.full_name());
    return text;
  }

  static Status ReadUnknown(const DumpNode& in, pb::Message* message) {
    pb::UnknownFieldSet* unknown = message->GetReflection()->MutableUnknownFields(message);
    return in.ForEachElement([&](const DumpNode& entry) -> Status {
      const auto number_node = entry.Find("field");
      if (!number_node || entry.size() != 2)
        return entry.Bad(
            "expected {{\"field\": NUMBER, \"varint\": VALUE}}, or \"fixed32\", \"fixed64\" or "
            "\"bytes\" instead of \"varint\"");
      NN_ASSIGN(const int number, number_node->Integer<int32_t>());
      if (number <= 0 || number >= PayloadTable::kReferenceField)
        return number_node->Bad("{} is not a field number", number);
      return entry.ForEachMember([&](const std::string& kind, const DumpNode& value) -> Status {
        if (kind == "field") return {};
        if (kind == "varint") {
          NN_ASSIGN(const auto v, value.Integer<uint64_t>());
          unknown->AddVarint(number, v);
        } else if (kind == "fixed32") {
          NN_ASSIGN(const auto v, value.Integer<uint32_t>());
          unknown->AddFixed32(number, v);
        } else if (kind == "fixed64") {
          NN_ASSIGN(const auto v, value.Integer<uint64_t>());
          unknown->AddFixed64(number, v);
        } else if (kind == "bytes") {
          NN_ASSIGN(const Blob v, value.Bytes());
          unknown->AddLengthDelimited(number, {reinterpret_cast<const char*>(v.data()), v.size()});
        } else {
          return value.Bad("unknown wire type; expected varint, fixed32, fixed64 or bytes");
        }
        return {};
      });
    });
  }

  PayloadTable& payloads_;
  PbTextFields text_fields_;
  int max_depth_;
};

}  // namespace

Status DumpMessage(const pb::Message& message, const PayloadTable& payloads,
                   PbTextFields text_fields, const PbDataInfo& data_info, DumpWriter& out) {
  return PbDumper(payloads, text_fields, data_info, out).Write(message);
}

Status RestoreMessage(const DumpNode& dump, PbTextFields text_fields, int max_depth,
                      pb::Message* message, PayloadTable& payloads) {
  return PbRestorer(payloads, text_fields, max_depth).Read(dump, message, 1);
}

}  // namespace nn
