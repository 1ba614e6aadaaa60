#include <doctest/doctest.h>
#include <fmt/format.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <thread>

#include "apps/faults.h"
#include "apps/program.h"
#include "base/file/staging.h"
#include "support/files.h"
#include "support/paths.h"
#include "support/sanitizer.h"
#include "support/skip.h"

// Output is written completely or not at all, whatever fails and whenever a program ends.
// NN_FAULTS=all tests all calls instead of a sample (scripts/faults).
namespace nn::test::faults_test {
namespace {

namespace fs = std::filesystem;
using std::chrono::microseconds;

bool TriesAll() {
  const char* wanted = std::getenv("NN_FAULTS");
  return wanted != nullptr && std::string_view(wanted) == "all";
}

// Weights of 18 KiB, which depend on the seed.
std::string Model(int seed) {
  return fmt::format(R"(graph "m{0}" {{
    in %x: f32[1, 16, 8, 8]
    const %w: f32[32, 16, 3, 3] = seeded({0}, 0.3)
    %y = conv(%x, %w) {{pads = [1, 1, 1, 1]}} "c"
    out "y" = %y
  }})",
                     seed);
}

// A command that is run in a folder "work", which may contain an older result.
struct Scenario {
  const char* name;
  std::vector<std::string> command;
  std::vector<std::string> before;  // creates the older result; "": none
};

std::vector<Scenario> Scenarios() {
  return {
      {"a file", {"nnconvert", "../new.onnx", "m.onnx"}, {"nnconvert", "../old.onnx", "m.onnx"}},
      {"a file and weights",
       {"nnconvert", "../new.onnx", "m.onnx", "--external-data", "w.bin"},
       {"nnconvert", "../old.onnx", "m.onnx", "--external-data", "w.bin"}},
      {"a new file and weights",
       {"nnconvert", "../new.onnx", "m.onnx", "--external-data", "sub/w.bin"},
       {}},
      {"a verified file",
       {"nnconvert", "../new.onnx", "m.tflite"},
       {"nnconvert", "../old.onnx", "m.tflite"}},
      {"a folder",
       {"nnconvert", "../new.onnx", "m.mlpackage", "--no-verify"},
       {"nnconvert", "../old.onnx", "m.mlpackage", "--no-verify"}},
      {"a dump and tensors", {"nnconvert", "../new.onnx", "m.json", "--weights", "w.npz"}, {}},
      {"arrays",
       {"nnrun", "../new.onnx", "--output", "y.npz"},
       {"nnrun", "../old.onnx", "--output", "y.npz"}},
  };
}

class Stage {
 public:
  explicit Stage(const Scenario& scenario) : scenario_(scenario) {
    WriteModel(dir_ / "old.onnx", Model(1));
    WriteModel(dir_ / "new.onnx", Model(2));
    Reset();
    before_ = FilesIn(work());
    Finish();
    after_ = FilesIn(work());
  }

  std::string work() const { return dir_ / "work"; }
  const std::vector<std::string>& command() const { return scenario_.command; }

  // The state before the command.
  void Reset() {
    fs::remove_all(work());
    fs::create_directory(work());
    if (before_.empty() && !scenario_.before.empty()) Run(scenario_.before);
    for (const auto& [name, text] : before_) {
      const fs::path path = fs::path(work()) / name;
      if (name.ends_with('/'))
        fs::create_directories(path);
      else
        WriteText(path.string(), text);
    }
  }
  // The command, without a fault.
  void Finish() { Run(command()); }

  bool IsBefore() const { return FilesIn(work()) == before_; }
  bool IsAfter() const { return FilesIn(work()) == after_; }
  // Except for staging files, which could not be removed.
  bool IsBeforeOrAfter() const {
    const Files files = WithoutStaging();
    return files == before_ || files == after_;
  }
  // After a killed run: the old result or the new one, and staging files that the next run removes.
  // Side files may exist before the file that names them.
  bool IsSound() const {
    const Files files = WithoutStaging();
    if (files == before_ || files == after_) return true;
    for (const auto& [name, text] : files)
      if (!after_.contains(name) || after_.at(name) != text)
        if (!before_.contains(name) || before_.at(name) != text) return false;
    for (const auto& [name, text] : before_)
      if (!files.contains(name) ||
          (after_.contains(name) && after_.at(name) != text && files.at(name) != text))
        return false;
    return true;
  }

