#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <set>
#include <span>

#include "apps/program.h"
#include "base/file/file.h"
#include "base/json/json.h"
#include "formats/onnx/file/tensor_file.h"
#include "ir/seeded.h"
#include "support/files.h"
#include "tensorio/digest.h"
#include "tensorio/npy.h"
#include "tensorio/npz.h"

namespace nn::test::nnrun_test {
namespace {

ProgramResult Run(const std::string& arguments, std::string_view input = {}) {
  return RunProgram("nnrun " + arguments, input);
}

Json RunJson(const std::string& arguments) {
  const ProgramResult r = Run("--format json " + arguments);
  REQUIRE_MESSAGE(r.code == 0, r.err);
  return Json::parse(r.out);
}

std::vector<NamedTensor> ReadArrays(const std::string& path) {
  auto arrays = ReadNpz(*ReadFile(path));
  REQUIRE_MESSAGE(arrays.has_value(), arrays.error().message());
  return *std::move(arrays);
}

void WriteArrays(const std::string& path, const std::vector<NamedTensor>& arrays) {
  REQUIRE(WriteNpz(path, arrays).has_value());
}

void WriteArray(const std::string& path, const Tensor& t) {
  REQUIRE(WriteFile(path, *NpyImage(t)).has_value());
}

void WriteProto(const std::string& path, const Tensor& t) {
  REQUIRE(WriteFile(path, *onnx::TensorProtoImage(t, "")).has_value());
}

Tensor F(const std::vector<float>& v) {
  return Tensor::Of<float>({static_cast<int64_t>(v.size())}, v);
}

TEST_CASE("nnrun: inputs by name, by position, inline and from files give the same") {
  const TempDir dir;
  const std::string model = dir / "m.onnx";
  WriteModel(model, TwoOutputsModel());
  const Tensor a = F({1, 2, 3, 4}), b = F({0.5f, 0.5f, 0.5f, 0.5f});
  WriteArrays(dir / "names.npz", {{"b", b}, {"a", a}});
  WriteArrays(dir / "positions.npz", {{"in_1", b}, {"in_0", a}});
  WriteArrays(dir / "a.npz", {{"a", a}});
  WriteArray(dir / "a.npy", a);
  WriteProto(dir / "b.pb", b);
  const std::string_view raw(reinterpret_cast<const char*>(a.blob().data()), a.byte_size());
  WriteText(dir / "a.bin", raw);
  for (const std::string& arguments :
       {"--inputs " + dir / "names.npz", "--inputs " + dir / "positions.npz",
        "--inputs " + dir / "a.npz --input b=0.5",
        "--input a=" + dir / "a.npy --input b=" + dir / "b.pb",
        "--input a=" + dir / "a.bin --input 'b=[0.5, 0.5, 0.5, 0.5]'"}) {
    CAPTURE(arguments);
    const Json json = RunJson(fmt::format("{} {}", model, arguments));
    REQUIRE(json["outputs"].size() == 2);
    CHECK(json["outputs"][0]["name"] == "sum");
    CHECK(json["outputs"][0]["first"] == Json::parse("[1.5, 2.5, 3.5, 4.5]"));
    CHECK(json["outputs"][1]["name"] == "product");
    CHECK(json["outputs"][1]["first"] == Json::parse("[0.5, 1.0, 1.5, 2.0]"));
  }
}

TEST_CASE("nnrun: missing inputs are seeded as documented") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", TwoOutputsModel());
  for (const uint64_t seed : {0, 7}) {
    const auto a = SeededTensor(DType::kF32, {4}, seed, 0),
               b = SeededTensor(DType::kF32, {4}, seed, 1);
    const Json json = RunJson(dir / "m.onnx" + (seed == 0 ? "" : " --seed 7"));
    for (int64_t i = 0; i < 4; ++i) {
      const float want =
          a->As<float>()[static_cast<size_t>(i)] + b->As<float>()[static_cast<size_t>(i)];
      CHECK(json["outputs"][0]["first"][static_cast<size_t>(i)].get<double>() == want);
    }
  }
}

TEST_CASE("nnrun: the table of outputs") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", TwoOutputsModel());
  const ProgramResult r = Run(dir / "m.onnx --input a=[1,2,3,4] --input b=2");
  CHECK(r.code == 0);
  CHECK(r.err.empty());
  CHECK(r.out ==
        "output   type  shape  min  max  mean  first values\n"
        "sum      f32   [4]      3    6   4.5  3.0, 4.0, 5.0, 6.0\n"
        "product  f32   [4]      2    8     5  2.0, 4.0, 6.0, 8.0\n");
  const ProgramResult nan = Run(dir / "m.onnx --input a=[nan,1,2,inf] --input b=1");
  CHECK(Contains(nan.out, "sum      f32   [4]      2  inf   nan  nan, 2.0, 3.0, inf\n"));
}

TEST_CASE("nnrun: --output is keyed by name, complete and the same each time") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", TwoOutputsModel());
  const ProgramResult r = Run(dir / "m.onnx --input a=3 --input b=2 --output " + dir / "out.npz");
  CHECK(r.code == 0);
  CHECK(r.out.empty());
  const auto arrays = ReadArrays(dir / "out.npz");
  REQUIRE(arrays.size() == 2);
  CHECK(arrays[0].name == "sum");
  CHECK(arrays[0].tensor.Identical(F({5, 5, 5, 5})));
  CHECK(arrays[1].name == "product");
  CHECK(arrays[1].tensor.Identical(F({6, 6, 6, 6})));
  const ProgramResult piped = Run(dir / "m.onnx --input a=3 --input b=2 -o -");
  CHECK(piped.out == ReadText(dir / "out.npz"));
  CHECK(Listing(dir.path()) == "m.onnx\nout.npz\n");
}

