#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <thread>

#include "base/file.h"
#include "support/files.h"

namespace nn::test {
namespace {

namespace fs = std::filesystem;

TEST_CASE("a file appears when it is committed, and not before") {
  const TempDir dir;
  WriteText(dir / "x", "old");
  auto file = AtomicFile::Create(dir / "x");
  REQUIRE(file.has_value());
  file->Write("new");
  CHECK(ReadText(dir / "x") == "old");
  CHECK(ReadText(file->temporary_path()) == "new");
  CHECK(file->size() == 3);
  REQUIRE(file->Commit().has_value());
  CHECK(ReadText(dir / "x") == "new");
  CHECK(Listing(dir.path()) == "x\n");
}

TEST_CASE("a file that is not committed leaves nothing") {
  const TempDir dir;
  WriteText(dir / "x", "old");
  {
    auto file = AtomicFile::Create(dir / "x");
    REQUIRE(file.has_value());
    file->Write("new");
  }
  CHECK(ReadText(dir / "x") == "old");
  CHECK(Listing(dir.path()) == "x\n");
}

TEST_CASE("files are written in parts, and are as readable as any other") {
  const TempDir dir;
  const auto blob = [](std::string_view s) { return Blob::Copy(std::as_bytes(std::span(s))); };
  const std::vector<Blob> parts = {blob("one "), Blob(), blob("two")};
  REQUIRE(WriteFile(dir / "x", parts).has_value());
  CHECK(ReadText(dir / "x") == "one two");
  const mode_t mask = umask(022);
  REQUIRE(WriteFile(dir / "y", "text").has_value());
  umask(mask);
  CHECK(fs::status(dir / "y").permissions() == fs::perms(0644));
}

TEST_CASE("parts of a large mapped file are copied as they are") {
  const TempDir dir;
  std::string text(size_t{17} << 20, 0);
  for (size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 2654435761u >> 13);
  WriteText(dir / "from", text);
  const auto blob = ReadFile(dir / "from");
  REQUIRE(blob.has_value());
  const std::vector<Blob> parts = {blob->Slice(3, 5), blob->Slice(4097, size_t{9} << 20),
                                   Blob::Copy(blob->Slice(0, 100).bytes()),
                                   blob->Slice(text.size() - 100'001, 100'001)};
  REQUIRE(WriteFile(dir / "to", parts).has_value());
  const std::string want = text.substr(3, 5) + text.substr(4097, size_t{9} << 20) +
                           text.substr(0, 100) + text.substr(text.size() - 100'001);
  CHECK(ReadText(dir / "to") == want);
  // Over the file itself.
  REQUIRE(WriteFile(dir / "from", parts).has_value());
  CHECK(ReadText(dir / "from") == want);
  // To a pipe, which takes bytes in order only.
  REQUIRE(mkfifo((dir / "pipe").c_str(), 0600) == 0);
  std::string piped;
  std::thread reader([&] { piped = ReadText(dir / "pipe"); });
  const Status written = WriteFile(dir / "pipe", parts);
  reader.join();
  CHECK(written.has_value());
  CHECK(piped == want);
}

TEST_CASE("a symbolic link is followed, not replaced") {
  const TempDir dir;
  fs::create_directory(dir / "inner");
  WriteText(dir / "inner/real", "old");
  fs::create_symlink("inner/real", dir / "link");
  CHECK(ReplaceableFile(dir / "link") == fs::canonical(dir / "inner/real"));
  REQUIRE(WriteFile(dir / "link", "new").has_value());
  CHECK(fs::is_symlink(dir / "link"));
  CHECK(ReadText(dir / "inner/real") == "new");
  CHECK(Listing(dir / "inner") == "real\n");
}

TEST_CASE("pipes and devices are written to, never replaced") {
  const TempDir dir;
  REQUIRE(mkfifo((dir / "pipe").c_str(), 0600) == 0);
  const int reader = open((dir / "pipe").c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
  REQUIRE(reader >= 0);
  CHECK(!ReplaceableFile(dir / "pipe"));
  REQUIRE(WriteFile(dir / "pipe", "through").has_value());
  std::array<char, 16> buffer;
  CHECK(read(reader, buffer.data(), buffer.size()) == 7);
  CHECK(std::string_view(buffer.data(), 7) == "through");
  close(reader);
  CHECK(fs::is_fifo(dir / "pipe"));
  CHECK(Listing(dir.path()) == "pipe\n");
  CHECK(!ReplaceableFile("/dev/null"));
  CHECK(!ReplaceableFile("-"));
}

TEST_CASE("folders and places that do not exist are refused with the path") {
  const TempDir dir;
  for (const std::string& path : {dir.path(), dir / "none/x"}) {
    const auto status = WriteFile(path, "text");
    REQUIRE(!status.has_value());
    CHECK(status.error().code() == ErrorCode::kIo);
    CHECK(status.error().message().starts_with(path + ": "));
  }
  CHECK(Listing(dir.path()).empty());
}

}  // namespace
}  // namespace nn::test
