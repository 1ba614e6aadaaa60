// Mutants of sound models, most of which can be read but have false declarations, are inspected,
// validated, imported, copied, converted and run. Each runs in a child process, so a crash or a
// hang is a failure like any other.
//
// For longer runs (scripts/fuzz): NN_MUTANTS=FIRST:COUNT creates mutants FIRST to FIRST + COUNT - 1
// of each form, and NN_MUTANTS_OUT is a folder for those that fail.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "base/file/file.h"
#include "fuzz/exercise.h"
#include "fuzz/forked.h"
#include "fuzz/inspect.h"
#include "fuzz/mutate_flatbuffer.h"
#include "fuzz/mutate_model.h"
#include "fuzz/seeds.h"
#include "support/files.h"
#include "support/sanitizer.h"
#include "support/skip.h"

namespace nn::test::mutants_test {
namespace {

// Of each form; scripts/fuzz has time for more.
constexpr size_t kMutants = NN_ADDRESS_SANITIZER ? 100 : 600;

struct Range {
  uint64_t first = 0;
  size_t count;
};

Range RangeOfMutants(size_t count) {
  Range range{.count = count};
  if (const char* text = std::getenv("NN_MUTANTS"); text != nullptr) {
    unsigned long long first = 0, size = 0;
    REQUIRE(std::sscanf(text, "%llu:%llu", &first, &size) == 2);
    range = {first, static_cast<size_t>(size)};
  }
  return range;
}

enum : uint32_t { kMade = 1, kRead = 2, kImported = 4, kWritten = 8, kRan = 16, kSkipped = 32 };

struct Counts {
  size_t made = 0, read = 0, imported = 0, written = 0, ran = 0, skipped = 0, failed = 0;

