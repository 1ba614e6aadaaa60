// Expected values are those of the LiteRT interpreter for the same operands.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "ir/op_def.h"
#include "ops/recurrent/unroll.h"
#include "support/run_graph.h"

namespace nn::test::extended_lstm_test {
namespace {

constexpr const char* kFloats = R"(
  const %r3: f32[9, 2] = [0.86, 0.31, 0.73, 0.62, -0.22, -0.73, 0.28, 0.1, -0.25, -0.49, -0.17,
                          -0.06, -0.42, -0.37, -0.08, 0.65, 0.16, -0.39]
  const %w3: f32[9, 2] = [-0.67, -0.53, -0.81, -0.11, -0.85, -0.08, 0.27, -0.4, 0.32, 0.16, -0.86,
                          0.11, -0.43, -0.15, -0.39, 0.35, -0.11, -0.62]
  const %b3: f32[9] = [-0.17, -0.05, -0.44, -0.26, 0.47, -0.27, 0.19, 0.15, 0.22]
  const %p3: f32[6] = [-0.3, 0.01, -0.41, -0.02, -0.14, 0.21]
  const %w: f32[12, 2] = [0.09, 0.37, -0.38, 0.02, 0.71, 0.71, -0.67, -0.53, -0.81, -0.11, -0.85,
                          -0.08, 0.27, -0.4, 0.32, 0.16, -0.86, 0.11, -0.43, -0.15, -0.39, 0.35,
                          -0.11, -0.62]
  const %r: f32[12, 2] = [0.08, 0.5, -0.35, -0.5, -0.2, 0.79, 0.86, 0.31, 0.73, 0.62, -0.22, -0.73,
                          0.28, 0.1, -0.25, -0.49, -0.17, -0.06, -0.42, -0.37, -0.08, 0.65, 0.16,
                          -0.39]
  const %b: f32[12] = [0.17, -0.16, 0.07, -0.17, -0.05, -0.44, -0.26, 0.47, -0.27, 0.19, 0.15, 0.22]
  const %p: f32[9] = [-0.22, -0.05, -0.29, -0.3, 0.01, -0.41, -0.02, -0.14, 0.21]
  const %n: f32[12] = [0.92, 0.44, 1.44, 1.09, 0.9, 1.12, 0.54, 1.4, 1.29, 1.14, 0.82, 1.29]
  const %m: f32[2, 3] = [-0.03, 0.14, -0.61, -0.6, -0.42, -0.49]
  const %k: f32[2] = [-0.24, -0.22])";

std::string FloatLayer(std::string_view operands, std::string_view attrs) {
  return fmt::format(R"(graph {{ in %x: f32[1, 3, 2] {} %y, %h, %c = extended_lstm(%x, {})
                                 {{batch_first = true{}}} out "y" = %y }})",
                     kFloats, operands, attrs);
}

const std::vector<std::vector<double>> kFloatInput = {{1, -0.5, 0.25, 2, -1.5, 0.75}};

TEST_CASE("extended_lstm: floats") {
  for (const OpCase& c : {
           OpCase{
               "normalized gates, a projection with a bias, limits",
               FloatLayer("%w, %r, %b, _, _, %p, %n, %m, %k",
                          ", cell_clip = 0.5, projection_clip = 0.25"),
               kFloatInput,
               {{0.017011628, -0.090789661, -0.14725217, -0.21357062, -0.20420679, -0.079040155}},
               1e-6},
           OpCase{"coupled gates and a projection",
                  FloatLayer("%w3, %r3, %b3, _, _, %p3, _, %m", ", coupled = true"),
                  kFloatInput,
                  {{0.21729444, 0.058374748, 0.11228749, 0.029379085, 0.071899503, 0.10354012}},
                  1e-6},
       })
    CheckCase(c);
}

