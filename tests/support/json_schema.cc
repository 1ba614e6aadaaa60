#include "support/json_schema.h"

#include <fmt/format.h>

#include <algorithm>

namespace nn::test {
namespace {

bool HasType(const Json& value, const std::string& type) {
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  return type == (value.is_null() ? "null" : value.type_name());
}

class Checker {
 public:
  explicit Checker(const Json& root) : root_(root) {}

  void Check(const Json& schema, const Json& value, const std::string& at) {
    for (const auto& [keyword, rule] : schema.items()) Apply(keyword, rule, schema, value, at);
  }
  std::vector<std::string> Take() { return std::move(errors_); }

 private:
  void Fail(const std::string& at, const std::string& what) { errors_.push_back(at + ": " + what); }

  void Apply(const std::string& keyword, const Json& rule, const Json& schema, const Json& value,
             const std::string& at) {
    static const char* const kAnnotations[] = {"$schema", "$id", "$defs", "title", "description"};
    if (std::find(std::begin(kAnnotations), std::end(kAnnotations), keyword) !=
        std::end(kAnnotations))
      return;
    if (keyword == "$ref") {
      const std::string pointer = rule.get<std::string>();
      Check(root_.at(Json::json_pointer(pointer.substr(1))), value, at);
    } else if (keyword == "type") {
      const Json types = rule.is_array() ? rule : Json::array({rule});
      if (std::none_of(types.begin(), types.end(),
                       [&](const Json& t) { return HasType(value, t.get<std::string>()); }))
        Fail(at, "is a " + std::string(value.type_name()) + ", not " + rule.dump());
    } else if (keyword == "const") {
      if (value != rule) Fail(at, "is not " + rule.dump());
    } else if (keyword == "enum") {
      if (std::find(rule.begin(), rule.end(), value) == rule.end())
        Fail(at, "is none of " + rule.dump());
    } else if (keyword == "minimum") {
      if (value.is_number() && value < rule) Fail(at, "is below " + rule.dump());
    } else if (keyword == "required") {
      for (const Json& name : rule)
        if (value.is_object() && !value.contains(name.get<std::string>()))
          Fail(at, "lacks " + name.dump());
    } else if (keyword == "properties") {
      for (const auto& [name, inner] : rule.items())
        if (value.is_object() && value.contains(name))
          Check(inner, value[name], fmt::format("{}/{}", at, name));
    } else if (keyword == "additionalProperties") {
      for (const auto& [name, member] : value.items()) {
        if (!value.is_object() || schema.value("properties", Json::object()).contains(name))
          continue;
        if (rule == false)
          Fail(at, "has an undescribed " + name);
        else
          Check(rule, member, fmt::format("{}/{}", at, name));
      }
    } else if (keyword == "items") {
      for (size_t i = 0; value.is_array() && i < value.size(); ++i)
        Check(rule, value[i], at + "/" + std::to_string(i));
    } else {
      Fail(at, "the schema uses " + keyword + ", which the checker does not know");
    }
  }

  const Json& root_;
  std::vector<std::string> errors_;
};

}  // namespace

std::vector<std::string> SchemaErrors(const Json& schema, const Json& value) {
  Checker checker(schema);
  checker.Check(schema, value, "");
  return checker.Take();
}

}  // namespace nn::test
