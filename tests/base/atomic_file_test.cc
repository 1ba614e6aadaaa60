#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "base/file/file.h"
#include "support/files.h"

namespace nn::test::atomic_file_test {
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

TEST_CASE("threads that write files leave the mask of new files as it is") {
  const TempDir dir;
  const mode_t mask = umask(022);
  std::array<bool, 4> written{};
  std::vector<std::thread> threads;
  for (size_t t = 0; t < written.size(); ++t)
    threads.emplace_back([&, t] {
      written[t] = true;
      for (int i = 0; i < 100; ++i) {
        const std::string path = dir / (std::to_string(t) + "." + std::to_string(i));
        written[t] = WriteFile(path, "text").has_value() && written[t];
      }
    });
  for (std::thread& t : threads) t.join();
  CHECK(umask(mask) == 022);
  for (const bool w : written) CHECK(w);
  for (const auto& entry : fs::directory_iterator(dir.path()))
    CHECK(entry.status().permissions() == fs::perms(0644));
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

TEST_CASE("a named pipe is read to its end, and not waited for without a writer") {
  const TempDir dir;
  REQUIRE(mkfifo((dir / "pipe").c_str(), 0600) == 0);
  const auto lonely = ReadFile(dir / "pipe");
  REQUIRE(!lonely.has_value());
  CHECK(lonely.error().code() == ErrorCode::kIo);
  CHECK(lonely.error().message().find("no program writes to this pipe") != std::string::npos);
  // The writer opens the pipe later, and is slow.
  std::thread writer([&] {
    usleep(200'000);
    const int fd = open((dir / "pipe").c_str(), O_WRONLY | O_CLOEXEC);
    for (const char c : {'a', 'b', 'c'}) {
      if (write(fd, &c, 1) != 1) break;
      usleep(100'000);
    }
    close(fd);
  });
  const auto read = ReadFile(dir / "pipe");
  writer.join();
  REQUIRE(read.has_value());
  CHECK(std::string_view(reinterpret_cast<const char*>(read->data()), read->size()) == "abc");
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

TEST_CASE("mode and owner of a replaced file are kept") {
  const TempDir dir;
  WriteText(dir / "x", "old");
  fs::permissions(dir / "x", fs::perms(0640));
  if (geteuid() == 0) REQUIRE(chown((dir / "x").c_str(), 12345, 54321) == 0);
  const uid_t owner = geteuid() == 0 ? 12345 : geteuid();
  REQUIRE(WriteFile(dir / "x", "new").has_value());
  struct stat st {};
  REQUIRE(stat((dir / "x").c_str(), &st) == 0);
  CHECK(ReadText(dir / "x") == "new");
  CHECK((st.st_mode & 07777) == 0640);
  CHECK(st.st_uid == owner);
}

TEST_CASE("staging files of dead processes are removed, and nothing else") {
  const TempDir dir;
  const std::string prefix(kStagingPrefix);
  const std::string left = dir / (prefix + "abcdefghijklmnop");
  const std::string locked = dir / (prefix + "bbbbbbbbbbbbbbbb");
  for (const char* name : {"short", "abcdefghijklmnopq"}) WriteText(dir / (prefix + name), "");
  fs::create_directories(left + "/m/deep");
  WriteText(left + "/m/deep/w", "left");
  fs::create_directory(locked);
  fs::create_symlink("/etc", dir / (prefix + "cccccccccccccccc"));
  const int lock = open(locked.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  REQUIRE(flock(lock, LOCK_EX) == 0);
  REQUIRE(WriteFile(dir / "x", "new").has_value());
  close(lock);
  CHECK(Listing(dir.path()) == prefix + "abcdefghijklmnopq\n" + prefix + "bbbbbbbbbbbbbbbb\n" +
                                   prefix + "cccccccccccccccc\n" + prefix + "short\nx\n");
}

TEST_CASE("staging has no name, or is locked and removed") {
  const TempDir dir;
  {
    auto folder = StagingFolder::Create(dir.path());
    REQUIRE(folder.has_value());
    WriteText(folder->path() + "/a", "x");
    CHECK(folder->path().starts_with(dir / std::string(kStagingPrefix)));
    const int other = open(folder->path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK(flock(other, LOCK_EX | LOCK_NB) == -1);
    close(other);
  }
  CHECK(Listing(dir.path()).empty());
  auto file = CreateStagingFile(dir.path());
  REQUIRE(file.has_value());
  if (file->name.empty())
    CHECK(Listing(dir.path()).empty());
  else
    unlink(file->name.path().c_str());
}

TEST_CASE("staging of a process that a signal ends is removed") {
  const TempDir dir;
  auto folder = StagingFolder::Create(dir.path());
  REQUIRE(folder.has_value());
  fs::create_directories(folder->path() + "/a/b");
  WriteText(folder->path() + "/a/b/c", "x");
  WriteText(dir / "kept", "x");
  const pid_t child = fork();
  if (child == 0) {  // as in a handler: the process ends and releases its locks
    RemoveStaging();
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(Listing(dir.path()) == "kept\n");
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
}  // namespace nn::test::atomic_file_test
