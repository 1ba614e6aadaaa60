// ML Programs in folders with one damaged file: packages, whose manifest, weights and links may
// lie, and compiled models, which have the program as text.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "fuzz/exercise.h"
#include "fuzz/forked.h"
#include "fuzz/mutate.h"
#include "fuzz/seeds.h"
#include "support/files.h"
#include "support/sanitizer.h"

namespace nn::test::folders_test {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMutations = NN_ADDRESS_SANITIZER ? 100 : 600;

constexpr const char* kManifest = "Manifest.json";

// Writes mutant `number` of a folder.
using WriteFn = std::function<void(const FolderSeed&, uint64_t number, const std::string& path)>;

void CheckFolders(const std::vector<FolderSeed>& seeds, const WriteFn& write) {
  REQUIRE_FALSE(seeds.empty());
  const TempDir dir;
  const auto results = RunForked(kMutations, [&](size_t i) {
    const FolderSeed& seed = seeds[i % seeds.size()];
    const std::string path = fmt::format("{}/{}/{}", dir.path(), i, seed.name);
    write(seed, i, path);
    const Exercised e =
        ExerciseFolder(path, {.copy = i % 4 == 0, .convert = i % 8 == 1, .run = true});
    return WorkResult{false, e.read, e.broken};
  });
  size_t read = 0;
  for (size_t i = 0; i < results.size(); ++i) {
    CAPTURE(i);
    CHECK_FALSE(results[i].died);
    CHECK_MESSAGE(results[i].text.empty(), results[i].text);
    read += results[i].bits;
  }
  MESSAGE(read << " of " << results.size() << " read");
  // Damage that is rejected immediately would prove nothing; text tolerates little damage.
  CHECK(read > kMutations / 40);
}

// The bytes of one file are damaged; those of texts mostly by words.
void WriteDamaged(const FolderSeed& seed, uint64_t number, const std::string& path) {
  auto files = seed.files;
  const auto n = static_cast<ptrdiff_t>(number / 8 % files.size());
  auto& [name, bytes] = *std::next(files.begin(), n);
  const bool is_text = name == kManifest || name.ends_with(".mil");
  bytes = is_text && number % 4 != 0 ? MutateText(bytes, number) : Mutate(bytes, number);
  WriteFolder(path, files);
}

// An item of the manifest is at another place.
void WriteWithPlace(const FolderSeed& seed, uint64_t number, const std::string& path) {
  constexpr const char* kPlaces[] = {"",
                                     ".",
                                     "..",
                                     "../Manifest.json",
                                     "../../secret",
                                     "/etc/passwd",
                                     "com.apple.CoreML",
                                     "com.apple.CoreML/",
                                     "com.apple.CoreML/../com.apple.CoreML/model.mlmodel",
                                     "com.apple.CoreML//model.mlmodel",
                                     "com.apple.CoreML/weights/weight.bin",
                                     "com.apple.CoreML/model.mlmodel/x",
                                     "nosuch",
                                     "\\",
                                     "\x1b[31m"};
  auto files = seed.files;
  Json manifest = Json::parse(files[kManifest]);
  Json& items = manifest["itemInfoEntries"];
  auto item = items.begin();
  std::advance(item, static_cast<ptrdiff_t>(number / std::size(kPlaces) % items.size()));
  item.value()["path"] = kPlaces[number % std::size(kPlaces)];
  files[kManifest] = manifest.dump();
  WriteFolder(path, files);
}

// A file is missing, or a folder, a link or a pipe.
void WriteWithOther(const FolderSeed& seed, uint64_t number, const std::string& path) {
  WriteFolder(path, seed.files);
  const auto n = static_cast<ptrdiff_t>(number / 8 % seed.files.size());
  std::string name = std::next(seed.files.begin(), n)->first;
  if (name.ends_with('/')) name.pop_back();
  const fs::path file = fs::path(path) / name;
  fs::remove(file);
  constexpr const char* kTargets[] = {"/etc/passwd", "/dev/zero", "..", ".", "nosuch"};
  switch (number % 8) {
    case 0:
      return;
    case 1:
      fs::create_directory(file);
      return;
    case 2:
      REQUIRE(mkfifo(file.c_str(), 0600) == 0);
      return;
    default:
      fs::create_symlink(kTargets[number % 8 - 3], file);
  }
}

TEST_CASE("folders: packages with a damaged file") {
  CheckFolders(PackageSeeds(), WriteDamaged);
}
TEST_CASE("folders: packages whose items are elsewhere") {
  CheckFolders(PackageSeeds(), WriteWithPlace);
}
TEST_CASE("folders: packages without a file") {
  CheckFolders(PackageSeeds(), WriteWithOther);
}
TEST_CASE("folders: compiled models with a damaged file") {
  CheckFolders(CompiledSeeds(), WriteDamaged);
}
TEST_CASE("folders: compiled models without a file") {
  CheckFolders(CompiledSeeds(), WriteWithOther);
}

}  // namespace
}  // namespace nn::test::folders_test
