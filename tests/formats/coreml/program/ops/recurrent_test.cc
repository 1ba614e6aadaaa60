// Recurrent layers, of one unit.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "formats/coreml/program/mil_operation.h"
#include "formats/coreml/program/program_roundtrip.h"
#include "support/run_graph.h"

namespace nn::test::coreml_program_recurrent_test {
namespace {

double Sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

TEST_CASE("coreml programs: rnn") {
  MilCase c = {"rnn",
               {In("x", "f32[2, 1, 1]", {1, 2}), In("initial_h", "f32[1, 1]", {10}),
                Const("weight_ih", "f32[1, 1]", {2}), Const("weight_hh", "f32[1, 1]", {0.5}),
                Const("bias", "f32[1]", {1}), Text("activation", "linear")},
               {"f32[1, 1, 1]", "f32[1, 1]"},
               {{9}, {9}}};
  CheckMil(c);
  c.operands.push_back(Const("output_sequence", "bool[]", {1}));
  c.results[0] = "f32[2, 1, 1]";
  c.expected = {{8, 9}, {9}};
  CheckMil(c);
  // In the order of the steps.
  c.operands.push_back(Text("direction", "reverse"));
  c.expected = {{10, 8}, {8}};
  CheckMil(c);
  c.operands.back() = Text("direction", "upwards");
  CHECK(WhyNotMil(c) == "operation 0 (rnn \"result_0\"): direction \"upwards\" is unknown");
}

TEST_CASE("coreml programs: activations of rnn") {
  const auto rnn = [](const std::string& activation, double expected) {
    CheckMil({"rnn",
              {In("x", "f32[1, 1, 1]", {0.75}), In("initial_h", "f32[1, 1]", {0}),
               Const("weight_ih", "f32[1, 1]", {1}), Const("weight_hh", "f32[1, 1]", {1}),
               Text("activation", activation)},
              {"f32[1, 1, 1]", "f32[1, 1]"},
              {{expected}, {expected}},
              "CoreML5",
              1e-6});
  };
  rnn("relu", 0.75);
  rnn("tanh", std::tanh(0.75));
  rnn("scaled_tanh", std::tanh(0.75));
  rnn("sigmoid", Sigmoid(0.75));
  rnn("sigmoid_hard", 0.65);
}

// Gates in the order r, n, z.
TEST_CASE("coreml programs: gru") {
  const std::vector<double> w = {0.5, -1, 2}, u = {1, 0.25, -0.5}, b = {0.1, 0.2, 0.3};
  const double x = 0.75, h = -0.5;
  MilCase c = {"gru",
               {In("x", "f32[1, 1, 1]", {x}), In("initial_h", "f32[1, 1]", {h}),
                Const("weight_ih", "f32[3, 1]", w), Const("weight_hh", "f32[3, 1]", u),
                Const("bias", "f32[3]", b)},
               {"f32[1, 1, 1]", "f32[1, 1]"},
               {},
               "CoreML8",
               1e-6};
  const double r = Sigmoid(w[0] * x + u[0] * h + b[0]);
  const double z = Sigmoid(w[2] * x + u[2] * h + b[2]);
  const double before = std::tanh(w[1] * x + u[1] * (r * h) + b[1]);
  const double y = (1 - z) * before + z * h;
  c.expected = {{y}, {y}};
  CheckMil(c);

  const std::vector<double> input_bias = {-0.3, 0.4, 0.5};
  c.operands.push_back(Const("input_bias", "f32[3]", input_bias));
  c.operands.push_back(Const("reset_after", "bool[]", {1}));
  const double r2 = Sigmoid(w[0] * x + u[0] * h + b[0] + input_bias[0]);
  const double z2 = Sigmoid(w[2] * x + u[2] * h + b[2] + input_bias[2]);
  const double after = std::tanh(w[1] * x + input_bias[1] + r2 * (u[1] * h + b[1]));
  const double y2 = (1 - z2) * after + z2 * h;
  c.expected = {{y2}, {y2}};
  CheckMil(c);
}

struct LstmState {
  double h, c;
};

// A step, with gates in the order i, f, o, c.
LstmState Step(double x, LstmState s, const std::vector<double>& w, const std::vector<double>& u,
               const std::vector<double>& b, const std::vector<double>& p, double clip) {
  const auto gate = [&](size_t g) { return w[g] * x + u[g] * s.h + b[g]; };
  const double i = Sigmoid(gate(0) + p[0] * s.c), f = Sigmoid(gate(1) + p[1] * s.c);
  const double c = std::clamp(f * s.c + i * std::tanh(gate(3)), -clip, clip);
  return {Sigmoid(gate(2) + p[2] * c) * std::tanh(c), c};
}

TEST_CASE("coreml programs: lstm") {
  const std::vector<double> w = {0.5, -1, 2, 1.5}, u = {1, 0.25, -0.5, 0.75};
  const std::vector<double> b = {0.1, 0.2, 0.3, 0.4}, p = {0.5, -0.25, 1};
  const MilOperand weight = Const("weight_ih", "f32[4, 1]", w);
  const MilOperand recurrent = Const("weight_hh", "f32[4, 1]", u);
  const MilOperand bias = Const("bias", "f32[4]", b);
  const LstmState clipped = Step(0.75, {-0.5, 0.9}, w, u, b, p, 0.3);
  CHECK(clipped.c == 0.3);
  CheckMil({"lstm",
            {In("x", "f32[1, 1, 1]", {0.75}), In("initial_h", "f32[1, 1]", {-0.5}),
             In("initial_c", "f32[1, 1]", {0.9}), weight, recurrent, bias,
             Const("peephole", "f32[3]", p), Const("clip", "f32[]", {0.3})},
            {"f32[1, 1, 1]", "f32[1, 1]", "f32[1, 1]"},
            {{clipped.h}, {clipped.h}, {clipped.c}},
            "CoreML5",
            1e-6});

  // Both directions; only the second has peepholes, and only the first a bias.
  const std::vector<double> back = {0.3, 0.6, -0.9, 1.2}, none(4, 0.0);
  const auto first = Step(2, Step(1, {0.1, 0.3}, w, u, b, none, 100), w, u, b, none, 100);
  const auto middle = Step(2, {0.2, 0.4}, back, u, none, p, 100);
  const auto last = Step(1, middle, back, u, none, p, 100);
  MilCase c = {"lstm",
               {In("x", "f32[2, 1, 1]", {1, 2}), In("initial_h", "f32[1, 2]", {0.1, 0.2}),
                In("initial_c", "f32[1, 2]", {0.3, 0.4}), weight, recurrent, bias,
                Const("weight_ih_back", "f32[4, 1]", back), Const("weight_hh_back", "f32[4, 1]", u),
                Const("peephole_back", "f32[3]", p), Text("direction", "bidirectional"),
                Text("cell_activation", "TANH")},
               {"f32[1, 1, 2]", "f32[1, 2]", "f32[1, 2]"},
               {{first.h, last.h}, {first.h, last.h}, {first.c, last.c}},
               "CoreML5",
               1e-6};
  CheckMil(c);
  c.operands.push_back(Const("output_sequence", "bool[]", {1}));
  c.results[0] = "f32[2, 1, 2]";
  c.expected[0] = {Step(1, {0.1, 0.3}, w, u, b, none, 100).h, last.h, first.h, middle.h};
  CheckMil(c);
  c.operands.erase(c.operands.begin() + 6);
  CHECK(WhyNotMil(c) == "operation 0 (lstm \"result_0\"): input weight_ih_back is missing");
}

// A layer of 3 inputs and 2 units on 2 sequences of 4 steps.
std::string Layer(const std::string& op, int gates, const std::string& attributes,
                  bool both = false, const std::string& more = "") {
  const std::string d = both ? "2" : "1", rows = std::to_string(2 * gates);
  const std::string all = op == "lstm" ? "%y, %h, %c" : "%y, %h";
  std::string out =
      "graph { in %x: f32[4, 2, 3]  in %i: f32[" + d + ", 2, 2]  in %j: f32[" + d +
      ", 2, 2]  const %w: f32[" + d + ", " + rows + ", 3] = seeded(2)  const %r: f32[" + d + ", " +
      rows + ", 2] = seeded(3)  const %b: f32[" + d + ", " + std::to_string(4 * gates) +
      "] = seeded(4)  const %p: f32[" + d + ", 6] = seeded(5)  " + all + " = " + op +
      "(%x, %w, %r" + more + ") " + Braced(attributes) + "  out \"y\" = %y  out \"h\" = %h  ";
  return out + (op == "lstm" ? "out \"c\" = %c }" : "}");
}

TEST_CASE("coreml programs: export of recurrent layers") {
  const std::string both = "direction = bidirectional", reverse = "direction = reverse";
  const ProgramCase cases[] = {
      {Layer("rnn", 1, ""), "rnn expand_dims expand_dims", {}, 1e-6, "CoreML5"},
      {Layer("rnn", 1, reverse, false, ", %b, _, %i"),
       "squeeze rnn reverse expand_dims expand_dims",
       {},
       1e-6},
      {Layer("rnn", 1, both, true, ", %b"), "rnn rnn reverse stack stack", {}, 1e-6},
      {Layer("gru", 3, "", false, ", %b, _, %i"),
       "squeeze gru expand_dims expand_dims",
       {},
       1e-6,
       "CoreML5"},
      {Layer("gru", 3, "linear_before_reset = true", false, ", %b, _, %i"),
       "squeeze gru expand_dims expand_dims",
       {},
       1e-6,
       "CoreML8"},
      {Layer("gru", 3, both, true, ", %b, _, %i"),
       "split squeeze gru squeeze gru reverse stack stack",
       {},
       1e-6},
      {Layer("lstm", 4, "", false, ", %b, _, %i, %j, %p"),
       "squeeze squeeze lstm expand_dims expand_dims expand_dims",
       {},
       1e-6,
       "CoreML5"},
      {Layer("lstm", 4, both, true, ", %b, _, %i, %j, %p"),
       "split concat squeeze split concat squeeze lstm split split split stack stack stack",
       {},
       1e-6},
      {Layer("lstm", 4, both + ", cell_clip = 0.25", true),
       "lstm split split split stack stack stack",
       {},
       1e-6},
      // Directions with other functions.
      {Layer("lstm", 4,
             both + ", activations = [\"sigmoid\", \"relu\", \"tanh\", \"sigmoid\", "
                    "\"tanh\", \"tanh\"], alpha = [0, 0, 0, 0, 0, 0], beta = [0, 0, 0, 0, "
                    "0, 0]",
             true),
       "lstm lstm reverse stack stack stack",
       {},
       1e-6},
  };
  for (const ProgramCase& c : cases) CheckProgram(c);
  // The batch is open.
  CheckProgram(
      {"graph { in %x: f32[4, 2, 3]  const %w: f32[1, 2, 3] = seeded(2)"
       "  const %r: f32[1, 2, 2] = seeded(3)  %y = rnn(%x, %w, %r)  out \"y\" = %y }",
       "rnn expand_dims",
       {},
       1e-6});
  // Older operation sets have no reset after the product.
  CheckProgram({Layer("gru", 3, "linear_before_reset = true"), {}, "iOS17", 1e-5});
}

}  // namespace
}  // namespace nn::test::coreml_program_recurrent_test
