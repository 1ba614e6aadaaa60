// The files of a model and their digests.
#include "base/file/model_files.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <vector>

#include "support/files.h"

namespace nn::test::model_files_test {
namespace {

// sha256sum of "abc".
const std::string kAbc = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
const std::string kNothing =
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

TEST_CASE("model files: digests of a file, of files beside it and of a folder") {
  const TempDir dir;
  std::filesystem::create_directories(dir / "m/sub");
  WriteText(dir / "m/b", "abc");
  WriteText(dir / "m/sub/c", "");
  WriteText(dir / "m/a", "abc");
  const auto file = DigestModel(dir / "m/b");
  REQUIRE(file.has_value());
  CHECK(*file == std::vector<FileDigest>{{"b", 3, kAbc}});
  const auto beside = DigestBeside(dir / "m/b", std::vector<std::string>{"sub/c", "a"});
  REQUIRE(beside.has_value());
  CHECK(*beside == std::vector<FileDigest>{{"sub/c", 0, kNothing}, {"a", 3, kAbc}});
  const auto folder = DigestModel(dir / "m");
  REQUIRE(folder.has_value());
  CHECK(*folder == std::vector<FileDigest>{{"a", 3, kAbc}, {"b", 3, kAbc}, {"sub/c", 0, kNothing}});
}

TEST_CASE("model files: files that cannot be read again have no digest") {
  const TempDir dir;
  REQUIRE(mkfifo((dir / "pipe").c_str(), 0600) == 0);
  for (const std::string& path : {std::string("-"), dir / "pipe", std::string("/dev/null")}) {
    const auto none = DigestModel(path);
    REQUIRE(none.has_value());
    CHECK(none->empty());
  }
  CHECK(DigestBeside(dir / "m", std::vector<std::string>{"nosuch"}).error().code() ==
        ErrorCode::kIo);
}

TEST_CASE("model files: more than one piece of a large file") {
  const TempDir dir;
  WriteText(dir / "large", "");
  std::filesystem::resize_file(dir / "large", (uint64_t{16} << 20) + 1);
  const auto file = DigestModel(dir / "large");
  REQUIRE(file.has_value());
  CHECK(file->at(0).bytes == (uint64_t{16} << 20) + 1);
  CHECK(file->at(0).digest ==
        "sha256:1003b1b5dc078189799a1216ce0f9fbcebb94e8b6b83c58c4b03345f07f94ced");
}

}  // namespace
}  // namespace nn::test::model_files_test
