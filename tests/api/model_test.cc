#include <nnsuite/attest.h>
#include <nnsuite/convert.h>
#include <nnsuite/edit.h>
#include <nnsuite/graph.h>
#include <nnsuite/inspect.h>
#include <nnsuite/model.h>
#include <nnsuite/program.h>
#include <nnsuite/validate.h>
#include <nnsuite/version.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>

#include "support.h"

namespace nnsuite::test::model_test {
namespace {

std::string Contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool Contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("api: a model of every format is described, copied and dumped") {
  const TestFolder folder;
  for (const std::string name :
       {"cnn.onnx", "mobile_quant.tflite", "superres.mlmodel", "squeeze.nnapi"}) {
    CAPTURE(name);
    const Model model = Take(Model::Read(Golden(name)));
    CHECK(model.path() == Golden(name));
    const ModelSummary summary = Take(model.Summarize());
    CHECK_FALSE(summary.operators.empty());
    CHECK(summary.parameter_count > 0);
    const std::vector<StoredTensor> tensors = Take(model.Tensors());
    REQUIRE_FALSE(tensors.empty());
    CHECK(Take(tensors[0].Read()).elements() > 0);
    CHECK(Validate(model).empty());

    const std::string copy = folder / ("copy-" + name);
    REQUIRE(model.Write(copy).has_value());
    CHECK(Contents(copy) == Contents(Golden(name)));
    REQUIRE(model.Dump(folder / "dump.json").has_value());
    const Model restored = Take(Model::Read(folder / "dump.json"));
    CHECK(restored.format() == model.format());
    CHECK(Take(DiffModels(model, restored)).empty());
    CHECK(Take(DigestsOf(model)).weights == Take(DigestsOf(restored)).weights);

    const std::string bytes = Contents(Golden(name));
    const Model from_bytes = Take(Model::FromBytes(std::as_bytes(std::span(bytes))));
    CHECK(from_bytes.format() == model.format());
  }
}

TEST_CASE("api: stored tensors outlive the model") {
  std::vector<StoredTensor> tensors;
  {
    const Model model = Take(Model::Read(Golden("cnn.onnx")));
    tensors = Take(model.Tensors());
  }
  REQUIRE_FALSE(tensors.empty());
  for (const StoredTensor& t : tensors) CHECK(Take(t.Read()).shape() == t.shape());
}

TEST_CASE("api: errors of files") {
  const TestFolder folder;
  CHECK(Model::Read(folder / "missing.onnx").error().code() == ErrorCode::kIo);
  const std::string text = "this is no model";
  const auto read = Model::FromBytes(std::as_bytes(std::span(text)));
  REQUIRE_FALSE(read.has_value());
  CHECK(read.error().code() == ErrorCode::kParse);
  CHECK(ExitCode(read.error().code()) == 2);
  CHECK(Model::Read(Golden("cnn.onnx"), {.max_file_bytes = 10}).error().code() ==
        ErrorCode::kLimit);
}

TEST_CASE("api: conversions, costs, pictures and rules") {
  const TestFolder folder;
  const Conversion done = Take(ConvertFile(Golden("cnn.onnx"), folder / "m.tflite"));
  REQUIRE(done.written.has_value());
  CHECK(done.unsupported.empty());
  REQUIRE(done.verification.has_value());
  CHECK(done.verification->passed);
  CHECK(done.verification->outputs.size() == 1);

  const Model source = Take(Model::Read(Golden("cnn.onnx")));
  const Conversion dry =
      Take(ConvertModel(source, folder / "m.mlmodel", {.dry_run = true, .verify = false}));
  CHECK_FALSE(dry.written.has_value());
  CHECK_FALSE(std::filesystem::exists(folder / "m.mlmodel"));
  CHECK(ConvertModel(source, folder / "m.xyz").error().code() == ErrorCode::kUsage);
  CHECK(ConvertModel(source, folder / "m.onnx", {.format = "xyz"}).error().code() ==
        ErrorCode::kUsage);

  const Graph gru = Take(Graph::Parse(R"(graph {
      in %x "x": f32[t, 1, 3]
      const %w: f32[1, 6, 3] = seeded(1, 0.5)
      const %r: f32[1, 6, 2] = seeded(2, 0.5)
      %y = gru(%x, %w, %r)
      out "y" = %y })"));
  CHECK_FALSE(Take(ConvertGraph(gru, folder / "gru.tflite")).written.has_value());
  const Conversion unrolled = Take(ConvertGraph(gru, folder / "gru.tflite", {.unroll = 3}));
  REQUIRE(unrolled.written.has_value());
  CHECK(unrolled.verification->passed);
  CHECK(ConvertGraph(gru, folder / "gru.tflite", {.unroll = 0}).error().code() ==
        ErrorCode::kUsage);

  const Graph erf =
      Take(Graph::Parse(R"(graph { in %x "x": f64[2, 3] %y = asin(%x) out "y" = %y })"));
  const Conversion refused = Take(ConvertGraph(erf, folder / "erf.nnapi"));
  CHECK_FALSE(refused.written.has_value());
  REQUIRE(refused.unsupported.size() == 1);
  CHECK(refused.unsupported[0].op == "asin");
  CHECK_FALSE(refused.unsupported[0].reason.empty());

  CHECK(Take(CostOf(source)).unknown > 0);  // the batch is open
  const ModelCost cost = Take(CostOf(source, {.batch = 2}));
  CHECK(cost.unknown == 0);
  CHECK(cost.multiply_adds == 2 * Take(CostOf(source, {.batch = 1})).multiply_adds);
  CHECK(CostOf(source, {.shapes = {{"none", {1}}}}).error().code() == ErrorCode::kUsage);
  CHECK(cost.operators.size() == Take(source.Summarize()).operators.size());
  CHECK(Take(DrawSvg(source)).starts_with("<svg"));
  CHECK(Take(DrawDot(source)).starts_with("digraph"));

  const std::vector<RuleInfo> rules = Rules();
  REQUIRE_FALSE(rules.empty());
  CHECK(FindRule(rules.back().id)->statement == rules.back().statement);
  CHECK_FALSE(FindRule("NO-SUCH-RULE").has_value());
  CHECK(SeverityName(Severity::kWarning) == "warning");
}

TEST_CASE("api: a run has the same outputs on both backends") {
  const Graph graph = Take(Take(Model::Read(Golden("mobile_quant.tflite"))).Import());
  const Program simd = Take(Program::Compile(graph, {.threads = 2}));
  const Program reference = Take(Program::Compile(graph, {.backend = Backend::kReference}));
  const std::vector<Tensor> inputs = Take(simd.SeededInputs(7));
  const std::vector<Tensor> a = Take(simd.Run(inputs));
  const std::vector<Tensor> b = Take(reference.Run(inputs));
  REQUIRE(a.size() == simd.outputs().size());
  for (size_t i = 0; i < a.size(); ++i) CHECK(a[i].Identical(b[i]));
  CHECK(simd.arena_bytes() > 0);
  CHECK(simd.Run({}).error().code() == ErrorCode::kUsage);
  CHECK_FALSE(SimdTargets().empty());
  CHECK(UseSimdTarget("NO_SUCH_TARGET").error().code() == ErrorCode::kUsage);
}

TEST_CASE("api: the library exports the namespace nnsuite, the C interface, and nothing else") {
  const std::string library = LibraryFile();
  const bool is_static = library.ends_with(".a");
  if (is_static) {
    MESSAGE("skipped: the library is static and has all names");
    REQUIRE(is_static);
    return;
  }
  const std::string command = "nm -D -C --defined-only '" + library + "'";
  FILE* const pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  int count = 0;
  std::vector<std::string> others;
  char line[4096];
  while (fgets(line, sizeof(line), pipe) != nullptr) {
    const std::string symbol = line;
    ++count;
    // A version is listed like a symbol.
    const bool is_public = Contains(symbol, "nnsuite::") || Contains(symbol, " nnsuite_") ||
                           Contains(symbol, " NNSUITE_");
    if (!is_public || Contains(symbol, "nn::")) others.push_back(symbol);
  }
  CHECK(pclose(pipe) == 0);
  CHECK(count > 50);
  CHECK_MESSAGE(others.empty(), (others.empty() ? "" : others[0]));
}

TEST_CASE("api: edits of a model are verified and written") {
  const TestFolder folder;
  const Model model = Take(Model::Read(Golden("cnn.onnx")));
  const EditedModel edited = Take(EditModel(model, {.cut_after = {"features"}}));
  CHECK(edited.new_outputs == std::vector<std::string>{"features"});
  CHECK(edited.dropped_outputs == std::vector<std::string>{"classes"});
  CHECK(edited.operators_after < edited.operators_before);
  REQUIRE(edited.verification.has_value());
  CHECK(edited.verification->passed);
  REQUIRE(edited.model.Write(folder / "part.onnx").has_value());
  CHECK(Take(Take(Model::Read(folder / "part.onnx")).Summarize()).operators.size() ==
        edited.operators_after);
  const Conversion converted = Take(ConvertModel(edited.model, folder / "part.tflite"));
  CHECK(converted.written.has_value());
  CHECK(Contains(converted.report, "\"result\": \"converted\""));
  CHECK_FALSE(Take(EditModel(model, {.metadata = {"author=me"}})).verification.has_value());
  // The model has no documentation.
  CHECK(EditModel(model, {.strip = "docs"}).error().code() == ErrorCode::kUsage);
  CHECK(EditModel(model, {.strip = "everything"}).error().code() == ErrorCode::kUsage);
  CHECK(EditModel(model, {.cut_after = {"none"}}).error().code() == ErrorCode::kUsage);
}

TEST_CASE("api: conversions to other types of numbers") {
  const TestFolder folder;
  const Model model = Take(Model::Read(Golden("cnn.onnx")));
  const std::string path = folder / "m.onnx";
  const ConvertOptions half = {.half = HalfOptions{.weights_only = true}};
  CHECK(Take(ConvertModel(model, path, half)).exit_code == 0);
  ConvertOptions both = half;
  both.quantize.emplace();
  CHECK(ConvertModel(model, path, both).error().code() == ErrorCode::kUsage);
  CHECK(ConvertModel(model, path, {.keep_float32 = {"*"}}).error().code() == ErrorCode::kUsage);
  // int8 needs samples, which are the inputs of the model.
  CHECK(ConvertModel(model, path, {.quantize = QuantizeOptions()}).error().code() ==
        ErrorCode::kUsage);
  const Tensor image = Take(Tensor::Of<float>({1, 3, 32, 32}, std::vector<float>(3 * 32 * 32, 1)));
  QuantizeOptions quantize;
  quantize.samples = {{image}, {image}};
  const Conversion done = Take(ConvertModel(model, path, {.quantize = quantize}));
  CHECK(Contains(done.report, "\"samples\": 2"));
  quantize.samples = {{image, image}};
  CHECK(ConvertModel(model, path, {.quantize = quantize}).error().code() == ErrorCode::kUsage);
}

TEST_CASE("api: conversions with edits of the graph") {
  const TestFolder folder;
  const std::string path = folder / "m.onnx";
  ConvertOptions options;
  options.edits.batch = "4";
  options.edits.preprocess = {"image:u8,mean=0.5"};
  options.edits.layouts = {"image=nhwc"};
  const Conversion done = Take(ConvertFile(Golden("cnn.onnx"), path, options));
  CHECK(done.edits.size() == 3);
  REQUIRE(done.edit_verification.has_value());
  CHECK(done.edit_verification->passed);
  REQUIRE(done.written.has_value());
  const Model written = Take(Model::Read(path));
  const Graph graph = Take(written.Import());
  CHECK(graph.inputs()[0].value.type().KnownShape() == std::vector<int64_t>{4, 32, 32, 3});

  // The same for a graph; two models in a row.
  options.edits = {.merge = path};
  const Model model = Take(Model::Read(Golden("superres.mlmodel")));
  CHECK(ConvertGraph(Take(model.Import()), path, options).error().code() == ErrorCode::kUsage);
  options.edits = {.connections = {"a=b"}};
  CHECK(ConvertModel(model, path, options).error().message() == "--connect requires --merge");
  options = {.batch = 2, .edits = {.batch = "N"}};
  CHECK(ConvertModel(model, path, options).error().code() == ErrorCode::kUsage);
}

TEST_CASE("api: conversions that rename, clip and copy") {
  const TestFolder folder;
  const std::string path = folder / "m.onnx";
  const Model model = Take(Model::Read(Golden("cnn.onnx")));
  // Within a format, nothing is imported unless something but names changes.
  const Conversion copied = Take(ConvertModel(model, path));
  CHECK(Contains(copied.report, "\"copy\": true"));
  CHECK(!copied.verification);
  CHECK(Take(ConvertModel(model, path, {.rewrite = true})).verification.has_value());
  const Conversion renamed = Take(ConvertModel(model, path, {.renamed_inputs = {"image=picture"}}));
  CHECK(Contains(renamed.report, "\"renamed\": true"));
  CHECK(Take(Take(Model::Read(path)).Import()).inputs()[0].name == "picture");
  CHECK(ConvertModel(model, path, {.renamed_inputs = {"picture=image"}}).error().code() ==
        ErrorCode::kUsage);
  CHECK(Take(ConvertModel(model, path, {.infer_shapes = true})).written.has_value());

  const Conversion clipped =
      Take(ConvertModel(model, folder / "m.tflite",
                        {.clipped_inputs = {"image=0,1"}, .renamed_inputs = {"image=picture"}}));
  REQUIRE(clipped.verification.has_value());
  CHECK(clipped.verification->passed);
  CHECK(Take(Take(Model::Read(folder / "m.tflite")).Import()).inputs()[0].name == "picture");
  CHECK(ConvertModel(model, path, {.clipped_inputs = {"image=1"}}).error().code() ==
        ErrorCode::kUsage);
}

TEST_CASE("api: contents of inputs that become constants, and of a verification") {
  constexpr std::string_view kSum = R"(ir_version: 8
opset_import { version: 13 }
graph { name: "g"
  node { op_type: "Add" input: "x" input: "k" output: "y" }
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
  input { name: "k" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
  output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
})";
  const TestFolder folder;
  const std::string path = folder / "m.tflite";
  const Model model = ModelOf(kSum);
  const Tensor two = Take(Tensor::Of<float>({2}, std::vector<float>{1, 2}));
  const Tensor three = Take(Tensor::Of<float>({3}, std::vector<float>{1, 2, 3}));
  ConvertOptions options = {.fixed_inputs = {{"k", two}}};
  options.verification.inputs = {{two}, {two}};
  const Conversion done = Take(ConvertModel(model, path, options));
  REQUIRE(done.verification.has_value());
  CHECK(done.verification->passed);
  CHECK(done.verification->seeds.empty());
  CHECK(Take(Take(Model::Read(path)).Import()).inputs().size() == 1);

  CHECK(ConvertModel(model, path, {.fixed_inputs = {{"k", three}}}).error().code() ==
        ErrorCode::kUsage);
  CHECK(ConvertModel(model, path, {.fixed_inputs = {{"none", two}}}).error().code() ==
        ErrorCode::kUsage);
  options.verification.inputs = {{two, two}};
  CHECK(ConvertModel(model, path, options).error().code() == ErrorCode::kUsage);
  const Graph graph = Take(model.Import());
  CHECK(ConvertGraph(graph, path, {.fixed_inputs = {{"k", two}}}).error().code() ==
        ErrorCode::kUsage);
}

TEST_CASE("api: shapes of the inputs are set by the import") {
  const Model model = Take(Model::Read(Golden("cnn.onnx")));
  const Graph graph = Take(model.Import({.batch = 2}));
  CHECK(graph.inputs()[0].value.type().KnownShape() == std::vector<int64_t>{2, 3, 32, 32});
  CHECK(model.Import({.shapes = {{"picture", {1}}}}).error().code() == ErrorCode::kUsage);
  CHECK(Contains(Take(model.DumpText({.weights = DumpWeights::kNone})), "\"nn_dump\": 1"));
  CHECK(model.DumpText({.weights = DumpWeights::kFile, .file = "w.npz"}).error().code() ==
        ErrorCode::kUsage);
}

TEST_CASE("api: the version is that of the project") {
  CHECK(std::count(Version().begin(), Version().end(), '.') == 2);
}

TEST_CASE("api: runs and edits report their progress, and the caller may end them") {
  const Model model = Take(Model::Read(Golden("cnn.onnx")));
  const Graph graph = Take(model.Import({.batch = 1}));
  for (const Backend backend : {Backend::kSimd, Backend::kReference}) {
    const Program program = Take(Program::Compile(graph, {.backend = backend}));
    const std::vector<Tensor> inputs = Take(program.SeededInputs(0));
    std::vector<uint64_t> told;
    uint64_t steps = 0;
    const auto tell = [&](std::string_view activity, uint64_t done, uint64_t total) {
      CHECK(activity == "steps");
      told.push_back(done);
      steps = total;
      return true;
    };
    const std::vector<Tensor> outputs = Take(program.Run(inputs, tell));
    CHECK(outputs[0].Identical(Take(program.Run(inputs))[0]));
    CHECK(told.front() == 0);
    CHECK(told.back() == steps);
    CHECK(std::ranges::is_sorted(told));
    CHECK(steps > 3);
    const auto ended =
        program.Run(inputs, [](std::string_view, uint64_t done, uint64_t) { return done < 2; });
    REQUIRE_FALSE(ended);
    CHECK(ended.error().code() == ErrorCode::kLimit);
    CHECK(ended.error().message() == "the caller ended the run");
    CHECK(Take(program.Run(inputs))[0].Identical(outputs[0]));
  }

  EditOptions edit;
  edit.cut_after = {"features"};
  uint64_t runs = 0;
  const auto count = [&](std::string_view activity, uint64_t done, uint64_t) {
    CHECK(activity == "runs");
    runs = done;
    return true;
  };
  CHECK(Take(EditModel(model, edit, VerifyOptions(), count)).verification->passed);
  CHECK(runs == VerifyOptions().runs);
  const auto ended = EditModel(model, edit, VerifyOptions(),
                               [](std::string_view, uint64_t, uint64_t) { return false; });
  REQUIRE_FALSE(ended);
  CHECK(ended.error().message() == "the caller ended the edit");
}

TEST_CASE("api: assertions and targets give findings") {
  const Model model = Take(Model::Read(Golden("cnn.onnx")));
  CHECK(Take(CheckAssertions(model, {})).empty());
  CHECK(Take(CheckAssertions(model, {.max_params = 1'000'000, .dtypes = {"f32", "i64"}})).empty());
  const std::vector<Finding> findings =
      Take(CheckAssertions(model, {.max_params = 10, .static_shapes = true}));
  REQUIRE(findings.size() >= 2);
  CHECK(findings[0].rule == "ASSERT-MAX-PARAMS");
  CHECK(findings[1].rule == "ASSERT-STATIC-SHAPES");
  CHECK(CheckAssertions(model, {.dtypes = {"real"}}).error().code() == ErrorCode::kUsage);
  CHECK(Take(CheckTarget(model, "tflite")).empty());
  CHECK_FALSE(Take(CheckTarget(model, "onnx:1")).empty());
  CHECK(CheckTarget(model, "onnx:none").error().code() == ErrorCode::kUsage);
  const std::string report =
      FindingsReport(model, std::vector<Finding>(5, findings[0]), /*max_per_rule=*/2);
  CHECK(Contains(report, "\"ASSERT-MAX-PARAMS\": 3"));
}

TEST_CASE("api: a baseline hides the findings that it lists") {
  const TestFolder folder;
  const Model model = Take(Model::Read(Golden("cnn.onnx")));
  const std::string baseline = folder / "known.json";
  const CheckOptions options = {.assertions = {.max_params = 10}};
  const CheckedModel all = Take(CheckModel(model, options));
  CHECK(all.failed);
  REQUIRE(all.findings.size() == 1);
  CHECK(all.findings[0].fingerprint.empty());
  CHECK(Take(WriteBaseline(model, baseline, options)) == 1);
  CheckOptions hiding = options;
  hiding.baseline = baseline;
  const CheckedModel known = Take(CheckModel(model, hiding));
  CHECK_FALSE(known.failed);
  CHECK(known.findings.empty());
  CHECK(known.known == 1);
  CHECK(known.stale.empty());
  CHECK(Contains(known.report, "\"known\": 1"));
  // Another model, for which the file lists nothing.
  CHECK(Take(CheckModel(Take(Model::Read(Golden("squeeze.nnapi"))), hiding)).failed);
  // The assertion holds, and is not stale only where it was checked.
  hiding.assertions.max_params = 1'000'000'000;
  const CheckedModel mended = Take(CheckModel(model, hiding));
  REQUIRE(mended.stale.size() == 1);
  CHECK(mended.stale[0].rule == "ASSERT-MAX-PARAMS");
  CHECK(mended.stale[0].count == 1);
  hiding.assertions = {};
  CHECK(Take(CheckModel(model, hiding)).stale.empty());
  // Fingerprints cover assertions as well.
  CheckOptions fingerprints = options;
  fingerprints.rules.fingerprints = true;
  CHECK_FALSE(Take(CheckModel(model, fingerprints)).findings.at(0).fingerprint.empty());
  const std::string bytes = Contents(Golden("cnn.onnx"));
  const Model in_memory = Take(Model::FromBytes(std::as_bytes(std::span(bytes))));
  CHECK(CheckModel(in_memory, hiding).error().code() == ErrorCode::kUsage);
  CHECK(WriteBaseline(in_memory, baseline).error().code() == ErrorCode::kUsage);
  hiding.baseline = Golden("cnn.onnx");
  CHECK(CheckModel(model, hiding).error().code() == ErrorCode::kUsage);
}

TEST_CASE("api: an attestation is compared with the model") {
  const TestFolder folder;
  const std::string statement = folder / "statement.json";
  std::ofstream(statement) << R"({"_type": "https://in-toto.io/Statement/v1",
      "subject": [{"name": "cnn.onnx", "digest": {"sha256": "00"}}],
      "predicateType": "https://example.com/review/v1"})";
  const Model model = Take(Model::Read(Golden("cnn.onnx")));
  const CheckedModel checked = Take(CheckModel(model, {.attestation = statement}));
  CHECK(checked.failed);
  REQUIRE(checked.findings.size() == 2);
  CHECK(checked.findings[0].rule == "ATTEST-SUBJECT");
  CHECK(checked.findings[1].rule == "ATTEST-OTHER-PREDICATE");
  CHECK(Take(CheckModel(model, {.max_per_rule = 1})).findings.empty());
  const Model edited = Take(EditModel(model, {.metadata = {"author=me"}})).model;
  CHECK(CheckModel(edited, {.attestation = statement}).error().code() == ErrorCode::kUsage);
  CHECK(CheckModel(model, {.attestation = Golden("cnn.onnx")}).error().code() == ErrorCode::kUsage);
}

