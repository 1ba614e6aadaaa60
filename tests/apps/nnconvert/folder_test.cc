// nnconvert of a folder of models.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "apps/program.h"
#include "base/json/json.h"
#include "base/text/text.h"
#include "support/files.h"
#include "support/json_schema.h"
#include "support/paths.h"

namespace nn::test::nnconvert_folder_test {
namespace {

namespace fs = std::filesystem;

ProgramResult Convert(const std::string& arguments) {
  return RunProgram("nnconvert " + arguments);
}

Json FitsSchema(const std::string& text, const std::string& schema_name) {
  const Json schema = Json::parse(ReadText(SourcePath("schemas/") + schema_name));
  Json json = Json::parse(text);
  for (const std::string& error : SchemaErrors(schema, json)) FAIL_CHECK(error);
  return json;
}

Json ParseReport(const std::string& text) {
  return FitsSchema(text, "nnconvert-report.schema.json");
}

// The results by model name.
std::string Results(const Json& report) {
  std::string out;
  for (const Json& c : report["conversions"])
    out +=
        fmt::format("{} {}\n", fs::path(c["input"]["path"].get<std::string>()).filename().string(),
                    c["result"].get<std::string>());
  return out;
}

// The files below a folder, sorted, one per line.
std::string Tree(const std::string& root) {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(root))
    names.push_back(fs::relative(entry.path(), root).string() + (entry.is_directory() ? "/" : ""));
  std::sort(names.begin(), names.end());
  std::string out;
  for (const std::string& name : names) out += name + "\n";
  return out;
}

// A folder with models, files beside them, and other files.
class Models {
 public:
  Models() {
    fs::create_directories(dir_ / "in/deep/er");
    WriteModel(dir_ / "in/conv.onnx", ConvModel());
    WriteModel(dir_ / "in/deep/batch.onnx", BatchModel());
    WriteModel(dir_ / "in/deep/er/two.tflite", TwoOutputsModel());
    WriteText(dir_ / "in/deep/notes.txt", "not a model");
  }
  // Adds a model that cannot be converted.
  void AddUnsupported() {
    WriteModel(dir_ / "in/foo.onnx", TwoOutputsModel());
    Patch(dir_ / "in/foo.onnx", "Add", "Foo");
  }
  std::string operator/(std::string_view name) const { return dir_ / name; }
  std::string in() const { return dir_ / "in"; }
  std::string out() const { return dir_ / "out"; }
  // "IN OUT --to FORMAT "
  std::string To(std::string_view format) const {
    return fmt::format("{} {} --to {} ", in(), out(), format);
  }

