// nninspect beyond the summary: operators, tensors, tree, cost, digests.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "apps/inspect.h"
#include "apps/nninspect/csv.h"
#include "apps/nninspect/print/statistics.h"
#include "apps/program.h"
#include "base/half.h"
#include "inspect/report/parts_json.h"
#include "support/files.h"
#include "support/json_schema.h"
#include "support/wire.h"

namespace nn::test::nninspect_parts_test {
namespace {

// Two blocks of two operators each, in scopes.
std::string BlocksModel(const std::string& weights = "seeded(1, 0.3)") {
  return R"(graph "blocks" {
    in %x: f32[batch, 3, 8, 8]
    const %w: f32[4, 3, 3, 3] = )" +
         weights + R"(
    const %v: f32[4, 4, 1, 1] = splat(0.5)
    %a = conv(%x, %w) {pads = [1, 1, 1, 1]} "/stem/Conv"
    %b = relu(%a) "/stem/Relu"
    %c = conv(%b, %v) "/body/0/Conv"
    %y = add(%b, %c) "/body/0/Add"
    out "y" = %y
  })";
}

TEST_CASE("statistics: counts, extremes and moments of finite elements") {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInf = std::numeric_limits<float>::infinity();
  struct Row {
    const char* name;
    Tensor tensor;
    std::string text;
  };
  const auto halves = [](const std::vector<float>& values) {
    std::vector<uint16_t> bits;
    bits.reserve(values.size());
    for (const float v : values) bits.push_back(FloatToHalf(v));
    return Tensor(DType::kF16, {static_cast<int64_t>(bits.size())}, Blob::CopyOf(bits));
  };
  for (const Row& r : {
           Row{"f32", Tensor::Of<float>({4}, {1, 2, 3, 6}),
               "min 1, max 6, mean 3, deviation 1.87083, 0 zeros, values 1 2 3 6"},
           Row{"not finite", Tensor::Of<float>({6}, {0, kNan, kInf, 2, kNan, -kInf}),
               "min 0, max 2, mean 1, deviation 1, 1 zero, 2 NaN, 2 infinite, "
               "values -inf 0 2 inf nan"},
           Row{"nothing finite", Tensor::Of<float>({1}, {kNan}), "1 NaN, values nan"},
           Row{"empty", Tensor::Of<float>({0}, {}), ""},
           Row{"f16", halves({-0.5f, 0.5f}),
               "min -0.5, max 0.5, mean 0, deviation 0.5, 0 zeros, values -0.5 0.5"},
           Row{"i8", Tensor::Of<int8_t>({3}, {-128, 0, 127}),
               "min -128, max 127, mean -0.333333, deviation 104.104, 1 zero, values -128 0 127"},
           Row{"i64", Tensor::Of<int64_t>({1}, {std::numeric_limits<int64_t>::max()}),
               "min 9223372036854775807, max 9223372036854775807, mean 9.22337e+18, deviation 0, "
               "0 zeros, values 9223372036854775807"},
           Row{"u4", Tensor(DType::kU4, {3}, Blob::CopyOf(std::vector<uint8_t>{0x21, 0x0F})),
               "min 1, max 15, mean 6, deviation 6.37704, 0 zeros, values 1 2 15"},
           Row{"strings", Tensor({2}, {"b", "a\n"}), "values \"a\\n\" \"b\""},
       }) {
    CAPTURE(r.name);
    CHECK(app::StatisticsText(inspect::StatisticsOf(r.tensor)) == r.text);
  }
  const Json json =
      inspect::StatisticsJson(inspect::StatisticsOf(Tensor::Of<float>({2}, {kNan, kInf})));
  CHECK(json["min"].is_null());
  CHECK(json["distinct"] == Json::parse(R"(["Infinity", "NaN"])"));
  std::vector<float> many(9);
  for (size_t i = 0; i < many.size(); ++i) many[i] = static_cast<float>(i);
  CHECK(!inspect::StatisticsOf(Tensor::Of<float>({9}, many)).distinct.has_value());
}

