#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>

#include "apps/program.h"
#include "base/json/json.h"
#include "support/files.h"
#include "support/json_schema.h"
#include "support/paths.h"
#include "support/wire.h"

// The features of nnvalidate for continuous integration: many files, configurations, baselines,
// assertions, other targets.
namespace nn::test::nnvalidate_ci_test {
namespace {

namespace fs = std::filesystem;

const std::string kCases = SourcePath("tests/cases/");

ProgramResult Validate(const std::string& arguments) {
  return RunProgram("nnvalidate " + arguments);
}

Json ValidateJson(const std::string& arguments) {
  return Json::parse(Validate("--format json " + arguments).out);
}

// The files of a report, in order, without the path before `root`.
std::string FilesOf(const Json& report, const std::string& root) {
  std::string out;
  for (const Json& file : report["files"]) {
    const auto path = file["path"].get<std::string>();
    out += (path.starts_with(root + "/") ? path.substr(root.size() + 1) : path) + " ";
  }
  return out;
}

// The broken rules of all files, in order; a rule that is broken several times is listed once.
std::string RulesOf(const Json& report) {
  std::string out;
  for (const Json& file : report["files"]) {
    std::string last;
    for (const Json& f : file["findings"]) {
      const auto rule = f["rule"].get<std::string>();
      if (rule != last) out += rule + " ";
      last = rule;
    }
  }
  return out;
}

// opset_missing.onnx breaks two rules, opset_twice.onnx one.
class Project {
 public:
  Project() {
    fs::create_directories(dir_ / "models/deep");
    fs::create_directories(dir_ / "models/.hidden");
    Copy("onnx/opset_missing.onnx", "models/a.onnx");
    Copy("onnx/opset_twice.onnx", "models/deep/b.onnx");
    Copy("onnx/good.onnx", "models/deep/c.onnx");
    Copy("onnx/good.onnx", "models/.hidden/d.onnx");
    WriteText(dir_ / "models/notes.txt", "no model");
    WriteText(dir_ / "models/other.json", "{}");
    fs::create_directory_symlink(dir_ / "models", dir_ / "models/deep/loop");
  }
  void Copy(const std::string& from, const std::string& to) const {
    WriteText(dir_ / to, ReadText(kCases + from));
  }
  std::string operator/(std::string_view name) const { return dir_ / name; }
  std::string path() const { return dir_.path(); }

