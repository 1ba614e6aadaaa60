#include <doctest/doctest.h>

#include <filesystem>

#include "apps/program.h"
#include "base/json/json.h"
#include "support/files.h"

namespace nn::test::nnvalidate_test {
namespace {

ProgramResult Validate(const std::string& arguments, std::string_view input = {}) {
  return RunProgram("nnvalidate " + arguments, input);
}

TEST_CASE("nnvalidate: a file that cannot be parsed is a finding") {
  const TempDir dir;
  WriteModel(dir / "good.onnx", ConvModel());
  WriteText(dir / "cut.onnx", ReadText(dir / "good.onnx").substr(0, 300));
  const ProgramResult good = Validate(dir / "good.onnx");
  CHECK(good.code == 0);
  CHECK(good.out == dir / "good.onnx: no findings\n");
  CHECK(good.err.empty());
  const ProgramResult bad = Validate(dir / "good.onnx " + dir / "cut.onnx");
  CHECK(bad.code == 1);
  CHECK(bad.err.empty());
  CHECK(bad.out.starts_with(dir / "cut.onnx: error: "));
  CHECK(Contains(bad.out, " [ONNX-FILE-001]\n"));
  CHECK(bad.out.ends_with("\n2 files: 1 error in 1 file\n"));
  CHECK(Contains(Validate("--color always " + dir / "cut.onnx").out, "\x1b[31merror:"));
  CHECK(!Contains(Validate("--color never " + dir / "cut.onnx").out, "\x1b"));
  CHECK(!Contains(Validate(dir / "cut.onnx").out, "\x1b"));
  CHECK(Validate("- --fail-on warning", ReadText(dir / "good.onnx")).code == 0);
}

TEST_CASE("nnvalidate: files that cannot be reached are errors, the others are still checked") {
  const TempDir dir;
  WriteModel(dir / "good.onnx", ConvModel());
  WriteText(dir / "bad.onnx", "hello");
  const ProgramResult r = Validate(dir / "none.onnx " + dir / "bad.onnx " + dir / "good.onnx");
  CHECK(r.code == 2);
  CHECK(Contains(r.err, "none.onnx: No such file"));
  CHECK(Contains(r.out, "none.onnx: not checked: No such file"));
  CHECK(Contains(r.out, "bad.onnx: error: "));
  CHECK(Contains(r.out, "3 files: 1 error in 1 file; 1 not checked\n"));
}

TEST_CASE("nnvalidate: all report forms") {
  const TempDir dir;
  WriteText(dir / "bad.onnx", "hello");
  const auto report = [&](const std::string& format) {
    const ProgramResult r = Validate("--format " + format + " " + dir / "bad.onnx");
    CHECK(r.code == 1);
    return r.out;
  };
  CHECK(Json::parse(report("json"))["summary"]["errors"] == 1);
  CHECK(Json::parse(report("sarif"))["runs"][0]["results"][0]["ruleId"] == "ONNX-FILE-001");
  CHECK(Contains(report("junit"), "failures=\"1\""));
  CHECK(report("github").starts_with("::error file="));
  const ProgramResult file =
      Validate("--format json -o " + dir / "report.json " + dir / "bad.onnx");
  CHECK(file.code == 1);
  CHECK(file.out.empty());
  CHECK(ReadText(dir / "report.json") == report("json"));
}

TEST_CASE("nnvalidate: --list-rules") {
  const ProgramResult text = Validate("--list-rules");
  CHECK(text.code == 0);
  CHECK(Contains(text.out, "FILE-001"));
  const Json json = Json::parse(Validate("--list-rules --format json --profile vendor").out);
  CHECK(json["rules"][0]["id"] == "FILE-001");
  CHECK(Validate("--list-rules --format sarif").code == 2);
}

TEST_CASE("nnvalidate --deployment-target: what a system does not read") {
  const TempDir dir;
  // An operation of iOS18 in one of two functions.
  std::filesystem::create_directories(dir / "m.mlmodelc");
  WriteText(dir / "m.mlmodelc/model.mil", R"(program(1.0)
{
    func main<ios17>(tensor<fp32, [1, 2, 3]> x) {
            tensor<fp32, [1, 2, 3]> y = relu(x = x);
        } -> (y);
    func other<ios18>(tensor<fp32, [1, 2, 3]> x) {
            tensor<fp32, [1, 2, 3]> y = scaled_dot_product_attention(key = x, query = x, value = x);
        } -> (y);
}
)");
  const std::string model = dir / "m.mlmodelc";
  for (const char* arguments : {"", "--deployment-target iOS18 ", "--deployment-target macOS26 "}) {
    CAPTURE(arguments);
    const ProgramResult fits = Validate(arguments + model);
    CHECK(fits.code == 0);
    CHECK(fits.out == model + ": no findings\n");
  }
  const ProgramResult older = Validate("--deployment-target iOS17 " + model);
  CHECK(older.code == 1);
  CHECK(Contains(older.out,
                 "specification version 9 needs iOS18 or macOS15; the deployment target "
                 "reads version 8 [COREML-TARGET-001]"));
  CHECK(Contains(older.out, "function \"other\" has the operation set iOS18"));
  CHECK(Contains(older.out, "it is of the operation set iOS18 or later"));
  CHECK(!Contains(older.out, "function \"main\" has"));
  CHECK(Contains(Validate("--deployment-target macOS10.15 " + model).out,
                 "function \"main\" has the operation set iOS17"));

  // Other formats have no such systems.
  WriteModel(dir / "m.onnx", ConvModel());
  CHECK(Validate("--deployment-target iOS13 " + dir / "m.onnx").code == 0);
  const ProgramResult unknown = Validate("--deployment-target iOS99 " + model);
  CHECK(unknown.code == 2);
  CHECK(Contains(unknown.err, "--deployment-target: iOS99 not in {iOS13,"));
}

TEST_CASE("nnvalidate: usage errors") {
  CHECK(Contains(Validate("").err, "MODEL is missing"));
  for (const char* arguments : {"", "x --format xml", "x --fail-on none", "x --profile lax", "-z"})
    CHECK(Validate(arguments).code == 2);
}

}  // namespace
}  // namespace nn::test::nnvalidate_test