 private:
  TempDir dir_;
};

TEST_CASE("folder: every model below it is converted, and a table says so") {
  const Models m;
  const ProgramResult r = Convert(m.To("coreml"));
  CHECK_MESSAGE(r.code == 0, r.err);
  const auto size = [&](const char* name) {
    return HumanBytes(fs::file_size(m / "out/" + std::string(name)));
  };
  CHECK(r.out == fmt::format("{} -> {} (Core ML)\n"
                             "  model               result                   size\n"
                             "  conv.onnx           converted and verified  {}\n"
                             "  deep/batch.onnx     converted and verified  {}\n"
                             "  deep/er/two.tflite  converted and verified  {}\n"
                             "3 models: 3 converted; 1 other file skipped\n",
                             m.in(), m.out(), size("conv.mlmodel"), size("deep/batch.mlmodel"),
                             size("deep/er/two.mlmodel")));
  CHECK(Tree(m.out()) ==
        ".nnconvert.json\nconv.mlmodel\ndeep/\ndeep/batch.mlmodel\ndeep/er/\n"
        "deep/er/two.mlmodel\n");
  // The same files as those of single conversions.
  REQUIRE(Convert(m / "in/conv.onnx " + m / "single.mlmodel").code == 0);
  CHECK(ReadText(m / "single.mlmodel") == ReadText(m / "out/conv.mlmodel"));
  CHECK(Convert("-q --force " + m.To("coreml")).out.empty());
}

TEST_CASE("folder: models of the target's format are copied") {
  const Models m;
  const Json json = ParseReport(Convert(m.To("onnx") + "--format json").out);
  CHECK(Results(json) == "conv.onnx copied\nbatch.onnx copied\ntwo.tflite converted\n");
  CHECK(json["summary"]["models"] == 3);
  CHECK(json["summary"]["copied"] == 2);
  CHECK(json["summary"]["converted"] == 1);
  CHECK(json["summary"]["skipped_files"] == 1);
  CHECK(ReadText(m / "out/conv.onnx") == ReadText(m / "in/conv.onnx"));
}

TEST_CASE("folder: a failure does not stop the others, and the worst determines the exit code") {
  Models m;
  m.AddUnsupported();
  const ProgramResult unsupported = Convert(m.To("tflite"));
  CHECK(unsupported.code == 3);
  CHECK(Contains(unsupported.out, "  foo.onnx            1 operator cannot be converted: Foo"));
  CHECK(Contains(unsupported.out, "4 models: 2 converted, 1 copied, 1 unsupported; "));
  // Worse: the model fails a check, then a limit, then a file error.
  WriteModel(m / "in/norm.onnx", NormModel());
  const std::string strict =
      m.To("tflite") + "--simplify --allow-rounding --atol 0 --rtol 0 --format json ";
  const ProgramResult refuted = Convert(strict);
  CHECK(refuted.code == 1);
  CHECK(ParseReport(refuted.out)["summary"]["refuted"] == 1);
  CHECK_FALSE(Exists(m / "out/norm.tflite"));
  CHECK(Convert(strict + "--force --max-work 1").code == 4);
  WriteText(m / "in/page.onnx", "<!DOCTYPE html><html></html>");
  const ProgramResult damaged = Convert(strict + "--max-work 1");
  CHECK(damaged.code == 2);
  const Json json = ParseReport(damaged.out);
  CHECK(json["summary"]["error"] >= 1);
  CHECK(Contains(damaged.out, "this is an HTML page"));
  CHECK(Exists(m / "out/deep/er/two.tflite"));
}

TEST_CASE("folder: converted models are skipped until they change") {
  Models m;
  m.AddUnsupported();
  const std::string command = m.To("tflite") + "--format json ";
  REQUIRE(Convert(command).code == 3);
  const Json state = FitsSchema(ReadText(m / "out/.nnconvert.json"), "nnconvert-state.schema.json");
  CHECK(state["models"].size() == 3);
  CHECK(state["models"].contains("deep/batch.onnx"));
  const auto results = [&](const std::string& more = {}) {
    return Results(ParseReport(Convert(command + more).out));
  };
  const std::string unchanged =
      "conv.onnx unchanged\nbatch.onnx unchanged\ntwo.tflite unchanged\nfoo.onnx unsupported\n";
  CHECK(results() == unchanged);
  CHECK(results("--dry-run") == unchanged);
  CHECK(Contains(Convert(m.To("tflite")).out, "  conv.onnx           unchanged"));
  const std::string all =
      "conv.onnx converted\nbatch.onnx converted\ntwo.tflite copied\nfoo.onnx unsupported\n";
  CHECK(results("--force") == all);

  // A source, an output, an option.
  WriteModel(m / "in/conv.onnx", TwoOutputsModel());
  fs::remove(m / "out/deep/batch.tflite");
  CHECK(results() ==
        "conv.onnx converted\nbatch.onnx converted\ntwo.tflite unchanged\nfoo.onnx unsupported\n");
  WriteText(m / "out/conv.tflite", "mine");
  CHECK(results() ==
        "conv.onnx converted\nbatch.onnx unchanged\ntwo.tflite unchanged\nfoo.onnx unsupported\n");
  CHECK(results("--no-verify") ==
        "conv.onnx unverified\nbatch.onnx unverified\ntwo.tflite copied\nfoo.onnx unsupported\n");
  CHECK(results() == all);
  CHECK(results() == unchanged);

  // A state that cannot be read, or of another version, is ignored.
  for (const std::string& text : {std::string("{"), std::string("[]"), std::string("{}")}) {
    CAPTURE(text);
    WriteText(m / "out/.nnconvert.json", text);
    const ProgramResult r = Convert(command);
    CHECK(Results(ParseReport(r.out)) == all);
    CHECK(Contains(r.err, "is not the state of a conversion, so all models are converted"));
  }
  Json other = Json::parse(ReadText(m / "out/.nnconvert.json"));
  other["version"] = "0.0.1";
  WriteText(m / "out/.nnconvert.json", other.dump());
  CHECK(results() == all);

  // Models that no longer exist are removed from the state.
  fs::remove(m / "in/conv.onnx");
  REQUIRE(Convert(command).code == 3);
  CHECK_FALSE(Json::parse(ReadText(m / "out/.nnconvert.json"))["models"].contains("conv.onnx"));
}

constexpr const char* kInt8 = "--quantize int8 --calibrate seeded:2";

// An option that the outputs or their verification depend on, those that it requires, and its value
// before if it is required itself.
struct DecidingOption {
  std::string option, value = "", required = "", before = "", format = "onnx";
};
const DecidingOption kDeciding[] = {
    {"--input-shape", "x:2,4"},
    {"--batch", "2"},
    {"--length", "x=3"},
    {"--opset", "15"},
    {"--core-ml", "program", "", "", "coreml"},
    {"--deployment-target", "iOS16", "--core-ml program", "", "coreml"},
    {"--fold-batch-norm"},
    {"--fuse"},
    {"--simplify"},
    {"--allow-rounding", "", "--simplify"},
    {"--unroll", "2"},
    {"--dequantize"},
    {"--float32"},
    {"--fp16"},
    {"--bf16"},
    {"--weights-only", "", "--fp16"},
    {"--half-interface", "", "--fp16"},
    {"--keep-float32", "Relu", "--fp16"},
    {"--quantize", "weights-int8"},
    {"--calibrate", "seeded:3", "--quantize int8", "seeded:2"},
    {"--calibrate-method", "entropy", kInt8},
    {"--symmetric", "", kInt8},
    {"--per-tensor", "", kInt8},
    {"--bias-correction", "", kInt8},
    {"--equalize", "", kInt8},
    {"--integer-interface", "", kInt8},
    {"--states"},
    {"--rewrite"},
    {"--function", "main"},
    {"--external-threshold", "5"},
    {"--embed-data"},
    {"--c-name", "m"},
    {"--c-section", "s"},
    {"--c-align", "32"},
    {"--infer-shapes"},
    {"--no-verify"},
    {"--seed", "5"},
    {"--verify-runs", "2"},
    {"--verify-shape", "x:2,4"},
    {"--atol", "0.5"},
    {"--rtol", "0.5"},
    {"--set-batch", "2"},
    {"--compose-json", "PATCH"},
    {"--extract", "x..a"},
    {"--cut-before", "y"},
    {"--cut-after", "a"},
    {"--remove-output", "y"},
    {"--add-output", "a"},
    {"--rename", "a=b"},
    {"--set-metadata", "k=v"},
    {"--strip", "docs"},
};
// They decide about neither, or print texts in place of converting.
const std::vector<std::string> kNeutral = {"--help",
                                           "--version",
                                           "--verbose",
                                           "--quiet",
                                           "--color",
                                           "--completion",
                                           "--man-page",
                                           "--to",
                                           "--dry-run",
                                           "--support",
                                           "--threads",
                                           "--format",
                                           "--report",
                                           "--attest",
                                           "--jobs",
                                           "--force",
                                           "--max-file-bytes",
                                           "--max-piped-bytes",
                                           "--max-unpacked-bytes",
                                           "--max-depth",
                                           "--max-items",
                                           "--max-memory",
                                           "--max-work",
                                           "--max-steps"};
// Refused with folders.
const std::vector<std::string> kOfOneModel = {
    "--fix-input", "--clip-input",    "--rename-input", "--rename-output",  "--external-data",
    "--weights",   "--verify-inputs", "--cast-inputs",  "--reshape-inputs", "--preprocess",
    "--layout",    "--merge",         "--connect",      "--carry",          "--cache-length"};

// The options in the text of --help.
std::vector<std::string> Options() {
  std::vector<std::string> out;
  const std::string help = Convert("--help").out;
  for (size_t at = 0; at < help.size();) {
    const size_t end = std::min(help.find('\n', at), help.size());
    const std::string line = help.substr(at, end - at);
    at = end + 1;
    const size_t first = line.find_first_not_of(' ');
    const size_t name = line.find("--");
    if (first == std::string::npos || line[first] != '-' || name > first + 3) continue;
    out.push_back(line.substr(name, line.find_first_of(" ,=[", name) - name));
  }
  return out;
}

TEST_CASE("folder: every option that decides about the outputs makes models changed") {
  const TempDir dir;
  fs::create_directory(dir / "in");
  WriteModel(dir / "in/m.onnx", R"(graph { in %x: f32[n, 4] %a = relu(%x) %y = neg(%a)
    out "y" = %y })");
  WriteText(dir / "PATCH", R"([{"op": "add", "path": "/model/doc_string", "value": "text"}])");
  const auto command_to = [&](const std::string& format) {
    return dir / "in " + dir / "out --format json --to " + format + " ";
  };
  const std::string command = command_to("onnx");
  const auto result = [&](const std::string& options, const std::string& format = "onnx") {
    const ProgramResult r = Convert(command_to(format) + "--dry-run " + options);
    REQUIRE_MESSAGE(!r.out.empty(), r.err);
    return ParseReport(r.out)["conversions"][0]["result"].get<std::string>();
  };
  std::vector<std::string> known = kNeutral;
  known.insert(known.end(), kOfOneModel.begin(), kOfOneModel.end());
  std::string made_with = "none";
  for (const DecidingOption& o : kDeciding) {
    CAPTURE(o.option);
    known.push_back(o.option);
    const std::string before =
        o.before.empty() ? o.required : o.required + " " + o.option + " " + o.before;
    if (made_with != o.format + before) {
      const ProgramResult r = Convert(command_to(o.format) + before);
      REQUIRE_MESSAGE(r.code == 0, r.out, r.err);
      made_with = o.format + before;
      CHECK(result(before, o.format) == "unchanged");
    }
    const std::string value = o.value == "PATCH" ? dir / "PATCH" : o.value;
    CHECK(result(o.required + " " + o.option + " " + value, o.format) != "unchanged");
  }
  for (const std::string& option : Options()) {
    CAPTURE(option);
    CHECK(std::count(known.begin(), known.end(), option) == 1);
  }
  REQUIRE(Convert(command).code == 0);
  CHECK(result("--verbose --color always --threads 1 --jobs 2 --max-work 1e9 --report " +
               dir / "r.json") == "unchanged");
  // The contents of a patch, not its name.
  const std::string patch = "--compose-json " + dir / "PATCH";
  REQUIRE(Convert(command + patch).code == 0);
  CHECK(result(patch) == "unchanged");
  WriteText(dir / "PATCH", R"([{"op": "add", "path": "/model/doc_string", "value": "other"}])");
  CHECK(result(patch) != "unchanged");
}

