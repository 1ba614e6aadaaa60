// nnconvert --report, and the JSON report of a conversion.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <vector>

#include "apps/common/model/document.h"
#include "apps/program.h"
#include "base/file/file.h"
#include "base/file/model_files.h"
#include "base/json/json.h"
#include "support/files.h"
#include "support/json_schema.h"
#include "support/paths.h"

namespace nn::test::nnconvert_report_test {
namespace {

const std::string kGolden = SourcePath("golden/");

ProgramResult Convert(const std::string& arguments, std::string_view input = {}) {
  return RunProgram("nnconvert " + arguments, input);
}

// A JSON report, checked against its schema.
Json ParseReport(const std::string& text) {
  static const Json schema =
      Json::parse(ReadText(SourcePath("schemas/nnconvert-report.schema.json")));
  Json json = Json::parse(text);
  for (const std::string& error : SchemaErrors(schema, json)) FAIL_CHECK(error);
  return json;
}

std::string DigestOf(const std::string& path) {
  const auto files = DigestModel(path);
  REQUIRE((files.has_value() && files->size() == 1));
  return files->front().digest;
}

// The JSON report of a command, from the file and from standard output, which are the same.
Json ReportOf(const std::string& arguments, int code) {
  const TempDir dir;
  const ProgramResult r =
      Convert(fmt::format("{} --format json --report {}", arguments, dir / "report.json"));
  CHECK_MESSAGE(r.code == code, r.err);
  CHECK(ReadText(dir / "report.json") == r.out);
  return ParseReport(r.out);
}

// Has a reshape after its activation, and is channels first.
const char* const kLayoutModel = R"(graph "layout" {
  in %x: f32[1, 3, 8, 8]
  const %w: f32[4, 3, 3, 3] = seeded(1, 0.3)
  %c = conv(%x, %w) {pads = [1, 1, 1, 1]} "c"
  %s = softplus(%c) "s"
  out "y" = %s
})";

TEST_CASE("report: files have sizes and digests") {
  const TempDir dir;
  const Json json = ReportOf(kGolden + "cnn.onnx " + dir / "cnn.tflite", 0);
  CHECK(json["result"] == "converted");
  REQUIRE(json["input"]["files"].size() == 1);
  CHECK(json["input"]["files"][0]["name"] == "cnn.onnx");
  CHECK(json["input"]["files"][0]["bytes"] == std::filesystem::file_size(kGolden + "cnn.onnx"));
  CHECK(json["input"]["files"][0]["digest"] == DigestOf(kGolden + "cnn.onnx"));
  REQUIRE(json["output"]["files"].size() == 1);
  CHECK(json["output"]["files"][0]["digest"] == DigestOf(dir / "cnn.tflite"));
  CHECK(json["output"]["files"][0]["bytes"] == json["output"]["bytes"]);
}

TEST_CASE("report: a model that is replaced has the digest from before") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", BatchModel());
  const std::string before = DigestOf(dir / "m.onnx");
  const Json json = ReportOf(fmt::format("{0} {0} --batch 2", dir / "m.onnx"), 0);
  CHECK(json["input"]["files"][0]["digest"] == before);
  CHECK(json["output"]["files"][0]["digest"] == DigestOf(dir / "m.onnx"));
  CHECK(json["output"]["files"][0]["digest"] != before);
}

TEST_CASE("report: side files and folders are digested file by file") {
  const TempDir dir;
  REQUIRE(Convert(kGolden + "cnn.onnx " + dir / "m.onnx --external-data w.bin").code == 0);
  const Json side = ReportOf(dir / "m.onnx " + dir / "m.mlpackage", 0);
  REQUIRE(side["input"]["files"].size() == 2);
  CHECK(side["input"]["files"][1]["name"] == "w.bin");
  CHECK(side["input"]["files"][1]["digest"] == DigestOf(dir / "w.bin"));
  const Json& package = side["output"]["files"];
  REQUIRE(package.size() == 3);  // the manifest, the model and its weights
  for (const Json& file : package)
    CHECK(file["digest"] == DigestOf(dir / "m.mlpackage/" + file["name"].get<std::string>()));
  // The file of a dump's tensors, and of an NNAPI model's pools.
  REQUIRE(Convert(kGolden + "cnn.onnx " + dir / "dump.json --weights w.npz").code == 0);
  const Json dump = ReportOf(dir / "dump.json " + dir / "m.tflite", 0);
  REQUIRE(dump["input"]["files"].size() == 2);
  CHECK(dump["input"]["files"][1]["digest"] == DigestOf(dir / "w.npz"));
  const Json pools =
      ReportOf(kGolden + "squeeze.nnapi " + dir / "s.nnapi --external-data pool.bin", 0);
  REQUIRE(pools["output"]["files"].size() == 2);
  CHECK(pools["output"]["files"][1]["digest"] == DigestOf(dir / "pool.bin"));
  const Json again = ReportOf(dir / "s.nnapi " + dir / "s.onnx", 0);
  REQUIRE(again["input"]["files"].size() == 2);
  CHECK(again["input"]["files"][1]["name"] == "pool.bin");
}

