#include "base/text/table.h"

#include <doctest/doctest.h>

namespace nn::test::table_test {
namespace {

TEST_CASE("tables: columns are aligned by characters, empty ones left out") {
  Table t({{"name"}, {"empty"}, {"count", Align::kRight}, {""}});
  t.Add({"a", "", "1", "x"});
  t.Add({"n\xC3\xA9\xC3\xA9n", "", "1000", ""});
  CHECK(t.Text(1) ==
        " name  count\n"
        " a         1  x\n"
        " n\xC3\xA9\xC3\xA9n   1000\n");
  CHECK(Table({{"a"}, {"b"}}).Text() == "a  b\n");
}

}  // namespace
}  // namespace nn::test::table_test
