#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <vector>

#include "apps/inspect.h"
#include "apps/program.h"
#include "base/file/file.h"
#include "base/json/json.h"
#include "support/files.h"
#include "support/paths.h"
#include "tensorio/npy.h"
#include "tensorio/tensor_archive.h"

namespace nn::test::nnconvert_test {
namespace {

ProgramResult Convert(const std::string& arguments, std::string_view input = {}) {
  return RunProgram("nnconvert " + arguments, input);
}

// A conversion that keeps the format.
ProgramResult Rewrite(const std::string& arguments, std::string_view input = {}) {
  return Convert("--rewrite " + arguments, input);
}

void WriteArrays(const std::string& path, const std::vector<NamedTensor>& arrays) {
  REQUIRE(WriteTensorArchive(path, arrays).has_value());
}

void WriteArray(const std::string& path, const Tensor& t) {
  REQUIRE(WriteFile(path, *NpyImage(t)).has_value());
}

// Weights of more than a kilobyte, which files store separately.
const char* const kWideModel = R"(graph "wide" {
  in %x: f32[1, 16, 8, 8]
  const %w: f32[32, 16, 3, 3] = seeded(1, 0.3)
  %y = conv(%x, %w) {pads = [1, 1, 1, 1], strides = [2, 2]} "c"
  out "y" = %y
})";

TEST_CASE("nnconvert: writes, verifies and says so") {
  const TempDir dir;
  WriteModel(dir / "in.onnx", ConvModel());
  const ProgramResult r = Rewrite(dir / "in.onnx " + dir / "out.onnx");
  CHECK(r.code == 0);
  CHECK(r.err.empty());
  CHECK(Contains(r.out, "in.onnx (ONNX) -> "));
  CHECK(Contains(r.out, "verified by 3 runs (seeds 0, 1, 2)\n"));
  CHECK(Contains(r.out, "  y       f32          0         0     inf       1  bit-identical\n"));
  CHECK(RunProgram("nnrun --digest " + dir / "out.onnx").out ==
        RunProgram("nnrun --digest " + dir / "in.onnx").out);
  CHECK(Listing(dir.path()) == "in.onnx\nout.onnx\n");
  CHECK(Rewrite("-q " + dir / "in.onnx " + dir / "out.onnx").out.empty());
  CHECK_FALSE(Rewrite("-q --format json " + dir / "in.onnx " + dir / "out.onnx").out.empty());
}

TEST_CASE("nnconvert: large weights arrive, and the same command writes the same bytes") {
  const TempDir dir;
  WriteModel(dir / "in.onnx", kWideModel);
  REQUIRE(Rewrite(dir / "in.onnx " + dir / "a.onnx").code == 0);
  REQUIRE(Rewrite(dir / "in.onnx " + dir / "b.onnx").code == 0);
  CHECK(ReadText(dir / "a.onnx") == ReadText(dir / "b.onnx"));
  CHECK(Inspect(dir / "a.onnx")["parameters"]["count"] == 32 * 16 * 3 * 3);
  CHECK(RunProgram("nnrun --digest " + dir / "a.onnx").out ==
        RunProgram("nnrun --digest " + dir / "in.onnx").out);
}

TEST_CASE("nnconvert: large weights with permuted axes arrive in every format") {
  const TempDir dir;
  WriteModel(dir / "in.onnx", R"(graph { in %x: f32[3, 601]
      const %w: f32[601, 607] = seeded(1, 0.05)
      const %v: f32[607, 601] = seeded(2, 0.05)
      %h = matmul(%x, %w) %y = matmul(%h, %v) out "y" = %y })");
  const auto digest = [&](const std::string& file) {
    return RunProgram("nnrun --digest " + dir / file).out;
  };
  for (const std::string file : {"out.tflite", "out.mlmodel", "out.json.nnapi"}) {
    CAPTURE(file);
    const ProgramResult r = Convert(dir / "in.onnx " + dir / file);
    REQUIRE_MESSAGE(r.code == 0, r.err);
    CHECK(Contains(r.out, "bit-identical"));
    // And back, permuted again. NNAPI does not keep the names, which the digest depends on.
    const ProgramResult back = Convert(dir / file + " " + dir / "back.onnx");
    CHECK(Contains(back.out, "bit-identical"));
    if (file.ends_with("nnapi")) continue;
    CHECK(digest(file) == digest("in.onnx"));
    CHECK(digest("back.onnx") == digest("in.onnx"));
  }
}

TEST_CASE("nnconvert: JSON report") {
  const TempDir dir;
  WriteModel(dir / "in.onnx", ConvModel());
  const ProgramResult r =
      Rewrite(dir / "in.onnx " + dir / "out.onnx --format json --seed 5 --verify-runs 2");
  CHECK(r.code == 0);
  const Json json = Json::parse(r.out);
  CHECK(json["version"] == 1);
  CHECK(json["written"] == true);
  CHECK(json["output"]["format"] == "ONNX");
  CHECK(json["output"]["bytes"] == ReadText(dir / "out.onnx").size());
  CHECK(json["verification"]["passed"] == true);
  CHECK(json["verification"]["seeds"] == Json::parse("[5, 6]"));
  CHECK(json["verification"]["outputs"][0]["identical"] == true);
}

