#include "formats/common/protobuf/pb_payload.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/unknown_field_set.h>

#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/file/file.h"

namespace nn {
namespace {

namespace pb = google::protobuf;

std::string Reference(int field, uint64_t index) {
  std::string content;
  protozero::pbf_writer writer(content);
  writer.add_uint32(1, static_cast<uint32_t>(field));
  writer.add_uint64(2, index);
  return content;
}

struct ParsedReference {
  int field = 0;
  uint64_t index = 0;
};

ParsedReference ParseReference(std::string_view content) {
  ParsedReference r;
  protozero::pbf_reader reader(content.data(), content.size());
  while (reader.next()) {
    if (reader.tag() == 1)
      r.field = static_cast<int>(reader.get_uint32());
    else
      r.index = reader.get_uint64();
  }
  return r;
}

class Splitter {
 public:
  Splitter(const Blob& file, PayloadTable& table, const PayloadLimits& limits)
      : file_(file), table_(table), limits_(limits) {}

  Status Split(protozero::data_view view, const pb::Descriptor& type, int depth, std::string& out) {
    if (depth > limits_.max_depth)
      return LimitError("messages are nested deeper than {} (max-depth) at byte {}",
                        limits_.max_depth, Offset(view.data()));
    protozero::pbf_reader reader(view);
    protozero::pbf_writer writer(out);
    const char* field_start = view.data();
    while (reader.next()) {
      const auto number = static_cast<int>(reader.tag());
      if (number == PayloadTable::kReferenceField)
        return ParseError("field number {} at byte {} is invalid", number, Offset(field_start));
      const pb::FieldDescriptor* field = type.FindFieldByNumber(number);
      const bool delimited = reader.wire_type() == protozero::pbf_wire_type::length_delimited;
      if (!delimited) {
        const auto wire_type = reader.wire_type();
        reader.skip();
        const size_t copied = out.size();
        out.append(field_start, static_cast<size_t>(reader.data().data() - field_start));
        NN_RETURN_IF_ERROR(CheckCopy(std::string_view(out).substr(copied), number, wire_type));
      } else {
        const protozero::data_view content = reader.get_view();
        const int element = field == nullptr ? 0 : PayloadElementSize(*field);
        if (field != nullptr && field->type() == pb::FieldDescriptor::TYPE_MESSAGE) {
          std::string inner;
          NN_RETURN_IF_ERROR(Split(content, *field->message_type(), depth + 1, inner));
          writer.add_message(static_cast<uint32_t>(number), inner);
        } else if (element != 0 && content.size() >= limits_.threshold) {
          if (content.size() % static_cast<size_t>(element) != 0)
            return ParseError("{} at byte {} has {} bytes, not a multiple of {}",
                              field->full_name(), Offset(content.data()), content.size(), element);
          const uint64_t index = table_.Add(file_.Slice(Offset(content.data()), content.size()));
          writer.add_message(PayloadTable::kReferenceField, Reference(number, index));
        } else {
          writer.add_bytes(static_cast<uint32_t>(number), content);
        }
      }
      field_start = reader.data().data();
      if (out.size() > limits_.max_rest)
        return LimitError("the model has more than {} bytes besides weights", limits_.max_rest);
    }
    return {};
  }

 private:
  // The file may change while it is read. Protobuf must get exactly the checked bytes, so that a
  // file cannot forge references.
  static Status CheckCopy(std::string_view copy, int number, protozero::pbf_wire_type wire_type) {
    protozero::pbf_reader reader(copy.data(), copy.size());
    if (reader.next() && static_cast<int>(reader.tag()) == number &&
        reader.wire_type() == wire_type) {
      reader.skip();
      if (reader.length() == 0) return {};
    }
    return ParseError("the file changed while it was read");
  }
  size_t Offset(const char* p) const {
    return static_cast<size_t>(p - reinterpret_cast<const char*>(file_.data()));
  }
  const Blob& file_;
  PayloadTable& table_;
  const PayloadLimits& limits_;
};

// Rebuilds the wire form from one with references, as alternating own text and payloads.
class Joiner {
 public:
  explicit Joiner(const PayloadTable& table) : table_(table) {}

  struct Parts {
    std::vector<Blob> blobs;
    std::string tail;  // text after the last blob
    uint64_t size = 0;
  };