 private:
  TempDir dir_;
};

TEST_CASE("nnvalidate: folders and patterns") {
  const Project p;
  struct Row {
    std::string arguments;
    std::string files;
  };
  const std::string all = "models/a.onnx models/deep/b.onnx models/deep/c.onnx ";
  for (const Row& r : {Row{p / "models", all}, Row{p.path(), all}, Row{p / "models/", all},
                       Row{"'" + p / "**/*.onnx'", all}, Row{"'" + p / "models/**'", all},
                       Row{"'" + p / "models/*.onnx'", "models/a.onnx "},
                       Row{"'" + p / "*/deep/[bx].onnx'", "models/deep/b.onnx "},
                       Row{"'" + p / "mod?ls/**/c.onnx'", "models/deep/c.onnx "},
                       Row{p / "models/deep/c.onnx " + p / "models",
                           "models/deep/c.onnx models/a.onnx models/deep/b.onnx "},
                       Row{p / "models/.hidden", "models/.hidden/d.onnx "}}) {
    CAPTURE(r.arguments);
    CHECK(FilesOf(ValidateJson(r.arguments), p.path()) == r.files);
  }
  fs::create_directory(p / "empty");
  for (const std::string& none : {p / "empty", "'" + p / "*.tflite'"}) {
    const ProgramResult r = Validate(none);
    CHECK(r.code == 2);
    CHECK(r.out.empty());
  }
  CHECK(Validate(p / "none.onnx").code == 2);
}

TEST_CASE("nnvalidate: any number of jobs gives the same report") {
  const std::string one = Validate("--format json --jobs 1 " + kCases).out;
  CHECK(Json::parse(one)["files"].size() > 50);
  for (const std::string jobs : {"0", "2", "7"})
    CHECK(Validate(fmt::format("--format json --jobs {} {}", jobs, kCases)).out == one);
}

TEST_CASE("nnvalidate: rules are enabled and disabled") {
  const std::string model = kCases + "onnx/opset_missing.onnx";
  CHECK(RulesOf(ValidateJson(model)) == "ONNX-MODEL-003 ONNX-NODE-003 ");
  CHECK(RulesOf(ValidateJson("--disable ONNX-MODEL-003 " + model)) == "ONNX-NODE-003 ");
  const ProgramResult none = Validate("--disable ONNX-MODEL-003,ONNX-NODE-003 " + model);
  CHECK(none.code == 0);
  CHECK(Contains(none.out, "no findings"));
  const std::string rules = Validate("--list-rules --disable ONNX-MODEL-003").out;
  CHECK_FALSE(Contains(rules, "ONNX-MODEL-003 "));
  CHECK(Contains(rules, "ONNX-NODE-003 "));
  CHECK(Contains(Validate("--list-rules --profile vendor --enable ONNX-LINT-004").out,
                 "ONNX-LINT-004 "));
  CHECK_FALSE(Contains(Validate("--list-rules --profile vendor").out, "ONNX-LINT-004 "));
  CHECK(RulesOf(ValidateJson("--disable \"ONNX-MODEL-*\" " + model)) == "ONNX-NODE-003 ");
  CHECK(RulesOf(ValidateJson("--disable onnx-node-003 " + model)) == "ONNX-MODEL-003 ");
  CHECK(Contains(Validate("--list-rules --enable \"*\"").out, "ONNX-LINT-004 "));
  for (const char* none_such : {"ONNX-999", "ONNX-X*"}) {
    const ProgramResult unknown = Validate(fmt::format("--disable '{}' {}", none_such, model));
    CHECK(unknown.code == 2);
    CHECK(Contains(unknown.err, fmt::format("unknown rule \"{}\"", none_such)));
  }
}

TEST_CASE("nnvalidate: --explain") {
  const ProgramResult r = Validate("--explain ONNX-LINT-004");
  CHECK(r.code == 0);
  for (const char* part :
       {"ONNX-LINT-004: warning\n", "Constant scales of QuantizeLinear and DequantizeLinear",
        "source    Operators.md", "profiles  strict\n"})
    CHECK_MESSAGE(Contains(r.out, part), r.out);
  CHECK(Json::parse(Validate("--explain ONNX-LINT-004 --format json").out)["vendor"] == false);
  CHECK(Validate("--explain onnx-lint-004").out == r.out);
  const ProgramResult target = Validate("--explain for-tflite");
  CHECK(target.code == 0);
  for (const char* part : {"FOR-TFLITE: error\n", "option    --for tflite\n", "hint      "})
    CHECK_MESSAGE(Contains(target.out, part), target.out);
  CHECK(Contains(Validate("--explain ASSERT-MACS").out, "--assert-macs-below"));
  CHECK(Validate("--explain ONNX-999").code == 2);
  CHECK(Validate("--explain ONNX-LINT-004 --format sarif").code == 2);
}

TEST_CASE("nnvalidate: the nearest configuration applies, and the command line overrides it") {
  const Project p;
  WriteText(p / ".nnvalidate.json", R"({"disable": ["ONNX-MODEL-003", "ONNX-MODEL-005"]})");
  CHECK(RulesOf(ValidateJson(p / "models")) == "ONNX-NODE-003 ");
  WriteText(p / "models/deep/.nnvalidate.json", "{}");
  CHECK(RulesOf(ValidateJson(p / "models")) == "ONNX-NODE-003 ONNX-MODEL-005 ");
  CHECK(RulesOf(ValidateJson("--no-config " + p / "models")) ==
        "ONNX-MODEL-003 ONNX-NODE-003 ONNX-MODEL-005 ");
  CHECK(RulesOf(ValidateJson("--enable ONNX-MODEL-003 " + p / "models/a.onnx")) ==
        "ONNX-MODEL-003 ONNX-NODE-003 ");
  const std::string all = " --config " + p / ".nnvalidate.json ";
  CHECK(RulesOf(ValidateJson(all + p / "models")) == "ONNX-NODE-003 ");
  const Json schema = Json::parse(ReadText(SourcePath("schemas/nnvalidate-config.schema.json")));
  CHECK(SchemaErrors(schema, Json::parse(ReadText(p / ".nnvalidate.json"))).empty());
  WriteText(p / "models/.nnvalidate.json", R"({"profile": "strict", "fail_on": "warning"})");
  // Another constant, which nothing reads.
  const std::string constant = Bytes(8, "spare") + Int(1, 1) + Int(2, 1) + Bytes(9, "abcd");
  const std::string warned = p / "models/warned.onnx";
  WriteText(warned, ReadText(kCases + "onnx/good.onnx") + Bytes(7, Bytes(5, constant)));
  CHECK(Validate(warned).code == 1);
  CHECK(Validate("--fail-on error " + warned).code == 0);
  std::filesystem::remove(p / "models/.nnvalidate.json");
  std::filesystem::remove(warned);
  // Every result of SARIF refers to its rule.
  const Json sarif = Json::parse(Validate("--format sarif " + p / "models").out);
  for (const Json& result : sarif["runs"][0]["results"]) {
    const auto index = result["ruleIndex"].get<size_t>();
    CHECK(sarif["runs"][0]["tool"]["driver"]["rules"][index]["id"] == result["ruleId"]);
  }
  for (const char* text :
       {R"({"exclude": "x"})", R"({"for": ["caffe"]})", R"({"assert": {"macs": 1}})",
        R"({"assert": {"max_params": -1}})", R"({"assert": {"dtype": ["float"]}})",
        R"({"max_per_rule": "many"})", "[]", "{", R"({"profile": "lax"})",
        R"({"disable": "ONNX-MODEL-003"})", R"({"disable": ["ONNX-999"]})", R"({"rules": []})",
        R"({"fail_on": "none"})"}) {
    CAPTURE(text);
    WriteText(p / ".nnvalidate.json", text);
    const ProgramResult r = Validate(p / "models/a.onnx");
    CHECK(r.code == 2);
    CHECK(Contains(r.err, ".nnvalidate.json: "));
  }
}

TEST_CASE("nnvalidate: a configuration has assertions, targets, exclusions and limits") {
  const Project p;
  fs::create_directories(p / "models/vendor");
  p.Copy("onnx/opset_twice.onnx", "models/vendor/v.onnx");
  const std::string config = p / ".nnvalidate.json";
  const Json schema = Json::parse(ReadText(SourcePath("schemas/nnvalidate-config.schema.json")));
  const auto configure = [&](const std::string& text) {
    WriteText(config, text);
    for (const std::string& error : SchemaErrors(schema, Json::parse(text))) FAIL_CHECK(error);
  };
  struct Row {
    const char* exclude;
    std::string files;
  };
  for (const Row& r :
       {Row{R"("vendor")", "models/a.onnx models/deep/b.onnx models/deep/c.onnx "},
        Row{R"("models/vendor/**", "b.onnx")", "models/a.onnx models/deep/c.onnx "},
        Row{R"("**/deep")", "models/a.onnx models/vendor/v.onnx "},
        Row{R"("models/*.onnx")", "models/deep/b.onnx models/deep/c.onnx models/vendor/v.onnx "},
        Row{R"("deep/b.onnx")",
            "models/a.onnx models/deep/b.onnx models/deep/c.onnx models/vendor/v.onnx "}}) {
    CAPTURE(r.exclude);
    configure(fmt::format(R"({{"exclude": [{}]}})", r.exclude));
    CHECK(FilesOf(ValidateJson(p / "models"), p.path()) == r.files);
  }
  configure(R"({"exclude": ["vendor", "models/*.onnx"]})");
  CHECK(FilesOf(ValidateJson("--exclude b.onnx --config " + config + " " + p / "models"),
                p.path()) == "models/deep/c.onnx ");
  // A file that is named is checked.
  CHECK(FilesOf(ValidateJson(p / "models/vendor/v.onnx"), p.path()) == "models/vendor/v.onnx ");
  configure(R"({"exclude": ["*"]})");
  const ProgramResult none = Validate(p / "models");
  CHECK(none.code == 2);
  CHECK(Contains(none.err, "all 4 model files are excluded"));

  const std::string good = " " + p / "models/deep/c.onnx";
  configure(R"({"assert": {"max_params": 1, "static_shapes": true, "dtype": ["f16"]}})");
  CHECK(RulesOf(ValidateJson(good)) == "ASSERT-MAX-PARAMS ASSERT-DTYPE ");
  CHECK(RulesOf(ValidateJson("--assert-dtype f32" + good)) == "ASSERT-MAX-PARAMS ");
  configure(R"({"for": ["onnx:1"]})");
  CHECK(RulesOf(ValidateJson(good)) == "FOR-ONNX ");
  CHECK(RulesOf(ValidateJson("--for tflite" + good)) == "");
  CHECK(Json::parse(Validate("--format sarif" + good).out)["runs"][0]["results"][0].contains(
      "ruleIndex"));
  configure(R"({"max_per_rule": 1, "assert": {"ops": ["None"]}})");
  const Json report = ValidateJson(good);
  CHECK(RulesOf(report) == "ASSERT-OPS ");
  const auto more = report["files"][0]["more"]["ASSERT-OPS"].get<int>();
  CHECK(report["summary"]["errors"] == more + 1);
  CHECK(
      Contains(Validate("--max-per-rule 2" + good).out, fmt::format("{} more finding", more - 1)));
}

TEST_CASE("nnvalidate: several reports of one run") {
  const Project p;
  const ProgramResult r =
      Validate("--report sarif=" + p / "r.sarif" + " --report junit=" + p / "r.xml" +
               " --report json=" + p / "r.json " + p / "models");
  CHECK(r.code == 1);
  CHECK(Contains(r.out, "3 files: "));
  CHECK(ReadText(p / "r.sarif") == Validate("--format sarif " + p / "models").out);
  CHECK(ReadText(p / "r.xml") == Validate("--format junit " + p / "models").out);
  CHECK(ReadText(p / "r.json") == Validate("--format json " + p / "models").out);
  for (const std::string& bad :
       {std::string("sarif"), std::string("sarif="), "markdown=" + p / "x", "xml=" + p / "x",
        std::string("json=-"), "json=" + p / "x" + " --report sarif=" + p / "./x"})
    CHECK(Validate("--report " + bad + " " + p / "models").code == 2);
}

TEST_CASE("nnvalidate: assertions") {
  const TempDir dir;
  const std::string model = " " + dir / "m.onnx";
  WriteModel(dir / "m.onnx", ConvModel());  // 3 x 4 x 3 x 3 weights
  WriteModel(dir / "batch.onnx", BatchModel());
  struct Row {
    std::string holds;
    std::string fails;
    std::string rule;
  };
  const Json summary = Json::parse(RunProgram("nninspect --format json" + model).out);
  const auto macs = summary["multiply_adds"]["count"].get<uint64_t>();
  const auto parameters = summary["parameters"]["count"].get<uint64_t>();
  const auto bytes = fs::file_size(dir / "m.onnx");
  const auto number = [](uint64_t n) { return std::to_string(n); };
  for (const Row& r :
       {Row{"--assert-ops Conv,Relu,Add", "--assert-ops Relu", "ASSERT-OPS"},
        Row{"--assert-max-params " + number(parameters),
            "--assert-max-params " + number(parameters - 1), "ASSERT-MAX-PARAMS"},
        Row{"--assert-max-bytes " + number(bytes), "--assert-max-bytes " + number(bytes - 1),
            "ASSERT-MAX-BYTES"},
        Row{"--assert-macs-below " + number(macs + 1), "--assert-macs-below " + number(macs),
            "ASSERT-MACS"},
        Row{"--assert-dtype f32", "--assert-dtype f16,i8", "ASSERT-DTYPE"},
        Row{"--assert-input x:f32[1,3,8,8]", "--assert-input x:f16[1,3,8,8]", "ASSERT-INPUT"},
        Row{"--assert-input x:f32[1,3,8,8]", "--assert-input x:f32[2,3,8,8]", "ASSERT-INPUT"},
        Row{"--assert-input x:f32[1,3,8,8]", "--assert-input z:f32[1,3,8,8]", "ASSERT-INPUT"}}) {
    CAPTURE(r.fails);
    CHECK(Validate(r.holds + model).code == 0);
    const ProgramResult failed = Validate(r.fails + model);
    CHECK(failed.code == 1);
    CHECK_MESSAGE(Contains(failed.out, " [" + r.rule + "]\n"), failed.out);
    const Json sarif = Json::parse(Validate("--format sarif " + r.fails + model).out);
    CHECK(sarif["runs"][0]["results"][0].contains("ruleIndex"));
  }
  CHECK(Validate("--assert-static-shapes" + model).code == 0);
  CHECK(RulesOf(ValidateJson("--assert-static-shapes " + dir / "batch.onnx")) ==
        "ASSERT-STATIC-SHAPES ");
  for (const char* bad : {"--assert-dtype float", "--assert-input x", "--assert-input x:float[1]",
                          "--assert-max-params many"})
    CHECK(Validate(bad + model).code == 2);
}

TEST_CASE("nnvalidate: assertions that cannot be checked fail") {
  const TempDir dir;
  WriteText(dir / "m.txtpb", R"(ir_version: 8 opset_import { version: 17 }
    opset_import { domain: "mine" version: 1 }
    graph { name: "g" node { op_type: "Own" domain: "mine" input: "x" output: "y" }
      input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
      output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } } })");
  const std::string rules = RulesOf(ValidateJson("--assert-macs-below 10 " + dir / "m.txtpb"));
  CHECK(rules == "ASSERT-MACS ");
}

TEST_CASE("nnvalidate: other formats as targets") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", R"(graph {
    in %x: f32[1, 3, 8, 8]
    %e = atanh(%x) "odd"
    %y = relu(%e)
    out "y" = %y
  })");
  const auto rules = [&](const std::string& target) {
    return RulesOf(ValidateJson("--for " + target + " " + dir / "m.onnx"));
  };
  CHECK(rules("onnx") == "");
  CHECK(rules("coreml") == "");
  CHECK(rules("nnapi-1.0") == "FOR-NNAPI ");
  CHECK(rules("onnx:9") == "");
  CHECK(rules("onnx:8") == "FOR-ONNX ");  // Atanh was added in opset 9
  CHECK(rules("coreml:4") == "");
  CHECK(rules("coreml:3") == "FOR-COREML ");
  const ProgramResult both = Validate("--for tflite --for nnapi-1.0 " + dir / "m.onnx");
  CHECK(both.code == 1);
  CHECK(Contains(both.out, " [FOR-NNAPI]\n"));
  CHECK(Contains(both.out, "\"odd\""));
  for (const char* bad : {"caffe", "onnx:", "onnx:x", "tflite:3", "onnx:0"})
    CHECK(Validate(std::string("--for ") + bad + " " + dir / "m.onnx").code == 2);
}

}  // namespace
}  // namespace nn::test::nnvalidate_ci_test
