#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "fuzz/allocations.h"
#include "fuzz/exercise.h"
#include "fuzz/forked.h"
#include "fuzz/inspect.h"
#include "fuzz/mutate.h"
#include "fuzz/seeds.h"
#include "support/files.h"
#include "support/paths.h"
#include "support/sanitizer.h"

// Inspects, validates, imports and copies damaged files: no crash, no violated guarantee, no hang,
// no allocation of a size that a file claims.
namespace nn::test::mutation_test {
namespace {

constexpr int kMutations = NN_ADDRESS_SANITIZER ? 250 : 2000;
constexpr size_t kMaxAllocation = size_t{256} << 20;
constexpr std::chrono::seconds kHang{2};

void CheckForm(const std::string& extension) {
  const std::vector<Seed> seeds = Seeds(extension);
  int read = 0;
  for (int i = 0; i < kMutations; ++i) {
    const Seed& seed = seeds[static_cast<size_t>(i) % seeds.size()];
    const std::string bytes = Mutate(seed.bytes, static_cast<uint64_t>(i));
    CAPTURE(extension);
    CAPTURE(i);
    ForgetAllocations();
    const auto begin = std::chrono::steady_clock::now();
    const Exercised result = Exercise(bytes, seed.path, {.copy = i % 4 == 0});
    CHECK(std::chrono::steady_clock::now() - begin < kHang);
    CHECK(LargestAllocation() <= kMaxAllocation);
    CHECK_MESSAGE(result.broken.empty(), result.broken);
    if (result.read) ++read;
  }
  // Damage that every reader rejects immediately would prove nothing; text tolerates little damage.
  CHECK(read > kMutations / 40);
}

TEST_CASE("mutations: ONNX") {
  CheckForm(".onnx");
}
TEST_CASE("mutations: TensorFlow Lite") {
  CheckForm(".tflite");
}
TEST_CASE("mutations: Core ML") {
  CheckForm(".mlmodel");
}
TEST_CASE("mutations: ML Programs") {
  CheckForm(".mil.mlmodel");
}
TEST_CASE("mutations: NNAPI") {
  CheckForm(".nnapi");
}
TEST_CASE("mutations: NNAPI as JSON") {
  CheckForm(".nnapi.json");
}
TEST_CASE("mutations: dumps") {
  CheckForm(".json");
}
TEST_CASE("mutations: ONNX as text") {
  CheckForm(".textproto");
}
TEST_CASE("mutations: ONNX as JSON") {
  CheckForm(".onnxjson");
}

// The regular files below a folder.
std::vector<std::string> FilesBelow(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) files.push_back(entry.path().string());
  return files;
}

TEST_CASE("mutations: findings of the fuzz targets stay fixed") {
  std::vector<std::string> files = FilesBelow(SourcePath("tests/fuzz/findings"));
  REQUIRE_FALSE(files.empty());
  // An additional corpus (scripts/fuzz --coverage).
  if (const char* corpus = std::getenv("NN_FUZZ_CORPUS"); corpus != nullptr)
    for (std::string& file : FilesBelow(corpus)) files.push_back(std::move(file));
  const auto results = RunForked(files.size(), [&](size_t i) {
    const std::string name = std::filesystem::path(files[i]).filename().string();
    const Exercised e =
        Exercise(ReadText(files[i]), "m" + name.substr(std::min(name.find('.'), name.size())),
                 {.copy = true, .convert = true, .run = true});
    return WorkResult{false, 0, e.broken.empty() ? ExerciseInspection(files[i]) : e.broken};
  });
  for (size_t i = 0; i < files.size(); ++i) {
    CAPTURE(files[i]);
    CHECK_FALSE(results[i].died);
    CHECK_MESSAGE(results[i].text.empty(), results[i].text);
  }
}

TEST_CASE("mutations: the same seed does the same damage") {
  const std::string bytes = "some bytes of a file, long enough";
  bool changed = false;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    CHECK(Mutate(bytes, seed) == Mutate(bytes, seed));
    changed = changed || Mutate(bytes, seed) != bytes;
  }
  CHECK(changed);
  CHECK(Mutate("", 3).size() < 100);
}

}  // namespace
}  // namespace nn::test::mutation_test