TEST_CASE("nnrun: shapes come from the inputs, --input-shape or --batch") {
  const TempDir dir;
  const std::string model = dir / "m.onnx";
  WriteModel(model, BatchModel());
  WriteArray(dir / "x.npy", *SeededTensor(DType::kF32, {3, 3, 8, 8}, 0, 0));
  const std::string digest = Run(model + " --batch 3 --digest").out;
  CHECK(digest.size() == 7 + 64 + 1);
  CHECK(Run(model + " --input-shape x:3,3,8,8 --digest").out == digest);
  CHECK(Run(model + " --input x=" + dir / "x.npy --digest").out == digest);
  CHECK(Run(model + " --batch 2 --digest").out != digest);
  const ProgramResult open = Run(model + " --digest");
  CHECK(open.code == 0);
  CHECK(open.out == Run(model + " --batch 1 --digest").out);
  CHECK(Contains(open.err, "\"batch\" is set to 1; use --batch to change it"));
}

TEST_CASE("nnrun: the digest of a value is that of the output without its name") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", TwoOutputsModel());
  REQUIRE(Run(dir / "m.onnx -o " + dir / "out.npz").code == 0);
  std::vector<NamedTensor> arrays = ReadArrays(dir / "out.npz");
  const Json outputs = RunJson(dir / "m.onnx --digest")["outputs"];
  REQUIRE(outputs.size() == arrays.size());
  for (size_t i = 0; i < arrays.size(); ++i) {
    CHECK(outputs[i]["digest"] == Digest(std::span(&arrays[i], 1)));
    arrays[i].name.clear();
    CHECK(outputs[i]["value_digest"] == Digest(std::span(&arrays[i], 1)));
    CHECK(outputs[i]["value_digest"] != outputs[i]["digest"]);
  }
}

TEST_CASE("nnrun: the digest is that of the outputs, on every backend, target and thread count") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", ConvModel());
  REQUIRE(Run(dir / "m.onnx -o " + dir / "out.npz").code == 0);
  const std::string want = Digest(ReadArrays(dir / "out.npz")) + "\n";
  std::vector<std::string> variants = {"", "--backend reference", "--backend simd", "--threads 1",
                                       "--threads 7"};
  const ProgramResult targets = Run("--list-targets");
  CHECK(targets.code == 0);
  size_t count = 0;
  for (size_t at = 0; at < targets.out.size(); ++count) {
    const size_t end = targets.out.find('\n', at);
    variants.push_back("--target " + targets.out.substr(at, end - at));
    at = end + 1;
  }
  CHECK(count >= 1);
  for (const std::string& v : variants) {
    CAPTURE(v);
    CHECK(Run(dir / "m.onnx --digest " + v).out == want);
  }
  CHECK(RunJson(dir / "m.onnx --digest")["digest"].get<std::string>() + "\n" == want);
  CHECK(Run(dir / "m.onnx --target NOSUCH").code == 2);
}

TEST_CASE("nnrun: --expect compares by name or position") {
  const TempDir dir;
  const std::string run = dir / "m.onnx --input a=[1,2,3,4] --input b=1 --expect " + dir / "e.npz";
  WriteModel(dir / "m.onnx", TwoOutputsModel());
  const Tensor sum = F({2, 3, 4, 5}), product = F({1, 2, 3, 4});
  WriteArrays(dir / "e.npz", {{"product", product}, {"sum", sum}});
  CHECK(Run(run).code == 0);
  CHECK(Contains(Run(run).out, "e.npz: outputs match\n  sum      bit-identical\n"));
  WriteArrays(dir / "e.npz", {{"out_1", product}});
  CHECK(Run(run).code == 0);
  CHECK(Contains(Run(run).out, "sum      not compared: no expected array\n"));

  WriteArrays(dir / "e.npz", {{"sum", F({2, 3.5f, 4, 5})}, {"product", product}});
  const ProgramResult drift = Run(run);
  CHECK(drift.code == 1);
  CHECK(Contains(drift.out, "e.npz: outputs differ\n"));
  CHECK(Contains(drift.out, "1 of 4 elements differ, largest difference 0.5 absolute"));
  CHECK(Contains(drift.out,
                 "at [1]: 3.0, expected 3.5; mean difference 0.125, cosine 0.998179; "
                 "--atol 5.0e-01 would accept it"));
  CHECK(Run(run + " --atol 0.5").code == 0);
  CHECK(Run(run + " --atol 0.4").code == 1);
  CHECK(Run(run + " --rtol 0.1").code == 0);  // of the largest magnitude, 5
  CHECK(Run(run + " --rtol 0.09").code == 1);
  const ProgramResult json = Run(run + " --format json");
  CHECK(json.code == 1);
  const Json report = Json::parse(json.out)["expect"];
  CHECK(report["passed"] == false);
  CHECK(report["outputs"][0]["outside"] == 1);
  CHECK(report["outputs"][0]["worst"]["index"] == 1);
  CHECK(report["outputs"][1]["identical"] == true);

  // Means leave out what is not finite, and would say that the rest is all there is.
  const float nan = std::numeric_limits<float>::quiet_NaN();
  WriteArrays(dir / "e.npz", {{"sum", F({nan, 3, 4, 5})}, {"product", product}});
  const ProgramResult not_finite = Run(run);
  CHECK(not_finite.code == 1);
  CHECK(Contains(not_finite.out, "at [0]: 2.0, expected nan; no tolerance accepts it"));
  const Json numbers = Json::parse(Run(run + " --format json").out)["expect"]["outputs"][0];
  for (const char* figure : {"mean_absolute", "snr_db", "cosine"}) CHECK(numbers[figure].is_null());

  WriteArrays(dir / "e.npz", {{"sum", Tensor::Of<float>({2, 2}, {2, 3, 4, 5})}});
  CHECK(Run(run).code == 1);
  CHECK(Contains(Run(run).out, "f32[4], expected f32[2, 2]"));
  WriteArrays(dir / "e.npz", {{"other", sum}});
  CHECK(Run(run).code == 2);
  CHECK(Contains(Run(run).err, "array \"other\" matches no name of \"sum\", \"product\""));
  WriteArrays(dir / "e.npz", {{"sum", sum}, {"out_0", sum}});
  CHECK(Run(run).code == 2);
  WriteArrays(dir / "e.npz", {});
  CHECK(Run(run).code == 2);
}

