#include "formats/coreml/file/fields.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/reflection.h>

#include <cstdio>
#include <cstdlib>
#include <limits>

namespace nn::coreml {
namespace {

using google::protobuf::FieldDescriptor;

[[noreturn]] void Unknown(const Message& message, std::string_view name) {
  std::fprintf(stderr, "%s has no field %.*s that fits\n", message.GetTypeName().c_str(),
               static_cast<int>(name.size()), name.data());
  std::abort();
}

const FieldDescriptor& FieldOf(const Message& message, std::string_view name) {
  const FieldDescriptor* f = message.GetDescriptor()->FindFieldByName(std::string(name));
  if (f == nullptr) Unknown(message, name);
  return *f;
}

int64_t Saturate(uint64_t v) {
  constexpr auto kMax = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  return static_cast<int64_t>(v < kMax ? v : kMax);
}

// Integer element `i` of a field, or the field itself if it is not a list.
int64_t Integer(const Message& m, const FieldDescriptor& f, int i) {
  const auto* r = m.GetReflection();
  const bool list = f.is_repeated();
  switch (f.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return list ? r->GetRepeatedInt32(m, &f, i) : r->GetInt32(m, &f);
    case FieldDescriptor::CPPTYPE_UINT32:
      return list ? r->GetRepeatedUInt32(m, &f, i) : r->GetUInt32(m, &f);
    case FieldDescriptor::CPPTYPE_INT64:
      return list ? r->GetRepeatedInt64(m, &f, i) : r->GetInt64(m, &f);
    case FieldDescriptor::CPPTYPE_UINT64:
      return Saturate(list ? r->GetRepeatedUInt64(m, &f, i) : r->GetUInt64(m, &f));
    default:
      Unknown(m, f.name());
  }
}

void SetInteger(Message* m, const FieldDescriptor& f, int64_t v) {
  const auto* r = m->GetReflection();
  const bool list = f.is_repeated();
  switch (f.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32: {
      const auto narrow = static_cast<int32_t>(v);
      return list ? r->AddInt32(m, &f, narrow) : r->SetInt32(m, &f, narrow);
    }
    case FieldDescriptor::CPPTYPE_UINT32: {
      const auto narrow = static_cast<uint32_t>(v);
      return list ? r->AddUInt32(m, &f, narrow) : r->SetUInt32(m, &f, narrow);
    }
    case FieldDescriptor::CPPTYPE_INT64:
      return list ? r->AddInt64(m, &f, v) : r->SetInt64(m, &f, v);
    case FieldDescriptor::CPPTYPE_UINT64: {
      const auto wide = static_cast<uint64_t>(v);
      return list ? r->AddUInt64(m, &f, wide) : r->SetUInt64(m, &f, wide);
    }
    default:
      Unknown(*m, f.name());
  }
}

Result<int64_t> CheckSize(std::string_view name, int64_t v) {
  if (v < 0 || v > std::numeric_limits<int32_t>::max())
    return ModelError("{} is {}, which is out of range", name, v);
  return v;
}

}  // namespace

bool Fields::Has(std::string_view name) const {
  const FieldDescriptor& f = FieldOf(*message_, name);
  const auto* r = message_->GetReflection();
  return f.is_repeated() ? r->FieldSize(*message_, &f) > 0 : r->HasField(*message_, &f);
}

std::string_view Fields::OneOf(std::string_view oneof) const {
  const auto* o = message_->GetDescriptor()->FindOneofByName(std::string(oneof));
  if (o == nullptr) Unknown(*message_, oneof);
  const FieldDescriptor* f = message_->GetReflection()->GetOneofFieldDescriptor(*message_, o);
  return f == nullptr ? std::string_view() : std::string_view(f->name());
}

Fields Fields::Sub(std::string_view name) const {
  const FieldDescriptor& f = FieldOf(*message_, name);
  if (f.is_repeated() || f.message_type() == nullptr) Unknown(*message_, name);
  return {message_->GetReflection()->GetMessage(*message_, &f), *payloads_};
}

std::vector<Fields> Fields::List(std::string_view name) const {
  const FieldDescriptor& f = FieldOf(*message_, name);
  if (!f.is_repeated() || f.message_type() == nullptr) Unknown(*message_, name);
  std::vector<Fields> out;
  const int n = static_cast<int>(Count(name));
  out.reserve(static_cast<size_t>(n));
  for (int i = 0; i < n; ++i)
    out.emplace_back(message_->GetReflection()->GetRepeatedMessage(*message_, &f, i), *payloads_);
  return out;
}

int64_t Fields::Int(std::string_view name) const {
  return Integer(*message_, FieldOf(*message_, name), 0);
}

Result<int64_t> Fields::Size(std::string_view name) const {
  return CheckSize(name, Int(name));
}

bool Fields::Bool(std::string_view name) const {
  return message_->GetReflection()->GetBool(*message_, &FieldOf(*message_, name));
}

float Fields::Float(std::string_view name) const {
  return message_->GetReflection()->GetFloat(*message_, &FieldOf(*message_, name));
}

double Fields::Double(std::string_view name) const {
  return message_->GetReflection()->GetDouble(*message_, &FieldOf(*message_, name));
}

std::string Fields::Text(std::string_view name) const {
  return message_->GetReflection()->GetString(*message_, &FieldOf(*message_, name));
}

std::string_view Fields::Enum(std::string_view name) const {
  const FieldDescriptor& f = FieldOf(*message_, name);
  if (f.enum_type() == nullptr) Unknown(*message_, name);
  const int number = message_->GetReflection()->GetEnumValue(*message_, &f);
  const auto* value = f.enum_type()->FindValueByNumber(number);
  return value == nullptr ? std::string_view() : std::string_view(value->name());
}

size_t Fields::Count(std::string_view name) const {
  const FieldDescriptor& f = FieldOf(*message_, name);
  if (const int bytes = PayloadElementSize(f); bytes != 0)
    if (const auto blob = payloads_->Find(*message_, f.number()))
      return blob->size() / static_cast<size_t>(bytes);
  return static_cast<size_t>(message_->GetReflection()->FieldSize(*message_, &f));
}

std::vector<int64_t> Fields::Ints(std::string_view name) const {
  const FieldDescriptor& f = FieldOf(*message_, name);
  std::vector<int64_t> out(Count(name));
  for (size_t i = 0; i < out.size(); ++i) out[i] = Integer(*message_, f, static_cast<int>(i));
  return out;
}

Result<std::vector<int64_t>> Fields::Sizes(std::string_view name, size_t count,
                                           int64_t fallback) const {
  std::vector<int64_t> out = Ints(name);
  if (out.empty()) return std::vector<int64_t>(count, fallback);
  if (out.size() != count)
    return ModelError("{} has {} entries; expected {}", name, out.size(), count);
  for (const int64_t v : out) NN_RETURN_IF_ERROR(CheckSize(name, v));
  return out;
}

std::vector<bool> Fields::Bools(std::string_view name) const {
  const FieldDescriptor& f = FieldOf(*message_, name);
  std::vector<bool> out(Count(name));
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = message_->GetReflection()->GetRepeatedBool(*message_, &f, static_cast<int>(i));
  return out;
}

std::vector<float> Fields::Floats(std::string_view name) const {
  const Blob bytes = Bytes(name);
  std::vector<float> out(bytes.size() / sizeof(float));
  if (!out.empty()) std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

std::vector<std::string> Fields::Texts(std::string_view name) const {
  const FieldDescriptor& f = FieldOf(*message_, name);
  std::vector<std::string> out(Count(name));
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = message_->GetReflection()->GetRepeatedString(*message_, &f, static_cast<int>(i));
  return out;
}

Blob Fields::Bytes(std::string_view name) const {
  const FieldDescriptor& f = FieldOf(*message_, name);
  if (auto blob = payloads_->Find(*message_, f.number())) return *std::move(blob);
  const auto* r = message_->GetReflection();
  if (f.is_repeated() && f.cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE) {
    const auto& list = r->GetRepeatedFieldRef<double>(*message_, &f);
    return Blob::CopyOf(std::vector<double>(list.begin(), list.end()));
  }
  if (f.is_repeated()) {
    const auto& list = r->GetRepeatedFieldRef<float>(*message_, &f);
    return Blob::CopyOf(std::vector<float>(list.begin(), list.end()));
  }
  const std::string text = r->GetString(*message_, &f);
  return Blob::Copy(std::as_bytes(std::span(text)));
}

Writer Writer::Sub(std::string_view name) {
  return {message_->GetReflection()->MutableMessage(message_, &FieldOf(*message_, name)),
          payloads_};
}

Writer Writer::Add(std::string_view name) {
  return {message_->GetReflection()->AddMessage(message_, &FieldOf(*message_, name)), payloads_};
}

void Writer::Int(std::string_view name, int64_t value) {
  SetInteger(message_, FieldOf(*message_, name), value);
}
void Writer::Bool(std::string_view name, bool value) {
  message_->GetReflection()->SetBool(message_, &FieldOf(*message_, name), value);
}
void Writer::Float(std::string_view name, float value) {
  message_->GetReflection()->SetFloat(message_, &FieldOf(*message_, name), value);
}
void Writer::Text(std::string_view name, std::string_view value) {
  message_->GetReflection()->SetString(message_, &FieldOf(*message_, name), std::string(value));
}
void Writer::Enum(std::string_view name, std::string_view value) {
  const FieldDescriptor& f = FieldOf(*message_, name);
  const auto* v =
      f.enum_type() == nullptr ? nullptr : f.enum_type()->FindValueByName(std::string(value));
  if (v == nullptr) Unknown(*message_, name);
  message_->GetReflection()->SetEnum(message_, &f, v);
}
void Writer::Ints(std::string_view name, const std::vector<int64_t>& values) {
  const FieldDescriptor& f = FieldOf(*message_, name);
  for (const int64_t v : values) SetInteger(message_, f, v);
}
void Writer::Bools(std::string_view name, const std::vector<bool>& values) {
  const FieldDescriptor& f = FieldOf(*message_, name);
  for (const bool v : values) message_->GetReflection()->AddBool(message_, &f, v);
}
void Writer::Floats(std::string_view name, const std::vector<float>& values) {
  const FieldDescriptor& f = FieldOf(*message_, name);
  for (const float v : values) message_->GetReflection()->AddFloat(message_, &f, v);
}
void Writer::AddText(std::string_view name, std::string_view value) {
  message_->GetReflection()->AddString(message_, &FieldOf(*message_, name), std::string(value));
}
void Writer::Bytes(std::string_view name, Blob blob) {
  payloads_->Attach(message_, FieldOf(*message_, name).number(), std::move(blob));
}

}  // namespace nn::coreml
