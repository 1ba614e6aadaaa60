#include "formats/common/protobuf/pb_text.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/unknown_field_set.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "base/text/text.h"

namespace nn {
namespace {

namespace pb = google::protobuf;
using Field = pb::FieldDescriptor;

// Limit of all formats: bytes of an ONNX or Core ML model that is written as text.
constexpr uint64_t kMaxPrinted = uint64_t{512} << 20;

// The first error.
class FirstError : public pb::io::ErrorCollector {
 public:
  void AddError(int line, pb::io::ColumnNumber column, const std::string& message) override {
    if (!text_.empty()) return;
    text_ =
        line < 0 ? message : fmt::format("line {}, column {}: {}", line + 1, column + 1, message);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// Moves large bytes fields out of the message.
Status TakeOut(pb::Message* message, PayloadTable& payloads) {
  const pb::Reflection& reflection = *message->GetReflection();
  std::vector<const Field*> fields;
  reflection.ListFields(*message, &fields);
  for (const Field* field : fields) {
    if (field->type() != Field::TYPE_BYTES || field->is_repeated()) continue;
    std::string text = reflection.GetString(*message, field);
    if (text.size() < PayloadLimits{}.threshold) continue;
    reflection.ClearField(message, field);
    payloads.Attach(message, field->number(), BlobOf(std::move(text)));
  }
  return {};
}

Status CheckKnown(const pb::Message& message) {
  const pb::UnknownFieldSet& unknown = message.GetReflection()->GetUnknownFields(message);
  if (unknown.empty()) return {};
  return UnsupportedError(
      "{} has the unknown field {}, which only the binary form and dumps (.json) support",
      message.GetDescriptor()->name(), unknown.field(0).number());
}

// Whether a number is a NaN whose bits are not preserved.
bool LosesBits(float value) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  return std::isnan(value) && std::bit_cast<uint32_t>(value) != std::bit_cast<uint32_t>(kNan);
}
bool LosesBits(double value) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  return std::isnan(value) && std::bit_cast<uint64_t>(value) != std::bit_cast<uint64_t>(kNan);
}

// Describes contents of a field that a form cannot represent: text that is not UTF-8 (JSON), NaNs
// with non-default bits. "" if there are none.
std::string_view NotPrintable(PbForm form, const pb::Message& message, const Field& field) {
  const pb::Reflection& r = *message.GetReflection();
  const auto any = [&](const auto& single, const auto& element) {
    if (!field.is_repeated()) return single();
    for (int i = 0; i < r.FieldSize(message, &field); ++i)
      if (element(i)) return true;
    return false;
  };
  bool found = false;
  if (field.type() == Field::TYPE_STRING && form == PbForm::kJson) {
    found = any([&] { return !IsUtf8(r.GetString(message, &field)); },
                [&](int i) { return !IsUtf8(r.GetRepeatedString(message, &field, i)); });
    return found ? "text that is not UTF-8" : "";
  }
  if (field.type() == Field::TYPE_FLOAT)
    found = any([&] { return LosesBits(r.GetFloat(message, &field)); },
                [&](int i) { return LosesBits(r.GetRepeatedFloat(message, &field, i)); });
  if (field.type() == Field::TYPE_DOUBLE)
    found = any([&] { return LosesBits(r.GetDouble(message, &field)); },
                [&](int i) { return LosesBits(r.GetRepeatedDouble(message, &field, i)); });
  return found ? "a NaN with non-default bits" : "";
}

Status CheckPrintable(PbForm form, const pb::Message& message) {
  NN_RETURN_IF_ERROR(CheckKnown(message));
  std::vector<const Field*> fields;
  message.GetReflection()->ListFields(message, &fields);
  for (const Field* field : fields)
    if (const std::string_view what = NotPrintable(form, message, *field); !what.empty())
      return UnsupportedError(
          "{} has {}, which only the binary form{} and dumps (.json) support", field->full_name(),
          what, form == PbForm::kJson && field->type() == Field::TYPE_STRING ? ", text" : "");
  return {};
}

// The message with its payloads merged.
Result<std::unique_ptr<pb::Message>> Whole(const pb::Message& message,
                                           const PayloadTable& payloads) {
  NN_ASSIGN(const std::vector<Blob> parts, SerializeWithPayloads(message, payloads));
  std::string wire;
  for (const Blob& part : parts) {
    if (wire.size() + part.size() > kMaxPrinted)
      return LimitError("the model has more than {}, the limit for text forms",
                        HumanBytes(kMaxPrinted));
    wire.append(reinterpret_cast<const char*>(part.data()), part.size());
  }
  std::unique_ptr<pb::Message> whole(message.New());
  pb::io::CodedInputStream stream(reinterpret_cast<const uint8_t*>(wire.data()),
                                  static_cast<int>(wire.size()));
  stream.SetRecursionLimit(std::numeric_limits<int>::max());  // it was parsed before
  const pb::LogSilencer silence;
  if (!whole->ParsePartialFromCodedStream(&stream))
    return InternalError("the generated wire form cannot be read");
  return whole;
}

Status ParseText(std::string_view text, int max_depth, pb::Message* message) {
  pb::io::ArrayInputStream stream(text.data(), static_cast<int>(text.size()));
  FirstError error;
  pb::TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  parser.AllowPartialMessage(true);
  parser.SetRecursionLimit(max_depth);
  if (parser.Parse(&stream, message)) return {};
  return ParseError("{}", EscapeControls(error.text()));
}

// JSON text with "-0.0" for "-0", which protobuf reads as an integer without a sign.
std::string WithNegativeZeros(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    out += text[i];
    if (text[i] == '"') quoted = !quoted;
    if (quoted && text[i] == '\\' && i + 1 < text.size()) out += text[++i];
    if (quoted || text[i] != '0' || i == 0 || text[i - 1] != '-') continue;
    if (i >= 2 && (text[i - 2] == 'e' || text[i - 2] == 'E')) continue;  // an exponent's
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (next != '.' && next != 'e' && next != 'E') out += ".0";
  }
  return out;
}

Status ParseJson(std::string_view text, pb::Message* message) {
  const auto status = pb::util::JsonStringToMessage(WithNegativeZeros(text), message);
  if (status.ok()) return {};
  return ParseError("{}", EscapeControls(std::string(status.message()).substr(0, 500)));
}

}  // namespace