TEST_CASE("nnrun: ONNX test sets") {
  namespace fs = std::filesystem;
  const TempDir dir;
  const std::string run = dir / "m.onnx --test-data " + dir.path();
  WriteModel(dir / "m.onnx", TwoOutputsModel());
  const ProgramResult none = Run(run);
  CHECK(none.code == 2);
  CHECK(Contains(none.err, "contains neither input_0.pb and output_0.pb nor test_data_set_*"));
  for (const int set : {0, 2, 10}) {
    const std::string folder = dir / ("test_data_set_" + std::to_string(set));
    fs::create_directory(folder);
    const auto v = static_cast<float>(set);
    WriteProto(folder + "/input_0.pb", F({v, v, v, v}));
    WriteProto(folder + "/input_1.pb", F({2, 2, 2, 2}));
    WriteProto(folder + "/output_0.pb", F({v + 2, v + 2, v + 2, v + 2}));
    WriteProto(folder + "/output_1.pb", F({2 * v, 2 * v, 2 * v, 2 * v}));
  }
  const ProgramResult passed = Run(run);
  CHECK(passed.code == 0);
  const size_t second = passed.out.find("test_data_set_2: passed");
  CHECK(passed.out.find("test_data_set_0: passed") < second);
  CHECK(second < passed.out.find("test_data_set_10: passed"));
  CHECK(Run(dir / "m.onnx --test-data " + dir / "test_data_set_2").code == 0);

  WriteProto(dir / "test_data_set_2/output_1.pb", F({4, 4, 4, 4.5f}));
  const ProgramResult failed = Run(run);
  CHECK(failed.code == 1);
  CHECK(Contains(failed.out, "test_data_set_2: failed"));
  CHECK(Contains(failed.out, "test_data_set_10: passed"));
  CHECK(Run(run + " --atol 0.5").code == 0);
  const ProgramResult json = Run(run + " --format json");
  CHECK(json.code == 1);
  CHECK(Json::parse(json.out)["test_data"][1]["passed"] == false);

  WriteText(dir / "test_data_set_2/output_1.pb", std::string("\x0A\x01s\x10\x01\x1A\x00", 7));
  CHECK(Run(run).code == 3);
  CHECK(Contains(Run(run).err, "contains a sequence or an optional"));
  fs::remove(dir / "test_data_set_0/input_1.pb");
  CHECK(Run(run).code == 2);
  CHECK(Contains(Run(run).err, "input_1.pb is missing, for input \"b\""));
  CHECK(Run(dir / "m.onnx --test-data " + dir / "nosuch").code == 2);
}

TEST_CASE("nnrun: --save-inputs writes what a model with other names takes") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", TwoOutputsModel());
  const std::string renamed =
      dir / "m.onnx " + dir / "renamed.onnx --rename-input a=b --rename-input b=a";
  REQUIRE(RunProgram("nnconvert " + renamed).code == 0);
  for (const char* name : {"in.npz", "in.safetensors"}) {
    const std::string inputs = dir / name;
    const Json want = RunJson(dir / "m.onnx --seed 3 --digest --save-inputs " + inputs);
    CHECK(RunJson(dir / "m.onnx --digest --inputs " + inputs)["digest"] == want["digest"]);
    CHECK(RunJson(dir / "renamed.onnx --digest --inputs " + inputs)["digest"] == want["digest"]);
    // Given inputs, too.
    const std::string again = dir / (std::string("again-") + name);
    REQUIRE(Run(dir / "m.onnx --inputs " + inputs + " --save-inputs " + again).code == 0);
    CHECK(ReadText(again) == ReadText(inputs));
  }
  const std::vector<NamedTensor> arrays = ReadArrays(dir / "in.npz");
  REQUIRE(arrays.size() == 2);
  CHECK(arrays[0].name == "in_0");
  CHECK(arrays[1].name == "in_1");
}

