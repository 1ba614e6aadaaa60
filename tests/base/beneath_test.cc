#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "base/file/file.h"
#include "support/files.h"

// Files that a model names are opened only beneath its folder.
namespace nn::test::beneath_test {
namespace {

namespace fs = std::filesystem;

std::string TextOf(const Blob& blob) {
  return {reinterpret_cast<const char*>(blob.data()), blob.size()};
}

TEST_CASE("external files: files beneath the folder are read") {
  const TempDir dir;
  fs::create_directories(dir / "model/sub");
  WriteText(dir / "model/a", "plain");
  WriteText(dir / "model/sub/b", "deeper");
  fs::create_symlink("sub/b", dir / "model/link");
  fs::create_symlink("../a", dir / "model/sub/up");
  for (const auto& [name, text] : {std::pair{"a", "plain"},
                                   {"./a", "plain"},
                                   {"sub/b", "deeper"},
                                   {"link", "deeper"},
                                   {"sub/up", "plain"}}) {
    const auto file = ReadFileBeneath(dir / "model", name);
    REQUIRE_MESSAGE(file.has_value(), file.error().message());
    CHECK(TextOf(*file) == text);
  }
}

TEST_CASE("external files: everything else is refused") {
  const TempDir dir;
  fs::create_directories(dir / "model/sub");
  WriteText(dir / "secret", "secret");
  WriteText(dir / "model/original", "twice");
  fs::create_symlink("../secret", dir / "model/out");
  fs::create_symlink(dir / "secret", dir / "model/absolute");
  fs::create_symlink("..", dir / "model/parent");
  fs::create_symlink("loop", dir / "model/loop");
  fs::create_symlink("/dev/zero", dir / "model/zero");
  fs::create_hard_link(dir / "secret", dir / "model/hard");
  REQUIRE(mkfifo((dir / "model/pipe").c_str(), 0600) == 0);
  struct Row {
    std::string name;
    ErrorCode code;
    const char* message;
  };
  for (const Row& r : {
           Row{"../secret", ErrorCode::kModel, "must not contain \"..\""},
           Row{"sub/../../secret", ErrorCode::kModel, "must not contain \"..\""},
           Row{"sub/../original", ErrorCode::kModel, "must not contain \"..\""},
           Row{dir / "secret", ErrorCode::kModel, "absolute"},
           Row{"/dev/zero", ErrorCode::kModel, "absolute"},
           Row{"out", ErrorCode::kModel, "symbolic link"},
           Row{"absolute", ErrorCode::kModel, "symbolic link"},
           Row{"parent/secret", ErrorCode::kModel, "symbolic link"},
           Row{"loop", ErrorCode::kModel, "symbolic link"},
           Row{"zero", ErrorCode::kModel, "symbolic link"},
           Row{"hard", ErrorCode::kModel, "hard link"},
           Row{"pipe", ErrorCode::kModel, "not a regular file"},
           Row{"sub", ErrorCode::kModel, "not a regular file"},
           Row{".", ErrorCode::kModel, "not a regular file"},
           Row{"", ErrorCode::kModel, "not a valid file name"},
           Row{std::string("original\0x", 10), ErrorCode::kModel, "not a valid file name"},
           Row{"nosuch", ErrorCode::kIo, "No such file"},
           Row{"original/x", ErrorCode::kIo, "Not a directory"},
           Row{std::string(5000, 'x'), ErrorCode::kIo, "too long"},
       }) {
    CAPTURE(r.name.substr(0, 100));
    const auto file = ReadFileBeneath(dir / "model", r.name);
    REQUIRE_FALSE(file.has_value());
    CHECK(file.error().code() == r.code);
    CHECK_MESSAGE(file.error().message().find(r.message) != std::string::npos,
                  file.error().message());
  }
  CHECK(ReadFileBeneath(dir / "model", "original", 4).error().code() == ErrorCode::kLimit);
}

TEST_CASE("external files: another file put in its place later is not what was read") {
  const TempDir dir;
  WriteText(dir / "a", "checked");
  const auto file = ReadFileBeneath(dir.path(), "a");
  REQUIRE(file.has_value());
  WriteText(dir / "b", "swapped and longer");
  fs::rename(dir / "b", dir / "a");
  CHECK(TextOf(*file) == "checked");
}

}  // namespace
}  // namespace nn::test::beneath_test
