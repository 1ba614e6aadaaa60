// What is written in operator sets that have other forms of an operator.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <limits>
#include <string>
#include <vector>

#include "formats/format.h"
#include "formats/onnx/file/native.h"
#include "formats/onnx/text.h"
#include "ops/control/region.h"
#include "rewrite/legalize.h"
#include "support/run_graph.h"

namespace nn::test::onnx_versions_test {
namespace {

using namespace onnx_text;

Result<ReadModel> Written(const Graph& graph, int64_t opset) {
  const Format& format = *FindFormat("onnx");
  const ExportOptions options{.path = "m.onnx", .opset = opset};
  Graph fitted = graph.Clone();
  NN_RETURN_IF_ERROR(format.writer.Lower(fitted, options, nullptr));
  NN_ASSIGN(const auto unsupported, Legalize(fitted, *format.target));
  if (!unsupported.empty()) return tl::unexpected(UnsupportedNodesError("ONNX", unsupported));
  NN_ASSIGN(const FileImage image, format.writer.Write(fitted, options));
  std::string bytes;
  for (const Blob& b : image.parts) bytes.append(reinterpret_cast<const char*>(b.data()), b.size());
  return ReadModelBytes(Blob::Copy(std::as_bytes(std::span(bytes))), "m.onnx");
}

// The operator set and the operators: "10: Resize".
std::string Summary(const Result<ReadModel>& written) {
  if (!written) return written.error().message();
  const auto& proto = static_cast<const onnx::Model&>(*written->model).proto;
  std::string text = fmt::format("{}:", proto.opset_import(0).version());
  for (const auto& node : proto.graph().node()) text += " " + node.op_type();
  return text;
}

Graph Imported(const ReadModel& read) {
  auto imported = read.format->importer.Import(*read.model);
  REQUIRE_MESSAGE(imported.has_value(), imported.error().message());
  CHECK(imported->unsupported.empty());
  return std::move(imported->graph);
}

std::string Scaled(std::string_view op) {
  return Node(op, {"x", "s"}, {"y"}) + Input("x", TypeOf(kF32, {"1", "2", "3", "4"})) +
         Input("s", TypeOf(kF32, {"4"})) + Outputs({"y"});
}

TEST_CASE("onnx versions: sizes that a run computes, with the rounding of their set") {
  const Graph resize = Import(Scaled("Resize"), 10).graph;
  // Of four axes, as it is in the file.
  constexpr const char* kAs10 = "10: Resize";
  CHECK(Summary(Written(resize, 10)) == kAs10);
  CHECK(Summary(Written(resize, 0)) == kAs10);
  for (const int64_t opset : {9, 11, 13, 18}) {
    CAPTURE(opset);
    const auto refused = Written(resize, opset);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().code() == ErrorCode::kUnsupported);
    if (opset > 10) CHECK(Contains(refused.error().message(), "the rounding depends on the scale"));
  }
  const Graph upsample = Import(Scaled("Upsample"), 9).graph;
  CHECK(Summary(Written(upsample, 9)) == "9: Upsample");
  CHECK(Summary(Written(upsample, 11)) == "11: Resize");
  CHECK(Contains(Summary(Written(upsample, 10)), "needs 11"));
  // Its scales do not make a tensor smaller.
  const std::string small =
      Node("Upsample", {"x"}, {"y"},
           "attribute { name: \"scales\" type: FLOATS floats: [1, 1, 0.5, 2] }") +
      Input("x", TypeOf(kF32, {"1", "2", "4", "4"})) + Outputs({"y"});
  const ReadModel read = Read(small, 7);
  const auto error = read.format->importer.Import(*read.model);
  REQUIRE_FALSE(error.has_value());
  CHECK(Contains(error.error().message(), "a scale of 0.5"));
}

TEST_CASE("onnx versions: the largest and the smallest of bools") {
  for (const char* const op : {"ReduceMax", "ReduceMin"}) {
    CAPTURE(op);
    const std::string text = Node(op, {"x"}, {"y"}, Int("keepdims", 0)) +
                             Input("x", TypeOf(kBool, {"2", "2"})) + Outputs({"y"});
    const Graph graph = Import(text, 20).graph;
    CHECK(Summary(Written(graph, 20)) == std::string("20: ") + op);
    CHECK(Summary(Written(graph, 0)) == std::string("20: ") + op);
    const auto old = Written(graph, 13);
    REQUIRE_MESSAGE(old.has_value(), Summary(old));
    for (const std::vector<double>& x : {std::vector<double>{0, 1, 0, 0}, {1, 1, 1, 1}}) {
      const auto inputs = InputsOf(graph, {x});
      CHECK(RunEverywhere(graph, inputs)[0].ToInts() ==
            RunEverywhere(Imported(*old), inputs)[0].ToInts());
    }
  }
}

TEST_CASE("onnx versions: functions of infinities as products") {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::vector<double> x = {-kInfinity, kInfinity, -1e30, 1};
  for (const char* const op : {"gelu(%x)", "gelu(%x) {approximate = tanh}",
                               "gelu(%x) {approximate = sigmoid}", "mish(%x)"})
    for (const int64_t opset : {7, 9, 13, 17}) {
      if (opset < 9 && op == std::string("gelu(%x)")) continue;
      CAPTURE(op);
      CAPTURE(opset);
      const Graph graph =
          Parse(fmt::format("graph {{ in %x: f32[4]  %y = {}  out \"y\" = %y }}", op));
      const auto written = Written(graph, opset);
      REQUIRE_MESSAGE(written.has_value(), Summary(written));
      const std::vector<double> y =
          RunEverywhere(Imported(*written), InputsOf(graph, {x}))[0].ToDoubles();
      CHECK(y[0] == 0);
      CHECK(y[1] == kInfinity);
      CHECK(y[2] == 0);
      CHECK(y[3] > 0.8);
    }
}

TEST_CASE("onnx versions: an output may be an input") {
  const std::string text = Node("Relu", {"x"}, {"y"}) + Input("x", TypeOf(kF32, {"2"})) +
                           Outputs({"x", "y"}) + Float("c", 2);
  const Graph graph = Import(text).graph;
  for (const int64_t opset : {0, 9, 21}) {
    const auto written = Written(graph, opset);
    REQUIRE_MESSAGE(written.has_value(), Summary(written));
    CHECK(Contains(Summary(written), ": Relu"));
    const Graph again = Imported(*written);
    REQUIRE(again.outputs().size() == 2);
    CHECK(again.outputs()[0].name == "x");
    CHECK(again.outputs()[0].value == again.inputs()[0].value);
  }
  // Two values need two names.
  const Graph other = Parse(R"(graph { in %x "x": f32[2]  %y = relu(%x)  out "x" = %y })");
  CHECK(Contains(Summary(Written(other, 0)), "output \"x\": an input has the same name"));
  // A constant.
  const Graph constant = Import(Node("Relu", {"x"}, {"y"}) + Input("x", TypeOf(kF32, {"2"})) +
                                Outputs({"c", "y"}) + Float("c", 2))
                             .graph;
  const auto written = Written(constant, 0);
  REQUIRE_MESSAGE(written.has_value(), Summary(written));
  CHECK(Imported(*written).outputs()[0].name == "c");
}

TEST_CASE("onnx versions: a cast to the same type is none") {
  for (const int64_t type : {1, 6, 7, 9, 10, 16}) {
    const std::string text = Node("Cast", {"x"}, {"c"}, Int("to", type)) +
                             Node("Identity", {"c"}, {"y"}) +
                             Input("x", TypeOf(static_cast<int>(type), {"2"})) + Outputs({"y"});
    const Graph graph = Import(text).graph;
    CHECK(CountNodes(graph, [](const nn::Node& n) { return n.Is("cast"); }) == 0);
  }
  const std::string like = Node("CastLike", {"x", "z"}, {"y"}) + Input("x", TypeOf(kF32, {"2"})) +
                           Input("z", TypeOf(kF32, {"3"})) + Outputs({"y"});
  CHECK(CountNodes(Import(like).graph, [](const nn::Node&) { return true; }) == 0);
}

TEST_CASE("onnx versions: normalization of groups in formats with the channels last") {
  for (const char* const dims : {"1, 4, 2", "2, 4, 3, 5", "1, 4, 2, 3, 2"})
    for (const int scales : {2, 4}) {
      const Graph graph = Parse(fmt::format(
          "graph {{ in %x: f32[{}]  const %s: f32[{}] = seeded(1)  const %b: f32[{}] = seeded(2)  "
          "%y = group_norm(%x, %s, %b) {{groups = 2}}  out \"y\" = %y }}",
          dims, scales, scales));
      for (const char* const name : {"tflite", "nnapi", "coreml"}) {
        CAPTURE(dims);
        CAPTURE(name);
        // NNAPI has four axes.
        if (name == std::string_view("nnapi") && std::string_view(dims) == "1, 4, 2, 3, 2")
          continue;
        Graph fitted = graph.Clone();
        InterfaceAxes axes;
        const auto unsupported = Legalize(fitted, *FindFormat(name)->target, &axes);
        REQUIRE_MESSAGE(unsupported.has_value(), unsupported.error().message());
        for (const UnsupportedNode& o : *unsupported) FAIL_CHECK(o.node << ": " << o.reason);
        if (axes.unchanged()) CHECK(LargestDifference(graph, fitted) < 1e-5);
      }
    }
}

TEST_CASE("onnx versions: shifts, remainders and blocks of version 28") {
  const auto shift = [](const std::string& direction, int type) {
    return Node("BitShift", {"x", "n"}, {"y"},
                "attribute { name: \"direction\" type: STRING s: \"" + direction + "\" }") +
           Input("x", TypeOf(type, {"4"})) + Input("n", TypeOf(type, {"4"})) + Outputs({"y"});
  };
  constexpr int kU8 = 2, kI8 = 3, kI32 = 6;
  Check(shift("RIGHT", kI8), {{-8, 4, -1, -8}, {-1, -8, 100, 1}}, {{-1, 0, -1, -4}}, 28);
  Check(shift("RIGHT", kI32), {{-8, 4, -1, 64}, {32, 33, -64, 5}}, {{-1, 0, -1, 2}}, 28);
  Check(shift("RIGHT", kU8), {{255, 255, 255, 255}, {0, 7, 8, 255}}, {{255, 1, 0, 0}}, 28);
  Check(shift("LEFT", kI8), {{-8, 4, -1, 64}, {-1, 8, 7, 1}}, {{0, 0, -128, -128}}, 28);
  // Known amounts within the width need no other operators.
  const std::string known = Node("BitShift", {"x", "n"}, {"y"},
                                 "attribute { name: \"direction\" type: STRING s: \"RIGHT\" }") +
                            Input("x", TypeOf(kI64, {"2"})) + Integer("n", 3) + Outputs({"y"});
  CHECK(Check(known, {{-8, 64}}, {{-1, 8}}, 28) == 1);

  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::string mod = Node("Mod", {"a", "b"}, {"y"}) + Input("a", TypeOf(kF32, {"6"})) +
                          Input("b", TypeOf(kF32, {"6"})) + Outputs({"y"});
  Check(mod, {{-4.5, 7.5, 5, -3, 3, -1}, {2, -3.5, 8, kInfinity, kInfinity, -kInfinity}},
        {{1.5, -3, 5, kInfinity, 3, -1}}, 28);
  const ReadModel older = Read(mod, 13);
  CHECK_FALSE(older.format->importer.Import(*older.model).has_value());

  const auto blocks = [](std::string_view mode) {
    return Node("SpaceToDepth", {"x"}, {"y"},
                Int("blocksize", 2) +
                    fmt::format("attribute {{ name: \"mode\" type: STRING s: \"{}\" }}", mode)) +
           Input("x", TypeOf(kF32, {"1", "2", "2", "2"})) + Outputs({"y"});
  };
  const Values x = {{0, 1, 2, 3, 4, 5, 6, 7}};
  Check(blocks("DCR"), x, {{0, 4, 1, 5, 2, 6, 3, 7}}, 28);
  Check(blocks("CRD"), x, {{0, 1, 2, 3, 4, 5, 6, 7}}, 28);
}

TEST_CASE("onnx versions: indices of one_hot that 32 bits do not have") {
  const Graph graph = Parse(R"(graph {
    in %i: i64[6]
    const %d: i64[] = [4]
    const %v: f32[2] = [0, 1]
    %y = one_hot(%i, %d, %v) {wrap = true}
    out "y" = %y
  })");
  Graph fitted = graph.Clone();
  const auto unsupported = Legalize(fitted, *FindFormat("tflite")->target);
  REQUIRE_MESSAGE(unsupported.has_value(), unsupported.error().message());
  CHECK(unsupported->empty());
  const auto inputs = InputsOf(graph, {{4294967296, 1, -1, -4294967295, -5, 4}});
  const std::vector<double> y = RunEverywhere(fitted, inputs)[0].ToDoubles();
  CHECK(y == RunEverywhere(graph, inputs)[0].ToDoubles());
  CHECK(std::vector<double>(y.begin(), y.begin() + 4) == std::vector<double>{0, 0, 0, 0});
}

