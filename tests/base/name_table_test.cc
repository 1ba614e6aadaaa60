#include "base/text/name_table.h"

#include <doctest/doctest.h>

#include "support/hang.h"

namespace nn::test::name_table_test {
namespace {

TEST_CASE("names: each is new, the first free number is taken") {
  NameTable names;
  CHECK(names.Claim("a_2"));
  CHECK_FALSE(names.Claim("a_2"));
  CHECK(names.New("a") == "a");
  CHECK(names.New("a") == "a_1");
  CHECK(names.New("a") == "a_3");
  CHECK(names.New("a_1") == "a_1_1");
  CHECK(names.Has("a_3"));
  CHECK_FALSE(names.Has("a_4"));
}

TEST_CASE("names: many of one hint take linear time") {
  CheckEnds([] {
    NameTable names;
    for (int i = 0; i < 200'000; ++i) names.New("value");
    CHECK(names.New("value") == "value_200000");
  });
}

}  // namespace
}  // namespace nn::test::name_table_test
