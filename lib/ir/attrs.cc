#include "ir/attrs.h"

#include <stdexcept>

#include "base/text.h"
#include "ir/type.h"

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
  for (const AttrField& field : info_->fields)
    if (field.name == name) return Get(field);
  return std::nullopt;
}

Result<Attrs> Attrs::With(std::string_view name, const AttrValue& value) const {
  for (const AttrField& field : info_->fields) {
    if (field.name != name) continue;
    auto copy = info_->clone(value_.get());
    if (!field.set(copy.get(), value))
      return ModelError("attribute {}: the value {} has the wrong type", name, nn::ToString(value));
    Attrs out = *this;
    out.value_ = std::move(copy);
    return out;
  }
  return ModelError("no attribute named {}", Quote(name));
}

bool operator==(const Attrs& a, const Attrs& b) {
  if (a.info_ != b.info_) return false;
  if (a.value_ == b.value_) return true;
  for (const AttrField& field : a.info_->fields)
    if (a.Get(field) != b.Get(field)) return false;
  return true;
}

std::string Attrs::ToString() const {
  const Attrs defaults(info_);
  std::string out;
  for (const AttrField& field : info_->fields) {
    const AttrValue value = Get(field);
    if (value == defaults.Get(field)) continue;
    out += out.empty() ? "{" : ", ";
    out += std::string(field.name) + " = " + nn::ToString(value);
  }
  return out.empty() ? out : out + "}";
}

const std::shared_ptr<const void>& Attrs::Nothing() {
  static const std::shared_ptr<const void> nothing = std::make_shared<const NoAttrs>();
  return nothing;
}

void Attrs::Mismatch() {
  throw std::logic_error("attributes have a different type");
}

}  // namespace nn