TEST_CASE("api: a conversion is attested") {
  const TestFolder folder;
  const std::string statement = folder / "statement.json", path = folder / "m.tflite";
  const Model model = Take(Model::Read(Golden("cnn.onnx")));
  const ConvertOptions options = {
      .batch = 1, .renamed_inputs = {"image=picture"}, .simplify = true};
  REQUIRE(Take(ConvertAndAttest(model, path, statement, options)).written.has_value());
  CheckOptions check;
  check.attestation = statement;
  CHECK(Take(CheckModel(Take(Model::Read(path)), check)).findings.empty());
  CHECK_FALSE(Take(CheckModel(model, check)).findings.empty());
  // As the program writes it.
  const std::string program = BinDir() + "/nnconvert --quiet " + Golden("cnn.onnx") + " " + path +
                              " --batch 1 --rename-input image=picture --simplify --attest " +
                              (folder / "program.json");
  REQUIRE(std::system(program.c_str()) == 0);
  CHECK(Contents(folder / "program.json") == Contents(statement));

  CHECK(ConvertAndAttest(model, path, statement, {.dry_run = true}).error().code() ==
        ErrorCode::kUsage);
  const Model edited = Take(EditModel(model, {.metadata = {"author=me"}})).model;
  CHECK(ConvertAndAttest(edited, path, statement, options).error().code() == ErrorCode::kUsage);
}