 private:
  Files WithoutStaging() const {
    Files files = FilesIn(work());
    std::erase_if(files, [](const auto& f) { return f.first.starts_with(kStagingPrefix); });
    return files;
  }
  void Run(const std::vector<std::string>& command) const {
    const Ending ending = Wait(Start(command, work()), work());
    REQUIRE_MESSAGE(ending.code == 0, ending.err);
  }

  TempDir dir_;
  const Scenario& scenario_;
  Files before_, after_;
};

bool Skipped() {
  if (NN_ADDRESS_SANITIZER) Skip("a sanitizer and the library of faults cannot both be preloaded");
  return NN_ADDRESS_SANITIZER;
}

TEST_CASE("faults: a call that fails leaves the old files or the new ones") {
  if (Skipped()) return;
  for (const Scenario& scenario : Scenarios()) {
    Stage stage(scenario);
    stage.Reset();
    const long calls = CountCalls("files", stage.command(), stage.work());
    REQUIRE(calls > 4);
    for (const std::string kind : {"EIO", "ENOSPC"})
      for (long at = 1; at <= calls; at += kind == "EIO" || TriesAll() ? 1 : 3) {
        stage.Reset();
        const Ending e = RunWith({.kind = kind, .at = at}, stage.command(), stage.work());
        INFO(scenario.name << ", " << kind << " at " << at << " of " << calls << ": " << e.err);
        CHECK((e.code == 0 || e.code == 2));
        CHECK((e.code == 0 || e.err.find("error: ") != std::string::npos || e.err.empty()));
        CHECK(stage.IsBeforeOrAfter());
        if (!stage.IsBefore() && !stage.IsAfter()) {  // a removal failed
          stage.Finish();
          CHECK(stage.IsAfter());
        }
      }
  }
}

TEST_CASE("faults: interrupted and partial calls are continued") {
  if (Skipped()) return;
  for (const Scenario& scenario : Scenarios()) {
    Stage stage(scenario);
    stage.Reset();
    const long calls = CountCalls("files", stage.command(), stage.work());
    for (const std::string kind : {"EINTR", "SHORT"})
      for (long at = 1; at <= calls; at += TriesAll() ? 1 : 2) {
        stage.Reset();
        const Ending e = RunWith({.kind = kind, .at = at}, stage.command(), stage.work());
        INFO(scenario.name << ", " << kind << " at " << at << " of " << calls << ": " << e.err);
        CHECK(e.code == 0);
        CHECK(stage.IsAfter());
      }
  }
}

TEST_CASE(
    "faults: a run that is killed at any call leaves one of both, and the next one cleans up") {
  if (Skipped()) return;
  for (const Scenario& scenario : Scenarios()) {
    Stage stage(scenario);
    stage.Reset();
    const long calls = CountCalls("files", stage.command(), stage.work());
    for (long at = 1; at <= calls; ++at) {
      stage.Reset();
      const Ending e = RunWith({.kind = "KILL", .at = at}, stage.command(), stage.work());
      INFO(scenario.name << " at " << at << " of " << calls << ": " << e.err);
      CHECK((e.signal == SIGKILL || e.code == 0));
      CHECK(stage.IsSound());
      stage.Finish();
      CHECK(stage.IsAfter());
    }
  }
}

TEST_CASE("faults: signals that end a run leave nothing behind") {
  if (Skipped()) return;
  for (const Scenario& scenario : Scenarios()) {
    Stage stage(scenario);
    stage.Reset();
    const long calls = CountCalls("files", stage.command(), stage.work());
    for (const auto& signal : {std::pair("INT", SIGINT), {"TERM", SIGTERM}, {"HUP", SIGHUP}}) {
      const char* const kind = signal.first;
      const int number = signal.second;
      for (long at = 1 + number % 3; at <= calls; at += TriesAll() ? 1 : 3) {
        stage.Reset();
        const Ending e = RunWith({.kind = kind, .at = at}, stage.command(), stage.work());
        INFO(scenario.name << ", " << kind << " at " << at << " of " << calls << ": " << e.err);
        CHECK(e.signal == number);
        CHECK(stage.IsSound());
        for (const auto& file : FilesIn(stage.work()))
          CHECK_MESSAGE(!file.first.starts_with(kStagingPrefix), file.first);
      }
    }
  }
}