TEST_CASE("nnconvert: nothing depends on --threads") {
  const TempDir dir;
  WriteModel(dir / "in.onnx", ConvModel());
  const std::string arguments = dir / "in.onnx " + dir / "out.onnx --format json";
  const ProgramResult want = Rewrite(arguments);
  for (const char* threads : {" --threads 1", " --threads 3"}) {
    const ProgramResult r = Rewrite(arguments + threads);
    CHECK_MESSAGE(r.code == 0, r.err);
    CHECK(r.out == want.out);
  }
}

TEST_CASE("nnconvert: the report mentions --no-verify") {
  const TempDir dir;
  WriteModel(dir / "in.onnx", ConvModel());
  const ProgramResult r = Rewrite(dir / "in.onnx " + dir / "out.onnx --no-verify");
  CHECK(r.code == 0);
  CHECK(Contains(r.out, "not verified (--no-verify)\n"));
  const Json json =
      Json::parse(Rewrite(dir / "in.onnx " + dir / "out.onnx --no-verify --format json").out);
  CHECK(json["verification"].is_null());
  CHECK(json["written"] == true);
}

TEST_CASE("nnconvert: shapes, operator set and names") {
  const TempDir dir;
  WriteModel(dir / "in.onnx", BatchModel());
  REQUIRE(Convert(dir / "in.onnx " + dir / "out.onnx --batch 4 --opset 13 --rename-input x=image "
                                           "--rename-output y=scores")
              .code == 0);
  const Json json = Inspect(dir / "out.onnx");
  CHECK(json["format_version"] == "IR version 7, opset 13");
  CHECK(json["inputs"][0]["name"] == "image");
  CHECK(json["inputs"][0]["shape"] == Json::parse("[4, 3, 8, 8]"));
  CHECK(json["outputs"][0]["name"] == "scores");
  CHECK(json["outputs"][0]["shape"] == Json::parse("[4, 4, 8, 8]"));
  REQUIRE(Convert(dir / "in.onnx " + dir / "fixed.onnx --input-shape x:2,3,8,8").code == 0);
  CHECK(Inspect(dir / "fixed.onnx")["inputs"][0]["shape"] == Json::parse("[2, 3, 8, 8]"));
}

TEST_CASE("nnconvert: dynamic dimensions get sizes for the verification only") {
  const TempDir dir;
  WriteModel(dir / "in.onnx", BatchModel());
  const ProgramResult r = Rewrite(dir / "in.onnx " + dir / "out.onnx");
  CHECK(r.code == 0);
  CHECK(Contains(r.out, "(seeds 0, 1, 2, batch = 2/1/3)"));
  CHECK(Inspect(dir / "out.onnx")["inputs"][0]["shape"][0] == "batch");
  const ProgramResult given = Rewrite(dir / "in.onnx " + dir / "out.onnx --verify-shape x:5,3,8,8");
  CHECK(given.code == 0);
  CHECK(!Contains(given.out, "batch ="));
  CHECK(Inspect(dir / "out.onnx")["inputs"][0]["shape"][0] == "batch");

  WriteModel(dir / "sizes.onnx", R"(graph {
    in %x: f32[n, 3, h, w]
    const %k: f32[2, 3, 9, 9] = seeded(1)
    %y = conv(%x, %k)
    out "y" = %y
  })");
  const ProgramResult sizes = Rewrite(dir / "sizes.onnx " + dir / "out.onnx");
  CHECK_MESSAGE(sizes.code == 0, sizes.err);
  CHECK(Contains(sizes.out, "h = 32/16/48, n = 2/1/3, w = 32/16/48"));

  // TensorFlow Lite's operator needs all sizes of its result, including the dynamic one.
  WriteModel(dir / "transposed.onnx", R"(graph {
    in %x: f32[batch, 3, 5, 5]
    const %k: f32[3, 2, 3, 3] = seeded(1)
    %y = conv_transpose(%x, %k) { strides=[2, 2], pads=[1, 1, 1, 1] }
    out "y" = %y
  })");
  const ProgramResult transposed = Convert(dir / "transposed.onnx " + dir / "out.tflite");
  CHECK_MESSAGE(transposed.code == 0, transposed.err);
  CHECK(Contains(transposed.out, "batch = 2/1/3"));
}