TEST_CASE("nnrun: --save-steps writes every value in the model's layout") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", ConvModel());
  for (const char* backend : {"simd", "reference"}) {
    const std::string folder = dir / backend;
    const ProgramResult r =
        Run(dir / "m.onnx --backend " + backend + " --save-steps " + folder + "/deep/er");
    CHECK_MESSAGE(r.code == 0, r.err);
    CHECK(Listing(folder + "/deep/er") == "0000_x.npy\n0001_hidden.npy\n0002_y.npy\nindex.json\n");
  }
  const auto read = [&](const std::string& name) {
    return *ReadNpy(*ReadFile(dir / ("simd/deep/er/" + name)));
  };
  const Tensor hidden = read("0001_hidden.npy"), y = read("0002_y.npy");
  CHECK(hidden.dims() == std::vector<int64_t>{1, 4, 8, 8});
  for (int64_t i = 0; i < y.elements(); ++i)
    CHECK(y.GetDouble(i) == std::max(0.0, hidden.GetDouble(i)));
  CHECK(read("0000_x.npy").Identical(*SeededTensor(DType::kF32, {1, 3, 8, 8}, 0, 0)));
  for (const char* name : {"0001_hidden.npy", "0002_y.npy", "index.json"})
    CHECK(ReadText(dir / "simd/deep/er/" + name) == ReadText(dir / "reference/deep/er/" + name));
  const Json index = Json::parse(ReadText(dir / "simd/deep/er/index.json"));
  CHECK(index["version"] == 1);
  const Json& entry = index["values"][1];
  CHECK(entry["name"] == "hidden");
  CHECK(entry["kind"] == "intermediate");
  CHECK(entry["operator"] == "conv");
  CHECK(entry["node"] == "conv1");
  CHECK(entry["source"] == "operator 0 (Conv)");
  CHECK(entry["file"] == "0001_hidden.npy");
}

TEST_CASE("nnrun: names of values are made safe as file names") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", ConvModel());
  Patch(dir / "m.onnx", "hidden", "../h\n*");
  const ProgramResult r = Run(dir / "m.onnx --save-steps " + dir / "steps");
  CHECK_MESSAGE(r.code == 0, r.err);
  CHECK(Listing(dir / "steps") == "0000_x.npy\n0001_.._h__.npy\n0002_y.npy\nindex.json\n");
  CHECK(Listing(dir.path()) == "m.onnx\nsteps\n");
}

TEST_CASE("nnrun: --bench") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", ConvModel());
  const Json json = RunJson(dir / "m.onnx --bench --runs 5 --warmup 1 --threads 2 --profile");
  CHECK(json["runs"] == 5);
  CHECK(json["warmup"] == 1);
  CHECK(json["threads"] == 2);
  CHECK(json["backend"] == "simd");
  const Json& latency = json["latency_ms"];
  const double min = latency["min"], median = latency["median"], p90 = latency["p90"];
  CHECK(min > 0);
  CHECK(min <= median);
  CHECK(median <= p90);
  CHECK(latency["mean"].get<double>() >= min);
  REQUIRE(!json["steps"].empty());
  bool conv = false;
  for (const Json& step : json["steps"]) conv |= step["multiply_adds"] == 6912;
  CHECK(conv);
  // The sums by kind are those of the steps.
  double all = 0, sums = 0;
  uint64_t count = 0;
  for (const Json& step : json["steps"]) all += step["ms"].get<double>();
  for (const Json& kind : json["step_kinds"]) {
    sums += kind["ms"].get<double>();
    count += kind["steps"].get<uint64_t>();
  }
  CHECK(sums == doctest::Approx(all));
  CHECK(count == json["steps"].size());
  CHECK(json["steps"].back()["sources"] == Json::parse("[1]"));
  CHECK(!RunJson(dir / "m.onnx --bench --runs 1").contains("steps"));
  const ProgramResult text = Run(dir / "m.onnx --bench --runs 1 --profile");
  CHECK(text.out.starts_with("latency: median "));
  CHECK(Contains(text.out, "conv conv1"));
  CHECK(json["step_count"] == json["steps"].size());
  CHECK(json["reference_steps"] == 0);
  CHECK(json["planned"] == true);
  CHECK(Contains(text.out, ", 0 of them by reference evaluation\n"));
  CHECK(text.err.empty());
}

