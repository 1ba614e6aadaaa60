#include "base/json/json_writer.h"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <bit>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/json/base64.h"
#include "base/json/json.h"

namespace nn::json_writer_test {
namespace {

template <typename Fn>
std::string Text(Fn fn) {
  std::string text;
  JsonWriter out([&](std::string_view part) { text += part; });
  fn(out);
  out.Finish();
  REQUIRE(text.back() == '\n');
  text.pop_back();
  return text;
}

std::string FloatText(float v) {
  return Text([&](JsonWriter& out) { out.Float(v); });
}

TEST_CASE("JsonWriter: structure") {
  const std::string text = Text([](JsonWriter& out) {
    out.BeginObject();
    out.Key("a\"b");
    out.BeginArray(true);
    out.Int(1);
    out.Int(-2);
    out.EndArray();
    out.Key("list");
    out.BeginArray();
    out.BeginObject();
    out.EndObject();
    out.Bool(true);
    out.EndArray();
    out.Key("bytes");
    out.Bytes({});
    out.EndObject();
  });
  CHECK(text ==
        "{\n"
        "  \"a\\\"b\": [1, -2],\n"
        "  \"list\": [\n"
        "    {},\n"
        "    true\n"
        "  ],\n"
        "  \"bytes\": \"\"\n"
        "}");
}

TEST_CASE("JsonWriter: integers beyond 2^53 are strings") {
  const auto text = [](int64_t v) { return Text([&](JsonWriter& out) { out.Int(v); }); };
  CHECK(text(9007199254740992) == "9007199254740992");
  CHECK(text(9007199254740993) == "\"9007199254740993\"");
  CHECK(text(-9007199254740992) == "-9007199254740992");
  CHECK(text(-9007199254740993) == "\"-9007199254740993\"");
  CHECK(text(std::numeric_limits<int64_t>::min()) == "\"-9223372036854775808\"");
  CHECK(Text([](JsonWriter& out) { out.Uint(std::numeric_limits<uint64_t>::max()); }) ==
        "\"18446744073709551615\"");
}

TEST_CASE("JsonWriter: floats") {
  CHECK(FloatText(0.1f) == "0.1");
  CHECK(FloatText(3.0f) == "3.0");
  CHECK(FloatText(-0.0f) == "-0.0");
  CHECK(FloatText(std::numeric_limits<float>::infinity()) == "\"Infinity\"");
  CHECK(FloatText(-std::numeric_limits<float>::infinity()) == "\"-Infinity\"");
  CHECK(FloatText(std::numeric_limits<float>::quiet_NaN()) == "\"NaN\"");
  CHECK(FloatText(std::bit_cast<float>(0x7fc00001u)) == "\"0x7fc00001\"");
  CHECK(FloatText(std::bit_cast<float>(0xffc00000u)) == "\"0xffc00000\"");
  CHECK(Text([](JsonWriter& out) { out.Double(std::bit_cast<double>(0x7ff8000000000001u)); }) ==
        "\"0x7ff8000000000001\"");
}

TEST_CASE("JsonWriter: a finite float reads as the same bits") {
  const bool ok = rc::check([](uint32_t bits) {
    const auto value = std::bit_cast<float>(bits);
    if (!std::isfinite(value)) return;
    const auto read = static_cast<float>(nlohmann::json::parse(FloatText(value)).get<double>());
    RC_ASSERT(std::bit_cast<uint32_t>(read) == bits);
  });
  CHECK(ok);
}

TEST_CASE("Base64") {
  const auto encode = [](std::string_view text) { return Base64(std::as_bytes(std::span(text))); };
  CHECK(encode("") == "");
  CHECK(encode("a") == "YQ==");
  CHECK(encode("ab") == "YWI=");
  CHECK(encode("abc") == "YWJj");
  for (const char* bad : {"Y", "YQ", "YQ=", "YR==", "Y Q=", "YQ==\n", "YWI=YWJj", "YW*j"}) {
    CAPTURE(bad);
    CHECK_FALSE(FromBase64(bad).has_value());
  }
  std::string all(100000, '\0');
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<char>(i * 7 >> 3);
  for (const size_t size : {0, 1, 2, 3, 1000, 12288, 12289, 100000}) {
    CAPTURE(size);
    const auto bytes = std::as_bytes(std::span(all)).subspan(0, size);
    const std::string text = Text([&](JsonWriter& out) { out.Bytes(bytes); });
    CHECK(text == "\"" + Base64(bytes) + "\"");
    const auto back = FromBase64(Base64(bytes));
    REQUIRE(back.has_value());
    CHECK(std::equal(bytes.begin(), bytes.end(), back->bytes().begin(), back->bytes().end()));
  }
}

TEST_CASE("JSON has no raw controls, nor what changes the direction of text") {
  const std::string name = "a\u009b\u202e\u2066\u200f\x7f\u00e9";
  const Json json = {{"name", name}};
  for (const std::string& text : {JsonLine(json), JsonText(json)}) {
    CHECK(text.find("a\\u009b\\u202e\\u2066\\u200f\\u007f\u00e9") != std::string::npos);
    CHECK(Json::parse(text) == json);
  }
}

}  // namespace
}  // namespace nn::json_writer_test