TEST_CASE("nnconvert: --verify-inputs runs on real data") {
  const TempDir dir;
  WriteModel(dir / "in.onnx", R"(graph {
    in %ids: i64[n, 2]
    in %scale: f32[n, 1]
    const %t: f32[3, 4] = seeded(1)
    %e = gather(%t, %ids)
    %m = reduce_mean(%e) {axes = [1], keep_dims = false}
    %y = mul(%m, %scale)
    out "y" = %y
  })");
  const Tensor ids = Tensor::Of({1, 2}, std::vector<int64_t>{2, 0});
  const Tensor scale = Tensor::Of({1, 1}, std::vector<float>{0.5f});
  WriteArrays(dir / "a.npz", {{"ids", ids}, {"scale", scale}});
  WriteArrays(dir / "b.safetensors", {{"in_0", ids}});
  const std::string command = dir / "in.onnx " + dir / "out.onnx --verify-inputs ";
  const ProgramResult archive = Rewrite(command + dir / "a.npz");
  CHECK_MESSAGE(archive.code == 0, archive.err);
  CHECK(Contains(archive.out, "verified by 1 run (inputs " + dir / "a.npz)\n"));
  // The other input is generated.
  const ProgramResult two =
      Rewrite(command + dir / "a.npz --verify-inputs " + dir / "b.safetensors");
  CHECK_MESSAGE(two.code == 0, two.err);
  CHECK(Contains(two.out, "verified by 2 runs"));
  CHECK(Contains(two.out, "seeds 1"));

  std::filesystem::create_directories(dir / "data/set_0");
  std::filesystem::create_directories(dir / "data/set_1");
  for (const char* set : {"data/set_0/", "data/set_1/"}) {
    WriteArray(dir / (set + std::string("ids.npy")), ids);
    WriteArray(dir / (set + std::string("in_1.npy")), scale);
  }
  const ProgramResult folder = Rewrite(command + dir / "data");
  CHECK_MESSAGE(folder.code == 0, folder.err);
  CHECK(Contains(folder.out, "verified by 2 runs"));
  const ProgramResult named = Rewrite(command + "ids=" + dir / "data/set_0/ids.npy");
  CHECK_MESSAGE(named.code == 0, named.err);

  // Indices that are out of range, different shapes, unknown names.
  const Tensor wrong = Tensor::Of({1, 2}, std::vector<int64_t>{2, 3});
  WriteArrays(dir / "bad.npz", {{"ids", wrong}, {"scale", scale}});
  const ProgramResult bad = Rewrite(command + dir / "bad.npz");
  CHECK(bad.code == 2);
  CHECK(Contains(bad.err, "the model rejects the inputs of"));
  CHECK(Rewrite(command + dir / "missing.npz").code == 2);
  CHECK(Rewrite(command + dir / "data/set_0/ids.npy").code == 2);
  CHECK(Contains(Rewrite(command + dir / "nothing").err, "nothing"));
}

TEST_CASE("nnconvert: the batch that the model already has can be given") {
  const TempDir dir;
  WriteModel(dir / "in.onnx", ConvModel());
  const auto batch = Inspect(dir / "in.onnx")["inputs"][0]["shape"][0].get<int>();
  CHECK(Rewrite(dir / "in.onnx " + dir / "out.onnx --batch " + std::to_string(batch)).code == 0);
  CHECK(Rewrite(dir / "in.onnx " + dir / "out.onnx --batch " + std::to_string(batch + 1)).code ==
        2);
}

TEST_CASE("nnconvert: the report says which shapes would help") {
  const TempDir dir;
  WriteModel(dir / "in.onnx", SequenceModel());
  const ProgramResult open = Convert(dir / "in.onnx " + dir / "out.tflite");
  CHECK(open.code == 3);
  CHECK(Contains(open.out, "only for a constant number of steps, not length"));
  CHECK(Contains(open.out, "every operator can be converted: "));
  const ProgramResult fixed = Convert(dir / "in.onnx " + dir / "out.tflite --input-shape x:5,1,3");
  CHECK_MESSAGE(fixed.code == 0, fixed.err);
}

TEST_CASE("nnconvert: --dry-run lists what cannot be converted and writes nothing") {
  const TempDir dir;
  WriteModel(dir / "in.onnx", TwoOutputsModel());
  for (const std::string& target : {dir / "out.onnx", std::string("--to onnx")}) {
    const ProgramResult clean = Rewrite("--dry-run " + dir / "in.onnx " + target);
    CHECK(clean.code == 0);
    CHECK(Contains(clean.out, "every operator can be converted"));
  }
  Patch(dir / "in.onnx", "Add", "Foo");
  Patch(dir / "in.onnx", "Mul", "Bar");
  for (const std::string& dry : {std::string(), std::string("--dry-run ")}) {
    const ProgramResult r = Rewrite(dry + dir / "in.onnx " + dir / "out.onnx");
    CHECK(r.code == 3);
    CHECK(Contains(r.out, "2 operators cannot be converted:\n"));
    CHECK(Contains(r.out, "(operator 0 (Foo))"));
    CHECK(Contains(r.out, "Bar (operator set ai.onnx, version 17) is unsupported"));
  }
  const Json json =
      Json::parse(Rewrite("--dry-run --format json " + dir / "in.onnx " + dir / "out.onnx").out);
  CHECK(json["dry_run"] == true);
  CHECK(json["written"] == false);
  CHECK(json["unsupported"].size() == 2);
  CHECK(json["unsupported"][1]["source"] == "Bar");
  CHECK(json["unsupported"][1]["operator"] == "unsupported operator");
  CHECK(json["unsupported"][1]["node"].get<std::string>().starts_with("unsupported operator "));
  CHECK(Listing(dir.path()) == "in.onnx\n");
}

TEST_CASE("nnconvert: --dry-run lists nodes with the same reason once") {
  const TempDir dir;
  WriteText(dir / "in.textproto", R"(ir_version: 8 opset_import { version: 17 }
    graph { name: "g"
      node { input: "x" output: "a" op_type: "Foo" name: "one" }
      node { input: "a" output: "b" op_type: "Foo" name: "two" }
      node { input: "b" output: "y" op_type: "Foo" name: "three" }
      input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
      output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
    })");
  const ProgramResult r = Convert("--dry-run --to tflite " + dir / "in.textproto");
  CHECK(r.code == 3);
  CHECK(Contains(r.out, "3 operators cannot be converted:\n"));
  CHECK(Contains(r.out, "  Foo x3, first \"one\" (operator 0 (Foo))  "));
  CHECK_FALSE(Contains(r.out, "two"));
}