TEST_CASE("statistics: histograms") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto histogram = [](const Tensor& t) {
    const auto h = inspect::StatisticsOf(t).histogram;
    REQUIRE(h.has_value());
    return *h;
  };
  const auto reals = histogram(Tensor::Of<float>({6}, {0, 0.5, 1, 31.9F, 32, nan}));
  CHECK(reals.low == 0);
  CHECK(reals.high == 32);
  REQUIRE(reals.counts.size() == inspect::Histogram::kBins);
  CHECK(reals.counts[0] == 2);
  CHECK(reals.counts[1] == 1);
  CHECK(reals.counts[31] == 2);
  // A part for each of few integers.
  const auto integers = histogram(Tensor::Of<int8_t>({5}, {-2, 0, 0, 1, -2}));
  CHECK(integers.counts == std::vector<uint64_t>{2, 0, 2, 1});
  CHECK(histogram(Tensor::Of<int8_t>({2}, {-128, 127})).counts.size() == 32);
  CHECK(histogram(Tensor::Of<float>({2}, {3, 3})).counts == std::vector<uint64_t>{2});
  // Extremes whose difference is not a number of their type.
  const double most = std::numeric_limits<double>::max();
  const auto wide = histogram(Tensor::Of<double>({3}, {-most, 0, most}));
  CHECK(wide.counts[0] == 1);
  CHECK(wide.counts[16] == 1);
  CHECK(wide.counts[31] == 1);
  CHECK(histogram(Tensor::Of<int64_t>({2}, {INT64_MIN, INT64_MAX})).counts.back() == 1);
  CHECK(!inspect::StatisticsOf(Tensor::Of<float>({1}, {nan})).histogram.has_value());
  CHECK(app::HistogramText(inspect::StatisticsOf(Tensor::Of<int8_t>({5}, {-2, 0, 0, 1, -2}))) ==
        "|█ █▅|");
}

TEST_CASE("nninspect --tensors and --node: quantization, and --histogram") {
  const TempDir dir;
  WriteText(dir / "m.txtpb", R"(ir_version: 8 opset_import { version: 13 }
graph {
  name: "g"
  node { name: "d" op_type: "DequantizeLinear" input: "w" input: "s" input: "z" output: "wd"
         attribute { name: "axis" i: 0 type: INT } }
  node { op_type: "Add" input: "x" input: "wd" output: "y" }
  initializer { name: "w" data_type: 3 dims: 2 dims: 2 int32_data: [-3, 4, 4, 0] }
  initializer { name: "s" data_type: 1 dims: 2 float_data: [0.5, 0.25] }
  initializer { name: "z" data_type: 3 dims: 2 int32_data: [0, 7] }
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } dim { dim_value: 2 } } } } }
  output { name: "y" type { tensor_type { elem_type: 1 } } }
})");
  CHECK(Contains(RunProgram("nninspect --tensors " + dir / "m.txtpb").out,
                 "  2 scales 0.25 to 0.5 along axis 0, 2 zero points 0 to 7  "));
  const std::string node = RunProgram("nninspect --node d --histogram " + dir / "m.txtpb").out;
  CHECK(
      Contains(node, "  2 scales 0.25 to 0.5 along axis 0, 2 zero points 0 to 7  min -3, max 4, "));
  CHECK(Contains(node, "  |▅  ▅   █|\n"));
  const Json json = Inspect("--tensors --histogram " + dir / "m.txtpb")["tensors"][0];
  CHECK(json["quantization"] ==
        Json::parse(R"({"scales": [0.5, 0.25], "zero_points": [0, 7], "axis": 0})"));
  CHECK(json["statistics"]["histogram"]["counts"] == Json::parse("[1, 0, 0, 1, 0, 0, 0, 2]"));

  WriteModel(dir / "q.tflite", R"(graph {
    in %x: i8[1, 4]{scale=0.5, zp=3}
    const %w: i8[3, 4]{scale=0.125, zp=0} = seeded(3)
    const %b: i32[3]{scale=0.0625, zp=0} = seeded(4)
    %y = matmul(%x, %w, %b) {transpose_b = true} : i8[1, 3]{scale=2, zp=1}
    out "y" = %y
  })");
  const ProgramResult tflite = RunProgram("nninspect --tensors " + dir / "q.tflite");
  CHECK_MESSAGE(Contains(tflite.out, "scale 0.125, zero point 0"), tflite.out);
  CHECK(Contains(RunProgram("nninspect --histogram " + dir / "q.tflite").err,
                 "--histogram needs --tensors or --node"));
}

