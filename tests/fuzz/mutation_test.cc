#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>

#include "fuzz/allocations.h"
#include "fuzz/exercise.h"
#include "fuzz/mutate.h"
#include "fuzz/seeds.h"
#include "support/files.h"

// Damaged files through inspecting, validating, importing and copying: no crash, no promise broken,
// no hang, no allocation of what a file claims.
namespace nn::test {
namespace {

constexpr int kMutations = 2000;
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
    const Exercised result = Exercise(bytes, seed.path, i % 4 == 0);
    CHECK(std::chrono::steady_clock::now() - begin < kHang);
    CHECK(LargestAllocation() <= kMaxAllocation);
    CHECK_MESSAGE(result.broken.empty(), result.broken);
    if (result.read) ++read;
  }
  // Damage that every reader refuses at once would show nothing; text does not survive much.
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

TEST_CASE("mutations: what the fuzz targets found stays mended") {
  int count = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(NN_SOURCE_DIR "/tests/fuzz/findings")) {
    const std::string path = entry.path().string();
    CAPTURE(path);
    const Exercised result =
        Exercise(ReadText(path), "m" + entry.path().extension().string(), true);
    CHECK_MESSAGE(result.broken.empty(), result.broken);
    ++count;
  }
  CHECK(count > 0);
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
}  // namespace nn::test
