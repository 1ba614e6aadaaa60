#include "tensorio/literal.h"

#include <doctest/doctest.h>

#include <cmath>

#include "ir/text/text.h"

namespace nn::test::literal_test {
namespace {

Type TypeOf(const char* text) {
  return *ParseType(text);
}

TEST_CASE("literals: values, lists and shapes") {
  struct Row {
    const char* text;
    const char* type;
    std::vector<int64_t> dims;
    std::vector<double> values;
  };
  for (const Row& r : {
           Row{"0.5", "f32[3]", {3}, {0.5, 0.5, 0.5}},
           Row{"-1e-2", "f64[]", {}, {-0.01}},
           Row{"+3", "i32[2]", {2}, {3, 3}},
           Row{"[3.0, -2e1]", "i32[2]", {2}, {3, -20}},
           Row{"1.0", "bool[1]", {1}, {1}},
           Row{"5", "i8[1]{scale=0.5}", {1}, {5}},
           Row{"true", "bool[2]", {2}, {1, 1}},
           Row{"0", "bool[1]", {1}, {0}},
           Row{"[1,2, 3]", "f32[3]", {3}, {1, 2, 3}},
           Row{"[1, 2, 3, 4]", "f32[2, 2]", {2, 2}, {1, 2, 3, 4}},
           Row{" [[1, 2], [3, 4]] ", "f32[2, 2]", {2, 2}, {1, 2, 3, 4}},
           Row{"[[1, 2], [3, 4]]", "f32[batch, 2]", {2, 2}, {1, 2, 3, 4}},
           Row{"[[1, 2], [3, 4]]", "f16[*]", {2, 2}, {1, 2, 3, 4}},
           Row{"[[], []]", "f32[*]", {2, 0}, {}},
           Row{"[]", "f32[0]", {0}, {}},
           Row{"[-128, 127]", "i8[2]", {2}, {-128, 127}},
           Row{"[-8, 7]", "i4[2]", {2}, {-8, 7}},
           Row{"18446744073709551615", "u64[1]", {1}, {18446744073709551615.0}},
           Row{"1.00390625", "bf16[1]", {1}, {1.0}},
       }) {
    CAPTURE(std::string(r.text));
    CHECK(LooksLikeLiteral(r.text) == (r.text[0] != ' '));
    const auto t = ParseLiteral(r.text, TypeOf(r.type));
    REQUIRE_MESSAGE(t.has_value(), t.error().message());
    CHECK(t->dtype() == TypeOf(r.type).dtype);
    CHECK(t->dims() == r.dims);
    CHECK(t->ToDoubles() == r.values);
  }
  CHECK(std::isnan(ParseLiteral("nan", TypeOf("f32[1]"))->GetDouble(0)));
  CHECK(ParseLiteral("-inf", TypeOf("f32[1]"))->GetDouble(0) == -INFINITY);
}

TEST_CASE("literals: strings") {
  CHECK(ParseLiteral(R"(["a, b", "c\"d", ""])", TypeOf("str[3]"))->strings() ==
        std::vector<std::string>{"a, b", "c\"d", ""});
  CHECK(ParseLiteral(R"("x")", TypeOf("str[2]"))->strings() == std::vector<std::string>{"x", "x"});
}

TEST_CASE("literals: of tensors") {
  struct Row {
    std::string_view text;
    const char* type;
    std::string_view literal;
  };
  for (const Row& r :
       {Row{"[1, -2, 3]", "i64[3]", "[1,-2,3]"}, Row{"[7, 7]", "i32[2]", "7"},
        Row{"0.1", "f32[]", "0.1"}, Row{"[0.1, nan, inf]", "f64[3]", "[0.1,nan,inf]"},
        Row{"[true, false]", "bool[2]", "[true,false]"}, Row{"[]", "u8[0]", "[]"},
        Row{"[[1, 2], [3, 4]]", "f16[2, 2]", "[1.0,2.0,3.0,4.0]"}}) {
    CAPTURE(std::string(r.text));
    const auto t = ParseLiteral(r.text, TypeOf(r.type));
    REQUIRE(t.has_value());
    CHECK(LiteralOf(*t) == r.literal);
    const auto again = ParseLiteral(LiteralOf(*t), TypeOf(r.type));
    REQUIRE(again.has_value());
    CHECK(LiteralOf(*again) == r.literal);
  }
}

TEST_CASE("literals: file names are not literals") {
  for (const char* text : {"x.npy", "./5", "5.npy", "", "-", "data/[1].npy", "TRUE", "0x10", "1,2"})
    CHECK_MESSAGE(!LooksLikeLiteral(text), text);
}

TEST_CASE("literals: mismatches are refused by name") {
  struct Row {
    const char* text;
    const char* type;
    std::string message;
  };
  for (const Row& r : {
           Row{"[1, 2]", "f32[3]", "a list of shape [2] does not fit f32[3]"},
           Row{"[[1, 2, 3, 4]]", "f32[2, 2]", "a list of shape [1, 4] does not fit f32[2, 2]"},
           Row{"[1, 2]", "f32[batch, 2]", "a list of shape [2] does not fit f32[batch, 2]"},
           Row{"1", "f32[batch]", "a single value cannot fill f32[batch], whose shape is unknown"},
           Row{"1", "f32[*]", "a single value cannot fill f32[*], whose shape is unknown"},
           Row{"[1, x]", "f32[2]", "\"x\" is not a number"},
           Row{"1.5", "i32[1]", "\"1.5\" is not a valid i32 value"},
           Row{"3.0", "i8[1]{scale=0.5}", "\"3.0\" is not a valid i8 value"},
           Row{"9007199254740993.0", "i64[1]", "is not a valid i64 value"},
           Row{"128", "i8[1]", "\"128\" is not a valid i8 value"},
           Row{"-1", "u64[1]", "\"-1\" is not a valid u64 value"},
           Row{"2", "bool[1]", "\"2\" is not a valid bool value"},
           Row{"true", "f32[1]", "\"true\" is not a number"},
           Row{"1", "c64[1]", "c64 values cannot be written inline"},
           Row{"[1, 2", "f32[2]", "expected ',' or ']'"},
           Row{"[1 2]", "f32[2]", "expected ',' or ']'"},
           Row{"[1,]", "f32[1]", "expected a value"},
           Row{"[1]]", "f32[1]", "unexpected text after the value"},
           Row{"[[1], 2]", "f32[*]", "lists have different depths"},
           Row{"[1, [2]]", "f32[*]", "lists have different depths"},
           Row{"[[], 1]", "f32[*]", "lists have different depths"},
           Row{"[[1], [2, 3]]", "f32[*]", "lists have different lengths"},
           Row{"[\"a", "str[1]", "unterminated string"},
       }) {
    CAPTURE(std::string(r.text));
    const auto t = ParseLiteral(r.text, TypeOf(r.type));
    REQUIRE(!t.has_value());
    CHECK(t.error().code() == ErrorCode::kUsage);
    CHECK_MESSAGE(t.error().message().find(r.message) != std::string::npos, t.error().message());
  }
  const auto deep = ParseLiteral(std::string(100000, '['), TypeOf("f32[*]"));
  REQUIRE(!deep.has_value());
  CHECK(deep.error().message().find("nested too deeply") != std::string::npos);
}

}  // namespace
}  // namespace nn::test::literal_test