TEST_CASE("nnconvert: --float32 converts models of 16-bit floats") {
  const TempDir dir;
  WriteModel(dir / "in.onnx", R"(graph {
    in %x "x": f16[batch, 8]
    const %w: f16[8, 4] = seeded(1)
    %m = matmul(%x, %w)
    %y = tanh(%m)
    out "y" = %y
  })");
  for (const std::string name : {"out.tflite", "out.mlmodel"}) {
    CAPTURE(name);
    const ProgramResult refused = Convert(dir / "in.onnx " + dir / name);
    CHECK(refused.code == 3);
    CHECK(Contains(refused.out, "in float32, every operator can be converted: --float32\n"));
    const ProgramResult r = Convert("--float32 " + dir / "in.onnx " + dir / name);
    CHECK(r.code == 0);
    CHECK(Contains(r.out, "input \"x\" has another type: f16 -> f32\n"));
    CHECK(Contains(r.out, "output \"y\" has another type: f16 -> f32\n"));
    CHECK(Contains(r.out, "changed model against the model of the file, 3 runs:\n"));
  }
  const Json json =
      Json::parse(Convert("--float32 --format json " + dir / "in.onnx " + dir / "out.onnx").out);
  CHECK(json["interface"]["converted"]["inputs"][0]["type"] == "f32");
  const Json& drift = json["verification"]["quantized_model"]["outputs"][0];
  CHECK(drift["max_absolute"].get<double>() > 0);
  CHECK(drift["max_absolute"].get<double>() < 0.01);
}

TEST_CASE("nnconvert: --dry-run --to all lists what each format can express") {
  const TempDir dir;
  WriteModel(dir / "in.onnx", R"(graph {
    in %x: f32[3, 3]
    %a = relu(%x)
    %y = is_nan(%a)
    out "y" = %y
  })");
  const ProgramResult r = Convert("--dry-run --to all " + dir / "in.onnx");
  CHECK(r.code == 3);
  CHECK(Contains(r.out, "ONNX             the format of the model\n"));
  CHECK(Contains(r.out, "Core ML          every operator can be converted\n"));
  CHECK(Contains(r.out, "NNAPI            1 operator cannot be converted: is_nan\n"));
  CHECK(Contains(r.out, "\nNNAPI: 1 operator cannot be converted:\n  is_nan "));
  const Json json = Json::parse(Convert("--dry-run --to all --format json " + dir / "in.onnx").out);
  REQUIRE(json["targets"].size() == 4);
  CHECK(json["input"]["format"] == "ONNX");
  for (const Json& target : json["targets"])
    CHECK(target["unsupported"].size() == (target["output"]["format"] == "NNAPI" ? 1 : 0));
  CHECK(Convert("--to all " + dir / "in.onnx " + dir / "out.onnx").code == 2);
  CHECK(Listing(dir.path()) == "in.onnx\n");
}

// A float interface with quantized values inside.
const char* const kQuantizedModel = R"(graph {
  in %x: u8[1, 4]{scale=0.5, zp=10}
  const %w: i8[4, 3]{axis=1, scale=[0.5, 0.25, 0.125]} = seeded(3)
  %a = dequantize(%x)
  %d = dequantize(%w)
  %m = matmul(%a, %d)
  %y = quantize(%m) : u8[1, 3]{scale=2, zp=100}
  out "y" = %y
})";

TEST_CASE("nnconvert: --dequantize converts a quantized model as a float model") {
  const TempDir dir;
  WriteModel(dir / "in.onnx", kQuantizedModel);
  const ProgramResult refused = Convert(dir / "in.onnx " + dir / "out.mlmodel");
  CHECK(refused.code == 3);
  CHECK(Contains(refused.out, "as a float model, every operator can be converted: --dequantize\n"));

  for (const std::string name : {"out.mlmodel", "out.tflite", "out.onnx"}) {
    CAPTURE(name);
    const ProgramResult r = Convert("--dequantize " + dir / "in.onnx " + dir / name);
    CHECK_MESSAGE(r.code == 0, r.err);
    CHECK(Contains(r.out, "input \"x\" is dequantized: u8[1, 4]{scale=0.5, zp=10} -> f32[1, 4]\n"));
    CHECK(
        Contains(r.out, "output \"y\" is dequantized: u8[1, 3]{scale=2.0, zp=100} -> f32[1, 3]\n"));
    CHECK(Contains(r.out, "verified by 3 runs"));
    CHECK(Contains(r.out, "float model against quantized model, 3 runs:\n"));
    CHECK(Contains(Inspect(dir / name)["inputs"][0]["type"].get<std::string>(), "FLOAT"));
  }

  const Json json =
      Json::parse(Convert("--dequantize --format json " + dir / "in.onnx " + dir / "out.onnx").out);
  CHECK(json["dequantized"].size() == 2);
  CHECK(json["dequantized"][0]["kind"] == "input");
  CHECK(json["dequantized"][0]["to"] == "f32[1, 4]");
  const Json& drift = json["verification"]["quantized_model"];
  CHECK(drift["runs"] == 3);
  const double steps = drift["outputs"][0]["max_steps"];
  CHECK(steps > 0);
  CHECK(drift["outputs"][0]["max_absolute"] == 2 * steps);

  const Json all =
      Json::parse(Convert("--dequantize --dry-run --to all --format json " + dir / "in.onnx").out);
  for (const Json& target : all["targets"]) {
    CHECK(target["copy"] == false);
    CHECK(target["unsupported"].empty());
  }
  CHECK(Contains(Convert("--dequantize --no-verify " + dir / "in.onnx " + dir / "out.onnx").out,
                 "not verified"));
}

