#include "formats/common/edit/side_files.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "support/files.h"

namespace nn::test::side_files_test {
namespace {

TEST_CASE("side files: all together count against the limit, each once") {
  const TempDir dir;
  WriteText(dir / "a.bin", std::string(100, 'a'));
  WriteText(dir / "b.bin", std::string(100, 'b'));
  const SideFiles files(dir.path(), 250, 50);
  CHECK(files.Read("a.bin")->size() == 100);
  CHECK(files.Read("a.bin")->size() == 100);
  CHECK(files.Read("b.bin")->size() == 100);
  const SideFiles copy = files;
  CHECK(copy.Read("b.bin")->size() == 100);

  const SideFiles small(dir.path(), 249, 50);
  CHECK(small.Read("b.bin").has_value());
  const auto refused = small.Read("a.bin");
  REQUIRE(!refused.has_value());
  CHECK(refused.error().code() == ErrorCode::kLimit);
  CHECK(refused.error().message() ==
        "external file \"a.bin\": it and the model's other files exceed the limit (max-file-bytes) "
        "of 249 bytes");
  CHECK(small.Read("b.bin").has_value());
}

TEST_CASE("side files: copies know the names of what was read") {
  const TempDir dir;
  WriteText(dir / "b.bin", std::string(100, 'b'));
  WriteText(dir / "a.bin", "");
  const SideFiles files(dir.path(), 250, 50);
  const SideFiles copy = files;
  CHECK_FALSE(files.Read("nosuch.bin").has_value());
  CHECK(copy.Names().empty());
  REQUIRE(files.Read("b.bin").has_value());
  REQUIRE(files.Read("a.bin").has_value());
  CHECK(copy.Names() == std::vector<std::string>{"a.bin", "b.bin"});
  copy.Count("tensors.npz", 50);
  CHECK(files.Names() == std::vector<std::string>{"a.bin", "b.bin", "tensors.npz"});
  WriteText(dir / "c.bin", std::string(51, 'c'));
  CHECK(files.Read("c.bin").error().code() == ErrorCode::kLimit);
}

TEST_CASE("side files: each read sees the file as it is") {
  const TempDir dir;
  const SideFiles files(dir.path(), 100, 0);
  CHECK(files.Read("a.bin").error().code() == ErrorCode::kIo);
  CHECK(files.Read("../a.bin").error().code() == ErrorCode::kModel);
  WriteText(dir / "a.bin", std::string(60, 'a'));
  CHECK(files.Read("a.bin")->size() == 60);
  WriteText(dir / "a.bin", std::string(100, 'a'));
  CHECK(files.Read("a.bin")->size() == 100);
  std::filesystem::remove(dir / "a.bin");
  CHECK_FALSE(files.Read("a.bin").has_value());
}

}  // namespace
}  // namespace nn::test::side_files_test