TEST_CASE("csv: cells with commas, quotes and control characters") {
  CHECK(app::CsvLine({"a", "b,c", "d\"e", "", "f\ng"}) == "a,\"b,c\",\"d\"\"e\",,f\\ng\n");
}

TEST_CASE("nninspect --node: everything about an operator") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", BlocksModel());
  const ProgramResult r = RunProgram("nninspect --node /body/0/Conv " + dir / "m.onnx --batch 2");
  CHECK_MESSAGE(r.code == 0, r.err);
  CHECK(r.out == dir /
                     "m.onnx: ONNX, IR version 8, opset 17\n"
                     "\n"
                     "#2 Conv /body/0/Conv\n"
                     "\n"
                     "Attributes\n"
                     "  kernel_shape  [1, 1]\n"
                     "\n"
                     "Inputs\n"
                     "  0  b  f32[2, 4, 8, 8]\n"
                     "  1  v  FLOAT[4, 4, 1, 1]  constant\n"
                     "\n"
                     "Outputs\n"
                     "  0  c  f32[2, 4, 8, 8]\n"
                     "\n"
                     "Constants\n"
                     "  v  FLOAT[4, 4, 1, 1]  64 B  inline  min 0.5, max 0.5, mean 0.5, "
                     "deviation 0, 0 zeros, values 0.5\n");
  // By number, and by the name of an output.
  for (const char* name : {"'#2'", "c"})
    CHECK(RunProgram(fmt::format("nninspect --node {} {} --batch 2", name, dir / "m.onnx")).out ==
          r.out);
  const Json json = Inspect("--node /body/0/Conv " + dir / "m.onnx")["node"];
  REQUIRE(json.size() == 1);
  CHECK(json[0]["index"] == 2);
  CHECK(json[0]["inputs"][0]["type"] == "f32[batch, 4, 8, 8]");
  CHECK(json[0]["constants"][0]["statistics"]["standard_deviation"] == 0.0);
  CHECK(json[0]["constants"][0]["statistics"]["distinct"] == Json::parse("[0.5]"));
}

TEST_CASE("nninspect --op, --tensors and csv") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", BlocksModel());
  const Json json = Inspect("--op Conv " + dir / "m.onnx");
  REQUIRE(json["nodes"].size() == 2);
  CHECK(json["nodes"][1]["index"] == 2);
  CHECK(RunProgram("nninspect --format csv --op Relu " + dir / "m.onnx").out ==
        "index,operator,name,scope,inputs,outputs,attributes\n1,Relu,/stem/Relu,,a,b,\n");

  const ProgramResult tensors = RunProgram("nninspect --tensors " + dir / "m.onnx");
  CHECK(Contains(tensors.out,
                 "Constant tensors: 2 (496 B)\n"
                 "  name  type   shape         bytes  stored  used by\n"
                 "  w     FLOAT  [4, 3, 3, 3]    432  inline  #0 Conv\n"
                 "  v     FLOAT  [4, 4, 1, 1]     64  inline  #2 Conv\n"));
  CHECK(RunProgram("nninspect --format csv --tensors --stats " + dir / "m.onnx")
            .out.ends_with("v,,FLOAT,4x4x1x1,64,inline,,#2 Conv,16,0.5,0.5,0.5,0,0,0,0,0.5,,\n"));
  const Json rows = Inspect("--tensors " + dir / "m.onnx")["tensors"];
  CHECK(rows[0]["used_by"] == Json::parse("[0]"));
  CHECK(!rows[0].contains("statistics"));
  CHECK(Inspect("--tensors --stats " + dir / "m.onnx")["tensors"][1]["statistics"]["max"] == 0.5);
}

TEST_CASE("nninspect --tree: scopes and their contents") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", BlocksModel());
  CHECK(Contains(RunProgram("nninspect --tree " + dir / "m.onnx").out,
                 "Tree\n"
                 "  scope     operators  parameters  bytes\n"
                 "  (model)           4         124  496 B\n"
                 "    stem            2         108  432 B\n"
                 "    body/0          2          16   64 B\n"));
  const Json tree = Inspect("--tree " + dir / "m.onnx")["tree"];
  CHECK(tree["branches"][1]["branches"][0]["name"] == "0");
  CHECK(tree["branches"][1]["branches"][0]["parameters"] == 16);
}

