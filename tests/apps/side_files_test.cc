#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "apps/program.h"
#include "support/files.h"

// The files that a conversion may create or replace: those that the user names; of existing files,
// only OUT is replaced.
namespace nn::test::side_files_test {
namespace {

namespace fs = std::filesystem;

ProgramResult Convert(const std::string& arguments) {
  return RunProgram("nnconvert " + arguments);
}

std::string Digest(const std::string& model) {
  const ProgramResult r = RunProgram("nnrun --digest " + model);
  CHECK_MESSAGE(r.code == 0, r.err);
  return r.out;
}

std::string WideModel(int seed) {
  return fmt::format(R"(graph "wide" {{
    in %x: f32[1, 16, 8, 8]
    const %w: f32[32, 16, 3, 3] = seeded({}, 0.3)
    %y = conv(%x, %w) {{pads = [1, 1, 1, 1]}} "c"
    out "y" = %y
  }})",
                     seed);
}

// An .nnapi.json of `a + b` whose constants lie in the files.
std::string PoolModel(const std::string& first, const std::string& second) {
  return fmt::format(R"({{"operands": [
    {{"type": "TENSOR_FLOAT32", "dimensions": [2], "lifetime": "CONSTANT_REFERENCE",
      "location": {{"poolIndex": 0, "offset": 0, "length": 8}}}},
    {{"type": "TENSOR_FLOAT32", "dimensions": [2], "lifetime": "CONSTANT_REFERENCE",
      "location": {{"poolIndex": 1, "offset": 0, "length": 8}}}},
    {{"type": "INT32", "lifetime": "CONSTANT_COPY", "value": [0]}},
    {{"type": "TENSOR_FLOAT32", "dimensions": [2], "lifetime": "TEMPORARY_VARIABLE"}},
    {{"type": "TENSOR_FLOAT32", "dimensions": [2], "lifetime": "MODEL_INPUT"}},
    {{"type": "TENSOR_FLOAT32", "dimensions": [2], "lifetime": "MODEL_OUTPUT"}}],
    "operations": [{{"type": "ADD", "inputs": [0, 1, 2], "outputs": [3]}},
                   {{"type": "ADD", "inputs": [3, 4, 2], "outputs": [5]}}],
    "inputIndexes": [4], "outputIndexes": [5], "poolSizes": [8, 8], "poolFiles": ["{}", "{}"]}})",
                     first, second);
}

TEST_CASE("side files: an unrelated file stays, and the model's gets another name") {
  const TempDir dir;
  for (int i = 0; i < 2; ++i) WriteModel(dir / fmt::format("{}.onnx", i), WideModel(i));
  fs::create_directory(dir / "out");
  WriteText(dir / "out/w.bin", "unrelated");
  ProgramResult r = Convert(dir / "0.onnx " + dir / "out/m.onnx --external-data w.bin");
  CHECK(r.code == 0);
  CHECK(Contains(r.err,
                 "\"w.bin\" exists with different contents and is kept; the tensors are in \"w-"));
  CHECK(ReadText(dir / "out/w.bin") == "unrelated");
  CHECK(Digest(dir / "out/m.onnx") == Digest(dir / "0.onnx"));
  // The model is rewritten in place; its previous side files still exist for their readers.
  const std::string old = ReadText(dir / "out/m.onnx");
  const std::string listing = Listing(dir / "out");
  CHECK(Convert(dir / "1.onnx " + dir / "out/m.onnx --external-data w.bin").code == 0);
  CHECK(Digest(dir / "out/m.onnx") == Digest(dir / "1.onnx"));
  WriteText(dir / "out/old.onnx", old);
  CHECK(Digest(dir / "out/old.onnx") == Digest(dir / "0.onnx"));
  // Repeating the conversion creates no more files.
  const std::string now = Listing(dir / "out");
  CHECK(now.size() > listing.size());
  CHECK(Convert(dir / "1.onnx " + dir / "out/m.onnx --external-data ./w.bin").code == 0);
  CHECK(Listing(dir / "out") == now);
}