TEST_CASE("folder: a changed side file is a changed model") {
  const TempDir dir;
  fs::create_directory(dir / "in");
  WriteModel(dir / "m.onnx", ConvModel());
  REQUIRE(
      Convert(dir / "m.onnx " + dir / "in/m.onnx --external-data w --external-threshold 1").code ==
      0);
  const std::string command = dir / "in " + dir / "out --to tflite --format json";
  const Json first = ParseReport(Convert(command).out);
  CHECK(Results(first) == "m.onnx converted\n");
  CHECK(first["summary"]["skipped_files"] == 1);  // w
  CHECK(Results(ParseReport(Convert(command).out)) == "m.onnx unchanged\n");
  std::string weights = ReadText(dir / "in/w");
  weights[0] ^= 1;
  WriteText(dir / "in/w", weights);
  CHECK(Results(ParseReport(Convert(command).out)) == "m.onnx converted\n");
  // The same holds for a file of a package.
  REQUIRE(Convert(dir / "m.onnx " + dir / "in/p.mlpackage").code == 0);
  CHECK(Results(ParseReport(Convert(command).out)) == "m.onnx unchanged\np.mlpackage converted\n");
  CHECK(Results(ParseReport(Convert(command).out)) == "m.onnx unchanged\np.mlpackage unchanged\n");
  WriteText(dir / "in/p.mlpackage/Data/more", "x");
  CHECK(Results(ParseReport(Convert(command).out)) == "m.onnx unchanged\np.mlpackage converted\n");
}

