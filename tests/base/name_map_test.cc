#include "base/text/name_map.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace nn::test::name_map_test {

TEST_CASE("name map: finds what was inserted, in order of insertion") {
  constexpr int kNames = 1000;
  std::vector<std::string> names;
  for (int i = 0; i < kNames; ++i) names.push_back("name" + std::to_string(i));
  NameMap<int> map;
  CHECK(map.find("name0") == map.end());
  for (int i = 0; i < kNames; ++i) map[names[static_cast<size_t>(i)]] = i;
  CHECK(map.size() == names.size());
  for (int i = 0; i < kNames; ++i) {
    const std::string copy = names[static_cast<size_t>(i)];
    REQUIRE(map.contains(copy));
    CHECK(map.find(copy)->second == i);
  }
  CHECK_FALSE(map.contains("name1000"));
  CHECK_FALSE(map.contains(""));
  int next = 0;
  for (const auto& [name, value] : map) {
    CHECK(name == names[static_cast<size_t>(next)]);
    CHECK(value == next++);
  }
}

TEST_CASE("name map: a name is inserted once") {
  NameMap<int> map;
  map.reserve(3);
  CHECK(map.try_emplace("a", 1).second);
  CHECK_FALSE(map.try_emplace("a", 2).second);
  CHECK(map["a"] == 1);
  map.insert_or_assign("a", 3);
  CHECK(map.find("a")->second == 3);
  CHECK(map[""] == 0);
  CHECK(map.size() == 2);
  NameSet set;
  CHECK(set.insert("a"));
  CHECK_FALSE(set.insert("a"));
  CHECK(set.contains("a"));
  CHECK_FALSE(set.contains("b"));
}

}  // namespace nn::test::name_map_test