TEST_CASE("faults: kill -9 at random moments") {
  if (Skipped()) return;
  const int rounds = TriesAll() ? 250 : 12;
  std::mt19937 random(1);
  for (const Scenario& scenario : Scenarios()) {
    if (std::string_view(scenario.name) == "arrays") continue;
    Stage stage(scenario);
    stage.Reset();
    const auto begin = std::chrono::steady_clock::now();
    stage.Finish();
    const auto length =
        std::chrono::duration_cast<microseconds>(std::chrono::steady_clock::now() - begin);
    for (int i = 0; i < rounds; ++i) {
      stage.Reset();
      const pid_t child = Start(stage.command(), stage.work());
      std::this_thread::sleep_for(
          microseconds(random() % static_cast<unsigned long>(length.count() + 1)));
      kill(child, SIGKILL);
      const Ending e = Wait(child, stage.work());
      INFO(scenario.name << ", round " << i << ": " << e.err);
      CHECK((e.signal == SIGKILL || e.code == 0));
      CHECK(stage.IsSound());
      stage.Finish();
      CHECK(stage.IsAfter());
    }
  }
}

TEST_CASE("faults: memory exhaustion ends a run with a message") {
  if (Skipped()) return;
  constexpr long kMax = 10000;
  for (const Scenario& scenario : Scenarios()) {
    Stage stage(scenario);
    stage.Reset();
    const long calls = std::min(kMax, CountCalls("memory", stage.command(), stage.work()));
    REQUIRE(calls > 100);
    for (long at = 1; at <= calls; at += TriesAll() ? 1 : std::max(1L, calls / 40)) {
      stage.Reset();
      const Ending e =
          RunWith({.calls = "memory", .kind = "", .at = at}, stage.command(), stage.work());
      INFO(scenario.name << " at " << at << " of " << calls << ": " << e.err);
      CHECK((e.code == 0 || e.code == 4));
      CHECK((e.code == 0 || e.err.find("memory") != std::string::npos));
      CHECK((stage.IsAfter() || (e.code != 0 && stage.IsBefore())));
    }
  }
}

TEST_CASE("faults: several writers, and readers that always find a matching pair") {
  const TempDir dir;
  fs::create_directory(dir / "work");
  constexpr int kModels = 2;
  const int rounds = TriesAll() ? 150 : 15;
  std::vector<std::string> weights;
  for (int i = 0; i < kModels; ++i) {
    WriteModel(dir / fmt::format("{}.onnx", i), Model(i));
    REQUIRE(RunProgram(fmt::format("nnconvert {0}/{1}.onnx {0}/p{1}.onnx --external-data p{1}.bin",
                                   dir.path(), i))
                .code == 0);
    weights.push_back(ReadText(dir / fmt::format("p{}.bin", i)));
  }
  std::atomic<bool> done = false;
  std::atomic<int> failed = 0;
  std::vector<std::thread> writers;
  for (int i = 0; i < kModels; ++i)
    writers.emplace_back([&, i] {
      for (int n = 0; n < rounds; ++n) {
        const std::string line = fmt::format(
            "'{0}/nnconvert' -q {1}/{2}.onnx {1}/work/m.onnx --external-data w.bin 2>>{1}/errors",
            BinDir(), dir.path(), i);
        failed += std::system(line.c_str()) != 0;
      }
    });
  std::thread watcher([&] {
    for (std::thread& w : writers) w.join();
    done = true;
  });
  int seen = 0;
  while (!done) {
    if (!Exists(dir / "work/m.onnx")) continue;
    const ReadModel read = ReadOrFail(dir / "work/m.onnx");
    const auto summary = read.format->describer.Summarize(*read.model);
    const auto tensors = read.format->describer.TensorsOf(*read.model);
    REQUIRE((summary.has_value() && tensors.has_value() && tensors->size() == 1));
    const auto tensor = (*tensors)[0].read();
    REQUIRE_MESSAGE(tensor.has_value(), tensor.error().message());
    const std::string& want = weights[summary->name == "m0" ? 0 : 1];
    CHECK(std::memcmp(tensor->blob().data(), want.data(), tensor->byte_size()) == 0);
    ++seen;
  }
  watcher.join();
  CHECK(seen > 0);
  CHECK_MESSAGE(failed == 0, (Exists(dir / "errors") ? ReadText(dir / "errors") : ""));
}

}  // namespace
}  // namespace nn::test::faults_test