TEST_CASE("folder: several jobs write and report the same") {
  const TempDir dir;
  fs::create_directory(dir / "in");
  for (int i = 0; i < 12; ++i)
    WriteModel(dir / fmt::format("in/m{}.onnx", i), i % 2 == 0 ? ConvModel() : BatchModel());
  WriteText(dir / "in/m5.onnx", "damaged");
  const auto run = [&](const std::string& out, const std::string& jobs) {
    return Convert(fmt::format("{} {} --to tflite {}", dir / "in", dir / out, jobs));
  };
  const ProgramResult one = run("a", "");
  CHECK(one.code == 2);
  for (const std::string jobs : {"--jobs 4", "--jobs 0", "--jobs 100"}) {
    CAPTURE(jobs);
    fs::remove_all(dir / "b");
    const ProgramResult many = run("b", jobs);
    CHECK(many.code == 2);
    CHECK(many.out.substr(many.out.find('\n')) == one.out.substr(one.out.find('\n')));
    REQUIRE(Tree(dir / "b") == Tree(dir / "a"));
    for (const auto& entry : fs::directory_iterator(dir / "a"))
      CHECK(ReadText(entry.path().string()) ==
            ReadText(dir / "b/" + entry.path().filename().string()));
  }
}

TEST_CASE("folder: which files are models") {
  const TempDir dir;
  fs::create_directories(dir / "in/.hidden");
  fs::create_directories(dir / "in/compiled.mlmodelc");
  fs::create_directories(dir / "elsewhere");
  WriteModel(dir / "elsewhere/x.onnx", ConvModel());
  WriteModel(dir / "in/.hidden/h.onnx", ConvModel());
  WriteText(dir / "in/no_extension", ReadText(dir / "elsewhere/x.onnx"));
  WriteText(dir / "in/.h.onnx", ReadText(dir / "elsewhere/x.onnx"));
  WriteText(dir / "in/lfs.onnx",
            "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n");
  WriteText(dir / "in/data.bin", std::string(1000, '\x7'));
  WriteText(dir / "in/empty", "");
  WriteText(dir / "in/config.json", "{}");
  REQUIRE(Convert(dir / "elsewhere/x.onnx " + dir / "in/dump.json").code == 0);
  fs::create_symlink("../elsewhere/x.onnx", dir / "in/out_of_it.onnx");
  fs::create_directory_symlink("../elsewhere", dir / "in/folder");
  fs::create_directory_symlink(".", dir / "in/cycle");
  fs::create_symlink("no_extension", dir / "in/within.onnx");
  REQUIRE(mkfifo((dir / "in/pipe").c_str(), 0600) == 0);
  const ProgramResult r = Convert(dir / "in " + dir / "out --to tflite --format json");
  CHECK(r.code == 2);
  const Json json = ParseReport(r.out);
  CHECK(Results(json) ==
        "compiled.mlmodelc unsupported\ndump.json converted\nlfs.onnx error\n"
        "no_extension converted\nwithin.onnx converted\n");
  // data.bin, empty, config.json, three links and the pipe.
  CHECK(json["summary"]["skipped_files"] == 7);
  CHECK(Listing(dir / "out") ==
        ".nnconvert.json\ndump.tflite\nno_extension.tflite\nwithin.tflite\n");
}