// The steps round products and sums separately.
TEST_CASE("extended_lstm: steps") {
  for (const char* layer : {"%w, %r, %b, _, _, %p, %n, %m, %k", "%w, %r, _, _, _, _, %n, %m",
                            "%w, %r, %b, %h0, %c0, _, _, %m, %k"})
    for (const char* attrs : {"", ", cell_clip = 0.3, projection_clip = 0.2, activation = relu6",
                              ", activation = relu"}) {
      CAPTURE(layer);
      CAPTURE(attrs);
      std::string text = FloatLayer(layer, attrs);
      text.insert(text.find("const"),
                  "const %h0: f32[1, 2] = seeded(7) const %c0: f32[1, 3] = seeded(8) ");
      const Graph whole = Parse(text);
      Graph steps = Parse(text);
      Node* layer_node = nullptr;
      for (Node& node : steps.nodes())
        if (node.Is("extended_lstm")) layer_node = &node;
      REQUIRE(layer_node != nullptr);
      const auto replaced = layer_node->op().decompose(steps, *layer_node);
      REQUIRE(replaced.has_value());
      CHECK(*replaced);
      CHECK(LargestDifference(whole, steps) < 2e-6);
    }
}

TEST_CASE("extended_lstm: steps with rounded states") {
  for (const std::string rounding : {"symmetric", "asymmetric"})
    for (const std::string operands :
         {"%w, %r, %b, _, _, _, _, %m", "%w, %r, %b, _, _, %p, %n, %m, %k",
          "%w, %r, _, _, _, _, _, %m"}) {
      CAPTURE(rounding);
      CAPTURE(operands);
      const auto layer = [&](const std::string& value) {
        return Parse(FloatLayer(operands, ", state_rounding = " + value));
      };
      const Graph rounded = layer(rounding);
      Graph steps = rounded.Clone();
      const Result<bool> unrolled = UnrollRecurrent(steps, *steps.nodes().begin());
      REQUIRE(unrolled.has_value());
      CHECK(*unrolled);
      CHECK(LargestDifference(rounded, steps) < 1e-6);
      CHECK(LargestDifference(rounded, layer("none")) > 1e-5);
    }
}

TEST_CASE("extended_lstm: what cannot be written step by step") {
  const auto why_not = [](std::string text, std::string_view from, std::string_view to,
                          int64_t most) {
    text.replace(text.find(from), from.size(), to);
    const Graph graph = Parse(text);
    for (const Node& node : graph.nodes())
      if (node.Is("extended_lstm")) return WhyNotUnrolled(node, most).value_or("");
    return std::string("no layer");
  };
  const std::string layer = FloatLayer("%w, %r, _, _, _, _, _, %m", "");
  CHECK(why_not(layer, "[1, 3, 2]", "[1, 256, 2]", 0).empty());
  CHECK(why_not(layer, "[1, 3, 2]", "[1, 257, 2]", 300).empty());
  CHECK(why_not(layer, "[1, 3, 2]", "[1, 257, 2]", 0).starts_with("it has 257 steps"));
  CHECK(why_not(layer, "[1, 3, 2]", "[1, n, 2]", 0).find("--unroll") != std::string::npos);
}

constexpr const char* kIntegers = R"(
  const %h: i8[1, 2]{scale=0.006, zp=-4} = splat(-4)
  const %h3: i8[1, 3]{scale=0.006, zp=-4} = splat(-4)
  const %c: i16[1, 3]{scale=0.00048828125} = splat(0)
  const %w: i8[12, 2]{axis=0, scale=[0.00708661415, 0.00708661415, 0.00708661415, 0.00623622024,
      0.00623622024, 0.00623622024, 0.00694488175, 0.00694488175, 0.00694488175, 0.00737007894,
      0.00737007894, 0.00737007894]} = [-21, 25, 122, 4, 57, 73, 126, 20, 75, -20, 122, 42, -8, 39,
      97, 21, 45, -34, 121, -101, -46, 91, 23, -61]
  const %r: i8[12, 2]{axis=0, scale=[0.00687401555, 0.00687401555, 0.00687401555, 0.00609448832,
      0.00609448832, 0.00609448832, 0.00630708644, 0.00630708644, 0.00630708644, 0.00758267706,
      0.00758267706, 0.00758267706]} = [-67, 2, 52, -37, -58, -23, 30, -21, 25, 124, -65, -120, -94,
      -4, -48, 49, -90, -107, 22, 0, 79, 117, -99, -8]
  const %b: i32[12]{scale=0.0001} = [1039, -787, -1211, -2455, -839, 73, 1213, 1983, 44, 683, -221,
                                     984]
  const %b_norm: i32[12]{scale=0.00000005} = [3901381, 1646454, -236823, 4221787, -8651653, -8650883,
      -10956027, 3734199, -10705121, -1588409, -12329025, 6276212]
  const %n: i16[12]{axis=0, scale=[5.31022051e-05, 5.31022051e-05, 5.31022051e-05, 5.21866496e-05,
      5.21866496e-05, 5.21866496e-05, 4.34888752e-05, 4.34888752e-05, 4.34888752e-05,
      3.84533232e-05, 3.84533232e-05, 3.84533232e-05]} = [20829, 20822, 6632, 17269, 22745, 13737,
      32180, 20138, 5050, 8276, 25564, 32530]
  const %m: i8[2, 3]{scale=0.00501574809} = [-47, 33, 17, 115, -109, -52]
  const %k: i32[2]{scale=0.00001} = [1295, -1859]
  const %w3: i8[9, 2]{axis=0, scale=[0.00623622024, 0.00623622024, 0.00623622024, 0.00694488175,
      0.00694488175, 0.00694488175, 0.00737007894, 0.00737007894, 0.00737007894]} = [126, 20, 75,
      -20, 122, 42, -8, 39, 97, 21, 45, -34, 121, -101, -46, 91, 23, -61]
  const %r3: i8[9, 3]{axis=0, scale=[0.00651968503, 0.00651968503, 0.00651968503, 0.00659055123,
      0.00659055123, 0.00659055123, 0.00722834654, 0.00722834654, 0.00722834654]} = [124, -65, -120,
      121, 44, -94, -4, -48, 49, -33, -78, 22, 0, 79, 117, -99, -8, -73, 106, -109, -11, 64, 38, 57,
      57, 72, 38]
  const %b3: i32[9]{scale=0.0001} = [-2136, 1237, -1555, -1562, 632, 361, -455, 1604, -2246]
  const %p3: i16[6]{scale=0.0000152592547} = [-24746, 12406, 13176, -2101, -16660, 8061])";