  static void Flush(Parts& parts) {
    if (parts.tail.empty()) return;
    parts.blobs.push_back(BlobOf(std::exchange(parts.tail, {})));
  }
  static void Text(Parts& parts, std::string_view text) {
    parts.tail += text;
    parts.size += text.size();
  }
  static void Header(Parts& parts, uint32_t number, uint64_t length) {
    std::string header;
    pb::io::StringOutputStream stream(&header);
    {
      pb::io::CodedOutputStream coded(&stream);
      coded.WriteVarint32(number << 3 | 2);
      coded.WriteVarint64(length);
    }
    Text(parts, header);
  }

  Parts Join(protozero::data_view view, const pb::Descriptor& type) {
    const std::vector<ParsedReference> references = ReferencesIn(view);
    auto next = references.begin();
    Parts parts;
    const auto add_payloads_before = [&](int number) {
      for (; next != references.end() && next->field < number; ++next) Payload(parts, *next);
    };
    protozero::pbf_reader reader(view);
    const char* field_start = view.data();
    while (reader.next()) {
      const auto number = reader.tag();
      const pb::FieldDescriptor* field = type.FindFieldByNumber(static_cast<int>(number));
      // protobuf writes the fields of the schema by their numbers, then all others.
      add_payloads_before(field == nullptr ? PayloadTable::kReferenceField : field->number());
      if (number == PayloadTable::kReferenceField) {
        reader.skip();
      } else if (field != nullptr && field->type() == pb::FieldDescriptor::TYPE_MESSAGE &&
                 reader.wire_type() == protozero::pbf_wire_type::length_delimited) {
        Parts inner = Join(reader.get_view(), *field->message_type());
        Header(parts, number, inner.size);
        if (!inner.blobs.empty()) {
          Flush(parts);
          parts.blobs.insert(parts.blobs.end(), inner.blobs.begin(), inner.blobs.end());
        }
        parts.tail += inner.tail;
        parts.size += inner.size;
      } else {
        reader.skip();
        Text(parts, {field_start, static_cast<size_t>(reader.data().data() - field_start)});
      }
      field_start = reader.data().data();
    }
    return parts;
  }

 private:
  // Those of the message itself, by field number.
  static std::vector<ParsedReference> ReferencesIn(protozero::data_view view) {
    std::vector<ParsedReference> out;
    protozero::pbf_reader reader(view);
    while (reader.next(PayloadTable::kReferenceField)) {
      const protozero::data_view content = reader.get_view();
      out.push_back(ParseReference({content.data(), content.size()}));
    }
    std::stable_sort(out.begin(), out.end(),
                     [](const auto& a, const auto& b) { return a.field < b.field; });
    return out;
  }

  void Payload(Parts& parts, const ParsedReference& reference) {
    const Blob& blob = table_.blobs()[reference.index];
    Header(parts, static_cast<uint32_t>(reference.field), blob.size());
    Flush(parts);
    parts.blobs.push_back(blob);
    parts.size += blob.size();
  }

