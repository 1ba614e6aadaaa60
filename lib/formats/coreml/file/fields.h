// Access to Core ML messages by field name, through protobuf's reflection. The importer and
// exporter use these names, as the format's documentation does, and avoid the generated headers,
// which are large.
//
// A name not in the schema is a bug of the caller and aborts.
#pragma once

#include <google/protobuf/message.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "formats/common/protobuf/pb_payload.h"

namespace nn::coreml {

using google::protobuf::Message;

// Read access to a message.
class Fields {
 public:
  // Both must outlive this object.
  Fields(const Message& message, const PayloadTable& payloads)
      : message_(&message), payloads_(&payloads) {}

  const Message& message() const { return *message_; }

  // Whether a message or a member of a oneof is present; whether a list has entries.
  bool Has(std::string_view name) const;
  // The name of the field that is set in a oneof; "" if none is.
  std::string_view OneOf(std::string_view oneof) const;
  // An absent message has all defaults.
  Fields Sub(std::string_view name) const;
  std::vector<Fields> List(std::string_view name) const;

  // An integer of any width; unsigned values saturate at INT64_MAX.
  int64_t Int(std::string_view name) const;
  // A count or size; kModel outside 0 .. 2^31 - 1.
  Result<int64_t> Size(std::string_view name) const;
  bool Bool(std::string_view name) const;
  float Float(std::string_view name) const;
  double Double(std::string_view name) const;
  // A float whose 0 the format reads as `if_zero`.
  float FloatOr(std::string_view name, float if_zero) const {
    const float v = Float(name);
    return v == 0 ? if_zero : v;
  }
  std::string Text(std::string_view name) const;
  // The enumerator's name; "" if unnamed.
  std::string_view Enum(std::string_view name) const;

  std::vector<int64_t> Ints(std::string_view name) const;
  // Entries with the range of Size(); `count` entries, or none, which means `fallback` for each.
  Result<std::vector<int64_t>> Sizes(std::string_view name, size_t count, int64_t fallback) const;
  std::vector<bool> Bools(std::string_view name) const;
  std::vector<float> Floats(std::string_view name) const;
  std::vector<std::string> Texts(std::string_view name) const;
  // Entries of a list.
  size_t Count(std::string_view name) const;
  // The contents of a bytes field, or of a list of floats or doubles.
  Blob Bytes(std::string_view name) const;

 private:
  const Message* message_;
  const PayloadTable* payloads_;
};

// Write access to a message.
class Writer {
 public:
  Writer(Message* message, PayloadTable* payloads) : message_(message), payloads_(payloads) {}

  // A message field, which becomes present.
  Writer Sub(std::string_view name);
  // A new entry of a list of messages.
  Writer Add(std::string_view name);

  const Message& message() const { return *message_; }

  void Int(std::string_view name, int64_t value);
  void Bool(std::string_view name, bool value);
  void Float(std::string_view name, float value);
  void Text(std::string_view name, std::string_view value);
  void Enum(std::string_view name, std::string_view value);
  void Ints(std::string_view name, const std::vector<int64_t>& values);
  void Bools(std::string_view name, const std::vector<bool>& values);
  void Floats(std::string_view name, const std::vector<float>& values);
  void AddText(std::string_view name, std::string_view value);
  // Sets a bytes field or a list of floats, stored outside the message.
  void Bytes(std::string_view name, Blob blob);

 private:
  Message* message_;
  PayloadTable* payloads_;
};

}  // namespace nn::coreml
