// Dequantize (passes/qdq/qdq.h): from quantized models to float ones.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "passes/qdq/qdq.h"
#include "support/run_graph.h"

namespace nn::test::dequantize_test {
namespace {

Graph Dequantized(std::string_view text) {
  Graph g = Parse(text);
  const auto refused = Dequantize(g);
  REQUIRE_MESSAGE(refused.has_value(), refused.error().message());
  REQUIRE(refused->empty());
  for (const Value& v : g.values()) CHECK_FALSE(v.type().quantized());
  return g;
}

std::vector<std::string> Operators(const Graph& g) {
  std::vector<std::string> out;
  for (const Node& n : g.nodes()) out.emplace_back(n.op_name());
  return out;
}

using Names = std::vector<std::string>;

// Per-channel filters, a bias without a scale of its own, a fused bound, a requantization.
constexpr std::string_view kModel = R"(graph {
  in %x: i8[1, 4, 6, 6]{scale=0.05, zp=7}
  const %w: i8[4, 4, 3, 3]{axis=0, scale=[0.01, 0.02, 0.03, 0.04]} = seeded(3)
  const %b: i32[4] = seeded(9)
  %c = conv(%x, %w, %b) {padding = same_upper} @tflite : i8[1, 4, 6, 6]{scale=0.9, zp=11}
  %r = clip(%c) {min = 0.0, max = 6.0} @tflite : i8[1, 4, 6, 6]{scale=0.9, zp=11}
  %q = quantize(%r) @tflite : i8[1, 4, 6, 6]{scale=0.8, zp=-3}
  %s = add(%q, %x) @tflite : i8[1, 4, 6, 6]{scale=1.1, zp=-3}
  %t = transpose(%s) {perm = [0, 2, 3, 1]}
  out "y" = %t
})";

// QDQ has its steps, with the rounding of the features between them.
TEST_CASE("dequantize: an svdf stays one operator") {
  constexpr std::string_view kText = R"(graph {
    in %x: i8[2, 3]{scale=0.05, zp=3}
    const %f: i8[4, 3]{scale=0.02} = seeded(1)
    const %t: i16[4, 5]{scale=0.0001} = seeded(2)
    const %s: i16[2, 4, 5]{scale=0.002} = seeded(4)
    %y = svdf(%x, %f, %t, _, %s) {rank = 2} @tflite : i8[2, 2]{scale=0.1, zp=3}
    out "y" = %y
  })";
  CHECK(Operators(Dequantized(kText)) == Names{"svdf"});
  Graph qdq = Parse(kText);
  REQUIRE(UnfuseQdq(qdq).has_value());
  const Names operators = Operators(qdq);
  CHECK(std::ranges::count(operators, "svdf") == 0);
  CHECK(std::ranges::count(operators, "quantize") == 2);
}

TEST_CASE("dequantize: the rounding of hybrid kernels disappears") {
  const Graph product = Dequantized(R"(graph { in %x: f32[2, 4]
    const %q: i8[3, 4]{scale=0.5} = seeded(1)
    %w = dequantize(%q)  %r = dynamic_fake_quantize(%x) {axes = [1]}
    %y = matmul(%r, %w) {transpose_b = true}  out "y" = %y })");
  CHECK(Operators(product) == Names{"matmul"});
  const Graph layer = Dequantized(R"(graph { in %x: f32[3, 1, 2]
    const %w: f32[8, 2] = seeded(1)  const %r: f32[8, 2] = seeded(2)
    %q = dynamic_fake_quantize(%x) {axes = [2]}
    %y = extended_lstm(%q, %w, %r) {state_rounding = symmetric}  out "y" = %y })");
  CHECK(Operators(layer) == Names{"extended_lstm"});
  CHECK(std::get<EnumValue>(*layer.nodes().begin()->attrs().Get("state_rounding")).name == "none");
}

TEST_CASE("dequantize: operators on quantized types become float operators; bounds stay") {
  const Graph original = Parse(kModel);
  const Graph g = Dequantized(kModel);
  CHECK(Operators(g) == Names{"conv", "clip", "add", "transpose"});
  CHECK(g.inputs()[0].value->type().ToString() == "f32[1, 4, 6, 6]");
  CHECK(g.outputs()[0].name == "y");
  CHECK(g.outputs()[0].value->type().ToString() == "f32[1, 6, 6, 4]");
  const Node& conv = g.nodes().front();
  CHECK(conv.arithmetic() == Arithmetic::kDefault);
  const Value& weight = *original.nodes().front().input(1);
  CHECK(conv.input(1)->constant().GetDouble(40) ==
        static_cast<double>(static_cast<float>(weight.constant().GetInt(40)) * 0.02f));
  // The scale of the bias is the product of those of the input and the weights.
  CHECK(conv.input(2)->constant().GetDouble(3) ==
        static_cast<double>(
            static_cast<float>(original.nodes().front().input(2)->constant().GetInt(3)) *
            (0.05f * 0.04f)));

  // The results equal those of the quantized model up to its rounding.
  const auto stored = InputsOf(original, {});
  std::vector<double> reals;
  for (const double v : stored[0].ToDoubles()) reals.push_back(0.05 * (v - 7));
  const auto want = RunEverywhere(original, stored)[0];
  const auto got = RunEverywhere(g, InputsOf(g, {reals}))[0];
  for (int64_t i = 0; i < want.elements(); ++i)
    CHECK(std::abs(got.GetDouble(i) - 1.1 * (want.GetDouble(i) + 3)) <= 2 * 1.1);
}

