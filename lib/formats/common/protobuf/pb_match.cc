#include "formats/common/protobuf/pb_match.h"

#include <protozero/pbf_reader.hpp>

#include <algorithm>

#include "base/text/text.h"

namespace nn {
namespace {

namespace pb = google::protobuf;
using protozero::pbf_wire_type;

constexpr int kMaxFields = 64;
constexpr int kMaxNested = 2;

// The wire type of one element; packed lists of numbers are length-delimited instead.
pbf_wire_type WireTypeOf(const pb::FieldDescriptor& field) {
  switch (field.type()) {
    case pb::FieldDescriptor::TYPE_DOUBLE:
    case pb::FieldDescriptor::TYPE_FIXED64:
    case pb::FieldDescriptor::TYPE_SFIXED64:
      return pbf_wire_type::fixed64;
    case pb::FieldDescriptor::TYPE_FLOAT:
    case pb::FieldDescriptor::TYPE_FIXED32:
    case pb::FieldDescriptor::TYPE_SFIXED32:
      return pbf_wire_type::fixed32;
    case pb::FieldDescriptor::TYPE_STRING:
    case pb::FieldDescriptor::TYPE_BYTES:
    case pb::FieldDescriptor::TYPE_MESSAGE:
      return pbf_wire_type::length_delimited;
    default:
      return pbf_wire_type::varint;
  }
}

bool FitsWireType(const pb::FieldDescriptor& field, pbf_wire_type type) {
  return type == WireTypeOf(field) ||
         (field.is_packable() && type == pbf_wire_type::length_delimited);
}

class Matcher {
 public:
  explicit Matcher(PbMatch& match) : match_(match) {}

  void Message(protozero::data_view view, const pb::Descriptor& type, int nested) {
    protozero::pbf_reader reader(view);
    for (int i = 0; i < kMaxFields && reader.next(); ++i) {
      const auto number = static_cast<int>(reader.tag());
      if (nested == 0) match_.numbers.push_back(number);
      const pb::FieldDescriptor* const field = type.FindFieldByNumber(number);
      if (field == nullptr) {
        ++match_.unknown;
        reader.skip();
      } else if (!FitsWireType(*field, reader.wire_type())) {
        ++match_.wrong;
        reader.skip();
      } else {
        ++match_.known;
        Content(reader, *field, nested);
      }
    }
  }

 private:
  void Content(protozero::pbf_reader& reader, const pb::FieldDescriptor& field, int nested) {
    if (reader.wire_type() != pbf_wire_type::length_delimited) return reader.skip();
    const protozero::data_view content = reader.get_view();
    if (field.type() == pb::FieldDescriptor::TYPE_STRING)
      match_.wrong += IsPlainText({content.data(), content.size()}) ? 0 : 1;
    else if (field.type() == pb::FieldDescriptor::TYPE_MESSAGE && nested < kMaxNested)
      Message(content, *field.message_type(), nested + 1);
  }

  PbMatch& match_;
};

}  // namespace

bool PbMatch::Has(int number) const {
  return std::ranges::find(numbers, number) != numbers.end();
}

PbMatch MatchPb(std::span<const std::byte> bytes, const pb::Descriptor& type) {
  PbMatch match;
  try {
    Matcher(match).Message({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, type, 0);
  } catch (const protozero::end_of_buffer_exception&) {
    match.truncated = true;
  } catch (const protozero::exception&) {
    match.damaged = true;
  }
  return match;
}

}  // namespace nn
