#include "ir/attrs.h"

#include <stdexcept>

#include "base/text/text.h"
#include "ir/types/type.h"

namespace nn {
namespace {

template <typename T, typename Fn>
std::string List(const std::vector<T>& values, Fn text) {
  std::string out = "[";
  for (size_t i = 0; i < values.size(); ++i) out += (i == 0 ? "" : ", ") + text(values[i]);
  return out + "]";
}

struct Printer {
  std::string operator()(int64_t v) const { return std::to_string(v); }
  std::string operator()(float v) const { return FloatText(v); }
  std::string operator()(bool v) const { return v ? "true" : "false"; }
  std::string operator()(EnumValue v) const { return std::string(v.name); }
  std::string operator()(const std::string& v) const { return Quote(v); }
  std::string operator()(DType v) const { return std::string(DTypeName(v)); }
  std::string operator()(const Dims& v) const { return nn::ToString(v); }
  template <typename T>
  std::string operator()(const std::vector<T>& v) const {
    return List(v, *this);
  }
};

}  // namespace

std::string ToString(const AttrValue& value) {
  return std::visit(Printer(), value);
}

std::optional<AttrValue> Attrs::Get(std::string_view name) const {
  for (const AttrField& field : info().fields)
    if (field.name == name) return Get(field);
  return std::nullopt;
}

Result<Attrs> Attrs::With(std::string_view name, const AttrValue& value) const {
  for (const AttrField& field : info().fields) {
    if (field.name != name) continue;
    auto copy = info().clone(this->value());
    if (!field.set(copy->value, value))
      return ModelError("attribute {}: the value {} has the wrong type", name, nn::ToString(value));
    Attrs out = *this;
    out.contents_ = std::move(copy);
    return out;
  }
  return ModelError("no attribute named {}", Quote(name));
}

bool operator==(const Attrs& a, const Attrs& b) {
  if (&a.info() != &b.info()) return false;
  if (a.contents_ == b.contents_) return true;
  for (const AttrField& field : a.info().fields)
    if (a.Get(field) != b.Get(field)) return false;
  return true;
}

std::string Attrs::ToString() const {
  const Attrs defaults(&info());
  std::string out;
  for (const AttrField& field : info().fields) {
    const AttrValue value = Get(field);
    if (value == defaults.Get(field)) continue;
    out += out.empty() ? "{" : ", ";
    out += std::string(field.name) + " = " + nn::ToString(value);
  }
  return out.empty() ? out : out + "}";
}

const void* Attrs::value() const {
  static constexpr NoAttrs kNone;
  return contents_ == nullptr ? &kNone : static_cast<const void*>(contents_->value);
}

void Attrs::Mismatch() {
  throw std::logic_error("attributes have a different type");
}

}  // namespace nn
