#include "passes/qdq/qdq.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "formats/format.h"
#include "ir/text/text.h"
#include "passes/core/passes.h"
#include "support/run_graph.h"

namespace nn::test::qdq_test {
namespace {

size_t Count(const Graph& g, std::string_view op) {
  return static_cast<size_t>(
      std::count_if(g.nodes().begin(), g.nodes().end(), [&](const Node& n) { return n.Is(op); }));
}

const Node* Find(const Graph& g, std::string_view op) {
  for (const Node& n : g.nodes())
    if (n.Is(op)) return &n;
  return nullptr;
}

// Per-channel filters, a bias without a scale of its own, a fused bound, an addition of two scales.
constexpr std::string_view kModel = R"(graph {
  in %x: i8[1, 4, 6, 6]{scale=0.05, zp=7}
  const %w: i8[4, 4, 3, 3]{axis=0, scale=[0.01, 0.02, 0.03, 0.04]} = seeded(3)
  const %b: i32[4] = seeded(9)
  %c = conv(%x, %w, %b) {padding = same_upper} @tflite : i8[1, 4, 6, 6]{scale=0.9, zp=11}
  %r = clip(%c) {min = 0.0, max = 6.0} @tflite : i8[1, 4, 6, 6]{scale=0.9, zp=11}
  %s = add(%r, %x) @tflite : i8[1, 4, 6, 6]{scale=1.1, zp=-3}
  %t = transpose(%s) {perm = [0, 2, 3, 1]}
  out "y" = %t
})";

TEST_CASE("qdq: quantized operators and back lose no parameter and no bit") {
  const Graph original = Parse(kModel);
  Graph g = original.Clone();
  REQUIRE(UnfuseQdq(g).has_value());
  for (const Node& n : g.nodes()) CHECK_FALSE(OnQuantizedTypes(n));
  CHECK(Find(g, "conv")->output()->dtype() == DType::kF32);
  CHECK(g.outputs()[0].value->type().ToString() == original.outputs()[0].value->type().ToString());

  REQUIRE(FuseQdq(g).has_value());
  CHECK(Count(g, "dequantize") == 0);
  CHECK(Count(g, "quantize") == 0);
  for (const std::string_view op : {"conv", "clip", "add", "transpose"}) {
    CAPTURE(op);
    const Node* a = Find(original, op);
    const Node* b = Find(g, op);
    REQUIRE(b != nullptr);
    CHECK(a->output()->type().ToString() == b->output()->type().ToString());
    for (size_t i = 0; i < 2 && i < a->inputs().size(); ++i)
      CHECK(a->input(i)->type().ToString() == b->input(i)->type().ToString());
  }
  CHECK(Find(g, "conv")->arithmetic() == Arithmetic::kTflite);
  const Quant& bias = *Find(g, "conv")->input(2)->type().quant;
  CHECK(bias.axis == 0);
  CHECK(bias.scales ==
        std::vector<float>{0.05f * 0.01f, 0.05f * 0.02f, 0.05f * 0.03f, 0.05f * 0.04f});
  const auto inputs = InputsOf(original, {});
  CHECK(RunEverywhere(original, inputs)[0].Identical(RunEverywhere(g, inputs)[0]));
}

// Products of the scales: 0.125, 0.25, 0.5 and 1.
Graph ConvWithBias(const std::string& bias) {
  return Parse("graph {" + bias + R"(
    in %x: i8[1, 4, 6, 6]{scale=0.5, zp=7}
    const %w: i8[4, 4, 3, 3]{axis=0, scale=[0.25, 0.5, 1.0, 2.0]} = seeded(3)
    %a = dequantize(%x)
    %r = dequantize(%w)
    %c = conv(%a, %r, %b)
    %y = quantize(%c) : i8[1, 4, 4, 4]{scale=99.0, zp=11}
    out "y" = %y
  })");
}

