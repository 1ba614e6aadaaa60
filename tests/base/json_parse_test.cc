#include "base/json/json_parse.h"

#include <doctest/doctest.h>

#include "base/text/text.h"
#include "support/hang.h"

namespace nn::test::json_parse_test {
namespace {

TEST_CASE("json: the parsed tree matches the text") {
  for (const char* text :
       {"null", "true", "0", "-1", "18446744073709551615", "1.5", "\"t\\u00e4xt\"", "[]", "{}",
        "[1,[2,[3]],{}]", R"({"a":{"b":[1,{"c":null}],"d":"e"},"f":[]})"}) {
    CAPTURE(text);
    const auto parsed = ParseJson(text, {});
    REQUIRE_MESSAGE(parsed.has_value(), parsed.error().message());
    CHECK(*parsed == nlohmann::json::parse(text));
  }
}

TEST_CASE("json: invalid JSON, and duplicate members") {
  for (const char* text : {"", "{", "[1,]", "{\"a\" 1}", "nul", "1 2", "\"open"}) {
    CAPTURE(text);
    const auto parsed = ParseJson(text, {});
    REQUIRE(!parsed.has_value());
    CHECK(parsed.error().code() == ErrorCode::kParse);
    CHECK(parsed.error().message().starts_with("not JSON: "));
  }
  const std::string long_string = "[\"" + std::string(10'000, 'x');
  CHECK(ParseJson(long_string, {}).error().message().size() < 300);
  const auto twice = ParseJson(R"({"a": {"b": 1}, "c": {"b": 1, "b": 2}})", {});
  REQUIRE(!twice.has_value());
  CHECK(twice.error().message() == "duplicate object member \"b\"");
}

TEST_CASE("json: hooks see depths and values, and can end the parse") {
  JsonHooks hooks;
  std::string seen;
  hooks.open = [&](int depth) -> Status {
    seen += std::to_string(depth);
    if (depth == 3) return LimitError("too deep");
    return {};
  };
  hooks.value = [](nlohmann::json& value) -> Status {
    if (value == 7) return ParseError("seven");
    if (value.is_string()) value = value.get_ref<const std::string&>().size();
    return {};
  };
  CHECK(*ParseJson(R"([["abc", {}], 1])", hooks) == nlohmann::json::parse("[[3, {}], 1]"));
  CHECK(seen == "012");
  CHECK(ParseJson("[[[[]]]]", hooks).error().code() == ErrorCode::kLimit);
  CHECK(ParseJson("{\"a\": 7}", hooks).error().message() == "seven");
  hooks.repeated = [](const std::string& name) {
    return Error(ErrorCode::kModel, "again " + name);
  };
  CHECK(ParseJson(R"({"a": 1, "a": 2})", hooks).error().message() == "again a");
}

TEST_CASE("json: lists of objects, objects of members and deep nesting take linear time") {
  constexpr size_t kItems = 500'000;
  CheckEnds([&] {
    std::string list = "[{}";
    for (size_t i = 1; i < kItems; ++i) list += ",{}";
    CHECK(ParseJson(list + "]", {})->size() == kItems);
  });
  CheckEnds([&] {
    std::string object = "{\"\":[]";
    for (size_t i = 1; i < kItems; ++i) object += ",\"" + std::to_string(i) + "\":{\"a\":1}";
    CHECK(ParseJson(object + "}", {})->size() == kItems);
  });
  CheckEnds([&] {
    const std::string text = std::string(kItems, '[') + std::string(kItems, ']');
    CHECK(ParseJson(text, {})->size() == 1);
  });
}

}  // namespace
}  // namespace nn::test::json_parse_test