TEST_CASE("folder: extensions of the outputs") {
  const TempDir dir;
  fs::create_directory(dir / "in");
  WriteModel(dir / "in/a.nnapi.json", ConvModel());
  WriteModel(dir / "in/b.v1.textproto", ConvModel());
  for (const auto& [format, names] :
       std::vector<std::pair<std::string, std::string>>{{"nnapi", "a.nnapi\nb.v1.nnapi\n"},
                                                        {"onnx", "a.onnx\nb.v1.onnx\n"},
                                                        {"coreml", "a.mlmodel\nb.v1.mlmodel\n"}}) {
    CHECK(Convert(fmt::format("{} {} --to {}", dir / "in", dir / format, format)).code == 0);
    CHECK(Listing(dir / format) == ".nnconvert.json\n" + names);
  }
}

TEST_CASE("folder: a dry run writes nothing") {
  Models m;
  m.AddUnsupported();
  for (const std::string& arguments : {m.To("tflite"), fmt::format("{} --to tflite ", m.in())}) {
    const ProgramResult r = Convert(arguments + "--dry-run");
    CHECK(r.code == 3);
    CHECK(Contains(r.out, "  conv.onnx           every operator can be converted\n"));
    CHECK(Contains(r.out, "  deep/er/two.tflite  the format of the model\n"));
    CHECK(Contains(r.out, "4 models: 3 convertible, 1 unsupported; 1 other file skipped\n"));
  }
  CHECK_FALSE(Exists(m.out()));
}

TEST_CASE("folder: one report has all conversions") {
  Models m;
  m.AddUnsupported();
  const std::string command = m.To("tflite") + "--force --report ";
  const ProgramResult r = Convert(command + m / "out/r.json --format json");
  CHECK(r.code == 3);
  CHECK(ReadText(m / "out/r.json") == r.out);
  CHECK(Convert(command + m / "r.md").code == 3);
  const std::string md = ReadText(m / "r.md");
  CHECK(Contains(md, "| conv.onnx | converted and verified |"));
  CHECK(Contains(md, "\n## deep/batch.onnx\n"));
  CHECK(Contains(md, "\n### Unsupported operators\n"));
  CHECK(Contains(md, "\n### Files\n"));
  CHECK(Convert(command + m / "r.html").code == 3);
  CHECK(Contains(ReadText(m / "r.html"), "<h2>deep/er/two.tflite</h2>"));
}