TEST_CASE("qdq: a float bias of multiples of the scales' products is one of integers") {
  struct Case {
    std::string bias;
    bool is_fused;
  };
  const Case cases[] = {
      {"const %b: f32[4] = [0.375, -0.5, 1000000.5, -0.0]", true},
      {"const %b: f32[4] = [0.375, -0.5, 0.5, -2147483520.0]", true},
      // Not a multiple, more than i32 holds, not a number.
      {"const %b: f32[4] = [0.375, -0.5, 0.25, -3.0]", false},
      {"const %b: f32[4] = [0.375, -0.5, 0.5, 2147483648.0]", false},
      {"const %b: f32[4] = [0.375, -0.5, 0.5, nan]", false},
      {"in %b: f32[4]", false},
  };
  for (const Case& c : cases) {
    CAPTURE(c.bias);
    Graph g = ConvWithBias(c.bias);
    const Graph original = g.Clone();
    REQUIRE(FuseQdq(g).has_value());
    REQUIRE(OnQuantizedTypes(*Find(g, "conv")) == c.is_fused);
    if (!c.is_fused) continue;
    const Value& bias = *Find(g, "conv")->input(2);
    CHECK(bias.type().ToString() == "i32[4]{axis=0, scale=[0.125, 0.25, 0.5, 1.0]}");
    REQUIRE(UnfuseQdq(g).has_value());
    REQUIRE(DequantizeConstants(g).has_value());
    CHECK(Find(g, "conv")->input(2)->constant().ToDoubles() ==
          Find(original, "conv")->input(2)->constant().ToDoubles());
  }
}

TEST_CASE(
    "qdq: biases survive as floats, per tensor and with scales that are rounded differently") {
  Graph g = Parse(R"(graph {
    in %x: u8[2, 8]{scale=0.0235, zp=7}
    const %w: u8[8, 3]{scale=0.0171, zp=128} = seeded(3)
    const %b: i32[3]{scale=0.0004018502} = [400001, -70001, 3]
    %y = matmul(%x, %w, %b) @tflite : u8[2, 3]{scale=27.0, zp=11}
    out "y" = %y
  })");
  const auto inputs = InputsOf(g, {});
  const auto want = RunEverywhere(g, inputs);
  REQUIRE(UnfuseQdq(g).has_value());
  Node* const bias = Find(g, "matmul")->input(2)->def();
  REQUIRE(DequantizeConstant(g, *bias).has_value());
  REQUIRE(Find(g, "matmul")->input(2)->dtype() == DType::kF32);
  REQUIRE(FuseQdq(g).has_value());
  REQUIRE(g.nodes().size() == 1);
  CHECK(g.nodes().front().input(2)->constant().ToInts() == std::vector<int64_t>{400001, -70001, 3});
  CHECK(RunEverywhere(g, inputs)[0].Identical(want[0]));
}

TEST_CASE("qdq: a bound between operator and quantize is taken along") {
  Graph g = Parse(R"(graph {
    in %x: u8[1, 8]{scale=0.1, zp=10}
    in %z: u8[1, 8]{scale=0.2, zp=0}
    %a = dequantize(%x)
    %b = dequantize(%z)
    %s = add(%a, %b)
    %r = relu(%s)
    %y = quantize(%r) : u8[1, 8]{scale=0.3, zp=5}
    out "y" = %y
  })");
  REQUIRE(FuseQdq(g).has_value());
  CHECK(g.nodes().size() == 2);
  CHECK(Find(g, "relu")->output()->type().ToString() == "u8[1, 8]{scale=0.3, zp=5}");
}

