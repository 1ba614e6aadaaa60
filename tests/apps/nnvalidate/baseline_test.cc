// nnvalidate --baseline: known findings, whatever another export changes.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>

#include "apps/program.h"
#include "base/json/json.h"
#include "support/files.h"
#include "support/json_schema.h"
#include "support/paths.h"

namespace nn::test::nnvalidate_baseline_test {
namespace {

namespace fs = std::filesystem;

const std::string kCases = SourcePath("tests/cases/");

ProgramResult Validate(const std::string& arguments) {
  return RunProgram("nnvalidate " + arguments);
}

Json ValidateJson(const std::string& arguments) {
  return Json::parse(Validate("--format json " + arguments).out);
}

std::string RulesOf(const Json& report) {
  std::string out;
  for (const Json& file : report["files"])
    for (const Json& f : file["findings"]) out += f["rule"].get<std::string>() + " ";
  return out;
}

void Copy(const std::string& from, const std::string& to) {
  WriteText(to, ReadText(kCases + from));
}

TEST_CASE("nnvalidate: a baseline hides known findings") {
  const TempDir dir;
  fs::create_directories(dir / "models/deep");
  Copy("onnx/opset_missing.onnx", dir / "models/a.onnx");
  Copy("onnx/opset_twice.onnx", dir / "models/deep/b.onnx");
  Copy("onnx/good.onnx", dir / "models/deep/c.onnx");
  const std::string baseline = dir / "known.json";
  const ProgramResult written = Validate("--write-baseline " + baseline + " " + dir / "models");
  CHECK(written.code == 0);
  const Json schema = Json::parse(ReadText(SourcePath("schemas/nnvalidate-baseline.schema.json")));
  const Json known = Json::parse(ReadText(baseline));
  for (const std::string& error : SchemaErrors(schema, known)) FAIL_CHECK(error);
  uint64_t count = 0;
  for (const Json& f : known["findings"]) {
    count += f["count"].get<uint64_t>();
    CHECK(!f["message"].get<std::string>().empty());
  }
  CHECK(count == 5);
  CHECK(known["findings"][0]["file"] == "models/a.onnx");
  const std::string option = "--baseline " + baseline + " ";
  const ProgramResult hidden = Validate(option + dir / "models/./");
  CHECK(hidden.code == 0);
  CHECK(hidden.out == "3 files: no findings (5 known)\n");
  CHECK(ValidateJson(option + dir / "models")["files"][0]["known"] == 4);
  // Another defect, and the known one in another file, are reported.
  Copy("onnx/opset_missing.onnx", dir / "models/deep/c.onnx");
  Copy("onnx/metadata_twice.onnx", dir / "models/a.onnx");
  const Json report = ValidateJson(option + dir / "models");
  CHECK(Contains(RulesOf(report), "ONNX-MODEL-009 "));
  CHECK(Contains(RulesOf(report), "ONNX-MODEL-003 ONNX-NODE-003 "));
  WriteText(baseline, "{}");
  CHECK(Validate(option + dir / "models").code == 2);
  WriteText(baseline, R"({"nnvalidate_baseline": 1, "findings": []})");
  const ProgramResult old = Validate(option + dir / "models");
  CHECK(old.code == 2);
  CHECK(Contains(old.err, "write it again with --write-baseline"));
}

TEST_CASE("nnvalidate: the paths of a baseline are relative to it") {
  const TempDir dir;
  fs::create_directories(dir / "one/models");
  fs::create_directories(dir / "one/ci");
  Copy("onnx/opset_twice.onnx", dir / "one/models/b.onnx");
  CHECK(Validate("--write-baseline " + dir / "one/ci/known.json " + dir / "one/models").code == 0);
  CHECK(Json::parse(ReadText(dir / "one/ci/known.json"))["findings"][0]["file"] ==
        "../models/b.onnx");
  fs::rename(dir / "one", dir / "two");
  CHECK(Validate("--baseline " + dir / "two/ci/known.json " + dir / "two/models").code == 0);
}

TEST_CASE("nnvalidate: stale entries of a baseline") {
  const TempDir dir;
  Copy("onnx/opset_missing.onnx", dir / "a.onnx");
  Copy("onnx/opset_twice.onnx", dir / "b.onnx");
  Copy("onnx/opset_twice.onnx", dir / "c.onnx");
  const std::string option = "--baseline " + dir / "known.json ";
  CHECK(Validate("--write-baseline " + dir / "known.json " + dir.path()).code == 0);
  CHECK(!ValidateJson(option + dir.path()).contains("stale"));
  // a.onnx is repaired, b.onnx is gone, c.onnx is not checked.
  Copy("onnx/good.onnx", dir / "a.onnx");
  fs::remove(dir / "b.onnx");
  const ProgramResult r = Validate(option + dir / "a.onnx");
  CHECK(r.code == 0);
  CHECK(Contains(r.out, "known.json: note: a.onnx no longer has "));
  CHECK(Contains(r.out, "known.json: note: b.onnx no longer has 1 finding: "));
  CHECK(Contains(r.out, "hint: Write the baseline again with --write-baseline.\n"));
  CHECK(!Contains(r.out, "c.onnx"));
  uint64_t stale = 0;
  const Json entries = ValidateJson(option + dir / "a.onnx")["stale"];
  for (const Json& entry : entries) stale += entry["count"].get<uint64_t>();
  CHECK(stale == 5);
  // A rule that is not applied says nothing about its entries.
  const Json partial =
      ValidateJson(option + "--disable ONNX-MODEL-003,ONNX-NODE-003 " + dir / "a.onnx")["stale"];
  CHECK(partial.size() == 1);
}

TEST_CASE("nnvalidate: a baseline survives another export") {
  const TempDir dir;
  // Not an operator set that has the operator; exporters number nodes and values.
  const auto model = [](int n, bool more) {
    std::string nodes;
    const auto add = [&](const char* op, const std::string& in, const std::string& out) {
      nodes +=
          fmt::format("node {{ op_type: \"{}\" input: \"{}\" output: \"{}\" name: \"{}_{}\" }}\n",
                      op, in, out, op, n++);
    };
    if (more) add("Neg", "x", "unrelated");
    const std::string a = std::to_string(n), b = std::to_string(n + 1);
    add("Gelu", "x", a);
    add("Abs", a, b);
    add("Gelu", b, "y");
    constexpr const char* kType =
        "type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } }";
    return fmt::format(
        "ir_version: 8 opset_import {{ version: 17 }} graph {{ name: \"g\" {0} input {{ name: "
        "\"x\" "
        "{1} }} output {{ name: \"y\" {1} }} }}",
        nodes, kType);
  };
  WriteText(dir / "m.txtpb", model(1, false));
  CHECK(RulesOf(ValidateJson(dir / "m.txtpb")) == "ONNX-NODE-004 ONNX-NODE-004 ");
  CHECK(Validate("--write-baseline " + dir / "known.json " + dir / "m.txtpb").code == 0);
  WriteText(dir / "m.txtpb", model(57, true));
  const ProgramResult again = Validate("--baseline " + dir / "known.json " + dir / "m.txtpb");
  CHECK(again.out == dir / "m.txtpb: no findings (2 known)\n");
}

}  // namespace
}  // namespace nn::test::nnvalidate_baseline_test