TEST_CASE("report: standard input and output have no digests") {
  const ProgramResult r = Convert("- - --to tflite --format json", ReadText(kGolden + "cnn.onnx"));
  CHECK(r.code == 0);
  const Json json = ParseReport(r.err);
  CHECK_FALSE(json["input"].contains("files"));
  CHECK_FALSE(json["output"].contains("files"));
}

TEST_CASE("report: states that become inputs and outputs") {
  const TempDir dir;
  WriteModel(dir / "m.tflite", R"(graph { in %x: f32[1, 1, 3]
      const %w: f32[1, 8, 3] = seeded(1)  const %r: f32[1, 8, 2] = seeded(2)
      %a = lstm(%x, %w, %r)  %y = squeeze(%a) {axes=[1]}  out "y" = %y })");
  for (const std::string extension : {"onnx", "mlmodel", "tflite"}) {
    CAPTURE(extension);
    const std::string to = dir / "m.tflite " + dir / "out." + extension;
    CHECK(!ReportOf(to + (extension == "tflite" ? " --rewrite" : ""), 0).contains("states"));
    const Json report = ReportOf(to + " --states", 0);
    REQUIRE(report["states"].size() == 2);
    for (const Json& state : report["states"]) {
      const auto name = state["name"].get<std::string>();
      CHECK(state["input"] == name + "_in");
      CHECK(state["output"] == name + "_out");
      CHECK(state["initial"] == 0);
    }
    CHECK(report["verification"]["passed"] == true);
    const ProgramResult text = Convert(to + " --states --dry-run");
    CHECK(Contains(text.out, "is kept by the application: input \""));
    CHECK(Contains(text.out, "_out\"; it begins with zeros\n"));
  }
}

TEST_CASE("report: a dry run for all formats leaves variables to the one that has them") {
  const TempDir dir;
  // y = v + x; v = y
  WriteText(dir / "m.json", R"({"nn_dump": 1, "format": "tflite", "model": {"version": 3,
    "operator_codes": [
      {"deprecated_builtin_code": 127, "builtin_code": "VAR_HANDLE"},
      {"deprecated_builtin_code": 127, "builtin_code": "READ_VARIABLE"},
      {"deprecated_builtin_code": 127, "builtin_code": "ASSIGN_VARIABLE"}, {"builtin_code": "ADD"}],
    "subgraphs": [{"tensors": [{"shape": [], "type": "RESOURCE", "name": "h"},
        {"shape": [2], "name": "x"}, {"shape": [2], "name": "r"}, {"shape": [2], "name": "y"}],
      "inputs": [1], "outputs": [3], "operators": [
      {"opcode_index": 0, "inputs": [], "outputs": [0], "builtin_options_type": "VarHandleOptions",
       "builtin_options": {"shared_name": "v"}},
      {"opcode_index": 1, "inputs": [0], "outputs": [2],
       "builtin_options_type": "ReadVariableOptions", "builtin_options": {}},
      {"opcode_index": 3, "inputs": [2, 1], "outputs": [3],
       "builtin_options_type": "AddOptions", "builtin_options": {}},
      {"opcode_index": 2, "inputs": [0, 3], "outputs": [],
       "builtin_options_type": "AssignVariableOptions", "builtin_options": {}}]}],
    "buffers": [{}]}})");
  const Json all = ReportOf("--dry-run --to all --simplify " + dir / "m.json", 0);
  for (const Json& target : all["targets"]) {
    CAPTURE(target.dump());
    const bool is_own = target["output"]["format"] == "TensorFlow Lite";
    CHECK(target.contains("states") == !is_own);
  }
}