TEST_CASE("side files: a conversion in place keeps what other models read") {
  const TempDir dir;
  WriteModel(dir / "in.onnx", WideModel(3));
  const std::string digest = Digest(dir / "in.onnx");
  REQUIRE(Convert(dir / "in.onnx " + dir / "m.onnx --external-data w.bin").code == 0);
  REQUIRE(Convert(dir / "m.onnx " + dir / "other.onnx").code == 0);
  REQUIRE(Convert("--rewrite --rename-input x=z " + dir / "m.onnx " + dir / "m.onnx " +
                  "--external-data w.bin --external-threshold 1")
              .code == 0);
  CHECK(Digest(dir / "m.onnx") == digest);
  CHECK(Digest(dir / "other.onnx") == digest);
}

TEST_CASE("side files: a model cannot choose a file to replace") {
  const TempDir dir;
  fs::create_directory(dir / "in");
  fs::create_directory(dir / "out");
  WriteText(dir / "in/m.nnapi.json", PoolModel("w.bin", "victim.txt"));
  WriteText(dir / "in/w.bin", std::string("\0\0\x80\x3f\0\0\0\x40", 8));
  WriteText(dir / "in/victim.txt", std::string("\0\0\x80\x3f\0\0\x80\x3f", 8));
  const std::string digest = Digest(dir / "in/m.nnapi.json");
  WriteText(dir / "out/victim.txt", "mine");
  ProgramResult r = Convert(dir / "in/m.nnapi.json " + dir / "out/m.nnapi");
  CHECK(r.code == 2);
  CHECK(Contains(r.err, "choose another with --external-data"));
  CHECK(Listing(dir / "out") == "victim.txt\n");
  r = Convert(dir / "in/m.nnapi.json " + dir / "out/m.nnapi --external-data data.bin");
  CHECK_MESSAGE(r.code == 0, r.err);
  CHECK(ReadText(dir / "out/victim.txt") == "mine");
  CHECK(Listing(dir / "out") == "data.bin\ndata.bin.1\nm.nnapi\nvictim.txt\n");
  CHECK(Digest(dir / "out/m.nnapi") == digest);
}

TEST_CASE("side files: names that a copy does not make") {
  const TempDir dir;
  fs::create_directories(dir / "in/.ssh");
  fs::create_directories(dir / "in/sub");
  fs::create_directory(dir / "out");
  fs::create_directory(dir / "elsewhere");
  fs::create_symlink("../elsewhere", dir / "out/link");
  const std::string bytes("\0\0\x80\x3f\0\0\0\x40", 8);
  WriteText(dir / "in/w.bin", bytes);
  struct Row {
    const char* name;
    int code;
    const char* message;
  };
  for (const Row& r :
       {Row{".ssh/authorized_keys", 2, "is hidden"}, Row{".bashrc", 2, "is hidden"},
        Row{"sub/.x", 2, "is hidden"}, Row{"link/w", 2, "a different file of this name"},
        Row{"./w.bin", 0, ""}, Row{"sub/w", 0, ""}}) {
    CAPTURE(r.name);
    WriteText(dir / "in/m.nnapi.json", PoolModel(r.name, "w.bin"));
    fs::create_directories(fs::path(dir / "in") / fs::path(r.name).parent_path());
    WriteText(dir / "in/" + std::string(r.name), bytes);
    const ProgramResult result = Convert(dir / "in/m.nnapi.json " + dir / "out/m.nnapi");
    CHECK_MESSAGE(result.code == r.code, result.err);
    CHECK_MESSAGE(Contains(result.err, r.message), result.err);
    if (r.code == 0) CHECK(Digest(dir / "out/m.nnapi") == Digest(dir / "in/m.nnapi.json"));
    // In its own folder, it is not a new file.
    CHECK(Convert(dir / "in/m.nnapi.json " + dir / "in/m.nnapi").code == 0);
  }
  CHECK(Listing(dir / "elsewhere").empty());
  CHECK(Listing(dir / "out") == "link\nm.nnapi\nsub\nw.bin\n");
  // The name that the user chose for all of them.
  WriteText(dir / "in/m.nnapi.json", PoolModel(".ssh/authorized_keys", "w.bin"));
  CHECK(Convert(dir / "in/m.nnapi.json " + dir / "out/n.nnapi --external-data n.bin").code == 0);
  CHECK(Convert(dir / "in/m.nnapi.json " + dir / "out/e.nnapi --embed-data").code == 0);
  CHECK(Convert(dir / "in/m.nnapi.json " + dir / "out/l.nnapi --external-data link/n.bin").code ==
        2);
  CHECK(Listing(dir / "elsewhere").empty());
}