TEST_CASE("nnrun: --bench counts the steps without a kernel") {
  const TempDir dir;
  std::ofstream(dir / "m.textproto") << R"(ir_version: 8 opset_import { version: 17 }
graph {
  name: "g"
  node { op_type: "Det" input: "x" output: "d" }
  node { op_type: "Relu" input: "x" output: "y" }
  node { op_type: "Det" input: "y" output: "e" }
  input { name: "x" type { tensor_type { elem_type: 1 shape {
    dim { dim_value: 2 } dim { dim_value: 3 } dim { dim_value: 3 } } } } }
  output { name: "d" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
  output { name: "e" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
}
)";
  const Json json = RunJson(dir / "m.textproto --bench --runs 1");
  CHECK(json["step_count"] == 3);
  CHECK(json["reference_steps"] == 2);
  CHECK(json["reference_kinds"] == Json::parse(R"({"det": 2})"));
  CHECK(Contains(Run(dir / "m.textproto --bench --runs 1").out,
                 "steps: 3, 2 of them by reference evaluation: 2 det\n"));
}

TEST_CASE("nnrun: --explain-plan shows steps, memory and work without running the model") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", ConvModel());
  const Json json = RunJson(dir / "m.onnx --explain-plan");
  CHECK(!json.contains("outputs"));
  const Json& plan = json["plan"];
  const Json* conv = nullptr;
  for (size_t i = 0; i < plan["steps"].size(); ++i) {
    const Json& step = plan["steps"][i];
    CHECK(step["step"] == i);
    CHECK(step["kernel"] == "simd");
    CHECK(step["grid"].get<int>() >= 1);
    for (const Json& op : step["operators"])
      if (op["operator"] == "conv") conv = &step;
  }
  REQUIRE(conv != nullptr);
  CHECK((*conv)["operators"] == Json::parse(R"([{"operator": "conv", "name": "conv1"}])"));
  CHECK((*conv)["multiply_adds"] == 6912);
  CHECK((*conv)["packed_bytes"].get<int>() >= 4 * 3 * 3 * 3 * 4);
  const auto named = [](const Json& list, const std::string& name) -> Json {
    for (const Json& o : list)
      if (o.contains("name") && o["name"] == name) return o;
    return {};
  };
  const Json w = named((*conv)["reads"], "w");
  CHECK(w["location"] == "packed");
  CHECK(w["shape"] == Json::parse("[4, 3, 3, 3]"));
  CHECK(w["bytes"] == 432);
  // The plan works with channels last.
  const Json& written = (*conv)["writes"][0];
  CHECK(written["shape"] == Json::parse("[1, 8, 8, 4]"));
  CHECK(written["type"] == "f32");
  CHECK(written["bytes"] == 1024);
  CHECK(written["location"] == "arena");
  CHECK(written["strided"] == false);
  const Json& last = plan["steps"].back()["writes"][0];
  CHECK(last["name"] == "y");
  CHECK(last["location"] == "output");
  CHECK(plan["arena"]["bytes"].get<int>() <= plan["arena"]["unshared_bytes"].get<int>());
  CHECK(plan["arena"]["peak_bytes"].get<int>() <= plan["arena"]["bytes"].get<int>());

  const ProgramResult text = Run(dir / "m.onnx --explain-plan");
  CHECK(text.code == 0);
  CHECK(text.err.empty());
  CHECK(Contains(text.out, "conv conv1"));
  CHECK(Contains(text.out, "reads w"));
  CHECK(Contains(text.out, "f32[4, 3, 3, 3]"));
  CHECK(Contains(text.out, "\nArena "));
  size_t widest = 0;
  for (size_t at = 0; at < text.out.size();) {
    const size_t end = text.out.find('\n', at);
    widest = std::max(widest, end - at);
    CHECK(text.out[end - 1] != ' ');
    at = end + 1;
  }
  CHECK(widest < 120);
}

TEST_CASE("nnrun: --explain-plan needs shapes, from the same sources as a run") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", BatchModel());
  const auto written = [&](const std::string& arguments) {
    const Json json = RunJson(dir / "m.onnx --explain-plan " + arguments);
    return json["plan"]["steps"].back()["writes"][0]["shape"].dump();
  };
  WriteArray(dir / "x.npy", *SeededTensor(DType::kF32, {3, 3, 8, 8}, 0, 0));
  CHECK(written("--batch 2") == "[2,4,8,8]");
  CHECK(written("--input-shape x:5,3,8,8") == "[5,4,8,8]");
  CHECK(written("--input x=" + dir / "x.npy") == "[3,4,8,8]");
  CHECK(written("") == "[1,4,8,8]");
  WriteModel(dir / "open.onnx", R"(graph { in %x: f32[n, m] %y = relu(%x) out "y" = %y })");
  const ProgramResult open = Run(dir / "open.onnx --explain-plan");
  CHECK(open.code == 2);
  CHECK(Contains(open.err,
                 "input \"x\" is f32[1, m]: give an array, or set its shape, such as with "
                 "--input-shape x:1,32\n"));
  CHECK(Run(dir / "open.onnx").err == open.err);
  CHECK(Run(dir / "open.onnx --input-shape x:1,32").code == 0);
}

TEST_CASE("nnrun: --explain-plan shows views, and operators without a step") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", R"(graph {
    in %x: f32[2, 6]
    const %c: f32[6] = seeded(1)
    const %d: f32[6] = seeded(2)
    %e = add(%c, %d)
    %a = relu(%x)
    %b = mul(%x, %e)
    %s = concat(%a, %b) {axis = 1}
    %r = reshape(%s) {dims = [4, 6]}
    %y = softmax(%r) {axis = 1}
    out "y" = %y
  })");
  const Json plan = RunJson(dir / "m.onnx --explain-plan")["plan"];
  CHECK(plan["operators"]["views"] == 2);
  const Json& a = plan["steps"][0]["writes"][0];
  CHECK(a["within"] != a["name"]);
  CHECK(a["strided"] == true);
  CHECK(a["row_stride"] == 12);
  const Json& b = plan["steps"][1]["writes"][0];
  CHECK(b["offset"].get<int>() == a["offset"].get<int>() + 24);
  CHECK(plan["steps"][1]["reads"][1]["location"] == "constant");
  // Sizes are rounded up to multiples of 64 bytes: 48, 48, 96 and 96.
  CHECK(plan["arena"]["unshared_bytes"] == 64 + 64 + 128 + 128);
  CHECK(Contains(Run(dir / "m.onnx --explain-plan").out, "rows 12 apart"));
}