TEST_CASE("api: a bill of materials states the digest of the file") {
  const Model model = Take(Model::Read(Golden("cnn.onnx")));
  CHECK(Contains(Take(BillOfMaterials(model)), "\"CycloneDX\""));
  const std::string bytes = Contents(Golden("cnn.onnx"));
  const Model in_memory = Take(Model::FromBytes(std::as_bytes(std::span(bytes))));
  CHECK(BillOfMaterials(in_memory).error().code() == ErrorCode::kUsage);
}

TEST_CASE("api: a page shows the findings of a report") {
  const TestFolder folder;
  const Model model = Take(Model::Read(Golden("cnn.onnx")));
  const std::string path = folder / "report.json";
  Finding finding;
  finding.rule = "ONNX-OP-004";
  finding.message = "the strides are odd";
  std::ofstream(path) << FindingsReport(model, {finding});
  CHECK(Contains(Take(DrawHtml(model, {.findings = path})), "the strides are odd"));
  CHECK(DrawHtml(model, {.times = path}).error().code() == ErrorCode::kParse);
}

TEST_CASE("api: differences are those of models with shapes, and drawn") {
  const Model a = Take(Model::Read(Golden("cnn.onnx")));
  EditOptions edit;
  edit.cut_after = {"features"};
  const Model b = Take(EditModel(a, edit)).model;
  InputShapes shapes;
  shapes.batch = 2;
  CHECK(Contains(Take(ReportDifferences(a, b, shapes)).json, "\"equal\": false"));
  CHECK_FALSE(Take(DiffModels(a, b, shapes)).empty());
  CHECK(Contains(Take(DrawDifferences(a, b, shapes)), "<!DOCTYPE html>"));
  shapes.shapes["none"] = {1};
  CHECK(DiffModels(a, b, shapes).error().code() == ErrorCode::kUsage);
}

}  // namespace nnsuite::test::model_test
