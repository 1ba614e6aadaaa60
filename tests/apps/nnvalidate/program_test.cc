#include <doctest/doctest.h>

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

TEST_CASE("nnvalidate: usage errors") {
  CHECK(Contains(Validate("").err, "MODEL is missing"));
  for (const char* arguments : {"", "x --format xml", "x --fail-on none", "x --profile lax", "-z"})
    CHECK(Validate(arguments).code == 2);
}

}  // namespace
}  // namespace nn::test::nnvalidate_test
