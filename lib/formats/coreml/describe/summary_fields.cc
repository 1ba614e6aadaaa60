#include <fmt/core.h>
#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/text/text.h"
#include "formats/coreml/describe/summary.h"
#include "formats/coreml/file/weights.h"
#include "ir/types/type.h"

namespace nn::coreml {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

constexpr size_t kMaxScope = 256;

// "[a, b, ... 20 in all]" of `count` elements; text(i) is asked for the first `shown`.
template <typename Text>
std::string ListText(size_t count, size_t shown, const Text& text) {
  std::string out = "[";
  for (size_t i = 0; i < count; ++i) {
    if (i == shown) return out + fmt::format(", ... {} in all]", count);
    out += std::string(i == 0 ? "" : ", ") + text(i);
  }
  return out + "]";
}

template <typename T>
T Element(const Blob& list, size_t i) {
  T value;
  std::memcpy(&value, list.data() + i * sizeof(T), sizeof(T));
  return value;
}

std::string ListValues(const Fields& message, const FieldDescriptor& f, size_t shown) {
  const std::string& name = f.name();
  switch (f.cpp_type()) {
    case FieldDescriptor::CPPTYPE_FLOAT: {
      const Blob list = message.Bytes(name);
      return ListText(list.size() / sizeof(float), shown,
                      [&](size_t i) { return FloatText(Element<float>(list, i)); });
    }
    case FieldDescriptor::CPPTYPE_DOUBLE: {
      const Blob list = message.Bytes(name);
      return ListText(list.size() / sizeof(double), shown,
                      [&](size_t i) { return DoubleText(Element<double>(list, i)); });
    }
    case FieldDescriptor::CPPTYPE_BOOL: {
      const auto list = message.Bools(name);
      return ListText(list.size(), shown, [&](size_t i) { return list[i] ? "true" : "false"; });
    }
    case FieldDescriptor::CPPTYPE_STRING: {
      const auto list = message.Texts(name);
      return ListText(list.size(), shown, [&](size_t i) { return Quote(list[i]); });
    }
    default: {
      const auto list = message.Ints(name);
      return ListText(list.size(), shown, [&](size_t i) { return std::to_string(list[i]); });
    }
  }
}

std::string SingleValue(const Fields& message, const FieldDescriptor& f) {
  const std::string& name = f.name();
  switch (f.cpp_type()) {
    case FieldDescriptor::CPPTYPE_FLOAT:
      return FloatText(message.Float(name));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return DoubleText(message.Double(name));
    case FieldDescriptor::CPPTYPE_BOOL:
      return message.Bool(name) ? "true" : "false";
    case FieldDescriptor::CPPTYPE_ENUM:
      return std::string(message.Enum(name));
    case FieldDescriptor::CPPTYPE_STRING:
      if (f.type() == FieldDescriptor::TYPE_BYTES)
        return fmt::format("{} bytes", message.Bytes(name).size());
      return Quote(message.Text(name));
    default:
      return std::to_string(message.Int(name));
  }
}

// Whether the messages of a list are the entries of a map.
bool IsMapEntry(const Descriptor& type) {
  return type.field_count() == 2 && type.FindFieldByName("key") != nullptr &&
         type.FindFieldByName("value") != nullptr;
}

// A value, or the one that is set in a message.
std::string EntryValue(const Fields& entry, const FieldDescriptor& f) {
  if (f.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) return SingleValue(entry, f);
  const Fields inner = entry.Sub(f.name());
  const Descriptor& type = *f.message_type();
  for (int i = 0; i < type.field_count(); ++i)
    if (inner.Has(type.field(i)->name()) &&
        type.field(i)->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE)
      return SingleValue(inner, *type.field(i));
  return "{}";
}

std::string MapText(const std::vector<Fields>& entries, const Descriptor& type, size_t shown) {
  const FieldDescriptor &key = *type.FindFieldByName("key"),
                        &value = *type.FindFieldByName("value");
  std::string text = ListText(entries.size(), shown, [&](size_t i) {
    return SingleValue(entries[i], key) + ": " + EntryValue(entries[i], value);
  });
  text.front() = '{';
  text.back() = '}';
  return text;
}

class FieldLister {
 public:
  FieldLister(Summary& totals, Facts& facts) : totals_(totals), facts_(facts) {}

