#include "base/shared.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>

#include "base/inline_vector.h"

namespace nn::test::shared_test {

TEST_CASE("shared: the last copy frees the value") {
  const auto counted = std::make_shared<int>(7);
  Shared<std::shared_ptr<int>> a(counted);
  CHECK(counted.use_count() == 2);
  Shared<std::shared_ptr<int>> b = a;
  CHECK(a == b);
  CHECK(**b == 7);
  Shared<std::shared_ptr<int>> c = std::move(a);
  CHECK(c == b);
  b.reset();
  CHECK_FALSE(b);
  CHECK(b.get() == nullptr);
  CHECK(counted.use_count() == 2);
  c = Shared<std::shared_ptr<int>>();
  CHECK(counted.use_count() == 1);
}

TEST_CASE("shared string: keeps its characters, zero bytes included") {
  const SharedString none;
  CHECK(none.empty());
  CHECK(none.view().empty());
  CHECK(SharedString("").empty());
  std::string text("a\0b", 3);
  const SharedString a(text);
  const SharedString b = a;
  text = "other";
  CHECK(b.view() == std::string_view("a\0b", 3));
  CHECK(b.view().data() == a.view().data());
}

TEST_CASE("inline vector: grows beyond its inline elements") {
  InlineVector<int, 2> v;
  CHECK(v.empty());
  for (int i = 0; i < 10; ++i) {
    v.push_back(i);
    CHECK(v.size() == static_cast<size_t>(i) + 1);
    for (int k = 0; k <= i; ++k) CHECK(v[static_cast<size_t>(k)] == k);
  }
  v.assign(3, 5);
  CHECK(v.size() == 3);
  for (const int x : v) CHECK(x == 5);
  v.assign(0, 0);
  CHECK(v.empty());
}

}  // namespace nn::test::shared_test