TEST_CASE("qdq: operators without a quantized kernel remain real") {
  for (
      const std::string_view text : {
          // A real operand.
          R"(graph { in %x: u8[4]{scale=0.1, zp=10}  in %z: f32[4]  %a = dequantize(%x)
                      %s = add(%a, %z)  %y = quantize(%s) : u8[4]{scale=0.3, zp=5}
                      out "y" = %y })",
          // A result that is also used as a real number.
          R"(graph { in %x: u8[4]{scale=0.1, zp=10}  %a = dequantize(%x)  %s = relu(%a)
                      %y = quantize(%s) : u8[4]{scale=0.3, zp=5}  out "y" = %y  out "s" = %s })",
          // The output's scale of a sigmoid must be 1/256.
          R"(graph { in %x: u8[4]{scale=0.1, zp=10}  %a = dequantize(%x)  %s = sigmoid(%a)
                      %y = quantize(%s) : u8[4]{scale=0.3, zp=5}  out "y" = %y })",
          // So must that of a softmax of u8.
          R"(graph { in %x: u8[4]{scale=0.1, zp=10}  %a = dequantize(%x)  %s = softmax(%a) {axis=0}
                      %y = quantize(%s) : u8[4]{scale=0.005, zp=20}  out "y" = %y })",
          R"(graph { in %x: u8[4]{scale=0.1, zp=10}  %a = dequantize(%x)  %s = softmax(%a) {axis=0}
                      %y = quantize(%s) : i16[4]{scale=0.000030517578125}  out "y" = %y })",
          // The kernels of i16 have no zero points.
          R"(graph { in %x: i16[4]{scale=0.001, zp=10}  %a = dequantize(%x)
                      %s = softmax(%a) {axis=0}
                      %y = quantize(%s) : i16[4]{scale=0.000030517578125}  out "y" = %y })",
          // A transposed convolution with groups.
          R"(graph { in %x: i8[1, 4, 3, 3]{scale=0.1}  const %w: i8[4, 2, 2, 2]{scale=0.1} = seeded(1)
                      %a = dequantize(%x)  %b = dequantize(%w)
                      %s = conv_transpose(%a, %b) {groups = 2}
                      %y = quantize(%s) : i8[1, 4, 4, 4]{scale=0.5}  out "y" = %y })",
          // The specification fixes tanh of i8, and the zero point of sigmoid.
          R"(graph { in %x: i8[4]{scale=0.1, zp=10}  %a = dequantize(%x)  %s = tanh(%a)
                      %y = quantize(%s) : i8[4]{scale=0.01, zp=5}  out "y" = %y })",
          R"(graph { in %x: i8[4]{scale=0.1, zp=10}  %a = dequantize(%x)  %s = sigmoid(%a)
                      %y = quantize(%s) : i8[4]{scale=0.00390625}  out "y" = %y })",
          // An LSTM without the states that give its types.
          R"(graph { in %x: i8[3, 1, 4]{scale=0.02, zp=3}  in %w: i8[1, 8, 4]{scale=0.01}
                      in %r: i8[1, 8, 2]{scale=0.01}  %a = dequantize(%x)  %b = dequantize(%w)
                      %c = dequantize(%r)  %s = lstm(%a, %b, %c)
                      %y = quantize(%s) : i8[3, 1, 1, 2]{scale=0.0078125, zp=-1}  out "y" = %y })",
          // No kernel at all.
          R"(graph { in %x: u8[4]{scale=0.1, zp=10}  %a = dequantize(%x)  %s = sin(%a)
                      %y = quantize(%s) : u8[4]{scale=0.3, zp=5}  out "y" = %y })",
      }) {
    Graph g = Parse(text);
    const size_t before = g.nodes().size();
    REQUIRE(FuseQdq(g).has_value());
    CHECK(g.nodes().size() == before);
    CHECK(Count(g, "quantize") == 1);
  }
}

TEST_CASE("qdq: a division stays real unless its divisor is never 0") {
  struct Case {
    std::string_view divisor;
    bool is_fused;
  };
  const Case cases[] = {
      {"in %z: i8[4]{scale=0.5, zp=2}", false},
      {"const %z: i8[4]{scale=0.5, zp=2} = [1, 2, 3, 4]", false},
      {"const %z: i8[4]{scale=0.5, zp=2} = [1, -2, 3, 4]", true},
      {"const %z: i8[4]{scale=0.5, zp=5} = [1, 2, 3, 4]", true},
  };
  for (const Case& c : cases) {
    CAPTURE(c.divisor);
    Graph g = Parse("graph { in %x: i8[4]{scale=0.5, zp=1} " + std::string(c.divisor) + R"(
      %a = dequantize(%x)
      %b = dequantize(%z)
      %q = div(%a, %b)
      %y = quantize(%q) : i8[4]{scale=0.5, zp=-1}
      out "y" = %y
    })");
    REQUIRE(FuseQdq(g).has_value());
    CHECK(OnQuantizedTypes(*Find(g, "div")) == c.is_fused);
  }
}