TEST_CASE("nninspect --cost: work, bytes and the peak of activations") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", BlocksModel());
  const Json cost = Inspect("--cost --batch 2 " + dir / "m.onnx")["cost"];
  const uint64_t image = 2 * 3 * 64 * 4, wide = 2 * 4 * 64 * 4;
  CHECK(cost["multiply_adds"] == 2 * 64 * 4 * (27 + 4));
  CHECK(cost["unknown_operators"] == 0);
  CHECK(cost["parameters"] == 124);
  CHECK(cost["bytes_read"] == (image + 432) + wide + (wide + 64) + 2 * wide);
  CHECK(cost["bytes_written"] == 4 * wide);
  // %b and %c are alive while %y is computed.
  CHECK(cost["peak_activation_bytes"] == 3 * wide);
  CHECK(cost["peak_operator"] == 3);
  CHECK(cost["operators"][0]["output"] == "f32[2, 4, 8, 8]");
  CHECK(cost["operators"][0]["multiply_adds"] == 2 * 64 * 4 * 27);
  CHECK(cost["operators"][1]["multiply_adds"] == 0);

  const Json open = Inspect("--cost " + dir / "m.onnx")["cost"];
  CHECK(open["unknown_operators"] == 2);
  CHECK(open["peak_activation_bytes"].is_null());
  CHECK(open["operators"][0]["unknown"] == "its shapes are unknown");
  CHECK(open["operators"][0]["multiply_adds"].is_null());
  const std::string csv =
      RunProgram("nninspect --format csv --cost --batch 2 " + dir / "m.onnx").out;
  CHECK(Contains(csv, "2,Conv,/body/0/Conv,\"f32[2, 4, 8, 8]\",2048,16,2112,2048,\n"));
}

TEST_CASE("nninspect --cost: unsupported operators are named, not counted as zero") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", ConvModel());
  Patch(dir / "m.onnx", "Relu", "Rulu");
  const Json cost = Inspect("--cost " + dir / "m.onnx")["cost"];
  CHECK(cost["multiply_adds"] == 6912);
  CHECK(cost["unknown_operators"] == 1);
  CHECK(cost["operators"][1]["unknown"] == "not supported");
  const ProgramResult text = RunProgram("nninspect --cost " + dir / "m.onnx");
  CHECK(Contains(text.out, "Not counted\n  Rulu  1  not supported\n"));
  CHECK(Contains(text.out, "6,912 (not counted: 1 operator, whose multiply-adds are unknown)"));
}

TEST_CASE("nninspect --cost: operators that a format fuses are one operator") {
  const TempDir dir;
  WriteModel(dir / "m.tflite", R"(graph "small" {
    in %x: f32[1, 8, 8, 3]
    const %w: f32[4, 3, 3, 3] = seeded(1, 0.3)
    %h = conv(%x, %w) {pads = [1, 1, 1, 1], layout = nxc, filter_layout = oxi}
    %y = relu(%h)
    out "y" = %y
  })");
  const Json cost = Inspect("--cost " + dir / "m.tflite")["cost"];
  REQUIRE(cost["operators"].size() == 1);
  CHECK(cost["operators"][0]["operator"] == "CONV_2D");
  CHECK(cost["peak_activation_bytes"] == (3 + 4) * 64 * 4);
}

TEST_CASE("nninspect --hash: the same for a copy under other names, external data or not") {
  const TempDir dir;
  WriteModel(dir / "a.onnx", BlocksModel());
  WriteModel(dir / "b.onnx", R"(graph "other" {
    in %in: f32[n, 3, 8, 8]
    const %k1: f32[4, 4, 1, 1] = splat(0.5)
    const %k0: f32[4, 3, 3, 3] = seeded(1, 0.3)
    %p = conv(%in, %k0) {pads = [1, 1, 1, 1]} "one"
    %q = relu(%p)
    %r = conv(%q, %k1)
    %s = add(%q, %r)
    out "result" = %s
  })");
  WriteModel(dir / "c.onnx", BlocksModel("seeded(2, 0.3)"));
  const Json a = Inspect("--hash " + dir / "a.onnx")["hash"];
  CHECK(Inspect("--hash " + dir / "b.onnx")["hash"] == a);
  const Json c = Inspect("--hash " + dir / "c.onnx")["hash"];
  CHECK(c["structure"] == a["structure"]);
  CHECK(c["weights"] != a["weights"]);
  CHECK(Contains(RunProgram("nninspect --hash " + dir / "a.onnx").out,
                 "Hash\n  structure  " + a["structure"].get<std::string>()));
}