TEST_CASE("side files: a link that leads to another folder is not OUT of a model with files") {
  const TempDir dir;
  WriteModel(dir / "in.onnx", WideModel(1));
  fs::create_directory(dir / "store");
  WriteText(dir / "store/m.onnx", "old");
  fs::create_symlink("store/m.onnx", dir / "m.onnx");
  const ProgramResult r = Convert(dir / "in.onnx " + dir / "m.onnx --external-data w.bin");
  CHECK(r.code == 2);
  CHECK(Contains(r.err, "a symbolic link to"));
  CHECK(Listing(dir / "store") == "m.onnx\n");
  CHECK(ReadText(dir / "store/m.onnx") == "old");
  fs::create_symlink("in.onnx", dir / "same.onnx");
  CHECK(Convert(dir / "in.onnx " + dir / "same.onnx --external-data w.bin").code == 0);
  CHECK(fs::is_symlink(dir / "same.onnx"));
}

TEST_CASE("side files: a dump's tensors replace nothing") {
  const TempDir dir;
  for (int i = 0; i < 2; ++i) WriteModel(dir / fmt::format("{}.onnx", i), WideModel(i));
  REQUIRE(Convert(dir / "0.onnx " + dir / "m.json --weights w.npz").code == 0);
  const std::string first = ReadText(dir / "w.npz");
  const ProgramResult r = Convert(dir / "1.onnx " + dir / "m.json --weights ./w.npz");
  CHECK(r.code == 0);
  CHECK(Contains(r.err, "the tensors are in \"w-"));
  CHECK(ReadText(dir / "w.npz") == first);
  CHECK(Digest(dir / "m.json") == Digest(dir / "1.onnx"));
}

TEST_CASE("packages are exchanged, and keep modes and owners") {
  const TempDir dir;
  for (int i = 0; i < 2; ++i) WriteModel(dir / fmt::format("{}.onnx", i), WideModel(i));
  const std::string package = dir / "m.mlpackage";
  REQUIRE(Convert(dir / "0.onnx " + package).code == 0);
  fs::permissions(package, fs::perms(0750));
  fs::permissions(package + "/Manifest.json", fs::perms(0600));
  const bool root = geteuid() == 0;
  if (root) REQUIRE(chown((package + "/Manifest.json").c_str(), 12345, 54321) == 0);
  REQUIRE(Convert(dir / "1.onnx " + package).code == 0);
  CHECK(Digest(package) == Digest(dir / "1.onnx"));
  struct stat st {};
  REQUIRE(stat((package + "/Manifest.json").c_str(), &st) == 0);
  CHECK((st.st_mode & 07777) == 0600);
  CHECK(st.st_uid == (root ? 12345 : geteuid()));
  CHECK(fs::status(package).permissions() == fs::perms(0750));
  CHECK(Listing(dir.path()) == "0.onnx\n1.onnx\nm.mlpackage\n");
  // A folder that cannot be replaced is kept.
  const ProgramResult r = Convert(dir / "0.onnx " + "/proc/self.mlpackage");
  CHECK(r.code == 2);
}

}  // namespace
}  // namespace nn::test::side_files_test
