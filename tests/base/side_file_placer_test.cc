#include "base/file/side_file_placer.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/file/file.h"
#include "support/files.h"

// Side files never replace anything.
namespace nn::test::side_file_placer_test {
namespace {

namespace fs = std::filesystem;

Blob BlobOf(std::string_view text) {
  return Blob::Copy(std::as_bytes(std::span(text)));
}

TEST_CASE("side files: plain paths") {
  struct Row {
    std::string_view path;
    std::optional<std::string> plain;
  };
  for (const Row& r :
       {Row{"w", "w"}, Row{"./w", "w"}, Row{"a//./b", "a/b"}, Row{".hidden", ".hidden"},
        Row{"", {}}, Row{".", {}}, Row{"/w", {}}, Row{"a/", {}}, Row{"..", {}}, Row{"a/../w", {}},
        Row{std::string_view("a\0b", 3), {}}}) {
    CAPTURE(r.path);
    CHECK(PlainRelativePath(r.path) == r.plain);
    CHECK(IsPlainRelativePath(r.path) == (r.plain == r.path));
  }
}

TEST_CASE("side files: a name that follows from the contents") {
  const Blob a = BlobOf("a"), b = BlobOf("b");
  const auto name = [](std::string_view like, const Blob& bytes) {
    const std::span<const Blob> parts(&bytes, 1);
    return NameByContents(like, std::span(&parts, 1));
  };
  CHECK(name("w.bin", a) == name("w.bin", BlobOf("a")));
  CHECK(name("w.bin", a) != name("w.bin", b));
  CHECK(name("w.bin", a).starts_with("w-"));
  CHECK(name("w.bin", a).ends_with(".bin"));
  CHECK(name("w.bin", a).size() == 2 + 16 + 4);
  CHECK(name("x.y/w", a).starts_with("x.y/w-"));
  CHECK(name(".w", a).starts_with(".w-"));
}

TEST_CASE("side files: the state of a path") {
  const TempDir dir;
  fs::create_directories(dir / "m/sub");
  fs::create_directory(dir / "elsewhere");
  WriteText(dir / "m/same", "12");
  WriteText(dir / "m/other", "123");
  WriteText(dir / "m/twice", "12");
  fs::create_hard_link(dir / "m/twice", dir / "m/again");
  fs::create_symlink("same", dir / "m/link");
  fs::create_symlink("nosuch", dir / "m/dangling");
  fs::create_symlink("../elsewhere", dir / "m/out");
  REQUIRE(mkfifo((dir / "m/pipe").c_str(), 0600) == 0);
  const std::vector<Blob> contents = {BlobOf("1"), Blob(), BlobOf("2")};
  struct Row {
    const char* name;
    SidePathState place;
  };
  for (const Row& r : {Row{"free", SidePathState::kFree}, Row{"sub/free", SidePathState::kFree},
                       Row{"nosuch/free", SidePathState::kFree}, Row{"same", SidePathState::kSame},
                       Row{"other", SidePathState::kTaken}, Row{"twice", SidePathState::kTaken},
                       Row{"link", SidePathState::kTaken}, Row{"dangling", SidePathState::kTaken},
                       Row{"out/free", SidePathState::kTaken}, Row{"same/x", SidePathState::kTaken},
                       Row{"sub", SidePathState::kTaken}, Row{"pipe", SidePathState::kTaken}}) {
    CAPTURE(r.name);
    CHECK(CheckSidePath(dir / "m", r.name, contents).value() == r.place);
    // It is then moved into place.
    WriteText(dir / "staged", "12");
    {
      SideFilePlacer placer(dir / "m");
      CHECK(placer.Add(dir / "staged", r.name).value() == (r.place != SidePathState::kTaken));
      if (r.place != SidePathState::kTaken)
        CHECK(ReadText(dir / "m" + ("/" + std::string(r.name))) == "12");
    }
    CHECK(Listing(dir / "elsewhere").empty());
    CHECK(Listing(dir / "m") == "again\ndangling\nlink\nother\nout\npipe\nsame\nsub\ntwice\n");
    CHECK(Listing(dir / "m/sub").empty());
  }
  WriteText(dir / "staged", "12");
  SideFilePlacer placer(dir / "m");
  REQUIRE(placer.Add(dir / "staged", "a/b/c").value());
  placer.Keep();
  CHECK(ReadText(dir / "m/a/b/c") == "12");
}

}  // namespace
}  // namespace nn::test::side_file_placer_test