TEST_CASE("qdq: results with fixed scales") {
  for (const std::string_view text : {
           R"(graph { in %x: u8[4]{scale=0.1, zp=10}  %a = dequantize(%x)  %s = softmax(%a) {axis=0}
                      %y = quantize(%s) : u8[4]{scale=0.00390625}  out "y" = %y })",
           R"(graph { in %x: i8[4]{scale=0.1, zp=10}  %a = dequantize(%x)  %s = softmax(%a) {axis=0}
                      %y = quantize(%s) : i8[4]{scale=0.00390625, zp=-128}  out "y" = %y })",
           R"(graph { in %x: i8[4]{scale=0.1, zp=10}  %a = dequantize(%x)  %s = tanh(%a)
                      %y = quantize(%s) : i8[4]{scale=0.0078125}  out "y" = %y })",
           R"(graph { in %x: u8[4]{scale=0.1, zp=10}  %a = dequantize(%x)  %s = tanh(%a)
                      %y = quantize(%s) : u8[4]{scale=0.01, zp=5}  out "y" = %y })",
       }) {
    CAPTURE(text);
    Graph g = Parse(text);
    REQUIRE(FuseQdq(g).has_value());
    CHECK(g.nodes().size() == 1);
    CHECK(Count(g, "quantize") == 0);
  }
}

TEST_CASE("qdq: between scales") {
  Graph g = Parse(R"(graph {
    in %x: u8[4]{scale=0.1, zp=10}
    %a = dequantize(%x)
    %same = quantize(%a) : u8[4]{scale=0.1, zp=10}
    %b = dequantize(%same)
    %y = quantize(%b) : i8[4]{scale=0.2, zp=-3}
    out "y" = %y
  })");
  REQUIRE(FuseQdq(g).has_value());
  REQUIRE(g.nodes().size() == 1);
  CHECK(g.nodes().front().Is("quantize"));
  CHECK(g.nodes().front().input(0) == g.inputs()[0].value);
  CHECK(g.nodes().front().arithmetic() == Arithmetic::kTflite);
  REQUIRE(UnfuseQdq(g).has_value());
  CHECK(Count(g, "dequantize") == 1);
}

TEST_CASE("qdq: quantized weights are not folded but for execution") {
  Graph g = Parse(R"(graph {
    in %x: f32[2]
    const %w: i8[2]{axis=0, scale=[0.5, 0.25], zp=[0, 4]} = [3, 6]
    %d = dequantize(%w)
    %y = mul(%x, %d)
    out "y" = %y
  })");
  REQUIRE(FoldConstants(g).has_value());
  CHECK(Count(g, "dequantize") == 1);
  REQUIRE(DequantizeConstants(g).has_value());
  CHECK(Count(g, "dequantize") == 0);
  CHECK(Find(g, "mul")->input(1)->constant().ToDoubles() == std::vector<double>{1.5, 0.5});
}

// ONNX has no DequantizeLinear of i64.
TEST_CASE("qdq: i64 biases of 16-bit convolutions are dequantized for ONNX") {
  Graph g = Parse(R"(graph {
    in %x: i16[1, 4, 6, 6]{scale=0.05}
    const %w: i8[2, 4, 3, 3]{axis=0, scale=[0.01, 0.02]} = seeded(3)
    const %b: i64[2]{axis=0, scale=[0.0005, 0.001]} = [16777217, -3]
    %y = conv(%x, %w, %b) @tflite : i16[1, 2, 4, 4]{scale=0.01}
    out "y" = %y
  })");
  const auto unsupported = Legalize(g, *FindFormat("onnx")->target);
  REQUIRE_MESSAGE(unsupported.has_value(), unsupported.error().message());
  CHECK(unsupported->empty());
  const Node* conv = Find(g, "conv");
  REQUIRE(conv->input(2)->is_constant());
  // Rounded once: float32 does not hold 16777217.
  CHECK(conv->input(2)->constant().GetDouble(0) ==
        static_cast<double>(static_cast<float>(16777217 * static_cast<double>(0.05f * 0.01f))));
  CHECK(conv->input(1)->def()->Is("dequantize"));
}

