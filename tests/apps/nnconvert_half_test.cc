// Weights of 16 bits in Core ML files.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "apps/program.h"
#include "base/json.h"
#include "support/files.h"

namespace nn::test::nnconvert_half_test {
namespace {

// A product with 64 weights and the bias `bias`.
std::string Product(std::string_view bias) {
  std::string weights;
  for (int i = 0; i < 64; ++i) weights += fmt::format("{}{}", i == 0 ? "" : ", ", 0.125 * i);
  return fmt::format(R"(graph {{ in %x: f32[2, 8]
      const %w: f32[8, 8] = [{}]  const %b: f32[8] = [{}]
      %p = matmul(%x, %w)  %y = add(%p, %b)  out "y" = %y }})",
                     weights, bias);
}

// The types of the constant tensors.
std::vector<std::string> TypesOf(const std::string& path) {
  const ProgramResult r = RunProgram("nninspect --tensors --format json " + path);
  REQUIRE_MESSAGE(r.code == 0, r.err);
  std::vector<std::string> types;
  const Json report = Json::parse(r.out);
  for (const Json& t : report["tensors"]) types.push_back(t["type"]);
  return types;
}

constexpr const char* kHalves = "1, 2, 3, 4, 5, 6, 7, 0.5";
constexpr const char* kOneFloat = "1, 2, 3, 4, 5, 6, 7, 0.1";

TEST_CASE("Core ML: layers whose numbers are halves have 16-bit weights") {
  const TempDir dir;
  WriteModel(dir / "a.onnx", Product(kHalves));
  WriteModel(dir / "b.onnx", Product(kOneFloat));
  for (const char* name : {"a", "b"}) {
    const ProgramResult r =
        RunProgram(fmt::format("nnconvert {0}/{1}.onnx {0}/{1}.mlmodel", dir.path(), name));
    REQUIRE_MESSAGE(r.code == 0, r.out, r.err);
    CHECK(Contains(r.out, "bit-identical"));
  }
  const std::vector<std::string> halves = TypesOf(dir / "a.mlmodel");
  CHECK(halves == std::vector<std::string>(halves.size(), "float16"));
  // A layer has one type.
  const std::vector<std::string> floats = TypesOf(dir / "b.mlmodel");
  CHECK(floats == std::vector<std::string>(floats.size(), "float32"));
}

TEST_CASE("Core ML: --fp16 --weights-only rounds all weights, --fp16 is refused") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", Product(kOneFloat));
  const std::string convert = fmt::format("nnconvert {0}/m.onnx {0}/m.mlmodel --fp16", dir.path());
  const ProgramResult r = RunProgram(convert + " --weights-only");
  REQUIRE_MESSAGE(r.code == 0, r.out, r.err);
  const std::vector<std::string> types = TypesOf(dir / "m.mlmodel");
  CHECK(types == std::vector<std::string>(types.size(), "float16"));
  CHECK(RunProgram("nnvalidate " + dir / "m.mlmodel").code == 0);
  const ProgramResult refused = RunProgram(convert);
  CHECK(refused.code == 3);
  CHECK(Contains(refused.err, "--fp16 --weights-only stores their weights in it"));
}

}  // namespace
}  // namespace nn::test::nnconvert_half_test