std::string IntegerLayer(std::string_view operands, std::string_view attrs, int outputs = 2) {
  return fmt::format(
      R"(graph {{ in %x: i8[1, 3, 2]{{scale=0.02, zp=5}} {}
         %y = extended_lstm(%x, {}) {{batch_first = true, hidden_scale = 0.004,
                                      hidden_zero_point = -5{}}} @tflite
              : i8[1, 3, {}]{{scale=0.006, zp=-4}}
         out "y" = %y }})",
      kIntegers, operands, attrs, outputs);
}

const std::vector<std::vector<double>> kIntegerInput = {{100, -50, 20, 7, -128, 60}};

TEST_CASE("extended_lstm: integers") {
  for (const OpCase& c : {
           OpCase{"normalized gates, a projection with a bias, limits",
                  IntegerLayer("%w, %r, %b_norm, %h, %c, _, %n, %m, %k",
                               ", cell_clip = 0.5, projection_clip = 0.25, gate_scales = "
                               "[0.000159, 0.0001545, 0.00018, 0.000144]"),
                  kIntegerInput,
                  {{7, -27, 10, -35, -5, 2}}},
           OpCase{"a projection",
                  IntegerLayer("%w, %r, %b, %h, %c, _, _, %m", ""),
                  kIntegerInput,
                  {{6, -34, 4, -30, -5, -1}}},
           OpCase{"coupled gates with peepholes",
                  IntegerLayer("%w3, %r3, %b3, %h3, %c, %p3", ", coupled = true", 3),
                  kIntegerInput,
                  {{-37, 6, 26, -25, 34, 15, -4, -126, -37}}},
       })
    CheckCase(c);
}

TEST_CASE("extended_lstm: refused") {
  const std::string layer = FloatLayer("%w, %r, %b, _, _, %p, %n, %m, %k", "");
  const auto with = [&](std::string_view from, std::string_view to) {
    std::string text = layer;
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  CHECK(Fails(with("%m, %k", "_, %k"), "there is a projection bias but no projection"));
  CHECK(
      Fails(with("%m, %k", "_, _"), "3 cells with 2 outputs; must be equal without a projection"));
  CHECK(Fails(with("%p, %n", "%n, %n"), "peepholes is f32[12]; must have shape [9]"));
  CHECK(Fails(with("first = true", "first = true, cell_clip = 0"), "must be positive"));
  CHECK(Fails(IntegerLayer("%w, %r, %b, _, %c, _, _, %m", ""), "has no initial_h"));
  CHECK(Fails(IntegerLayer("%w, %r, %b, %h, %c, _, %n, %m", ""), "there are 0 gate_scales"));
}

}  // namespace
}  // namespace nn::test::extended_lstm_test