  void Add(const Fields& message, const std::string& prefix,
           const std::vector<std::string_view>& skip) {
    const Descriptor& type = *message.message().GetDescriptor();
    std::vector<const FieldDescriptor*> fields;
    fields.reserve(static_cast<size_t>(type.field_count()));
    for (int i = 0; i < type.field_count(); ++i) fields.push_back(type.field(i));
    std::sort(fields.begin(), fields.end(),
              [](const auto* a, const auto* b) { return a->number() < b->number(); });
    for (const FieldDescriptor* f : fields)
      if (IsSet(message, *f) && std::find(skip.begin(), skip.end(), f->name()) == skip.end())
        AddField(message, *f, prefix + f->name());
  }

 private:
  static bool IsSet(const Fields& message, const FieldDescriptor& f) {
    if (f.is_repeated()) return message.Count(f.name()) > 0;
    return message.Has(f.name()) ||
           (f.type() == FieldDescriptor::TYPE_BYTES && !message.Bytes(f.name()).empty());
  }

  void AddField(const Fields& message, const FieldDescriptor& f, const std::string& name) {
    if (f.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE)
      facts_.emplace_back(name, f.is_repeated() ? ListValues(message, f, totals_.shown_elements)
                                                : SingleValue(message, f));
    else if (f.is_repeated())
      AddList(message.List(f.name()), *f.message_type(), name);
    else
      AddMessage(message.Sub(f.name()), name);
  }

  void AddMessage(const Fields& message, const std::string& name) {
    const std::string& type = message.message().GetDescriptor()->name();
    if (type == "WeightParams") return AddWeights(message, name);
    if (type == "NeuralNetwork") {
      facts_.emplace_back(name, fmt::format("network of {} layers", message.Count("layers")));
      return;
    }
    const size_t before = facts_.size();
    Add(message, name + ".", {});
    if (facts_.size() == before) facts_.emplace_back(name, "set");
  }

  void AddList(const std::vector<Fields>& list, const Descriptor& type, const std::string& name) {
    if (type.name() == "WeightParams") {
      for (const Fields& w : list) AddWeights(w, name);
    } else if (IsMapEntry(type)) {
      facts_.emplace_back(name, MapText(list, type, totals_.shown_elements));
    } else {
      for (size_t i = 0; i < std::min(list.size(), totals_.shown_elements); ++i)
        Add(list[i], fmt::format("{}[{}].", name, i), {});
      if (list.size() > totals_.shown_elements)
        facts_.emplace_back(name, fmt::format("{} in all", list.size()));
    }
  }

  void AddWeights(const Fields& weights, const std::string& name) {
    const uint64_t count = WeightCount(weights);
    totals_.parameter_count += count;
    totals_.parameter_bytes += WeightBytes(weights);
    facts_.emplace_back(name, fmt::format("{} weights, {}", count, WeightForm(weights)));
  }

  Summary& totals_;
  Facts& facts_;
};

}  // namespace

std::string DoubleText(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string InnerScope(const std::string& scope, const std::string& name) {
  std::string out = scope.empty() ? name : scope + "/" + name;
  if (out.size() > kMaxScope) out = "..." + out.substr(out.size() - kMaxScope + 3);
  return out;
}

void AddFields(const Fields& message, const std::string& prefix,
               const std::vector<std::string_view>& skip, Summary& totals, Facts& facts) {
  FieldLister(totals, facts).Add(message, prefix, skip);
}

}  // namespace nn::coreml
