// HoldingsOf for protobuf messages.
#include <google/protobuf/text_format.h>
#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/sha256.h"
#include "formats/common/describe/holdings.h"
#include "formats/common/protobuf/pb_payload.h"

namespace nn {

std::string DigestOf(std::string_view contents) {
  Sha256 hash;
  hash.Bytes(contents);
  return hash.Finish();
}

std::string DigestOf(const Blob& contents) {
  Sha256 hash;
  hash.Contents(contents);
  return hash.Finish();
}

namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

std::string SpacedName(std::string_view field) {
  std::string out;
  for (const char c : field) {
    const bool is_upper = c >= 'A' && c <= 'Z';
    if (is_upper && !out.empty() && out.back() != ' ') out += ' ';
    out += is_upper ? static_cast<char>(c - 'A' + 'a') : c == '_' ? ' ' : c;
  }
  return out;
}

class PbHolder {
 public:
  PbHolder(std::span<const FieldUse> uses, const std::function<void(const Message&)>& visit)
      : uses_(uses), visit_(visit) {}

  void Walk(const Message& message, const std::string& owner) {
    if (visit_) visit_(message);
    AddUnknown(message, owner);
    const auto& reflection = *message.GetReflection();
    std::vector<const FieldDescriptor*> fields;
    reflection.ListFields(message, &fields);
    for (const FieldDescriptor* field : fields) {
      const FieldUse* const use = UseOf(*field);
      if (use != nullptr && use->kind == FieldUse::Kind::kGraph)
        ForEachMessage(message, *field, [&](const Message& m) { WalkGraph(m, owner); });
      else if (use != nullptr && use->kind == FieldUse::Kind::kParts)
        ForEachMessage(message, *field, [&](const Message& m) { Walk(m, NameOf(m, owner)); });
      else
        Hold(message, *field, use, owner);
    }
  }

  std::vector<Holding> Take() { return std::move(out_); }

 private:
  // The row of a field, or of its oneof; null if there is none.
  const FieldUse* UseOf(const FieldDescriptor& field) {
    const auto [it, is_new] = found_.try_emplace(&field, nullptr);
    if (!is_new) return it->second;
    const auto find = [&](const std::string& name) {
      const std::string full = field.containing_type()->name() + "." + name;
      const auto row = std::ranges::find(uses_, std::string_view(full), &FieldUse::field);
      return row == uses_.end() ? nullptr : &*row;
    };
    it->second = find(field.name());
    if (it->second == nullptr && field.real_containing_oneof() != nullptr)
      it->second = find(field.real_containing_oneof()->name());
    return it->second;
  }

  template <typename Fn>
  static void ForEachMessage(const Message& message, const FieldDescriptor& field, const Fn& fn) {
    if (field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) return;
    const auto& reflection = *message.GetReflection();
    if (!field.is_repeated()) return fn(reflection.GetMessage(message, &field));
    for (int i = 0; i < reflection.FieldSize(message, &field); ++i)
      fn(reflection.GetRepeatedMessage(message, &field, i));
  }

  // What is not in the schema, below a part of the graph.
  void WalkGraph(const Message& message, const std::string& owner) {
    AddUnknown(message, owner);
    const auto& type = *message.GetDescriptor();
    for (int i = 0; i < type.field_count(); ++i) {
      const FieldDescriptor& field = *type.field(i);
      if (field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
      if (!field.is_repeated() && !message.GetReflection()->HasField(message, &field)) continue;
      ForEachMessage(message, field, [&](const Message& m) { WalkGraph(m, owner); });
    }
  }

  void AddUnknown(const Message& message, const std::string& owner) {
    const auto& unknown = message.GetReflection()->GetUnknownFields(message);
    for (int i = 0; i < unknown.field_count(); ++i) {
      if (unknown.field(i).number() == PayloadTable::kReferenceField) continue;
      google::protobuf::UnknownFieldSet one;
      one.AddField(unknown.field(i));
      std::string bytes;
      if (!one.SerializeToString(&bytes)) bytes.clear();
      const std::string of = owner.empty() ? message.GetDescriptor()->name() : owner;
      out_.push_back({"unknown field", of + ": " + std::to_string(unknown.field(i).number()),
                      DigestOf(bytes), ""});
    }
  }

  static std::string TextOf(const Message& message, std::string_view field) {
    const FieldDescriptor* const f = message.GetDescriptor()->FindFieldByName(std::string(field));
    if (f == nullptr || f->cpp_type() != FieldDescriptor::CPPTYPE_STRING) return "";
    const auto& reflection = *message.GetReflection();
    if (!f->is_repeated()) return reflection.GetString(message, f);
    return reflection.FieldSize(message, f) == 0 ? "" : reflection.GetRepeatedString(message, f, 0);
  }

  // The message's own name; that of an operator without one is its first output. `owner` for
  // messages without a name.
  static std::string NameOf(const Message& message, const std::string& owner) {
    static constexpr std::array<std::string_view, 4> kNames = {"name", "tensor_name",
                                                               "configuration_id", "output"};
    for (const std::string_view field : kNames)
      if (std::string text = TextOf(message, field); !text.empty()) return text;
    return owner;
  }

  void Hold(const Message& message, const FieldDescriptor& field, const FieldUse* use,
            const std::string& owner) {
    const std::string kind = use == nullptr ? SpacedName(field.name()) : std::string(use->holding);
    const std::string becomes(use == nullptr ? "" : use->becomes);
    const auto add = [&](const std::string& name, const std::string& contents) {
      out_.push_back({kind, name, DigestOf(contents), becomes});
    };
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE)
      return ForEachMessage(message, field, [&](const Message& m) {
        const auto& type = *m.GetDescriptor();
        if (type.field_count() == 2 && type.field(0)->name() == "key" &&
            type.field(1)->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
          const std::string key = TextOf(m, "key");
          add(owner.empty() ? key : owner + ": " + key, TextOf(m, "value"));
          AddUnknown(m, owner);
        } else {
          add(NameOf(m, owner), m.SerializePartialAsString());
        }
      });
    std::string text;
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_STRING && !field.is_repeated()) {
      text = message.GetReflection()->GetString(message, &field);
      if (text.empty()) return;  // says nothing
    } else {
      google::protobuf::TextFormat::Printer printer;
      const int count =
          field.is_repeated() ? message.GetReflection()->FieldSize(message, &field) : 1;
      for (int i = 0; i < count; ++i) {
        std::string value;
        printer.PrintFieldValueToString(message, &field, field.is_repeated() ? i : -1, &value);
        text += value + "\n";
      }
    }
    const std::string key(use == nullptr ? "" : use->key);
    add(owner.empty() || key.empty() ? owner + key : owner + ": " + key, text);
  }

  std::span<const FieldUse> uses_;
  const std::function<void(const Message&)>& visit_;
  std::map<const FieldDescriptor*, const FieldUse*> found_;
  std::vector<Holding> out_;
};

}  // namespace

std::vector<Holding> HoldingsOf(const Message& message, std::span<const FieldUse> uses,
                                const std::function<void(const Message& part)>& visit) {
  PbHolder holder(uses, visit);
  holder.Walk(message, "");
  return holder.Take();
}

}  // namespace nn
