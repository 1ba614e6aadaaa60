#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "support/run_graph.h"

namespace nn::test::recurrent_test {
namespace {

// A sequence of three steps of one number through one unit; `more` are operands after the weights.
// The outputs are all results of the operator.
std::string OneUnit(std::string_view op, std::string_view constants, std::string_view more,
                    std::string_view attrs, bool cell = false) {
  return fmt::format(
      "graph {{ in %x: f32[3, 1, 1]  {}  %y, %h{} = {}(%x, %w, %r{}) {}  out \"y\" = %y  out \"h\" "
      "= "
      "%h {} }}",
      constants, cell ? ", %c" : "", op, more, Braced(attrs), cell ? "out \"c\" = %c" : "");
}

constexpr const char* kRnn =
    "const %w: f32[1, 1, 1] = [0.5]  const %r: f32[1, 1, 1] = [0.25]  "
    "const %b: f32[1, 2] = [0.1, -0.2]  const %h0: f32[1, 1, 1] = [0.5]  "
    "const %n: i32[1] = [2]";

// Checks the case, and the same of float64, whose expected values have as many digits.
void CheckFloats(OpCase c) {
  CheckCase(c);
  for (size_t at = 0; (at = c.graph.find("f32", at)) != std::string::npos;)
    c.graph.replace(at, 3, "f64");
  c.tolerance = std::min(c.tolerance, 1e-7);
  CheckCase(c);
}

TEST_CASE("rnn: by hand") {
  const std::vector<std::vector<double>> x = {{1, 2, -1}};
  for (const OpCase& c : {
           OpCase{"forward",
                  OneUnit("rnn", kRnn, ", %b", ""),
                  x,
                  {{0.3799489622552249, 0.7594808754663349, -0.3885828703898185},
                   {-0.3885828703898185}},
                  1e-6},
           OpCase{"reverse",
                  OneUnit("rnn", kRnn, ", %b", "direction = reverse"),
                  x,
                  {{0.5088013037907951, 0.6444441069419306, -0.5370495669980354},
                   {0.5088013037907951}},
                  1e-6},
           OpCase{"from a state",
                  OneUnit("rnn", kRnn, ", _, _, %h0", ""),
                  x,
                  {{0.5545997223493823, 0.8139589851967075, -0.2881157796802379},
                   {-0.2881157796802379}},
                  1e-6},
           OpCase{"two steps of three",
                  OneUnit("rnn", kRnn, ", %b, %n", ""),
                  x,
                  {{0.3799489622552249, 0.7594808754663349, 0}, {0.7594808754663349}},
                  1e-6},
           OpCase{"another function",
                  OneUnit("rnn", kRnn, "", "activations = [\"relu\"], alpha = [0.0], beta = [0.0]"),
                  x,
                  {{0.5, 1.125, 0}, {0}}},
           OpCase{"clipped",
                  OneUnit("rnn", kRnn, "",
                          "activations = [\"affine\"], alpha = [2.0], beta = [1.0], clip = 0.75"),
                  x,
                  {{2, 2.5, 1.25}, {1.25}}},
       })
    CheckFloats(c);
}

constexpr const char* kGru =
    "const %w: f32[1, 3, 1] = [0.5, -0.25, 1]  const %r: f32[1, 3, 1] = [0.25, 0.5, -1]  "
    "const %b: f32[1, 6] = [0.1, 0.2, 0.3, -0.1, 0.4, 0.5]  const %h0: f32[1, 1, 1] = [0.5]";

TEST_CASE("gru: by hand") {
  const std::vector<std::vector<double>> x = {{1, 2, -1}};
  CheckFloats(
      {"reset before the product",
       OneUnit("gru", kGru, ", %b, _, %h0", ""),
       x,
       {{0.639784652677793, 0.7219694683709319, -0.06623315420379533}, {-0.06623315420379533}},
       1e-6});
  CheckFloats(
      {"reset behind it",
       OneUnit("gru", kGru, ", %b, _, %h0", "linear_before_reset = true"),
       x,
       {{0.6261130198322101, 0.7100490651164968, -0.10599311365483977}, {-0.10599311365483977}},
       1e-6});
}

constexpr const char* kLstm =
    "const %w: f32[1, 4, 1] = [0.5, -0.25, 1, 0.75]  const %r: f32[1, 4, 1] = [0.25, 0.5, -1, 1]  "
    "const %b: f32[1, 8] = [0.1, 0.2, 0.3, -0.5, 0, 0, 0, 0]  const %h0: f32[1, 1, 1] = [0.1]  "
    "const %c0: f32[1, 1, 1] = [-0.2]  const %p: f32[1, 3] = [0.5, -0.5, 0.25]";

TEST_CASE("lstm: by hand") {
  const std::vector<std::vector<double>> x = {{1, 2, -1}};
  CheckFloats({"lstm",
               OneUnit("lstm", kLstm, ", %b", "", true),
               x,
               {{0.07645417061477079, 0.2735353838298452, -0.07118981237097566},
                {-0.07118981237097566},
                {-0.11123656743928534}},
               1e-6});
  CheckFloats({"peepholes, from states",
               OneUnit("lstm", kLstm, ", %b, _, %h0, %c0, %p", "", true),
               x,
               {{0.029247835935492298, 0.19941877114155576, -0.11554159401097173},
                {-0.11554159401097173},
                {-0.1784011146473008}},
               1e-6});
  CheckFloats({"coupled gates",
               OneUnit("lstm", kLstm, ", %b", "input_forget = true", true),
               x,
               {{0.07645417061477079, 0.24446388830783916, 0.03413524044225596},
                {0.03413524044225596},
                {0.05344738401230015}},
               1e-6});
}

// Numbers of a separate implementation of the kernel's algorithm. In the second sequence, the
// features of filter 2 saturate, and their sum with the zero point of the state wraps to 78.
TEST_CASE("svdf: a state of i8") {
  const auto graph = [](std::string_view operands, int rank, std::string_view type) {
    return fmt::format(
        "graph {{ in %x: i8[2, 2]{{scale=0.05, zp=3}}  "
        "const %f: i8[4, 2]{{scale=0.02}} = [100, -50, 20, 30, -127, 127, 64, 64]  "
        "const %t: i8[4, 3]{{scale=0.01}} = [10, -20, 30, -40, 50, -60, 70, -80, 90, -100, 110, "
        "-127]  const %b: i32[2]{{scale=0.001}} = [1000, -2000]  "
        "const %s: i8[2, 4, 3]{{scale=0.1, zp=-50}} = [5, -6, 7, 8, -9, 10, -11, 12, -13, 14, -15, "
        "16, -128, 127, -50, -50, -51, -49, 0, 0, 0, 1, 2, 3]  "
        "const %z: i8[2, 4, 3]{{scale=0.1, zp=-50}} = splat(-50)  "
        "%y = svdf(%x, %f, %t, {}) {{rank = {}}} @tflite : {}{{scale=0.5, zp=-10}}  "
        "out \"y\" = %y }}",
        operands, rank, type);
  };
  const std::vector<std::vector<double>> x = {{10, -20, 127, -128}};
  CheckCase({"bias and state", graph("%b, %s", 2, "i8[2, 2]"), x, {{-5, -8, 5, 10}}});
  CheckCase({"no bias, first step", graph("_, %z", 2, "i8[2, 2]"), x, {{-8, -14, -1, 14}}});
  CheckCase({"one unit", graph("_, %z", 4, "i8[2, 1]"), x, {{-12, 23}}});
}

TEST_CASE("svdf: quantized operands that no kernel reads") {
  const auto graph = [](std::string_view time, std::string_view state) {
    return fmt::format(
        "graph {{ in %x: i8[1, 2]{{scale=0.05, zp=3}}  in %f: i8[4, 2]{{scale=0.02}}  in %t: {}  "
        "in %s: {}  %y = svdf(%x, %f, %t, _, %s) @tflite : i8[1, 4]{{scale=0.5, zp=1}}  "
        "out \"y\" = %y }}",
        time, state);
  };
  const std::string_view wide = "i16[4, 3]{scale=0.1}", narrow = "i8[4, 3]{scale=0.1}";
  for (const std::string& text :
       {graph(wide, "i8[1, 4, 3]{scale=0.1}"), graph(narrow, "i16[1, 4, 3]{scale=0.1}"),
        graph("i8[4, 3]{scale=0.1, zp=1}", "i8[1, 4, 3]{scale=0.1}"),
        graph(wide, "i16[1, 4, 3]{scale=0.1, zp=1}")})
    CHECK(Fails(text, "expected quantized i8, i8, i16, i16 or i8, i8, i8, i8"));
}

// Two directions are two layers side by side, and the batch may come first.
TEST_CASE("recurrent layers: directions and layouts") {
  const auto layer = [](std::string_view op, std::string_view attrs) {
    return fmt::format("%y = {}(%x, %w, %r) {}  out \"y\" = %y }}", op, Braced(attrs));
  };
  const std::string input = "graph { in %x: f32[5, 3, 4]  ";
  const std::string both =
      "const %w: f32[2, 24, 4] = seeded(2, 0.5)  const %r: f32[2, 24, 6] = seeded(3, 0.5)  ";
  const auto seeded = [](const std::string& graph) {
    const Graph g = Parse(graph);
    return RunEverywhere(g, InputsOf(g, {}));
  };
  const auto two = seeded(input + both + layer("lstm", "direction = bidirectional"));
  const std::string whole =
      "const %wall: f32[2, 24, 4] = seeded(2, 0.5)  const %rall: f32[2, 24, 6] = seeded(3, 0.5)  ";
  const std::string first =
      "%w = slice(%wall) {starts = [0], ends = [1], axes = [0]} "
      "%r = slice(%rall) {starts = [0], ends = [1], axes = [0]} ";
  const std::string second =
      "%w = slice(%wall) {starts = [1], ends = [2], axes = [0]} "
      "%r = slice(%rall) {starts = [1], ends = [2], axes = [0]} ";
  const auto forward = seeded(input + whole + first + layer("lstm", ""));
  const auto reverse = seeded(input + whole + second + layer("lstm", "direction = reverse"));
  REQUIRE(two[0].dims() == std::vector<int64_t>{5, 2, 3, 6});
  const auto all = two[0].As<float>();
  for (size_t t = 0; t < 5; ++t)
    for (size_t i = 0; i < 18; ++i) {
      CHECK(all[t * 36 + i] == forward[0].As<float>()[t * 18 + i]);
      CHECK(all[t * 36 + 18 + i] == reverse[0].As<float>()[t * 18 + i]);
    }
  const auto batch_first =
      seeded("graph { in %x0: f32[5, 3, 4]  %x = transpose(%x0) {perm = [1, 0, 2]} " + both +
             "%y0 = lstm(%x, %w, %r) {direction = bidirectional, batch_first = true}  "
             "%y = transpose(%y0) {perm = [1, 2, 0, 3]}  out \"y\" = %y }");
  CHECK(batch_first[0].dims() == two[0].dims());
  for (size_t i = 0; i < all.size(); ++i) CHECK(batch_first[0].As<float>()[i] == all[i]);
}

TEST_CASE("recurrent layers: the same everywhere") {
  struct Row {
    const char* op;
    int gates;
    const char* more;  // operands after the weights
    const char* attrs;
  };
  const auto graph = [](const Row& row, int steps, int batch, int inputs, int units,
                        int directions) {
    const std::string state = fmt::format("f32[{}, {}, {}]", directions, batch, units);
    return fmt::format(
        "graph {{ in %x: f32[{0}, {1}, {2}]  const %w: f32[{4}, {5}, {2}] = seeded(2, 0.5)  "
        "const %r: f32[{4}, {5}, {3}] = seeded(3, 0.5)  const %b: f32[{4}, {6}] = seeded(4)  "
        "const %h: {7} = seeded(5)  const %c: {7} = seeded(6)  const %p: f32[{4}, {8}] = seeded(7) "
        "%y, %yh = {9}(%x, %w, %r{10}) {11}  out \"y\" = %y  out \"h\" = %yh }}",
        steps, batch, inputs, units, directions, row.gates * units, 2 * row.gates * units, state,
        3 * units, row.op, row.more,
        Braced(std::string(row.attrs) +
               (directions == 2 ? "direction = bidirectional" : "direction = reverse")));
  };
  for (const Row& row :
       {Row{"rnn", 1, ", %b", ""}, Row{"rnn", 1, "", "clip = 0.5, "},
        Row{"gru", 3, ", %b, _, %h", ""}, Row{"gru", 3, ", %b", "linear_before_reset = true, "},
        Row{"gru", 3, "", ""}, Row{"lstm", 4, ", %b, _, %h, %c, %p", ""},
        Row{"lstm", 4, ", %b", "clip = 0.25, "}, Row{"lstm", 4, "", "input_forget = true, "}})
    for (const auto& [steps, batch, inputs, units, directions] :
         {std::array{1, 1, 1, 1, 1}, std::array{3, 2, 5, 16, 2}, std::array{4, 19, 7, 23, 1},
          std::array{2, 33, 3, 40, 2},
          // Steps in rounds, units in blocks.
          std::array{3, 2, 3, 256, 2}, std::array{2, 1, 3, 384, 1}}) {
      const std::string text = graph(row, steps, batch, inputs, units, directions);
      CheckCase({text, text});
      CheckHasKernels(Parse(text));
    }
  CheckCase({"cells of blocks of units",
             "graph { in %x: f32[1, 2, 5]  const %w: f32[1, 1024, 5] = seeded(2)  "
             "const %r: f32[1, 1024, 256] = seeded(3)  %y, %h, %c = lstm(%x, %w, %r)  "
             "out \"y\" = %y  out \"h\" = %h  out \"c\" = %c }"});
  CheckCase({"lengths",
             "graph { in %x: f32[4, 3, 5]  const %w: f32[2, 24, 5] = seeded(2)  "
             "const %r: f32[2, 24, 6] = seeded(3)  const %n: i32[3] = [4, 0, 2]  "
             "%y, %h, %c = lstm(%x, %w, %r, _, %n) {direction = bidirectional}  "
             "out \"y\" = %y  out \"h\" = %h  out \"c\" = %c }"});
}

TEST_CASE("recurrent layers: mismatches are refused") {
  const std::string head = "graph { in %x: f32[3, 1, 4]  const %w: f32[1, 8, 4] = splat(0)  ";
  CHECK(Fails(head + "const %r: f32[1, 12, 3] = splat(0)  %y = lstm(%x, %w, %r)  out %y }",
              "w is f32[1, 8, 4]; must have shape [1, 12, 4]"));
  CHECK(Fails(head + "const %r: f32[1, 8, 2] = splat(0)  %y = lstm(%x, %w, %r) {activations = "
                     "[\"tanh\"]}  out %y }",
              "1 activations, 0 alphas and 0 betas; must have 3 of each"));
  CHECK(Fails(head + "const %r: f32[1, 8, 2] = splat(0)  %y = lstm(%x, %w, %r) {clip = -1}  out "
                     "%y }",
              "clip is -1"));
}

}  // namespace
}  // namespace nn::test::recurrent_test
