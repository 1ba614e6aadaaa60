#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>

#include "apps/faults.h"
#include "apps/program.h"
#include "support/files.h"
#include "support/paths.h"

// The behavior of the programs when system calls fail.
namespace nn::test::process_test {
namespace {

// A shell command in which "$bin" is the folder of the programs: its exit code, and what "err" in
// the folder `dir` has.
ProgramResult Shell(const TempDir& dir, const std::string& line) {
  const std::string command =
      fmt::format("cd '{}' && bin='{}' && {{ {}; }} 2>err", dir.path(), BinDir(), line);
  const int status = std::system(command.c_str());
  REQUIRE(WIFEXITED(status));
  return {WEXITSTATUS(status), "", ReadText(dir / "err")};
}

constexpr const char* kCommands[] = {
    "$bin/nninspect m.onnx",      "$bin/nninspect --dump m.onnx",      "$bin/nnvalidate m.onnx",
    "$bin/nnrun m.onnx --digest", "$bin/nnconvert m.onnx - --to onnx", "$bin/nnrun --help"};

TEST_CASE("standard output that is closed, broken or full is an error") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", ConvModel());
  for (const std::string command : kCommands) {
    CAPTURE(command);
    ProgramResult r = Shell(dir, command + " <&- >&-");
    CHECK(r.code == 2);
    CHECK_MESSAGE(Contains(r.err, "error: standard output: is closed"), r.err);
    r = Shell(dir, command + " >/dev/full");
    CHECK(r.code == 2);
    CHECK_MESSAGE(Contains(r.err, "error: standard output: No space left"), r.err);
    r = Shell(dir,
              "{ sleep 0.2; " + command + "; echo $? >code; } | true; read code <code; exit $code");
    CHECK(r.code == 2);
    CHECK_MESSAGE(Contains(r.err, "error: standard output: Broken pipe"), r.err);
  }
}

TEST_CASE("nnconvert: a report that cannot be printed leaves no new file") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", ConvModel());
  WriteText(dir / "before.onnx", "old");
  for (const std::string options :
       {"", "--external-data w.bin --external-threshold 0", "--report r.md", "--attest a.json"}) {
    CAPTURE(options);
    CHECK(Shell(dir, "$bin/nnconvert " + options + " m.onnx new.onnx >/dev/full").code == 2);
    for (const char* name : {"new.onnx", "w.bin", "r.md", "a.json"}) CHECK(!Exists(dir / name));
  }
  // What replaced another file stays: that one is gone.
  CHECK(Shell(dir, "$bin/nnconvert m.onnx before.onnx >/dev/full").code == 2);
  CHECK(ReadText(dir / "before.onnx") == ReadText(dir / "m.onnx"));
  CHECK(Shell(dir, "$bin/nnconvert -q m.onnx new.onnx >/dev/full").code == 0);
  CHECK(Exists(dir / "new.onnx"));
}

TEST_CASE("files are written where standard files are closed") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", ConvModel());
  REQUIRE(Shell(dir, "$bin/nninspect --dump m.onnx >want.json").code == 0);
  for (const std::string closed : {"<&- >&-", "<&-", "<&- >&- 2>&-"}) {
    CAPTURE(closed);
    CHECK(Shell(dir, "$bin/nninspect --dump m.onnx -o out.json " + closed).code == 0);
    CHECK(ReadText(dir / "out.json") == ReadText(dir / "want.json"));
    CHECK(Shell(dir, "$bin/nnconvert -q m.onnx c.onnx " + closed).code == 0);
    CHECK(ReadText(dir / "c.onnx") == ReadText(dir / "m.onnx"));
  }
  CHECK(Shell(dir, "$bin/nninspect - <&-").code == 2);
}

TEST_CASE("a limit of file sizes is an error of writing") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", R"(graph {
    in %x: f32[1, 16, 8, 8]
    const %w: f32[32, 16, 3, 3] = seeded(1, 0.3)
    %y = conv(%x, %w)
    out "y" = %y
  })");
  const std::pair<std::string, std::string> cases[] = {
      {"c.onnx", "c.onnx: File too large"},
      {"c.tflite", "c.tflite: File too large"},
      {"c.mlpackage", "c.mlpackage/Data/com.apple.CoreML/"},
      {"c.onnx --external-data w", "error: w: File too large"},
      {"c.json --weights w.npz", "error: w.npz: "},
      {"c.json --weights w.safetensors", "error: w.safetensors: File too large"},
  };
  for (const auto& [out, named] : cases) {
    const ProgramResult r = Shell(dir, "ulimit -f 8; $bin/nnconvert m.onnx " + out);
    CHECK(r.code == 2);
    CHECK_MESSAGE(Contains(r.err, named), r.err);
    CHECK_MESSAGE(Contains(r.err, "File too large"), r.err);
    CHECK_MESSAGE(!Contains(r.err, ".nn-staging-"), r.err);
    CHECK(Listing(dir.path()) == "err\nm.onnx\n");
  }
}

// A model of 16 MiB, much more than the capacity of a pipe.
void WriteLargeModel(const std::string& path) {
  WriteModel(path, R"(graph {
    in %x: f32[1, 2048]
    const %w: f32[2048, 2048] = seeded(1, 0.3)
    %y = matmul(%x, %w)
    out "y" = %y
  })");
}

TEST_CASE("a file that becomes shorter while it is read is named") {
  for (const std::string name : {"m.onnx", "m.tflite"}) {
    CAPTURE(name);
    const TempDir dir;
    WriteLargeModel(dir / name);
    REQUIRE(mkfifo((dir / "pipe").c_str(), 0600) == 0);
    // The program waits until its output is read.
    const std::string line =
        fmt::format("cd '{}' && {{ '{}'/nninspect --dump {} >pipe 2>err; echo $? >code; }} &",
                    dir.path(), BinDir(), name);
    REQUIRE(std::system(line.c_str()) == 0);
    const int reader = open((dir / "pipe").c_str(), O_RDONLY | O_CLOEXEC);
    REQUIRE(reader >= 0);
    std::vector<char> buffer(4096);
    REQUIRE(read(reader, buffer.data(), buffer.size()) > 0);
    REQUIRE(truncate((dir / name).c_str(), 5000) == 0);
    while (read(reader, buffer.data(), buffer.size()) > 0) {
    }
    close(reader);
    for (int i = 0; i < 600 && !(Exists(dir / "code") && !ReadText(dir / "code").empty()); ++i)
      usleep(50'000);
    CHECK(ReadText(dir / "code") == "2\n");
    CHECK_MESSAGE(Contains(ReadText(dir / "err"), "error: " + name + ": the file was truncated"),
                  ReadText(dir / "err"));
  }
}

TEST_CASE("Ctrl-C ends a program in the middle of its work") {
  const TempDir dir;
  std::filesystem::create_directory(dir / "work");
  // A thousand runs take many times as long as the wait.
  WriteModel(dir / "m.onnx", R"(graph {
    in %x: f32[64, 2048]
    const %w: f32[2048, 2048] = seeded(1, 0.3)
    %y = matmul(%x, %w)
    out "y" = %y
  })");
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    const pid_t child = Start({"nnconvert", "../m.onnx", "c.tflite", "--external-threshold", "1",
                               "--verify-runs", "1000"},
                              dir / "work");
    usleep(300'000);
    const auto begin = std::chrono::steady_clock::now();
    kill(child, number);
    const Ending e = Wait(child, dir / "work");
    CHECK(e.signal == number);
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(10));
    CHECK(Listing(dir / "work").empty());
  }
}

}  // namespace
}  // namespace nn::test::process_test
