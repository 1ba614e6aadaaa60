#include "base/text/unicode.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "base/text/text.h"

namespace nn::test::unicode_test {
namespace {

TEST_CASE("unicode: characters and malformed bytes") {
  const Character e = FirstCharacter("\xc3\xa9z");
  CHECK(e.bytes == 2);
  CHECK(e.code_point == 0xE9);
  // A continuation byte, an overlong form, a surrogate, a sequence that is cut off.
  for (const char* text : {"\x80", "\xc0\x80", "\xed\xa0\x80", "\xe2\x82"}) {
    CHECK(FirstCharacter(text).bytes == 1);
    CHECK(!FirstCharacter(text).code_point.has_value());
    CHECK(!LowerCase(text).has_value());
  }
  CHECK(FirstCharacter(std::string_view("\0", 1)).code_point == 0);
}

TEST_CASE("unicode: the 25 characters that are white space") {
  int count = 0;
  for (int32_t c = 0; c <= 0x10FFFF; ++c) count += IsWhiteSpace(c) ? 1 : 0;
  CHECK(count == 25);
  for (const int32_t c : {0x20, 0x09, 0x0D, 0x85, 0xA0, 0x1680, 0x2028, 0x3000})
    CHECK(IsWhiteSpace(c));
  CHECK(!IsWhiteSpace(0x200B));  // zero width space
}

TEST_CASE("unicode: simple case mappings") {
  CHECK(LowerCase("\xc4\xb0") == "i");                         // dotted I, without the dot
  CHECK(UpperCase("\xc3\x9f\xc3\xbf") == "\xc3\x9f\xc5\xb8");  // sharp s stays; y with diaeresis
  CHECK(LowerCase("") == "");
  CHECK(FoldCase("\xcf\x82\xce\xa3") == FoldCase("\xcf\x83\xcf\x82"));
}

TEST_CASE("controls, and what changes the direction of text") {
  for (const std::string_view control :
       {"\x01", "\n", "\x1b", "\x7f", "\u0080", "\u009f", "\u061c", "\u200e", "\u200f", "\u2028",
        "\u2029", "\u202a", "\u202e", "\u2066", "\u2069"}) {
    CHECK(ControlLength(std::string(control) + "x") == control.size());
    CHECK(EscapeControls(control) != control);
    CHECK(Escape(control).find_first_not_of("\\ntrxu0123456789abcdef") == std::string::npos);
  }
  CHECK(ControlLength(std::string_view("\0", 1)) == 1);
  for (const std::string_view plain : {"x", " ", "\u00a0", "\u00e9", "\u061b", "\u200c", "\u200d",
                                       "\u2010", "\u202f", "\u2065", "\u206a", "\U0001f600"}) {
    CHECK(ControlLength(plain) == 0);
    CHECK(EscapeControls(plain) == plain);
  }
}

}  // namespace
}  // namespace nn::test::unicode_test