TEST_CASE("folder: usage errors write nothing") {
  Models m;
  WriteText(m / "file", "");
  WriteModel(m / "one.onnx", ConvModel());
  fs::create_directory(m / "empty");
  struct Row {
    std::string arguments;
    std::string message;
  };
  for (const Row& r : {
           Row{m.in(), "OUT is required"},
           Row{m.in() + " " + m.out(), "requires --to"},
           Row{m.in() + " - --to tflite", "standard output is for one model"},
           Row{m.To("all") + "--dry-run", "--to all or json is for one model"},
           Row{m.To("json"), "--to all or json is for one model"},
           Row{m.To("nosuch"), "unknown format \"nosuch\""},
           Row{m.To("tflite") + "--rename-input a=b", "--rename-input is for one model"},
           Row{m.To("tflite") + "--rename-output a=b", "--rename-output is for one model"},
           Row{m.To("tflite") + "--verify-inputs a.npz", "--verify-inputs is for one model"},
           Row{m.To("onnx") + "--external-data w", "--external-data is for one model"},
           Row{m.To("onnx") + "--weights none", "--weights is for one model"},
           Row{m.in() + " " + m / "file --to tflite", "must be a folder"},
           Row{m / "empty " + m.out() + " --to tflite", "the folder has no model files"},
           Row{m.in() + " " + m.in() + " --to tflite", "must not be the folder of the models"},
           Row{m.in() + " " + m / "in/deep/../new --to tflite", "or lie in it"},
           Row{m / "in/deep " + m.in() + " --to tflite --jobs -1", "--jobs"},
           Row{m / "one.onnx " + m / "one.tflite --jobs 2", "--jobs is for folders"},
           Row{m / "one.onnx " + m / "one.tflite --force", "--force is for folders"},
       }) {
    CAPTURE(r.arguments);
    const ProgramResult result = Convert(r.arguments);
    CHECK(result.code == 2);
    CHECK(result.out.empty());
    CHECK_MESSAGE(Contains(result.err, r.message), result.err);
  }
  CHECK_FALSE(Exists(m.out()));
  CHECK(Tree(m.in()) ==
        "conv.onnx\ndeep/\ndeep/batch.onnx\ndeep/er/\ndeep/er/two.tflite\ndeep/notes.txt\n");
}

TEST_CASE("folder: outputs that would collide are an error before anything is written") {
  Models m;
  WriteModel(m / "in/conv.tflite", ConvModel());
  ProgramResult r = Convert(m.To("coreml"));
  CHECK(r.code == 2);
  CHECK(Contains(r.err, "\"conv.onnx\" and \"conv.tflite\" would both become \"conv.mlmodel\""));
  CHECK_FALSE(Exists(m.out()));
  fs::remove(m / "in/conv.tflite");
  fs::create_directory(m / "in/conv.tflite");
  WriteModel(m / "in/conv.tflite/x.onnx", ConvModel());
  r = Convert(m.To("tflite"));
  CHECK(r.code == 2);
  CHECK(Contains(r.err, "\"conv.onnx\" would become a file, but the output of"));
  CHECK_FALSE(Exists(m.out()));
  // The parent folder: a subfolder of the same name would get the outputs.
  fs::remove_all(m / "in/conv.tflite");
  fs::create_directory(m / "in/in");
  WriteModel(m / "in/in/x.onnx", ConvModel());
  r = Convert(m.in() + " " + m / ". --to coreml");
  CHECK(r.code == 2);
  CHECK(Contains(r.err, "would be in the folder of the models"));
}

TEST_CASE("folder: empty output folders are removed") {
  const TempDir dir;
  fs::create_directories(dir / "in/deep");
  WriteModel(dir / "in/a.onnx", ConvModel());
  WriteModel(dir / "in/deep/foo.onnx", TwoOutputsModel());
  Patch(dir / "in/deep/foo.onnx", "Add", "Foo");
  CHECK(Convert(dir / "in " + dir / "out --to tflite").code == 3);
  CHECK(Tree(dir / "out") == ".nnconvert.json\na.tflite\n");
}

}  // namespace
}  // namespace nn::test::nnconvert_folder_test
