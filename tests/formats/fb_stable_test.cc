#include "formats/common/flatbuffers/fb_stable.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <random>
#include <thread>

#include "base/file/file.h"
#include "formats/common/describe/dump.h"
#include "formats/common/describe/dump_writer.h"
#include "support/files.h"

// Files that another process modifies while they are read: checked contents do not change.
namespace nn::test::fb_stable_test {
namespace {

// Weights of 256 KiB, most of whose pages remain mapped from the file.
const char* const kModel = R"(graph "wide" {
  in %x: f32[1, 256]
  const %w: f32[256, 256] = seeded(1, 0.3)
  const %b: f32[256] = seeded(2)
  %h = matmul(%x, %w)
  %y = add(%h, %b)
  out "y" = %y
})";

// Overwrites a whole file without changing its size.
void Fill(const std::string& path, char byte) {
  const std::string bytes(ReadText(path).size(), byte);
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  REQUIRE(pwrite(fd, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
  close(fd);
}

std::string DumpOf(const ReadModel& model) {
  std::string text;
  DumpWriter out([&](std::string_view piece) { text += piece; }, {DumpWeights::kNone});
  REQUIRE(WriteDump(model, out).has_value());
  return text;
}

TEST_CASE("flatbuffers: the structure remains as verified, whatever happens to the file") {
  for (const std::string name : {"m.tflite", "m.nnapi"}) {
    CAPTURE(name);
    const TempDir dir;
    WriteModel(dir / name, kModel);
    const std::string bytes = ReadText(dir / name);
    const std::string want = DumpOf(ReadOrFail(dir / name));
    for (const char byte : {'\xFF', '\0', '\x7F', '\x01'}) {
      WriteText(dir / name, bytes);
      const ReadModel read = ReadOrFail(dir / name);
      Fill(dir / name, byte);
      CHECK(DumpOf(read) == want);
      const auto imported = read.format->importer.Import(*read.model);
      // The scalars of an NNAPI model are stored among its weights; their new values may be
      // refused.
      if (name == "m.nnapi" && !imported) {
        CHECK(imported.error().code() != ErrorCode::kInternal);
        continue;
      }
      REQUIRE_MESSAGE(imported.has_value(), imported.error().message());
      CHECK(imported->graph.nodes().size() >= 1);
    }
  }
}

TEST_CASE("flatbuffers: large payloads stay in the file, all else is copied") {
  const TempDir dir;
  std::string text(size_t{1} << 20, 'p');
  text.replace(0, 4, "head");
  text.replace(text.size() - 4, 4, "tail");
  WriteText(dir / "f", text);
  const auto file = ReadFile(dir / "f");
  REQUIRE(file.has_value());
  const std::vector<ByteRange> payloads = {{700'000, 300'000},      {100, 400'000},
                                           {200'000, 300'000},      {600'000, 10},
                                           {1'000'000, UINT64_MAX}, {UINT64_MAX, 2}};
  const auto stable = StableFlatbuffer::Make(*file, payloads);
  REQUIRE(stable.has_value());
  const auto at = [&](size_t i) { return static_cast<char>(stable->structure().data()[i]); };
  REQUIRE(stable->structure().size() == text.size());
  for (const size_t i : {0, 99, 550'000, 600'005, 699'999, 1'000'000, 1'048'575})
    CHECK(at(i) == text[i]);
  for (const size_t i : {8'192, 300'000, 450'000, 800'000}) CHECK(at(i) == 0);
  const Blob view = stable->View(stable->structure().data() + 200'000, 300'000);
  CHECK(static_cast<char>(view.data()[100'000]) == 'p');
  // Memory that no other process can change is not copied.
  const Blob own = Blob::Copy(file->bytes());
  CHECK(StableFlatbuffer::Make(own, payloads)->structure().data() == own.data());
}

TEST_CASE("files that are rewritten while they are read do no harm") {
  for (const std::string name : {"m.tflite", "m.nnapi", "m.onnx", "m.mlmodel"}) {
    CAPTURE(name);
    const TempDir dir;
    WriteModel(dir / name, kModel);
    const std::string bytes = ReadText(dir / name);
    std::atomic<bool> done = false;
    // Changes some bytes outside the weights, and restores them.
    std::thread writer([&] {
      std::mt19937 random(1);
      const int fd = open((dir / name).c_str(), O_WRONLY | O_CLOEXEC);
      while (!done) {
        const size_t at = random() % 2 == 0 ? random() % 2000 : bytes.size() - 1 - random() % 2000;
        const char byte = static_cast<char>(random());
        [[maybe_unused]] auto n = pwrite(fd, &byte, 1, static_cast<off_t>(at));
        n = pwrite(fd, &bytes[at], 1, static_cast<off_t>(at));
      }
      close(fd);
    });
    int sound = 0;
    for (int i = 0; i < 300; ++i) {
      const auto read = ReadModelFile(dir / name);
      if (!read) continue;
      (void)read->format->describer.Summarize(*read->model);
      (void)read->format->importer.Import(*read->model);
      ++sound;
    }
    done = true;
    writer.join();
    CHECK(sound > 0);
  }
}

}  // namespace
}  // namespace nn::test::fb_stable_test
