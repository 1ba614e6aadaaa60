// RealFromChars() reads what std::from_chars reads.
#include "base/text/from_chars.h"

#include <doctest/doctest.h>

#include <bit>
#include <cstdint>
#include <string>

namespace nn::test::from_chars_test {
namespace {

template <typename T>
void Compare(const std::string& text) {
  CAPTURE(text);
  const char* const first = text.data();
  const char* const last = first + text.size();
  T got = -7, want = -7;
  const auto a = RealFromChars(first, last, got);
  const auto b = std::from_chars(first, last, want);
  CHECK(a.ptr - first == b.ptr - first);
  CHECK((a.ec == b.ec));
  using U = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  if (!std::isnan(want)) CHECK(std::bit_cast<U>(got) == std::bit_cast<U>(want));
  CHECK(std::isnan(got) == std::isnan(want));
}

TEST_CASE("from_chars: real numbers by strtod") {
  for (const char* text : {"0",
                           "-0",
                           "1",
                           "-1.5",
                           "0.1",
                           ".5",
                           "5.",
                           "1e3",
                           "1e+3",
                           "1E-3",
                           "1e",
                           "1e+",
                           "+1",
                           " 1",
                           "\t1",
                           "",
                           "-",
                           ".",
                           "e5",
                           "x",
                           "0x10",
                           "1x",
                           "-0x1p3",
                           "inf",
                           "-inf",
                           "INFINITY",
                           "infi",
                           "nan",
                           "-NaN",
                           "1 ",
                           "1,5",
                           "1e400",
                           "-1e400",
                           "1e-400",
                           "3.4028235e38",
                           "3.5e38",
                           "1e-40",
                           "1e-46",
                           "4.9e-324",
                           "2e-324",
                           "2.2250738585072011e-308",
                           "16777217",
                           "9007199254740993",
                           "0.30000001192092896",
                           "123456789012345678901234567890",
                           "1.7976931348623157e308"}) {
    Compare<float>(text);
    Compare<double>(text);
  }
}

}  // namespace
}  // namespace nn::test::from_chars_test
