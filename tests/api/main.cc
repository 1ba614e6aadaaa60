// A separate test runner: the public library does not export the names that the other tests use.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
#include <stdlib.h>

#include "support.h"

namespace nnsuite::test {

TestFolder::TestFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "nnsuite-api-XXXXXX").string();
  REQUIRE(mkdtemp(name.data()) != nullptr);
  path_ = name;
}

}  // namespace nnsuite::test
