// A runner of its own: the public library has none of the names that the other tests use.
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
