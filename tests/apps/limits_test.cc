#include <doctest/doctest.h>

#include <filesystem>

#include "apps/program.h"
#include "support/files.h"
#include "support/large_models.h"
#include "support/sanitizer.h"
#include "support/skip.h"

// Resource limits: exit code 4, and the limit is named.
namespace nn::test::limits_test {
namespace {

// The programs, with arguments to read `model`.
std::vector<std::string> Commands(const TempDir& dir, const std::string& model) {
  return {"nninspect " + model, "nnvalidate " + model, "nnrun " + model,
          "nnconvert " + model + " " + dir / "out.onnx"};
}

void CheckLimit(const std::string& command, const std::string& name, const std::string& limit) {
  const ProgramResult result = RunProgram(command + " --" + name + " " + limit);
  CHECK_MESSAGE(result.code == 4, command << ", " << name << ": " << result.err);
  CHECK_MESSAGE(Contains(result.err, name), result.err);
}

TEST_CASE("limits: every program has them") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", ConvModel());
  for (const std::string& command : Commands(dir, dir / "m.onnx")) {
    CAPTURE(command);
    CHECK(RunProgram(command).code == 0);
    CheckLimit(command, "max-file-bytes", "100");
    CheckLimit(command, "max-depth", "2");
    CHECK(RunProgram(command + " --max-file-bytes 1MB --max-depth 10").code == 0);
    CHECK(RunProgram(command + " --max-depth 0").code == 2);
  }
}

TEST_CASE("limits: data read from a pipe") {
  const TempDir dir;
  const std::string endless(3'000'000, '\0');
  for (const std::string& command : Commands(dir, "-")) {
    CAPTURE(command);
    const ProgramResult piped = RunProgram(command + " --max-piped-bytes 1MB", endless);
    CHECK_MESSAGE(piped.code == 4, piped.err);
    CHECK_MESSAGE(
        Contains(piped.err, "standard input: exceeds the limit of 1048576 bytes (max-piped-bytes)"),
        piped.err);
    const ProgramResult file = RunProgram(command + " --max-file-bytes 1MB", endless);
    CHECK_MESSAGE(file.code == 4, file.err);
    CHECK_MESSAGE(
        Contains(file.err, "standard input: exceeds the limit of 1048576 bytes (max-file-bytes)"),
        file.err);
    CHECK(Contains(RunProgram(command + " --help").out, "=2GB"));
  }
  CHECK(ReadLimits{}.max_piped_bytes == uint64_t{2} << 30);
}

TEST_CASE("limits: the files beside a model count with it") {
  const TempDir dir;
  const std::string weights = R"(graph {
    in %x: f32[1, 2000]
    const %w: f32[2000, 5] = seeded(1)
    const %v: f32[5, 2000] = seeded(2)
    %h = matmul(%x, %w)
    %y = matmul(%h, %v)
    out "y" = %y
  })";
  WriteModel(dir / "in.onnx", weights);
  for (const std::string name : {"m.onnx", "m.nnapi.json"}) {
    CHECK(RunProgram("nnconvert " + dir / "in.onnx" + " " + dir / name + " --external-data " +
                     name + ".bin")
              .code == 0);
    REQUIRE(Exists(dir / (name + ".bin")));
    for (const std::string& command : Commands(dir, dir / name)) {
      CAPTURE(command);
      // The tensors of an ONNX model are read one by one, and the error of each is reported.
      const bool tells = name == "m.onnx" &&
                         (command.starts_with("nninspect") || command.starts_with("nnvalidate"));
      if (!tells) CheckLimit(command, "max-file-bytes", "50KB");
      CHECK(RunProgram(command + " --max-file-bytes 200KB").code == 0);
    }
  }
  for (const std::string command : {"nninspect --tensors --stats ", "nnvalidate "}) {
    const ProgramResult result = RunProgram(command + (dir / "m.onnx") + " --max-file-bytes 50KB");
    CHECK_MESSAGE(Contains(result.out, "exceed the limit (max-file-bytes) of 51200"), result.out);
  }
}

TEST_CASE("limits: the files of a package and of a compiled model count together") {
  const TempDir dir;
  WriteModel(dir / "in.onnx", R"(graph {
    in %x: f32[1, 2000]
    const %w: f32[2000, 10] = seeded(1)
    %y = matmul(%x, %w)
    out "y" = %y
  })");
  const std::string package = dir / "m.mlpackage", compiled = dir / "m.mlmodelc";
  REQUIRE(RunProgram("nnconvert " + dir / "in.onnx" + " " + package).code == 0);
  std::filesystem::create_directories(compiled + "/weights");
  const ProgramResult text = RunProgram("nninspect " + package + " --mil");
  REQUIRE(text.code == 0);
  WriteText(compiled + "/model.mil", text.out);
  WriteText(compiled + "/weights/weight.bin",
            ReadText(package + "/Data/com.apple.CoreML/weights/weight.bin"));
  for (const std::string& model : {package, compiled})
    for (const std::string& command : Commands(dir, model)) {
      CAPTURE(command);
      CheckLimit(command, "max-file-bytes", "50KB");
      CHECK(RunProgram(command + " --max-file-bytes 200KB").code == 0);
    }
  for (const std::string& command : Commands(dir, package)) CheckLimit(command, "max-depth", "4");
}