TEST_CASE("nnrun: --explain-plan counts fused and folded operators") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", R"(graph {
    in %x: f32[2, 6]
    const %q: i8[6, 5]{scale=0.1, zp=0} = seeded(1)
    %w = dequantize(%q)
    %p = matmul(%x, %w) "dense"
    %y = relu(%p) "rectify"
    out "y" = %y
  })");
  const Json plan = RunJson(dir / "m.onnx --explain-plan")["plan"];
  REQUIRE(plan["steps"].size() == 1);
  CHECK(plan["steps"][0]["label"] == "matmul+relu dense");
  CHECK(plan["steps"][0]["operators"] == Json::parse(R"([{"operator": "matmul", "name": "dense"},
                        {"operator": "relu", "name": "rectify"}])"));
  CHECK(plan["operators"] == Json::parse(R"({"planned": 2, "fused": 1, "views": 0, "folded": 1})"));
  CHECK(plan["packed"]["steps"] == 1);
  CHECK(plan["packed"]["bytes"] == plan["steps"][0]["packed_bytes"]);
  CHECK(plan["arena"]["bytes"] == 0);
}

TEST_CASE("nnrun: --explain-plan marks steps by reference evaluation") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", R"(graph {
    in %x: f64[4]
    %y = exp(%x) "slow"
    out "y" = %y
  })");
  const Json plan = RunJson(dir / "m.onnx --explain-plan")["plan"];
  REQUIRE(plan["steps"].size() == 1);
  CHECK(plan["steps"][0]["kernel"] == "reference");
  CHECK(Contains(Run(dir / "m.onnx --explain-plan").out, "exp slow (reference)"));
}

// The complete events of a trace, by track.
std::map<int, std::vector<Json>> TraceEvents(const std::string& text) {
  const Json trace = Json::parse(text);
  std::map<int, std::vector<Json>> tracks;
  std::map<int, std::string> names;
  for (const Json& event : trace["traceEvents"]) {
    CHECK(event["pid"] == 1);
    if (event["ph"] == "M") {
      if (event["name"] == "thread_name") names[event["tid"]] = event["args"]["name"];
      continue;
    }
    CHECK(event["ph"] == "X");
    CHECK(event["ts"].get<double>() >= 0);
    CHECK(event["dur"].get<double>() >= 0);
    tracks[event["tid"]].push_back(event);
  }
  CHECK(names[0] == "steps");
  CHECK(names[1] == "thread 0");
  for (const auto& [track, events] : tracks) {
    CHECK(names.contains(track));
    for (size_t i = 1; i < events.size(); ++i)
      CHECK(events[i]["ts"].get<double>() >=
            events[i - 1]["ts"].get<double>() + events[i - 1]["dur"].get<double>() - 0.01);
  }
  return tracks;
}

// "0-2, 7" -> 0, 1, 2, 7.
std::vector<int64_t> ItemsOf(const std::string& text) {
  std::vector<int64_t> items;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(", ", at), text.size());
    const std::string part = text.substr(at, end - at);
    const size_t dash = part.find('-');
    const int64_t first = std::stoll(part);
    const int64_t last = dash == std::string::npos ? first : std::stoll(part.substr(dash + 1));
    for (int64_t i = first; i <= last; ++i) items.push_back(i);
    at = end + 2;
  }
  return items;
}

TEST_CASE("nnrun: --trace has every step, and every item of it on some thread") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", ConvModel());
  const Json plan = RunJson(dir / "m.onnx --explain-plan")["plan"];
  for (const std::string& more :
       {std::string("--threads 1 --digest"), std::string("--threads 3 --digest"),
        std::string("--threads 2 --bench --runs 2"), "--threads 1 -o " + dir / "out.npz"}) {
    CAPTURE(more);
    const ProgramResult r = Run(dir / "m.onnx --trace " + dir / "t.json " + more);
    REQUIRE_MESSAGE(r.code == 0, r.err);
    const auto tracks = TraceEvents(ReadText(dir / "t.json"));
    const auto& steps = tracks.at(0);
    REQUIRE(steps.size() == plan["steps"].size());
    std::vector<std::multiset<int64_t>> items(steps.size());
    for (const auto& [track, events] : tracks) {
      if (track == 0) continue;
      for (const Json& event : events) {
        const auto s = event["args"]["step"].get<size_t>();
        CHECK(event["name"] == plan["steps"][s]["label"]);
        CHECK(event["ts"].get<double>() >= steps[s]["ts"].get<double>());
        for (const int64_t item : ItemsOf(event["args"]["items"])) items[s].insert(item);
      }
    }
    for (size_t s = 0; s < steps.size(); ++s) {
      CHECK(steps[s]["args"]["grid"] == plan["steps"][s]["grid"]);
      CHECK(steps[s]["args"]["bytes"] == plan["steps"][s]["bytes"].get<double>());
      const auto grid = plan["steps"][s]["grid"].get<int64_t>();
      CHECK(static_cast<int64_t>(items[s].size()) == grid);
      for (int64_t i = 0; i < grid; ++i) CHECK(items[s].count(i) == 1);
      size_t values = 0;
      for (const Json& o : plan["steps"][s]["writes"]) values += o.contains("name") ? 1 : 0;
      CHECK(steps[s]["args"]["writes"].size() == values);
      CHECK(steps[s]["args"].contains("GFLOP/s"));
    }
  }
  const ProgramResult piped = Run(dir / "m.onnx --trace -");
  CHECK(piped.code == 0);
  CHECK(!TraceEvents(piped.out).empty());
  CHECK(Listing(dir.path()) == "m.onnx\nout.npz\nt.json\n");
  CHECK(Run(dir / "m.onnx --digest --trace " + dir / "t.json").out ==
        Run(dir / "m.onnx --digest").out);
}

