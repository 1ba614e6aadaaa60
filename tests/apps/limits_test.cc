#include <doctest/doctest.h>

#include "apps/program.h"
#include "support/files.h"

// Resource limits: exit code 4, and the limit is named.
namespace nn::test {
namespace {

TEST_CASE("limits: every program has them") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", ConvModel());
  for (const std::string program : {"nninspect", "nnvalidate", "nnrun", "nnconvert"}) {
    const std::string command =
        program + " " + dir / "m.onnx" + (program == "nnconvert" ? " " + dir / "out.onnx" : "");
    CAPTURE(command);
    CHECK(RunProgram(command).code == 0);
    struct Row {
      const char* option;
      const char* message;
    };
    for (const Row& r :
         {Row{" --max-file-bytes 100", "max-file-bytes"}, Row{" --max-depth 2", "max-depth"},
          Row{" --max-memory 1KB", "max-memory"}}) {
      const ProgramResult result = RunProgram(command + r.option);
      CHECK_MESSAGE(result.code == 4, r.option << ": " << result.err);
      CHECK_MESSAGE(Contains(result.err, r.message), result.err);
    }
    CHECK(RunProgram(command + " --max-file-bytes 1MB --max-depth 10 --max-memory 4GB").code == 0);
    CHECK(RunProgram(command + " --max-depth 0").code == 2);
  }
}

}  // namespace
}  // namespace nn::test