TEST_CASE("nnconvert: --dequantize keeps 8-bit weights with one scale at 8 bits in Core ML") {
  const TempDir dir;
  WriteModel(dir / "in.onnx", R"(graph {
    in %x: u8[1, 64]{scale=0.5, zp=10}
    const %w: i8[64, 64]{scale=0.013} = seeded(3)
    %a = dequantize(%x)
    %d = dequantize(%w)
    %m = matmul(%a, %d)
    %y = quantize(%m) : u8[1, 64]{scale=2, zp=100}
    out "y" = %y
  })");
  const ProgramResult r = Convert("--dequantize " + dir / "in.onnx " + dir / "out.mlmodel");
  CHECK_MESSAGE(r.code == 0, r.err);
  CHECK(Contains(r.out, "bit-identical"));
  const size_t bytes = ReadText(dir / "out.mlmodel").size();
  CHECK(bytes > 64 * 64);
  CHECK(bytes < 2 * 64 * 64);
  CHECK(RunProgram("nnvalidate " + dir / "out.mlmodel").code == 0);
}

// A dump of a TensorFlow Lite model whose FULLY_CONNECTED takes the integers of a DEQUANTIZE.
std::string HybridDump(const std::string& text) {
  Json dump = Json::parse(text);
  Json& graph = dump["model"]["subgraphs"][0];
  Json& product = graph["operators"][1];
  product["inputs"][1] = graph["operators"][0]["inputs"][0];
  graph["operators"].erase(0);
  return dump.dump();
}

TEST_CASE("nnconvert: --dequantize converts hybrid kernels to float operators") {
  const TempDir dir;
  WriteModel(dir / "in.tflite", R"(graph {
    in %x: f32[1, 4]
    const %w: i8[3, 4]{scale=0.5} = seeded(1)
    %d = dequantize(%w)
    %y = matmul(%x, %d) {transpose_b = true}
    out "y" = %y
  })");
  REQUIRE(Convert(dir / "in.tflite " + dir / "dump.json").code == 0);
  WriteText(dir / "hybrid.json", HybridDump(ReadText(dir / "dump.json")));
  // Without it, the operators of the other model round the input as the kernel does.
  const ProgramResult rounded = Convert(dir / "hybrid.json " + dir / "rounded.onnx");
  CHECK_MESSAGE(rounded.code == 0, rounded.err);
  CHECK_FALSE(Contains(rounded.out, "converted to float"));
  CHECK(Contains(ReadText(dir / "rounded.onnx"), "Floor"));
  const ProgramResult r = Convert("--dequantize " + dir / "hybrid.json " + dir / "out.onnx");
  CHECK_MESSAGE(r.code == 0, r.err);
  CHECK(Contains(r.out, "1 hybrid kernel converted to float"));
  CHECK_FALSE(Contains(ReadText(dir / "out.onnx"), "Floor"));
  CHECK_FALSE(Contains(r.out, "against quantized model"));
}

TEST_CASE("nnconvert: operators after unsupported ones do not hide these") {
  const TempDir dir;
  WriteModel(dir / "in.tflite", R"(graph {
    in %x: f32[1, 4]
    const %w: i8[3, 4]{scale=0.5, zp=3} = seeded(1)
    %d = dequantize(%w)
    %m = matmul(%x, %d) {transpose_b = true}
    %t = tanh(%m)
    %y = reduce_mean(%t) {axes = [1], keep_dims = false}
    out "y" = %y
  })");
  REQUIRE(Convert(dir / "in.tflite " + dir / "dump.json").code == 0);
  WriteText(dir / "hybrid.json", HybridDump(ReadText(dir / "dump.json")));
  for (const char* const options : {"", "--simplify ", "--set-batch 2 "}) {
    CAPTURE(options);
    const ProgramResult refused = Convert(options + (dir / "hybrid.json") + " " + dir / "out.onnx");
    CHECK(refused.code == 3);
    CHECK(Contains(refused.out,
                   "1 operator cannot be converted:\n"
                   "  unsupported operator (operator 0 (FULLY_CONNECTED))  i8 weights with a "
                   "zero point in a float computation are unsupported"));
    CHECK(Contains(refused.out, "the remaining operators could not be checked: reduce_mean "));
  }
  CHECK(Convert("--dequantize " + dir / "hybrid.json " + dir / "out.onnx").code == 0);
}

TEST_CASE("nnconvert: --dequantize refuses operators on stored integers") {
  const TempDir dir;
  WriteModel(dir / "in.tflite", R"(graph {
    in %x: i8[4]{scale=0.5}
    %y = cast(%x) {to = i32}
    out "y" = %y
  })");
  const ProgramResult r = Convert("--dequantize " + dir / "in.tflite " + dir / "out.onnx");
  CHECK(r.code == 3);
  CHECK(Contains(r.out, "1 operator cannot be converted:\n  cast "));
  CHECK(Contains(r.out, "stored integers"));
  CHECK(Listing(dir.path()) == "in.tflite\n");
}

TEST_CASE("nnconvert: standard input and output") {
  const TempDir dir;
  WriteModel(dir / "in.onnx", ConvModel());
  REQUIRE(Rewrite(dir / "in.onnx " + dir / "out.onnx").code == 0);
  const ProgramResult r = Rewrite("- - --to onnx", ReadText(dir / "in.onnx"));
  CHECK(r.code == 0);
  CHECK(r.out == ReadText(dir / "out.onnx"));
  CHECK(Contains(r.err, "verified by 3 runs"));
}