TEST_CASE("report: inputs and outputs with shifted integers") {
  const TempDir dir;
  WriteModel(dir / "in.tflite", R"(graph {
    in %x "x": i8[1, 4, 4, 2]{scale=0.05, zp=-7}
    %y = max_pool(%x) {layout = nxc, kernel = [2, 2], strides = [2, 2]} @tflite
        : i8[1, 2, 2, 2]{scale=0.05, zp=-7}
    out "y" = %y
  })");
  const Json json = ReportOf(dir / "in.tflite " + dir / "out.nnapi", 0);
  REQUIRE(json["shifted"].size() == 2);
  CHECK(json["shifted"][0]["kind"] == "input");
  CHECK(json["shifted"][0]["offset"] == 128);
  CHECK(json["shifted"][1]["from"] == "i8[1, 2, 2, 2]{scale=0.05, zp=-7}");
  CHECK(json["shifted"][1]["to"] == "u8[1, 2, 2, 2]{scale=0.05, zp=121}");
  CHECK(json["verification"]["outputs"][0]["identical"] == true);
  const ProgramResult dry = Convert(dir / "in.tflite --to nnapi --dry-run");
  CHECK(dry.code == 0);
  CHECK(Contains(dry.out,
                 "input \"x\" is shifted: i8[1, 4, 4, 2]{scale=0.05, zp=-7} -> u8[1, 4, 4, "
                 "2]{scale=0.05, zp=121} (integer +128)"));
  REQUIRE(Convert(dir / "in.tflite " + dir / "out.nnapi --report " + dir / "r.md").code == 0);
  CHECK(Contains(ReadText(dir / "r.md"), "is shifted: i8[1, 4, 4, 2]"));
}

TEST_CASE("report: inputs and outputs that become float32") {
  const TempDir dir;
  WriteModel(dir / "in.onnx", R"(graph {
    in %x "x": i64[3, 2]
    in %z "z": f32[3, 2]
    %n = cast(%x) {to = f32}
    %y = add(%n, %z)
    %i = arg_max(%y) {axis = 1}
    out "y" = %y
    out "i" = %i
  })");
  const ProgramResult r = Convert(dir / "in.onnx " + dir / "out.nnapi");
  REQUIRE(r.code == 0);
  CHECK(Contains(r.out,
                 "input \"x\" has another type: i64 -> f32\n"
                 "output \"i\" has another type: i64 -> f32\nverified by"));
}

TEST_CASE("report: the interface before and after") {
  const TempDir dir;
  WriteModel(dir / "in.onnx", BatchModel());
  const Json json =
      ReportOf(dir / "in.onnx " + dir / "out.nnapi --batch 2 --rename-input x=image", 0);
  const Json& source = json["interface"]["source"]["inputs"];
  const Json& converted = json["interface"]["converted"]["inputs"];
  REQUIRE(source.size() == 1);
  CHECK(source[0]["name"] == "x");
  CHECK(source[0]["type"] == "f32");
  CHECK(source[0]["shape"] == Json::parse(R"(["batch", 3, 8, 8])"));
  REQUIRE(converted.size() == 1);
  CHECK(converted[0]["name"] == "in_0");  // NNAPI has no names
  CHECK(converted[0]["shape"] == Json::parse("[2, 8, 8, 3]"));
  CHECK(json["transposed"][0]["axes"] == Json::parse("[0, 2, 3, 1]"));
  REQUIRE(Convert(dir / "in.onnx " + dir / "out.nnapi --batch 2 --report " + dir / "r.md").code ==
          0);
  CHECK(
      Contains(ReadText(dir / "r.md"),
               "input \"x\" is transposed: f32[2, 3, 8, 8] -> f32[2, 8, 8, 3] (axes 0, 2, 3, 1)"));

  const Json quantized = ReportOf(kGolden + "mobile_quant.tflite " + dir / "q.onnx --no-verify", 0);
  CHECK(quantized["result"] == "unverified");
  CHECK(quantized["interface"]["source"]["inputs"][0]["quantization"]["scales"].size() == 1);
}