TEST_CASE("nnrun: operators that are not supported are all named, exit code 3") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", TwoOutputsModel());
  Patch(dir / "m.onnx", "Add", "Foo");
  Patch(dir / "m.onnx", "Mul", "Bar");
  const ProgramResult r = Run(dir / "m.onnx");
  CHECK(r.code == 3);
  CHECK(r.out.empty());
  CHECK(Contains(r.err, "Foo (operator set ai.onnx, version 17) is unsupported"));
  CHECK(Contains(r.err, "Bar (operator set ai.onnx, version 17) is unsupported"));
}

TEST_CASE("nnrun: --format json states the error that ends a run") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", TwoOutputsModel());
  for (const std::string& arguments : {dir / "nosuch.onnx", dir / "m.onnx --input a=[1]"}) {
    CAPTURE(arguments);
    const ProgramResult r = Run(arguments + " --format json");
    CHECK(r.code == 2);
    const Json json = Json::parse(r.out);
    CHECK(json["version"] == 1);
    CHECK(Contains(r.err, json["error"].get<std::string>()));
    CHECK(Run(arguments + " --format json -o -").out.empty());
  }
}

TEST_CASE("nnrun: models on standard input") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", ConvModel());
  CHECK(Run("- --digest", ReadText(dir / "m.onnx")).out == Run(dir / "m.onnx --digest").out);
}

TEST_CASE("nnrun: nothing is written when the run fails") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", TwoOutputsModel());
  WriteText(dir / "out.npz", "old");
  CHECK(Run(dir / "m.onnx --input a=[1] -o " + dir / "out.npz").code == 2);
  CHECK(ReadText(dir / "out.npz") == "old");
  CHECK(Run(dir / "m.onnx -o " + dir / "nosuch/out.npz").code == 2);
  CHECK(Run(dir / "m.onnx -o " + dir.path()).code == 2);
  CHECK(Listing(dir.path()) == "m.onnx\nout.npz\n");
}

// A network of the mapping RANK5_ARRAY_MAPPING whose input "x" is declared as [2].
constexpr std::string_view kRank5 = R"({"nn_dump": 1, "format": "coreml", "model": {
  "specificationVersion": 1,
  "description": {
    "input": [{"name": "x", "type": {"multiArrayType": {"shape": [2], "dataType": "DOUBLE"}}}],
    "output": [{"name": "y", "type": {"multiArrayType": {"dataType": "DOUBLE"}}}]},
  "neuralNetwork": {"layers": [
    {"name": "l", "input": ["x"], "output": ["y"], "activation": {"linear": {"alpha": 2}}}]}}})";

TEST_CASE("nnrun: arrays of other ranks and types for a Core ML network") {
  const TempDir dir;
  const std::string model = dir / "m.json";
  WriteText(model, kRank5);
  const auto shape = [&](const std::string& arguments) {
    return RunJson(model + " " + arguments)["outputs"][0]["shape"];
  };
  CHECK(shape("") == Json::parse("[1, 1, 2, 1, 1]"));
  CHECK(shape("--input-shape x:3,1,2,1,1") == Json::parse("[3, 1, 2, 1, 1]"));
  WriteArrays(dir / "x.npz", {{"x", Tensor::Of<double>({2, 1, 2, 1, 1}, {0.1, 1, 2, 3})}});
  const Json json = RunJson(model + " --inputs " + dir / "x.npz");
  CHECK(json["outputs"][0]["shape"] == Json::parse("[2, 1, 2, 1, 1]"));
  CHECK(json["outputs"][0]["first"][3] == 6);
  WriteArray(dir / "i.npy", Tensor::Of<int32_t>({2}, {1, 2}));
  CHECK(RunJson(model + " --input x=" + dir / "i.npy")["outputs"][0]["first"] ==
        Json::parse("[2, 4]"));
  WriteArray(dir / "wrong.npy", Tensor::Of<float>({2, 1, 3, 1, 1}, {1, 2, 3, 4, 5, 6}));
  const ProgramResult r = Run(model + " --input x=" + dir / "wrong.npy");
  CHECK(r.code == 2);
  CHECK(Contains(r.err, "a tensor of shape [2, 1, 3, 1, 1] does not fit"));
}