PbForm PbFormOf(std::span<const std::byte> bytes) {
  std::string_view text(reinterpret_cast<const char*>(bytes.data()),
                        std::min<size_t>(bytes.size(), 4096));
  const auto skip_space = [&] {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  };
  skip_space();
  while (text.starts_with('#')) {
    text.remove_prefix(std::min(text.find('\n'), text.size()));
    skip_space();
  }
  if (text.starts_with('{')) return PbForm::kJson;
  const auto is_name = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  const auto name = std::find_if_not(text.begin(), text.end(), is_name);
  if (name == text.begin()) return PbForm::kBinary;
  text.remove_prefix(static_cast<size_t>(name - text.begin()));
  skip_space();
  const bool field = text.starts_with(':') || text.starts_with('{') || text.starts_with('<');
  return field ? PbForm::kText : PbForm::kBinary;
}

PbForm PbFormOfPath(std::string_view path) {
  for (const std::string_view e : {".textproto", ".txtpb", ".pbtxt", ".prototxt"})
    if (path.ends_with(e)) return PbForm::kText;
  return path.ends_with(".onnxjson") ? PbForm::kJson : PbForm::kBinary;
}

Status ParsePbText(PbForm form, const Blob& text, int max_depth, pb::Message* message,
                   PayloadTable& payloads) {
  if (text.size() > static_cast<size_t>(std::numeric_limits<int>::max()))
    return LimitError("text of {}; at most 2 GiB can be read", HumanBytes(text.size()));
  const std::string_view view(reinterpret_cast<const char*>(text.data()), text.size());
  const pb::LogSilencer silence;
  NN_RETURN_IF_ERROR(form == PbForm::kJson ? ParseJson(view, message)
                                           : ParseText(view, max_depth, message));
  return ForEachMessage(message, [&](pb::Message* m) { return TakeOut(m, payloads); });
}

Result<Blob> PrintPbText(PbForm form, const pb::Message& message, const PayloadTable& payloads) {
  NN_ASSIGN(const std::unique_ptr<pb::Message> whole, Whole(message, payloads));
  NN_RETURN_IF_ERROR(
      ForEachMessage(whole.get(), [&](pb::Message* m) { return CheckPrintable(form, *m); }));
  std::string text;
  if (form == PbForm::kJson) {
    pb::util::JsonPrintOptions options;
    options.add_whitespace = true;
    options.preserve_proto_field_names = true;
    const auto status = pb::util::MessageToJsonString(*whole, &text, options);
    if (!status.ok()) return UnsupportedError("{}", std::string(status.message()));
  } else if (!pb::TextFormat::PrintToString(*whole, &text)) {
    return InternalError("{} cannot be printed", message.GetDescriptor()->name());
  }
  return BlobOf(std::move(text));
}

}  // namespace nn