TEST_CASE("dequantize: saturation at 0 behind a convolution or a sum is a relu") {
  const auto operators = [](const std::string& op, const std::string& quant,
                            const std::string& rest = {}) {
    return Operators(Dequantized(
        "graph { in %x: u8[1, 4, 2, 2]{scale=0.1}  const %w: u8[4, 4, 1, 1]" +
        std::string("{scale=0.1, zp=100} = seeded(3)  %y = ") + op + " @tflite : " + quant + " " +
        rest + " out \"y\" = %" + (rest.empty() ? "y" : "z") + " }"));
  };
  CHECK(operators("conv(%x, %w)", "u8[1, 4, 2, 2]{scale=0.5}") == Names{"conv", "relu"});
  CHECK(operators("add(%x, %x)", "u8[1, 4, 2, 2]{scale=0.5}") == Names{"add", "relu"});
  // Negative numbers, an operator that does not produce activations, and a bound of the model.
  CHECK(operators("conv(%x, %w)", "u8[1, 4, 2, 2]{scale=0.5, zp=1}") == Names{"conv"});
  CHECK(operators("sigmoid(%x)", "u8[1, 4, 2, 2]{scale=0.00390625}") == Names{"sigmoid"});
  CHECK(operators("conv(%x, %w)", "u8[1, 4, 2, 2]{scale=0.5}",
                  "%z = clip(%y) {min = 0.0, max = 6.0} @tflite : u8[1, 4, 2, 2]{scale=0.5}") ==
        Names{"conv", "clip"});
}

TEST_CASE("dequantize: QDQ") {
  const Graph g = Dequantized(R"(graph {
    in %x: f32[2, 4]
    %q = quantize(%x) : u8[2, 4]{scale=0.1, zp=10}
    %a = dequantize(%q)
    const %w: i8[4, 3]{axis=1, scale=[0.5, 0.25, 0.125], zp=[0, 4, 0]} = seeded(3)
    %d = dequantize(%w)
    %m = matmul(%a, %d)
    %p = quantize(%m) : i8[2, 3]{scale=0.3, zp=-128}
    %y = dequantize(%p)
    out "y" = %y
    out "q" = %p
  })");
  CHECK(Operators(g) == Names{"matmul", "relu"});
  CHECK(g.nodes().front().input(0) == g.inputs()[0].value);
  CHECK(g.nodes().front().input(1)->is_constant());
  CHECK(g.outputs()[1].value->dtype() == DType::kF32);
}

// Training for quantization leaves float weights between these operators.
TEST_CASE("dequantize: quantized constants of float32 are the constants") {
  constexpr std::string_view kText = R"(graph {
    in %x: f32[2, 3]
    const %w: f32[3, 3] = seeded(1)
    const %b: f32[3] = seeded(2)
    %p = quantize(%w) : i8[3, 3]{axis=1, scale=[0.1, 0.2, 0.3]}
    %q = dequantize(%p)
    %m = matmul(%x, %q)
    %c = quantize(%b) : i8[3]{scale=0.1}
    %d = dequantize(%c)
    %y = add(%m, %d)
    out "y" = %y
    out "c" = %c
  })";
  const Graph g = Dequantized(kText);
  CHECK(Operators(g) == Names{"matmul", "add"});
  const Graph original = Parse(kText);
  CHECK(g.nodes().front().input(1)->constant().Identical(
      original.nodes().front().input(0)->constant()));
  CHECK(g.outputs()[1].value->is_constant());
}

TEST_CASE("dequantize: float16 stays") {
  const Graph g = Dequantized(R"(graph {
    in %x: f16[2]
    %q = quantize(%x) : i8[2]{scale=0.5}
    %a = dequantize(%q) {to = f16}
    const %w: f16[2] = [1, 2]
    %d = dequantize(%w)
    %y = mul(%a, %a)
    out "y" = %y
    out "d" = %d
  })");
  // The quantized value is f32; no weights were evaluated.
  CHECK(Operators(g) == Names{"cast", "cast", "dequantize", "mul"});
  CHECK(g.outputs()[0].value->dtype() == DType::kF16);
}

TEST_CASE("dequantize: quantized inputs and constants that are outputs") {
  const Graph g = Dequantized(R"(graph {
    in %x: u8[2]{scale=0.5, zp=128}
    const %c: i64[2]{scale=0.5} = [3, -4]
    out "x" = %x
    out "c" = %c
  })");
  CHECK(g.outputs()[0].value == g.inputs()[0].value);
  CHECK(g.outputs()[0].value->type().ToString() == "f32[2]");
  CHECK(g.outputs()[1].value->constant().ToDoubles() == std::vector<double>{1.5, -2});
}

TEST_CASE("dequantize: operators on stored integers have no float form") {
  Graph g = Parse(R"(graph {
    in %x: i8[4]{scale=0.5}
    %r = relu(%x) @tflite : i8[4]{scale=0.5}
    %c = cast(%r) {to = i32}
    out "y" = %c
  })");
  const auto refused = Dequantize(g);
  REQUIRE(refused.has_value());
  REQUIRE(refused->size() == 1);
  CHECK((*refused)[0].op == "cast");
  CHECK((*refused)[0].reason ==
        "it reads or writes the stored integers of a quantized value, which a float model does not "
        "have");
  Graph wide = Parse(R"(graph {
    in %x: u64[4]{scale=0.5}
    %y = relu(%x)
    out "y" = %y
  })");
  const auto unknown = Dequantize(wide);
  REQUIRE(unknown.has_value());
  REQUIRE(unknown->size() == 1);
  CHECK((*unknown)[0].op == "relu");
}

}  // namespace
}  // namespace nn::test::dequantize_test