TEST_CASE("nnrun: usage errors, exit code 2") {
  const TempDir dir;
  const std::string model = dir / "m.onnx";
  WriteModel(model, TwoOutputsModel());
  WriteArrays(dir / "a.npz", {{"a", F({1, 2, 3, 4})}});
  WriteArrays(dir / "c.npz", {{"c", F({1})}});
  WriteArray(dir / "i.npy", Tensor::Ints({16777217, 2, 3, 4}));
  WriteText(dir / "bad.npz", "PK");
  struct Row {
    std::string arguments;
    std::string message;
  };
  for (const Row& r : {
           Row{"", "MODEL is required"},
           Row{"nosuch.onnx", "nosuch.onnx: No such file"},
           Row{model + " --input a", "expected NAME=VALUE"},
           Row{model + " --input c=1", "unknown name; expected one of \"a\", \"b\""},
           Row{model + " --input a=1 --input a=2", "input \"a\" is given more than once"},
           Row{model + " --input a=1 --inputs " + dir / "a.npz", "given more than once"},
           Row{model + " --inputs " + dir / "c.npz", "array \"c\" matches no name of"},
           Row{model + " --inputs " + dir / "bad.npz", "bad.npz: not a ZIP archive"},
           Row{model + " --input a=[1,2,3]",
               "input \"a\" is f32[4]; a tensor of shape [3] does not fit"},
           Row{model + " --input a=x.npy", "x.npy: No such file"},
           Row{model + " --input a=" + dir / "i.npy",
               "input \"a\": element [0] of the i64 array is 16777217, which is not a value of "
               "f32"},
           Row{model + " --profile", "--profile requires --bench"},
           Row{model + " --runs 0 --bench", "--runs"},
           Row{model + " --threads 9999", "--threads"},
           Row{model + " --atol -1", "--atol"},
           Row{model + " --backend gpu", "gpu"},
           Row{model + " -o - --digest", "both write to standard output"},
           Row{model + " --bench --save-steps x", "--save-steps"},
           Row{model + " --save-inputs x.json", "expected .npz or .safetensors"},
           Row{model + " --inputs " + dir / "a.npz" + " --save-inputs " + dir / "a.npz",
               "the run reads this file"},
           Row{model + " --explain-plan --save-inputs x.npz", "it runs nothing"},
           Row{model + " --steps 2 --save-inputs x.npz", "--save-inputs"},
           Row{model + " --test-data x --save-inputs y.npz", "--test-data"},
           Row{model + " --test-data x --digest", "--test-data"},
           Row{model + " --test-data x --input a=1",
               "--test-data cannot be combined with options for inputs"},
           Row{model + " --test-data x --cast-inputs",
               "--test-data cannot be combined with options for inputs"},
           Row{model + " --test-data x --trace y", "--test-data"},
           Row{model + " --explain-plan --digest",
               "--explain-plan cannot be combined with options for results"},
           Row{model + " --explain-plan --trace x",
               "--explain-plan cannot be combined with options for results"},
           Row{model + " --explain-plan --backend reference", "has no plan"},
           Row{model + " --trace x --backend reference", "has no plan"},
           Row{model + " --trace - --digest", "both write to standard output"},
           Row{model + " --trace " + dir / "nosuch/t.json", "nosuch"},
       }) {
    CAPTURE(r.arguments);
    const ProgramResult result = Run(r.arguments);
    CHECK(result.code == 2);
    CHECK(result.out.empty());
    CHECK_MESSAGE(Contains(result.err, r.message), result.err);
  }
}

TEST_CASE("nnrun: exceeding a limit gives exit code 4") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", BatchModel());
  const ProgramResult r = Run(dir / "m.onnx --batch 1000000000000");
  CHECK(r.code == 4);
  CHECK(r.out.empty());
}

TEST_CASE("nnrun, nnconvert and nninspect: a function of an ML Program") {
  const TempDir dir;
  std::filesystem::create_directories(dir / "m.mlmodelc");
  WriteText(dir / "m.mlmodelc/model.mil", R"(program(1.0)
{
    func main<ios17>(tensor<fp32, [2]> x) {
            tensor<fp32, [2]> y = mul(x = x, y = fp32(2));
        } -> (y);
    func thrice<ios18>(tensor<fp32, [3]> x) {
            tensor<fp32, [3]> y = mul(x = x, y = fp32(3));
        } -> (y);
}
)");
  const std::string model = dir / "m.mlmodelc";
  const auto outputs = [&](const std::string& arguments) {
    const ProgramResult r = RunProgram("nnrun -o - " + arguments);
    REQUIRE_MESSAGE(r.code == 0, r.err);
    return r.out;
  };
  const std::string twice = outputs(model), thrice = outputs("--function thrice " + model);
  CHECK(twice != thrice);
  CHECK(outputs("--function main " + model) == twice);
  const ProgramResult converted =
      RunProgram("nnconvert --function thrice " + model + " " + dir / "m.onnx");
  REQUIRE_MESSAGE(converted.code == 0, converted.err);
  CHECK(Contains(converted.out, "function \"main\""));  // is not in the file
  CHECK(outputs(dir / "m.onnx") == thrice);
  // Only the chosen function is in a program that is written again.
  REQUIRE(RunProgram("nnconvert --function thrice " + model + " " + dir / "m.mlpackage").code == 0);
  CHECK(outputs(dir / "m.mlpackage") == thrice);
  CHECK(RunProgram("nnrun --function main " + dir / "m.mlpackage").code == 2);
  CHECK(
      Contains(RunProgram("nninspect --function thrice " + model).out, "MultiArray(FLOAT32)  [3]"));
  const ProgramResult none = RunProgram("nnrun --function once " + model);
  CHECK(none.code == 2);
  CHECK(Contains(none.err, "--function once: the model has no such function, but main, thrice"));
  const ProgramResult onnx = RunProgram("nnrun --function main " + dir / "m.onnx");
  CHECK(onnx.code == 2);
  CHECK(Contains(onnx.err, "the model has no functions to choose from"));
}

}  // namespace
}  // namespace nn::test::nnrun_test