TEST_CASE("nnconvert: a symbolic link keeps leading to the file") {
  const TempDir dir;
  WriteModel(dir / "in.onnx", ConvModel());
  std::filesystem::create_directory(dir / "store");
  WriteText(dir / "store/real.onnx", "old");
  std::filesystem::create_symlink("store/real.onnx", dir / "out.onnx");
  REQUIRE(Rewrite(dir / "in.onnx " + dir / "out.onnx").code == 0);
  CHECK(std::filesystem::is_symlink(dir / "out.onnx"));
  CHECK(ReadText(dir / "store/real.onnx") == Rewrite(dir / "in.onnx - --to onnx").out);
  CHECK(Listing(dir / "store") == "real.onnx\n");
}

TEST_CASE("nnconvert: a failure keeps the existing output") {
  const TempDir dir;
  WriteModel(dir / "in.onnx", BatchModel());
  WriteText(dir / "out.onnx", "old");
  for (const std::string arguments : {"--verify-shape x:1,3,1", "--opset 3", "--opset 99",
                                      "--batch -3", "--rename-input nosuch=x"}) {
    CAPTURE(arguments);
    const ProgramResult r = Rewrite(dir / "in.onnx " + dir / "out.onnx " + arguments);
    CHECK(r.code != 0);
    CHECK(ReadText(dir / "out.onnx") == "old");
  }
  CHECK(Rewrite(dir / "in.onnx " + dir / "nosuch/out.onnx").code == 2);
  CHECK(Listing(dir.path()) == "in.onnx\nout.onnx\n");
  // Replacing the source is not a special case.
  REQUIRE(Rewrite(dir / "in.onnx " + dir / "in.onnx --batch 3").code == 0);
  CHECK(Inspect(dir / "in.onnx")["inputs"][0]["shape"][0] == 3);
  CHECK(Listing(dir.path()) == "in.onnx\nout.onnx\n");
}

TEST_CASE("nnconvert: dumps are copies, and are accepted in place of the model") {
  const TempDir dir;
  WriteModel(dir / "in.onnx", BatchModel());
  ProgramResult r = Convert(dir / "in.onnx " + dir / "m.json");
  CHECK(r.code == 0);
  CHECK(Contains(r.out, "(ONNX) -> " + dir / "m.json (JSON dump of ONNX), "));
  CHECK(Contains(r.out, "copied unchanged: nothing was converted, checked or run"));
  CHECK(Convert(dir / "in.onnx - --to json").out == ReadText(dir / "m.json"));
  CHECK(RunProgram("nninspect --dump " + dir / "in.onnx").out == ReadText(dir / "m.json"));
  r = Convert(dir / "m.json " + dir / "back.onnx --format json");
  CHECK(r.code == 0);
  CHECK(Json::parse(r.out)["copy"] == true);
  CHECK(Json::parse(r.out)["written"] == true);
  CHECK(ReadText(dir / "back.onnx") == ReadText(dir / "in.onnx"));
  CHECK(Convert("- - --to onnx", ReadText(dir / "m.json")).out == ReadText(dir / "in.onnx"));
  // To another format, it is an ordinary conversion.
  r = Convert(dir / "m.json " + dir / "m.tflite");
  CHECK(r.code == 0);
  CHECK(Contains(r.out, "verified by 3 runs"));
  CHECK(RunProgram("nnvalidate " + dir / "m.json").code == 0);
  CHECK(RunProgram("nnrun " + dir / "m.json --seed 1 --digest").out ==
        RunProgram("nnrun " + dir / "in.onnx --seed 1 --digest").out);
  r = Convert(dir / "in.onnx " + dir / "m2.json --batch 2");
  CHECK(r.code == 2);
  CHECK(Contains(r.err, "--batch changes the model"));
  // A change makes it a conversion.
  REQUIRE(Convert(dir / "m.json " + dir / "m2.onnx --batch 2 --rename-input x=z").code == 0);
  CHECK(Inspect(dir / "m2.onnx")["inputs"][0]["name"] == "z");
  WriteText(dir / "bad.json", ReadText(dir / "m.json").substr(0, 300));
  r = Convert(dir / "bad.json " + dir / "bad.onnx");
  CHECK(r.code == 2);
  CHECK_FALSE(Exists(dir / "bad.onnx"));
  CHECK(RunProgram("nnvalidate " + dir / "bad.json").code == 1);
}

TEST_CASE("nnconvert: the same format is a copy, even of models that cannot be imported") {
  const TempDir dir;
  WriteModel(dir / "in.onnx", TwoOutputsModel());
  Patch(dir / "in.onnx", "Add", "Foo");
  const ProgramResult r = Convert(dir / "in.onnx " + dir / "out.onnx");
  CHECK(r.code == 0);
  CHECK(Contains(r.out, "copied unchanged"));
  CHECK(ReadText(dir / "out.onnx") == ReadText(dir / "in.onnx"));
  CHECK(Rewrite(dir / "in.onnx " + dir / "new.onnx").code == 3);
  CHECK(Listing(dir.path()) == "in.onnx\nout.onnx\n");
}

