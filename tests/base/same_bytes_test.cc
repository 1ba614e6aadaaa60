#include "base/file/same_bytes.h"

#include <doctest/doctest.h>

#include <span>
#include <string_view>
#include <vector>

namespace nn::test::same_bytes_test {
namespace {

std::vector<Blob> Parts(const std::vector<std::string_view>& texts) {
  std::vector<Blob> parts;
  for (const std::string_view text : texts)
    parts.push_back(Blob::Copy(std::as_bytes(std::span(text))));
  return parts;
}

TEST_CASE("HaveSameBytes does not depend on the parts") {
  const std::vector<Blob> whole = Parts({"abcdef"});
  for (const auto& parts : {Parts({"abc", "def"}), Parts({"", "a", "", "bcdef", ""})}) {
    CHECK(HaveSameBytes(whole, parts));
    CHECK(HaveSameBytes(parts, whole));
  }
  for (const auto& parts :
       {Parts({}), Parts({"abc", "de"}), Parts({"abcdef", "g"}), Parts({"abc", "xef"})}) {
    CHECK_FALSE(HaveSameBytes(whole, parts));
    CHECK_FALSE(HaveSameBytes(parts, whole));
  }
  CHECK(HaveSameBytes({}, Parts({""})));
}

}  // namespace
}  // namespace nn::test::same_bytes_test