  const PayloadTable& table_;
};

}  // namespace

Blob BlobOf(std::string bytes) {
  const auto owned = std::make_shared<const std::string>(std::move(bytes));
  return Blob(std::as_bytes(std::span(*owned)), owned);
}

int PayloadElementSize(const pb::FieldDescriptor& field) {
  switch (field.type()) {
    case pb::FieldDescriptor::TYPE_BYTES:
      return field.is_repeated() ? 0 : 1;
    case pb::FieldDescriptor::TYPE_FLOAT:
    case pb::FieldDescriptor::TYPE_FIXED32:
    case pb::FieldDescriptor::TYPE_SFIXED32:
      return field.is_repeated() ? 4 : 0;
    case pb::FieldDescriptor::TYPE_DOUBLE:
    case pb::FieldDescriptor::TYPE_FIXED64:
    case pb::FieldDescriptor::TYPE_SFIXED64:
      return field.is_repeated() ? 8 : 0;
    default:
      return 0;
  }
}

Status ForEachMessage(pb::Message* message, const std::function<Status(pb::Message*)>& fn) {
  NN_RETURN_IF_ERROR(fn(message));
  const pb::Reflection& reflection = *message->GetReflection();
  std::vector<const pb::FieldDescriptor*> fields;
  reflection.ListFields(*message, &fields);
  for (const pb::FieldDescriptor* field : fields) {
    if (field->cpp_type() != pb::FieldDescriptor::CPPTYPE_MESSAGE) continue;
    if (!field->is_repeated()) {
      NN_RETURN_IF_ERROR(ForEachMessage(reflection.MutableMessage(message, field), fn));
      continue;
    }
    for (int i = 0; i < reflection.FieldSize(*message, field); ++i)
      NN_RETURN_IF_ERROR(ForEachMessage(reflection.MutableRepeatedMessage(message, field, i), fn));
  }
  return {};
}

std::optional<Blob> PayloadTable::Find(const pb::Message& message, int field) const {
  if (blobs_.empty()) return std::nullopt;
  const pb::UnknownFieldSet& unknown = message.GetReflection()->GetUnknownFields(message);
  std::vector<Blob> found;
  for (int i = 0; i < unknown.field_count(); ++i) {
    const pb::UnknownField& f = unknown.field(i);
    if (f.number() != kReferenceField) continue;
    const ParsedReference r = ParseReference(f.length_delimited());
    if (r.field == field && r.index < blobs_.size()) found.push_back(blobs_[r.index]);
  }
  if (found.empty()) return std::nullopt;
  const pb::FieldDescriptor* descriptor = message.GetDescriptor()->FindFieldByNumber(field);
  if (!descriptor->is_repeated()) return found.back();  // the last occurrence wins
  if (found.size() == 1 && message.GetReflection()->FieldSize(message, descriptor) == 0)
    return found[0];
  // The order of pieces above and below the threshold is lost.
  size_t size = 0;
  for (const Blob& b : found) size += b.size();
  Buffer all(size);
  size_t at = 0;
  for (const Blob& b : found) {
    std::memcpy(all.data() + at, b.data(), b.size());
    at += b.size();
  }
  return Blob(std::move(all));
}

void PayloadTable::Attach(pb::Message* message, int field, Blob blob) {
  const uint64_t index = Add(std::move(blob));
  message->GetReflection()->MutableUnknownFields(message)->AddLengthDelimited(
      kReferenceField, Reference(field, index));
}

void PayloadTable::Detach(pb::Message* message) {
  message->GetReflection()->MutableUnknownFields(message)->DeleteByNumber(kReferenceField);
}

Status ParseWithPayloads(const Blob& file, pb::Message* message, PayloadTable& table,
                         const PayloadLimits& limits) {
  std::string rest;
  const protozero::data_view view(reinterpret_cast<const char*>(file.data()), file.size());
  try {
    NN_RETURN_IF_ERROR(
        Splitter(file, table, limits).Split(view, *message->GetDescriptor(), 1, rest));
  } catch (const protozero::end_of_buffer_exception&) {
    return ParseError("the file ends in the middle of a {}; it is truncated or damaged",
                      message->GetDescriptor()->name());
  } catch (const protozero::exception&) {
    return ParseError("not a {}: the bytes are not protobuf's wire format",
                      message->GetDescriptor()->name());
  }
  // What is not in `rest` are payloads, which are read again when they are needed.
  DropResidentPages(file);
  pb::io::ArrayInputStream array(rest.data(), static_cast<int>(rest.size()));
  pb::io::CodedInputStream stream(&array);
  stream.SetRecursionLimit(limits.max_depth + 1);
  const pb::LogSilencer silence;
  if (!message->ParsePartialFromCodedStream(&stream) || !stream.ConsumedEntireMessage())
    return ParseError("not a {}: malformed field", message->GetDescriptor()->name());
  return {};
}

Result<std::vector<Blob>> SerializeWithPayloads(const pb::Message& message,
                                                const PayloadTable& table) {
  std::string rest;
  {
    const pb::LogSilencer silence;
    rest.reserve(message.ByteSizeLong());
    pb::io::StringOutputStream stream(&rest);
    pb::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    if (!message.SerializePartialToCodedStream(&coded))
      return InternalError("{} cannot be serialized", message.GetDescriptor()->name());
  }
  if (rest.empty()) return std::vector<Blob>();
  if (table.blobs().empty()) return std::vector<Blob>{BlobOf(std::move(rest))};
  try {
    auto parts = Joiner(table).Join({rest.data(), rest.size()}, *message.GetDescriptor());
    Joiner::Flush(parts);
    return std::move(parts.blobs);
  } catch (const protozero::exception&) {
    return InternalError("the wire form of a {} cannot be read", message.GetDescriptor()->name());
  }
}

}  // namespace nn