  void Add(const WorkResult& r) {
    made += (r.bits & kMade) != 0;
    read += (r.bits & kRead) != 0;
    imported += (r.bits & kImported) != 0;
    written += (r.bits & kWritten) != 0;
    ran += (r.bits & kRan) != 0;
    skipped += (r.bits & kSkipped) != 0;
    failed += r.died || !r.text.empty();
  }
};

// Processes one mutant. Each round has a mutant of every seed, and rounds differ in their
// operations; inspecting needs a file, so only one round in eight inspects.
WorkResult ExerciseMutant(const std::string& bytes, const Seed& seed, uint64_t round,
                          const std::string& folder) {
  WorkResult result;
  const Exercised e = Exercise(bytes, seed.path,
                               {.copy = round % 4 == 1,
                                .convert = round % 2 == 0,
                                .verify = round % 8 == 4,
                                .run = true,
                                .inputs = seed.inputs});
  const auto bit = [](bool set, uint32_t b) { return set ? b : 0u; };
  result.bits = kMade | bit(e.read, kRead) | bit(e.imported, kImported) |
                bit(e.written > 0, kWritten) | bit(e.ran, kRan) | bit(e.skipped, kSkipped);
  result.text = e.broken;
  if (round % 8 != 2 || !result.text.empty()) return result;
  const std::string path = folder + "/" + seed.path;
  if (WriteFile(path, bytes)) result.text = ExerciseInspection(path);
  return result;
}

void Keep(const std::string& bytes, const std::string& form, uint64_t number) {
  if (const char* folder = std::getenv("NN_MUTANTS_OUT"); folder != nullptr)
    WriteText(fmt::format("{}/{}{}", folder, number, form), bytes);
}

// The unmodified seeds pass all operations; with a sanitizer, one in four of them.
void CheckSeeds(const std::string& form, const std::vector<Seed>& seeds) {
  constexpr size_t kStep = NN_ADDRESS_SANITIZER ? 4 : 1;
  const auto results = RunForked((seeds.size() + kStep - 1) / kStep, [&](size_t i) {
    const Seed& s = seeds[i * kStep];
    const Exercised e =
        Exercise(s.bytes, s.path,
                 {.copy = true, .convert = true, .verify = true, .run = true, .inputs = s.inputs});
    return WorkResult{false, 0, e.broken};
  });
  for (size_t i = 0; i < results.size(); ++i)
    CHECK_MESSAGE((!results[i].died && results[i].text.empty()),
                  "seed " << i * kStep << form << ": " << results[i].text);
}

void CheckMutants(const std::string& form, const std::vector<Seed>& seeds,
                  size_t count = kMutants) {
  CheckSeeds(form, seeds);
  const ModelDictionary dictionary(seeds);
  const Range range = RangeOfMutants(count);
  const TempDir dir;
  const auto mutant = [&](size_t i) {
    const uint64_t number = range.first + i;
    return MutateModel(seeds[number % seeds.size()], dictionary, number);
  };
  const auto results = RunForked(range.count, [&](size_t i) {
    const auto bytes = mutant(i);
    const uint64_t number = range.first + i;
    return bytes ? ExerciseMutant(*bytes, seeds[number % seeds.size()], number / seeds.size(),
                                  dir.path())
                 : WorkResult{};
  });
  Counts counts;
  for (size_t i = 0; i < results.size(); ++i) {
    counts.Add(results[i]);
    if (!results[i].died && results[i].text.empty()) continue;
    Keep(mutant(i).value_or(""), form, range.first + i);
    FAIL_CHECK(form << " " << range.first + i << ": " << results[i].text);
  }
  MESSAGE(form << ": " << counts.made << " mutants, " << counts.read << " read, " << counts.imported
               << " imported, " << counts.written << " written, " << counts.ran << " ran, "
               << counts.skipped << " skipped, " << counts.failed << " failed");
  // Mutants that every reader rejects immediately would prove nothing.
  CHECK(counts.read * 2 > counts.made);
  CHECK(counts.ran * 10 > counts.made);
}

TEST_CASE("mutants: ONNX") {
  CheckMutants(".onnx", CorpusSeeds(".onnx"));
}
TEST_CASE("mutants: TensorFlow Lite") {
  CheckMutants(".tflite", CorpusSeeds(".tflite"));
}
TEST_CASE("mutants: Core ML") {
  CheckMutants(".mlmodel", CorpusSeeds(".mlmodel"));
}
TEST_CASE("mutants: ML Programs") {
  CheckMutants(".mil.mlmodel", CorpusSeeds(".mil.mlmodel"), kMutants / 2);
}
TEST_CASE("mutants: packages of ML Programs") {
  CheckMutants(".mlpackage.json", PackageDumps(), kMutants / 3);
}
TEST_CASE("mutants: NNAPI") {
  CheckMutants(".nnapi", CorpusSeeds(".nnapi"));
}

// One in several, evenly, if there are more than `most`.
std::vector<Seed> Thinned(std::vector<Seed> seeds, size_t most) {
  const size_t step = (seeds.size() + most - 1) / most;
  std::vector<Seed> out;
  for (size_t i = 0; i < seeds.size(); i += step) out.push_back(std::move(seeds[i]));
  return out;
}

TEST_CASE("mutants: ONNX's models of single operators") {
  std::vector<Seed> seeds = InstalledOnnxSeeds();
  if (seeds.empty()) {
    Skip("libonnx-testdata is not installed");
    return;
  }
  // Each takes a second with a sanitizer; a longer run (NN_MUTANTS) has time for all.
  if (std::getenv("NN_MUTANTS") == nullptr) seeds = Thinned(std::move(seeds), kMutants);
  CheckMutants("-node.onnx", seeds);
}

TEST_CASE("mutants: the same seed makes the same mutant") {
  const auto seeds = CorpusSeeds(".tflite");
  const ModelDictionary dictionary(seeds);
  int changed = 0;
  for (uint64_t n = 0; n < 40; ++n) {
    const auto mutant = MutateModel(seeds[0], dictionary, n);
    CHECK(mutant == MutateModel(seeds[0], dictionary, n));
    changed += mutant && *mutant != seeds[0].bytes;
  }
  CHECK(changed > 20);
  CHECK(MutateFlatbuffer("", "m.tflite", 1).empty());
  CHECK(MutateFlatbuffer("TFL3", "m.tflite", 1).size() == 4);
}

}  // namespace
}  // namespace nn::test::mutants_test