// x -> relu -> add(relu, w) and x -> tanh; fields as in onnx.proto.
std::string WireModel(const std::string& weight, const std::string& prefix, bool swapped) {
  const auto node = [&](const std::string& op, const std::vector<std::string>& in,
                        const std::string& out) {
    std::string text;
    for (const std::string& name : in) text += Bytes(1, prefix + name);
    return Bytes(1, text + Bytes(2, prefix + out) + Bytes(4, op));
  };
  const auto value = [&](int field, const std::string& name) {
    const std::string shape = Bytes(2, Bytes(1, Int(1, 2)));
    return Bytes(field, Bytes(1, prefix + name) + Bytes(2, Bytes(1, Int(1, 1) + shape)));
  };
  const std::string first = node("Relu", {"x"}, "r"), second = node("Tanh", {"x"}, "t");
  const std::string graph = (swapped ? second + first : first + second) +
                            node("Add", {"r", "w"}, "a") + node("Mul", {"a", "t"}, "y") +
                            Bytes(5, Int(1, 2) + Int(2, 1) + Bytes(8, prefix + "w") + weight) +
                            value(11, "x") + value(12, "y");
  return Int(1, 8) + Bytes(7, graph) + Bytes(8, Bytes(1, "") + Int(2, 17));
}

TEST_CASE("nninspect --hash: the order of operators and the location of data are ignored") {
  const TempDir dir;
  const float values[] = {1.5f, -2.0f, 7.0f};
  const std::string bytes(reinterpret_cast<const char*>(values), 12);
  const auto entry = [](const std::string& key, const std::string& value) {
    return Bytes(13, Bytes(1, key) + Bytes(2, value));
  };
  const std::string external =
      entry("location", "w.bin") + entry("offset", "0") + entry("length", "8") + Int(14, 1);
  WriteText(dir / "w.bin", bytes);
  WriteText(dir / "a.onnx", WireModel(Bytes(9, bytes.substr(0, 8)), "", false));
  WriteText(dir / "b.onnx", WireModel(external, "other.", true));
  WriteText(dir / "c.onnx", WireModel(Bytes(9, bytes.substr(4)), "", false));
  const Json a = Inspect("--hash " + dir / "a.onnx")["hash"];
  CHECK(Inspect("--hash " + dir / "b.onnx")["hash"] == a);
  CHECK(Inspect("--hash " + dir / "c.onnx")["hash"]["weights"] != a["weights"]);
  WriteText(dir / "w.bin", bytes.substr(4));
  CHECK(Inspect("--hash " + dir / "b.onnx")["hash"]["weights"] != a["weights"]);
  CHECK(Contains(RunProgram("nninspect --tensors " + dir / "b.onnx").out, "w.bin at 0"));
}

TEST_CASE("nninspect: incompatible parts, and missing names") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", ConvModel());
  struct Row {
    std::string arguments;
    std::string message;
  };
  for (const Row& r : {
           Row{"--node nosuch", "no operator or operator output has this name"},
           Row{"--node '#2'", "the model has 2 operators, #0 to #1"},
           Row{"--node '#x'", "no operator"},
           Row{"--op Gemm", "no operator of this type"},
           Row{"--stats", "--tensors"},
           Row{"--format csv", "one of --nodes, --op, --tensors, --values and --cost"},
           Row{"--format csv --tensors --cost", "one of --nodes"},
           Row{"--format csv --cost --tree", "one of --nodes"},
           Row{"--format svg --cost", "cannot be combined with other parts"},
           Row{"--expand", "--format svg or dot"},
           Row{"--hash --input-shape x:1,3,8,8", "cannot be combined with shapes"},
           Row{"--dump --tree",
               "cannot be combined with options other than --weights and --output"},
           Row{"--diff", "OTHER"},
           Row{"--diff --cost other.onnx", "cannot be combined with other parts"},
       }) {
    CAPTURE(r.arguments);
    const ProgramResult result = RunProgram("nninspect " + dir / "m.onnx " + r.arguments);
    CHECK(result.code == 2);
    CHECK(result.out.empty());
    CHECK_MESSAGE(Contains(result.err, r.message), result.err);
  }
}

}  // namespace
}  // namespace nn::test::nninspect_parts_test