// TensorFlow Lite has bounds, counts and indices of 32 bits.
TEST_CASE("onnx versions: bounds that 32 bits do not have stay beyond the end") {
  const Graph graph = Parse(R"(graph {
    in %x: f32[5]
    in %e: i64[1]
    const %s: i64[1] = [1]
    const %a: i64[1] = [0]
    %y = slice(%x, %s, %e, %a)
    out "y" = %y
  })");
  const Format& format = *FindFormat("tflite");
  Graph fitted = graph.Clone();
  const auto unsupported = Legalize(fitted, *format.target);
  REQUIRE_MESSAGE(unsupported.has_value(), unsupported.error().message());
  REQUIRE(unsupported->empty());
  const auto image = format.writer.Write(fitted, ExportOptions{"m.tflite"});
  REQUIRE_MESSAGE(image.has_value(), image.error().message());
  std::string bytes;
  for (const Blob& b : image->parts)
    bytes.append(reinterpret_cast<const char*>(b.data()), b.size());
  const auto read = ReadModelBytes(Blob::Copy(std::as_bytes(std::span(bytes))), "m.tflite");
  REQUIRE_MESSAGE(read.has_value(), read.error().message());
  const Graph written = Imported(*read);
  for (const double end : {4294967297.0, 3.0, -1.0, -4294967297.0}) {
    CAPTURE(end);
    const auto inputs = InputsOf(graph, {{1, 2, 3, 4, 5}, {end}});
    CHECK(RunEverywhere(written, inputs)[0].ToDoubles() ==
          RunEverywhere(graph, inputs)[0].ToDoubles());
  }
}