TEST_CASE("qdq: quantized types without a dequantization are unsupported nodes, not errors") {
  for (const std::string type : {"i64[4]{scale=0.5}", "u64[4]{scale=0.5}"}) {
    for (const Format& format : Formats()) {
      CAPTURE(type);
      CAPTURE(format.name);
      Graph g =
          Parse("graph { in %x: " + type + "  %y = relu(%x) : " + type + "  out \"y\" = %y }");
      const auto unsupported = Legalize(g, *format.target);
      REQUIRE_MESSAGE(unsupported.has_value(), unsupported.error().message());
      CHECK_FALSE(unsupported->empty());
    }
  }
}

TEST_CASE("qdq: to ONNX and back") {
  Graph g = Parse(kModel);
  const Format& onnx = *FindFormat("onnx");
  const auto unsupported = Legalize(g, *onnx.target);
  REQUIRE_MESSAGE(unsupported.has_value(), unsupported.error().message());
  REQUIRE(unsupported->empty());
  const auto image = onnx.writer.Write(g, {});
  REQUIRE_MESSAGE(image.has_value(), image.error().message());
  std::vector<std::byte> bytes;
  for (const Blob& part : image->parts)
    bytes.insert(bytes.end(), part.bytes().begin(), part.bytes().end());
  const auto native = onnx.reader.Read(Blob::CopyOf(bytes), "qdq.onnx", {});
  REQUIRE_MESSAGE(native.has_value(), native.error().message());
  auto imported = onnx.importer.Import(**native);
  REQUIRE_MESSAGE(imported.has_value(), imported.error().message());
  REQUIRE(imported->unsupported.empty());
  REQUIRE(FuseQdq(imported->graph).has_value());
  CHECK(Count(imported->graph, "dequantize") == 0);
  CHECK(Count(imported->graph, "quantize") == 0);
  const auto inputs = InputsOf(imported->graph, {});
  CHECK(
      RunEverywhere(Parse(kModel), inputs)[0].Identical(RunEverywhere(imported->graph, inputs)[0]));
}

TEST_CASE("qdq: signed integers become unsigned, with the same real numbers") {
  const Graph original = Parse(R"(graph {
    in %x "x": i8[1, 4, 4, 2]{scale=0.05, zp=-7}
    const %w: i8[3, 1, 1, 2]{axis=0, scale=[0.01, 0.01, 0.01]} = seeded(3)
    const %b: i32[3]{axis=0, scale=[0.0005, 0.0005, 0.0005]} = [1, -2, 3]
    %y = conv(%x, %w, %b) {layout = nxc, filter_layout = oxi} @tflite
      : i8[1, 4, 4, 3]{scale=0.1, zp=-128}
    out "y" = %y
  })");
  Graph g = original.Clone();
  REQUIRE(MakeUnsigned(g).has_value());
  CHECK(g.inputs()[0].value->type().ToString() == "u8[1, 4, 4, 2]{scale=0.05, zp=121}");
  CHECK(g.outputs()[0].value->type().ToString() == "u8[1, 4, 4, 3]{scale=0.1, zp=0}");
  const Node* const conv = Find(g, "conv");
  const Type& w = conv->input(1)->type();
  CHECK(w.ToString() == "u8[3, 1, 1, 2]{scale=0.01, zp=128}");
  CHECK_FALSE(conv->input(2)->type().quant->per_axis());
  const Tensor& before = Find(original, "conv")->input(1)->constant();
  for (int64_t i = 0; i < before.elements(); ++i)
    CHECK(conv->input(1)->constant().GetInt(i) == before.GetInt(i) + 128);
}

TEST_CASE("qdq: signed integers stay where an operator reads them as numbers") {
  Graph g = Parse(R"(graph {
    in %x "x": i8[4]{scale=0.05, zp=-7}
    %y = cast(%x) {to = f32}
    out "y" = %y
  })");
  REQUIRE(MakeUnsigned(g).has_value());
  CHECK(g.inputs()[0].value->dtype() == DType::kI8);
}

}  // namespace
}  // namespace nn::test::qdq_test