TEST_CASE("limits: depth, up to what the option takes, in models and dumps") {
  const TempDir dir;
  const auto commands = [&](const std::string& model) {
    std::vector<std::string> all = Commands(dir, model);
    all.push_back("nnconvert " + model + " " + dir / "copy.json");
    all.push_back("nninspect " + model + " --format svg -o " + dir / "p.svg");
    all.push_back("nninspect " + model + " --nodes --tensors --tree --cost --hash");
    all.push_back("nnvalidate --profile strict " + model);
    all.push_back("nnconvert " + model + " " + dir / "out.tflite");
    return all;
  };
  CHECK(RunProgram("nninspect x.onnx --max-depth 501").code == 2);
  // A branch takes three messages: attribute, graph, node; 500 of them are too deep for any limit.
  for (const size_t depth : {1, 20, 160, 500, 3'000}) {
    WriteText(dir / "m.onnx", NestedModel(depth));
    for (const std::string& command : commands(dir / "m.onnx")) {
      for (const std::string limit : {"100", "500"}) {
        const ProgramResult result = RunProgram(command + " --max-depth " + limit);
        INFO(command, " ", depth, " ", limit);
        CHECK(result.code >= 0);
        CHECK_MESSAGE(result.code <= 4, result.err);
        CHECK_FALSE_MESSAGE(Contains(result.err, "internal"), result.err);
        if (3 * depth > std::stoul(limit)) CHECK_MESSAGE(result.code == 4, result.err);
      }
    }
  }
  // The dump of such a model is read back.
  WriteText(dir / "m.onnx", NestedModel(160));
  const std::string dump =
      "nninspect " + dir / "m.onnx" + " --max-depth 500 --dump -o " + dir / "d.json";
  CHECK(RunProgram(dump).code == 0);
  for (const std::string& command : commands(dir / "d.json"))
    CHECK(RunProgram(command + " --max-depth 500").code <= 4);
  // Endlessly nested JSON.
  const std::string open(300'000, '['), close(300'000, ']');
  WriteText(dir / "deep.json",
            R"({"nn_dump": 1, "format": "onnx", "model": )" + open + close + "}");
  WriteText(dir / "deep.nnapi.json", R"({"model": )" + open + close + "}");
  for (const std::string name : {"deep.json", "deep.nnapi.json"})
    for (const std::string& command : commands(dir / name))
      CHECK_MESSAGE(RunProgram(command + " --max-depth 500").code == 4, command);
}

TEST_CASE("limits: the unpacked size of an archive") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", ConvModel());
  const std::string run = "nnrun " + dir / "m.onnx";
  CHECK(RunProgram(run + " -o " + dir / "y.npz").code == 0);
  CHECK(RunProgram(run + " --expect " + dir / "y.npz").code == 0);
  CheckLimit(run + " --expect " + dir / "y.npz", "max-unpacked-bytes", "100");
}

TEST_CASE("limits: flatbuffers, whose verifier does not report the limit") {
  const TempDir dir;
  for (const std::string name : {"m.tflite", "m.nnapi"}) {
    WriteModel(dir / name, R"(graph {
      in %x: f32[1, 8, 8, 16]
      const %w: f32[16, 16, 3, 3] = seeded(1, 0.3)
      %y = conv(%x, %w) {layout = nxc}
      out "y" = %y
    })");
    for (const std::string& command : Commands(dir, dir / name)) {
      CheckLimit(command, "max-items", "3");
      CheckLimit(command, "max-depth", "1");
    }
    WriteText(dir / name, ReadText(dir / name).substr(0, 600));
    const ProgramResult damaged = RunProgram("nninspect " + dir / name);
    CHECK(damaged.code == 2);
    CHECK_MESSAGE(Contains(damaged.err, "damaged"), damaged.err);
  }
}

TEST_CASE("limits: memory") {
  if (NN_ADDRESS_SANITIZER)
    return Skip("the address sanitizer itself needs more memory than a limit allows");
  const TempDir dir;
  // More than an allocator has reserved before the limit is set.
  constexpr size_t kNodes = 60000;
  WriteText(dir / "m.onnx", MakeLargeModel("relu_chain", kNodes));
  for (const std::string& command : Commands(dir, dir / "m.onnx")) {
    CheckLimit(command, "max-memory", "1KB");
    CHECK(RunProgram(command + " --max-memory 4GB").code == 0);
  }
}

}  // namespace
}  // namespace nn::test::limits_test