TEST_CASE("onnx versions: recurrent layers with the batch first, of any number of steps") {
  for (const char* const op : {"RNN", "GRU", "LSTM"}) {
    CAPTURE(op);
    const int gates = op == std::string("RNN") ? 1 : op == std::string("GRU") ? 3 : 4;
    const auto weights = [&](const char* name, int columns) {
      std::string data;
      for (int i = 0; i < gates * 3 * columns; ++i) data += fmt::format(" float_data: 0.{}", i % 9);
      return fmt::format("initializer {{ name: \"{}\" data_type: 1 dims: [1, {}, {}] {} }}\n", name,
                         gates * 3, columns, data);
    };
    const std::string text =
        Node(op, {"x", "w", "r"}, {"y", "h"}, Int("hidden_size", 3) + Int("layout", 1)) +
        Input("x", TypeOf(kF32, {"1", "S", "2"})) + weights("w", 2) + weights("r", 3) +
        Outputs({"y", "h"});
    Graph graph = Import(text, 14).graph;
    InterfaceAxes axes;
    const auto unsupported = Legalize(graph, *FindFormat("coreml")->target, &axes);
    REQUIRE_MESSAGE(unsupported.has_value(), unsupported.error().message());
    for (const UnsupportedNode& o : *unsupported) FAIL_CHECK(o.node << ": " << o.reason);
  }
}

}  // namespace
}  // namespace nn::test::onnx_versions_test
