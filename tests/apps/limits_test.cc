#include <doctest/doctest.h>

#include "apps/program.h"
#include "support/files.h"
#include "support/sanitizer.h"
#include "support/skip.h"

// Resource limits: exit code 4, and the limit is named.
namespace nn::test {
namespace {

// The programs, with arguments that make them read `model`.
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

TEST_CASE("limits: flatbuffers, whose verifier does not say which it was") {
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
  WriteModel(dir / "m.onnx", ConvModel());
  for (const std::string& command : Commands(dir, dir / "m.onnx")) {
    CheckLimit(command, "max-memory", "1KB");
    CHECK(RunProgram(command + " --max-memory 4GB").code == 0);
  }
}

}  // namespace
}  // namespace nn::test