TEST_CASE("nnconvert: tensors of ONNX models move between files") {
  const TempDir dir;
  WriteModel(dir / "in.onnx", kWideModel);
  const std::string digest = RunProgram("nnrun --digest " + dir / "in.onnx").out;
  std::filesystem::create_directory(dir / "out");
  const auto copy = [&](const std::string& arguments) {
    ProgramResult r = Convert(arguments);
    CHECK_MESSAGE(r.code == 0, r.err);
    return r;
  };
  ProgramResult r = copy(dir / "in.onnx " + dir / "out/m.onnx --external-data m.bin");
  CHECK(Contains(r.out, "and m.bin, 18.0 KiB\n"));
  CHECK(Listing(dir / "out") == "m.bin\nm.onnx\n");
  CHECK(ReadText(dir / "out/m.onnx").size() < 1000);
  CHECK(RunProgram("nnrun --digest " + dir / "out/m.onnx").out == digest);
  CHECK(RunProgram("nnvalidate " + dir / "out/m.onnx").code == 0);
  // A copy includes the side file, and does not replace another one.
  copy(dir / "out/m.onnx " + dir / "copy.onnx");
  CHECK(ReadText(dir / "m.bin") == ReadText(dir / "out/m.bin"));
  CHECK(RunProgram("nnrun --digest " + dir / "copy.onnx").out == digest);
  WriteText(dir / "m.bin", "mine");
  r = Convert(dir / "out/m.onnx " + dir / "copy.onnx");
  CHECK(r.code == 2);
  CHECK(Contains(r.err, "choose another with --external-data"));
  CHECK(ReadText(dir / "m.bin") == "mine");
  // Back into the model, which is unchanged except for the storage of its tensor.
  copy(dir / "out/m.onnx " + dir / "whole.onnx --embed-data");
  CHECK(ReadText(dir / "whole.onnx") == ReadText(dir / "in.onnx"));
  // The threshold; the options also apply to conversions.
  CHECK(Convert(dir / "in.onnx " + dir / "out/n.onnx --external-data n.bin --external-threshold " +
                "20000")
            .code == 2);
  CHECK_FALSE(Exists(dir / "out/n.bin"));
  copy("--rewrite " + dir / "in.onnx " + dir / "out/r.onnx --external-data r.bin");
  CHECK(RunProgram("nnrun --digest " + dir / "out/r.onnx").out == digest);
  CHECK(ReadText(dir / "out/r.bin") == ReadText(dir / "out/m.bin"));
  CHECK(Convert(dir / "in.onnx - --to onnx --external-data x.bin").code == 2);
  CHECK(Convert(dir / "in.onnx " + dir / "x.onnx --external-data ../x.bin").code == 2);
  CHECK(Convert(dir / "in.onnx " + dir / "x.tflite --external-data x.bin").code == 2);
  CHECK_FALSE(Exists(dir / "x.onnx"));
}

TEST_CASE("nnconvert: constants of NNAPI models move into pools of files, and back") {
  const TempDir dir;
  const std::string golden = SourcePath("golden/squeeze.nnapi");
  const std::string digest = RunProgram("nnrun --digest " + golden).out;
  for (const std::string name : {"m.nnapi", "m.nnapi.json"}) {
    CAPTURE(name);
    std::filesystem::create_directory(dir / "out");
    const std::string out = dir / ("out/" + name);
    REQUIRE(Convert(fmt::format("{} {} --external-data w.bin", golden, out)).code == 0);
    CHECK(Listing(dir / "out") == name + "\nw.bin\n");
    CHECK(ReadText(dir / "out/w.bin").size() >= 4 * 16 * 3 * 3 * 8);
    CHECK(RunProgram("nnvalidate " + dir / "out/" + name).code == 0);
    CHECK(RunProgram("nnrun --digest " + dir / "out/" + name).out == digest);
    REQUIRE(Convert(dir / "out/" + name + " " + dir / "copy.nnapi").code == 0);
    CHECK(ReadText(dir / "w.bin") == ReadText(dir / "out/w.bin"));
    REQUIRE(Convert(dir / "out/" + name + " " + dir / "whole.nnapi --embed-data").code == 0);
    std::filesystem::remove_all(dir / "out");
    std::filesystem::remove(dir / "w.bin");
    CHECK(RunProgram("nnrun --digest " + dir / "whole.nnapi").out == digest);
    const ProgramResult r = RunProgram("nninspect " + dir / "copy.nnapi");
    CHECK(r.code == 2);
    CHECK(Contains(r.err, "w.bin"));
  }
}

TEST_CASE("nnconvert: Core ML packages are written, verified, run and copied") {
  const TempDir dir;
  WriteModel(dir / "in.onnx", ConvModel());
  const ProgramResult r = Convert(dir / "in.onnx " + dir / "m.mlpackage");
  CHECK_MESSAGE(r.code == 0, r.err);
  CHECK(Contains(r.out, "verified by 3 runs"));
  CHECK(Listing(dir / "m.mlpackage") == "Data\nManifest.json\n");
  const std::string digest = RunProgram("nnrun --digest " + dir / "in.onnx").out;
  CHECK(RunProgram("nnrun --digest " + dir / "m.mlpackage").out == digest);
  CHECK(RunProgram("nnvalidate " + dir / "m.mlpackage").code == 0);
  CHECK(Inspect(dir / "m.mlpackage")["file_bytes"] > 500);
  for (const std::string name : {"copy.mlpackage", "alone.mlmodel", "m.json"}) {
    CAPTURE(name);
    REQUIRE(Convert(dir / "m.mlpackage " + dir / name).code == 0);
    CHECK(RunProgram("nnrun --digest " + dir / name).out == digest);
  }
  CHECK(ReadText(dir / "copy.mlpackage/Manifest.json") ==
        ReadText(dir / "m.mlpackage/Manifest.json"));
  REQUIRE(Convert(dir / "alone.mlmodel " + dir / "copy.mlpackage").code == 0);
  WriteText(dir / "copy.mlpackage/mine", "x");
  CHECK(Convert(dir / "alone.mlmodel " + dir / "copy.mlpackage").code == 2);
  CHECK(ReadText(dir / "copy.mlpackage/mine") == "x");
}