TEST_CASE("report: rewritten operators and remaining transposes") {
  const TempDir dir;
  WriteModel(dir / "in.onnx", kLayoutModel);
  const Json json = ReportOf(dir / "in.onnx " + dir / "out.tflite", 0);
  const auto count = [&](std::string_view op, std::string_view rewrite) {
    for (const Json& r : json["rewritings"])
      if (r["op"] == op && r["rewrite"] == rewrite) return r["count"].get<int>();
    return 0;
  };
  CHECK(count("conv", "channels last") == 1);
  CHECK(count("softplus", "logarithm") == 1);
  CHECK(count("relu", "maximum") == 0);
  // The interface keeps its axes, so one transpose is at each end.
  REQUIRE(json["transposes"].size() == 2);
  CHECK(json["transposes"][0]["axes"] == Json::parse("[0, 2, 3, 1]"));
  CHECK(json["transposes"][0]["reason"] == "for the layout nxc of conv \"c\" (operator 0 (Conv))");
  CHECK(json["transposes"][1]["axes"] == Json::parse("[0, 3, 1, 2]"));
  // A transpose of the model itself.
  WriteModel(dir / "own.onnx", R"(graph {
    in %x: f32[2, 3]
    %t = transpose(%x) {perm = [1, 0]}
    %y = relu(%t)
    out "y" = %y
  })");
  const Json own = ReportOf(dir / "own.onnx " + dir / "own.tflite", 0);
  REQUIRE(own["transposes"].size() == 1);
  CHECK(own["rewritings"].empty());
}

TEST_CASE("report: a refused conversion has one") {
  const TempDir dir;
  WriteModel(dir / "in.onnx", TwoOutputsModel());
  Patch(dir / "in.onnx", "Add", "Foo");
  const Json json = ReportOf(dir / "in.onnx " + dir / "out.tflite", 3);
  CHECK(json["result"] == "unsupported");
  CHECK(json["unsupported"][0]["source"] == "Foo");
  CHECK_FALSE(json["interface"].contains("converted"));
  CHECK_FALSE(Exists(dir / "out.tflite"));
  for (const std::string form : {"md", "html"}) {
    CHECK(Convert(fmt::format("{} {} --report {}", dir / "in.onnx", dir / "out.tflite",
                              dir / "r." + form))
              .code == 3);
    const std::string text = ReadText(dir / "r." + form);
    CHECK(Contains(text, "Unsupported operators"));
    CHECK(Contains(text, "Foo (operator set ai.onnx, version 17) is unsupported"));
  }
  // Refused by an error.
  WriteModel(dir / "ok.onnx", TwoOutputsModel());
  const ProgramResult r =
      Convert(dir / "ok.onnx " + dir / "old.onnx --opset 6 --report " + dir / "old.json");
  CHECK(r.code == 3);
  CHECK(Contains(r.err, "operator set 6"));
  const Json refused = ParseReport(ReadText(dir / "old.json"));
  CHECK(refused["result"] == "unsupported");
  CHECK(Contains(refused["error"].get<std::string>(), "operator set 6"));
}

TEST_CASE("report: --format json states the error that ends a conversion") {
  const TempDir dir;
  WriteModel(dir / "ok.onnx", TwoOutputsModel());
  const Json refused = ReportOf(dir / "ok.onnx " + dir / "old.onnx --opset 6", 3);
  CHECK(refused["result"] == "unsupported");
  CHECK(Contains(refused["error"].get<std::string>(), "operator set 6"));
  struct Row {
    std::string arguments, error;
  };
  const Row rows[] = {{dir / "nosuch.onnx " + dir / "out.onnx", "No such file"},
                      {dir / "ok.onnx " + dir / "out.xyz", "out.xyz"},
                      {dir / "ok.onnx " + dir / "nosuch/out.tflite", "No such file"}};
  for (const Row& row : rows) {
    CAPTURE(row.arguments);
    const ProgramResult r = Convert(row.arguments + " --format json");
    CHECK(r.code == 2);
    const Json json = ParseReport(r.out);
    CHECK(json["result"] == "error");
    CHECK(json["written"] == false);
    CHECK(Contains(json["error"].get<std::string>(), row.error));
    CHECK(Contains(r.err, json["error"].get<std::string>()));
  }
  // Standard output is the model's.
  const ProgramResult r = Convert(dir / "nosuch.onnx - --to tflite --format json");
  CHECK(r.code == 2);
  CHECK(r.out.empty());
}

TEST_CASE("report: a conversion that fails verification has one") {
  const TempDir dir;
  WriteModel(dir / "in.onnx", NormModel());
  const std::string strict =
      dir / "in.onnx " + dir / "out.tflite --fold-batch-norm --atol 0 --rtol 0";
  const Json json = ReportOf(strict, 1);
  CHECK(json["result"] == "refuted");
  CHECK(json["verification"]["passed"] == false);
  CHECK(json["written"] == false);
  CHECK_FALSE(json["output"].contains("files"));
  CHECK(Convert(strict + " --report " + dir / "r.md").code == 1);
  CHECK(Contains(ReadText(dir / "r.md"), "Result: verification failed: different output \"y\"\n"));
  CHECK(Contains(ReadText(dir / "r.md"), "\nverification failed: 3 runs (seeds 0, 1, 2)\n"));
}

TEST_CASE("report: --fold-batch-norm is proposed where it would fold") {
  const TempDir dir;
  WriteModel(dir / "a.onnx", NormModel());
  WriteModel(dir / "b.onnx", R"(graph { in %x: f32[1, 4, 4, 4]
    const %v: f32[4] = seeded(2, 0.3) const %p: f32[4] = splat(1.7)
    %r = relu(%x) %y = batch_norm(%r, %p, %v, %v, %p) out "y" = %y })");
  const std::string lowered = "1 batch normalization lowered to multiply and add";
  CHECK(Contains(Convert(dir / "a.onnx " + dir / "a.tflite").out,
                 lowered + "; --fold-batch-norm is faster, but rounds differently\n"));
  CHECK(Contains(Convert(dir / "b.onnx " + dir / "b.tflite").out, lowered + "\n"));
}

TEST_CASE("report: the remedy for dynamic shapes is in all forms") {
  const TempDir dir;
  WriteModel(dir / "in.onnx", SequenceModel());
  for (const std::string form : {"json", "md", "html"}) {
    CHECK(Convert(dir / "in.onnx --to tflite --dry-run --report " + dir / "r." + form).code == 3);
    CHECK(Contains(ReadText(dir / "r." + form), "with fixed shapes, every operator can be"));
  }
}

TEST_CASE("report: none after usage and file errors, and the previous one is kept") {
  const TempDir dir;
  WriteModel(dir / "in.onnx", ConvModel());
  WriteText(dir / "r.md", "old");
  for (const std::string& arguments :
       {dir / "in.onnx " + dir / "out.xyz", dir / "nosuch.onnx " + dir / "out.onnx",
        dir / "in.onnx " + dir / "nosuch/out.tflite",
        dir / "in.onnx " + dir / "out.tflite --batch 7"}) {
    CAPTURE(arguments);
    CHECK(Convert(arguments + " --report " + dir / "r.md").code == 2);
    CHECK(ReadText(dir / "r.md") == "old");
  }
  CHECK(Listing(dir.path()) == "in.onnx\nr.md\n");
}

TEST_CASE("report: usage errors are detected before any conversion") {
  const TempDir dir;
  WriteModel(dir / "in.onnx", ConvModel());
  const std::string command = dir / "in.onnx " + dir / "out.tflite --report ";
  for (const auto& [path, message] : std::vector<std::pair<std::string, std::string>>{
           {dir / "r.txt", "the extension must be .json, .md or .html"},
           {"-", "the extension must be .json, .md or .html"},
           {dir / "nosuch/r.md", "No such file"}}) {
    const ProgramResult r = Convert(command + path);
    CHECK(r.code == 2);
    CHECK_MESSAGE(Contains(r.err, message), r.err);
  }
  const ProgramResult same =
      Convert(fmt::format("{} {} --report {}", dir / "in.onnx", dir / "m.json", dir / "./m.json"));
  CHECK(same.code == 2);
  CHECK(Contains(same.err, "is the input or output model"));
  CHECK(Listing(dir.path()) == "in.onnx\n");
}

TEST_CASE("report: dry runs, for one format and for all") {
  const TempDir dir;
  const Json one = ReportOf("--dry-run --to tflite " + kGolden + "cnn.onnx", 0);
  CHECK(one["result"] == "convertible");
  CHECK(one["verification"].is_null());
  CHECK_FALSE(one["rewritings"].empty());
  const Json all = ReportOf("--dry-run --to all --batch 1 " + kGolden + "cnn.onnx", 0);
  REQUIRE(all["targets"].size() == 4);
  CHECK(all["input"]["files"][0]["digest"] == DigestOf(kGolden + "cnn.onnx"));
  CHECK(Convert("--dry-run --to all --batch 1 " + kGolden + "cnn.onnx --report " + dir / "all.md")
            .code == 0);
  const std::string text = ReadText(dir / "all.md");
  CHECK(Contains(text, "| Core ML | every operator can be converted |\n"));
  CHECK(Contains(text, "\n## TensorFlow Lite\n"));
  CHECK(Contains(text, "\n### Rewritten operators\n"));
}