TEST_CASE("nnconvert: kinds of Core ML models") {
  const TempDir dir;
  WriteModel(dir / "in.onnx", ConvModel());
  const std::string digest = RunProgram("nnrun --digest " + dir / "in.onnx").out;
  struct Row {
    std::string options, name, type;
  };
  const Row rows[] = {
      {"", "a.mlmodel", "neuralNetwork"},
      {"", "b.mlpackage", "mlProgram"},
      {"--core-ml network ", "c.mlpackage", "neuralNetwork"},
      {"--core-ml program ", "d.mlmodel", "mlProgram"},
      {"--deployment-target iOS16 ", "e.mlpackage", "mlProgram"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const ProgramResult r = Convert(row.options + dir / "in.onnx " + dir / row.name);
    REQUIRE_MESSAGE(r.code == 0, r.err);
    const bool is_program = row.type == "mlProgram";
    CHECK(Contains(r.out, "written as an ML Program for iOS15 and later") == is_program);
    CHECK(Contains(RunProgram("nninspect " + dir / row.name).out, row.type));
    CHECK(RunProgram("nnrun --digest " + dir / row.name).out == digest);
  }
  // The other kind is converted, the same one is copied.
  REQUIRE(Convert(dir / "a.mlmodel " + dir / "f.mlpackage").code == 0);
  CHECK(Contains(RunProgram("nninspect " + dir / "f.mlpackage").out, "mlProgram"));
  REQUIRE(Convert(dir / "b.mlpackage " + dir / "g.mlmodel").code == 0);
  CHECK(Contains(RunProgram("nninspect " + dir / "g.mlmodel").out, "neuralNetwork"));

  const ProgramResult kind = Convert("--core-ml tree " + dir / "in.onnx " + dir / "h.mlmodel");
  CHECK(kind.code == 2);
  CHECK(Contains(kind.err, "--core-ml accepts network and program, not \"tree\""));
  const ProgramResult other =
      Convert("--deployment-target iOS16 " + dir / "in.onnx " + dir / "h.tflite");
  CHECK(other.code == 2);
  CHECK(Contains(other.err, "--deployment-target is for Core ML"));
}

TEST_CASE("nnconvert: text forms of ONNX") {
  const TempDir dir;
  WriteModel(dir / "in.onnx", kWideModel);
  for (const std::string name : {"m.textproto", "m.onnxjson"}) {
    CAPTURE(name);
    REQUIRE(Convert(dir / "in.onnx " + dir / name).code == 0);
    CHECK(Contains(ReadText(dir / name), "ir_version"));
    REQUIRE(Convert(dir / name + " " + dir / "back.onnx").code == 0);
    CHECK(ReadText(dir / "back.onnx") == ReadText(dir / "in.onnx"));
    CHECK(RunProgram("nnvalidate " + dir / name).code == 0);
    CHECK(RunProgram("nnrun --digest " + dir / name).out ==
          RunProgram("nnrun --digest " + dir / "in.onnx").out);
  }
}

TEST_CASE("nnconvert: usage errors") {
  const TempDir dir;
  const std::string in = dir / "in.onnx";
  WriteModel(in, TwoOutputsModel());
  struct Row {
    std::string arguments;
    int code;
    std::string message;
  };
  for (const Row& r : {
           Row{"", 2, "IN is required"},
           Row{in, 2, "OUT is required"},
           Row{in + " --dry-run", 2, "OUT is required"},
           Row{in + " out.xyz", 2,
               "the extension of \"out.xyz\" does not determine the format; --to accepts onnx"},
           Row{in + " -", 2, "does not determine the format"},
           Row{in + " out.onnx --to nosuch", 2, "unknown format \"nosuch\""},
           Row{"nosuch.onnx out.onnx", 2, "No such file"},
           Row{in + " out.onnx --opset 6", 3, "operator set 6"},
           Row{in + " out.onnx --rename-input a", 2, "expected NAME=VALUE"},
           Row{in + " out.onnx --rename-input c=d", 2, "unknown name"},
           Row{in + " out.onnx --rename-input a=", 2, "the new name is empty"},
           Row{in + " out.onnx --rename-input a=b", 2, "an input or output of that name"},
           Row{in + " out.onnx --rename-output sum=a", 2, "an input or output of that name"},
           Row{in + " out.onnx --verify-runs 0", 2, "--verify-runs"},
           Row{in + " out.onnx --threads 1025", 2, "--threads"},
           Row{in + " out.onnx --rewrite --verify-shape a:5", 2, "does not fit"},
           Row{in + " out.onnx --batch 2", 2, "no input has a symbolic first dimension"},
       }) {
    CAPTURE(r.arguments);
    const ProgramResult result = Convert(r.arguments);
    CHECK(result.code == r.code);
    CHECK(result.out.empty());
    CHECK_MESSAGE(Contains(result.err, r.message), result.err);
  }
}

}  // namespace
}  // namespace nn::test::nnconvert_test