TEST_CASE("report: the verification and the files in Markdown and HTML") {
  const TempDir dir;
  for (const std::string form : {"md", "html"})
    REQUIRE(
        Convert(kGolden + "cnn.onnx " + dir / "cnn.tflite -q --report " + dir / "r." + form).code ==
        0);
  const std::string md = ReadText(dir / "r.md");
  CHECK(Contains(md, "Result: converted and verified\n"));
  CHECK(Contains(md, "verified by 3 runs (seeds 0, 1, 2, batch = 2/1/3)\n"));
  CHECK(Contains(md,
                 "| output | type | absolute | relative | SNR dB | cosine | result |\n"
                 "|---|---|---:|---:|---:|---:|---|\n"
                 "| classes | f32 | 0 | 0 | inf | 1 | bit-identical |\n"));
  CHECK(Contains(md, DigestOf(dir / "cnn.tflite")));
  const std::string html = ReadText(dir / "r.html");
  CHECK(html.starts_with("<!DOCTYPE html>\n"));
  CHECK(Contains(html, "<td>classes</td>"));
  CHECK(Contains(html, DigestOf(kGolden + "cnn.onnx")));
  for (const char* reference : {"<script", "src=", "href=", "http:", "https:", "@import"})
    CHECK_FALSE(Contains(html, reference));
}

TEST_CASE("report: names cannot add markup") {
  const TempDir dir;
  WriteModel(dir / "in.onnx", ConvModel());
  REQUIRE(Convert(dir / "in.onnx " + dir / "m.json").code == 0);
  std::string dump = ReadText(dir / "m.json");
  const std::string hostile = R"(a|b<script>\n# [x](http://h) &amp; `c` \u001b[31m)";
  for (size_t at = dump.find("\"x\""); at != std::string::npos; at = dump.find("\"x\"", at))
    dump.replace(at, 3, "\"" + hostile + "\"");
  WriteText(dir / "m.json", dump);
  for (const std::string form : {"json", "md", "html"})
    CHECK(Convert(dir / "m.json " + dir / "m.tflite --report " + dir / "r." + form).code == 0);
  const std::string md = ReadText(dir / "r.md");
  CHECK(Contains(md, R"(| a\|b\<script>\\n# [x\](http://h) \&amp; \`c\` \\x1b[31m |)"));
  const std::string html = ReadText(dir / "r.html");
  CHECK(Contains(html, R"(<td>a|b&lt;script&gt;\n# [x](http://h) &amp;amp; `c` \x1b[31m</td>)"));
  CHECK(ParseReport(ReadText(dir / "r.json"))["interface"]["source"]["inputs"][0]["name"] ==
        Json::parse("\"" + hostile + "\""));
  for (const std::string form : {"json", "md", "html"})
    CHECK_FALSE(Contains(ReadText(dir / "r." + form), "\x1b"));
}

TEST_CASE("documents: Markdown escapes what it interprets, and nothing else") {
  CHECK(app::EscapeMarkdown("f32[1, batch]") == "f32[1, batch]");
  CHECK(app::EscapeMarkdown("conv_1 x_ _y") == "conv_1 x\\_ \\_y");
  CHECK(app::EscapeMarkdown("*a* ~b~ $c$ [d][e]") == "\\*a\\* \\~b\\~ \\$c\\$ [d\\][e]");
  app::Document document;
  document.title = "A & B";
  Table table({{"name"}, {"empty"}, {"count", Align::kRight}});
  table.Add({"x|y", "", "2"});
  document.AddTable(table);
  CHECK(app::MarkdownText(document) ==
        "# A \\& B\n\n| name | count |\n|---|---:|\n| x\\|y | 2 |\n");
  CHECK(Contains(app::HtmlText(document),
                 "<h1>A &amp; B</h1>\n<table>\n<tr><th>name</th><th class=\"number\">count</th>"
                 "</tr>\n<tr><td>x|y</td><td class=\"number\">2</td></tr>\n</table>\n"));
}

}  // namespace
}  // namespace nn::test::nnconvert_report_test
