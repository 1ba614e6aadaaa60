// Operators of TensorFlow Lite with states, as models in the notation of the rule examples.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "validators/tflite/doc/example_text.h"
#include "validators/tflite/text.h"

namespace nn::test::tflite_recurrent_test {
namespace {

void CheckNear(const std::vector<double>& got, const std::vector<double>& expected) {
  REQUIRE(got.size() == expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i);
    CHECK(got[i] == doctest::Approx(expected[i]).epsilon(1e-5));
  }
}

double Sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

// An LSTM of one unit and one input: its weights of the gates i, f, c, o.
struct Cell {
  double w[4] = {}, r[4] = {}, b[4] = {};
  bool coupled = false;  // i = 1 - f
  double clip = 1e9;
  double projection = 1, projection_bias = 0, projection_clip = 1e9;

  std::vector<double> Run(const std::vector<double>& x) const {
    std::vector<double> y;
    double h = 0, c = 0;
    for (const double v : x) {
      const auto sum = [&](int g) { return w[g] * v + r[g] * h + b[g]; };
      const double f = Sigmoid(sum(1));
      const double i = coupled ? 1 - f : Sigmoid(sum(0));
      const double o = Sigmoid(sum(3));
      c = std::min(clip, std::max(-clip, f * c + i * std::tanh(sum(2))));
      h = projection * o * std::tanh(c) + projection_bias;
      h = std::min(projection_clip, std::max(-projection_clip, h));
      y.push_back(h);
    }
    return y;
  }
};

constexpr Cell kCell = {{0.5, -0.25, 1, 0.75}, {0.125, 0.5, -0.5, 0.25}, {0.1, 1, 0, -0.2}};

std::string Weights(const char* name, const double (&v)[4], const char* type, bool coupled) {
  std::string out;
  for (int g = 0; g < 4; ++g)
    out += g == 0 && coupled ? "-\n" : fmt::format("{}{} {} ={}\n", name, g, type, v[g]);
  return out;
}

std::string CellText(const Cell& cell) {
  std::string projection = "-\n-\n";
  if (cell.projection != 1)
    projection =
        fmt::format("p f32[1,1] ={}\nq f32[1] ={}\n", cell.projection, cell.projection_bias);
  return Weights("w", cell.w, "f32[1,1]", cell.coupled) +
         Weights("r", cell.r, "f32[1,1]", cell.coupled) + "-\n-\n-\n" +
         Weights("b", cell.b, "f32[1]", cell.coupled) + projection;
}

TEST_CASE("tflite recurrent: UNIDIRECTIONAL_SEQUENCE_LSTM starts from zeros") {
  const std::vector<double> x = {1, -2, 0.5};
  for (const bool coupled : {false, true})
    for (const double clip : {0.0, 0.25}) {
      CAPTURE(coupled);
      CAPTURE(clip);
      Cell cell = kCell;
      cell.coupled = coupled;
      if (clip > 0) cell.clip = clip;
      const std::string head = fmt::format(
          "UNIDIRECTIONAL_SEQUENCE_LSTM UnidirectionalSequenceLSTMOptions "
          "{{\"fused_activation_function\": \"TANH\", \"time_major\": true, \"cell_clip\": {}}}\n",
          clip);
      const std::string rest = CellText(cell) + "h f32[1,1] var\nc f32[1,1] var\n";
      CheckNear(OutputsOfTflite(head + "x f32[3,1,1]\n" + rest + "> y f32[3,1,1]\n", {x})[0],
                cell.Run(x));
    }
}

TEST_CASE("tflite recurrent: LSTM with a projection of its state") {
  for (const bool coupled : {false, true})
    for (const double clip : {0.0, 0.0625}) {
      CAPTURE(coupled);
      CAPTURE(clip);
      Cell cell = kCell;
      cell.coupled = coupled;
      cell.projection = -2;
      cell.projection_bias = 0.25;
      if (clip > 0) cell.projection_clip = clip;
      const std::string options =
          fmt::format("{{\"fused_activation_function\": \"TANH\", \"proj_clip\": {}}}\n", clip);
      CheckNear(OutputsOfTflite("UNIDIRECTIONAL_SEQUENCE_LSTM UnidirectionalSequenceLSTMOptions " +
                                    options + "x f32[1,3,1]\n" + CellText(cell) +
                                    "h f32[1,1] var\nc f32[1,1] var\n> y f32[1,3,1]\n",
                                {{1, -2, 0.5}})[0],
                cell.Run({1, -2, 0.5}));
      CheckNear(OutputsOfTflite("LSTM LSTMOptions " + options + "x f32[2,1]\n" + CellText(cell) +
                                    "h f32[2,1] var\nc f32[2,1] var\n> y f32[2,1]\n",
                                {{1, -2}})[0],
                {cell.Run({1})[0], cell.Run({-2})[0]});
    }
}

TEST_CASE("tflite recurrent: LSTM with normalized gates") {
  // The sum of the only unit is its mean, which leaves the bias.
  Cell cell = kCell;
  for (int g = 0; g < 4; ++g) cell.w[g] = cell.r[g] = 0;
  CheckNear(OutputsOfTflite("UNIDIRECTIONAL_SEQUENCE_LSTM UnidirectionalSequenceLSTMOptions "
                            "{\"fused_activation_function\": \"TANH\"}\nx f32[1,3,1]\n" +
                                CellText(kCell) +
                                "h f32[1,1] var\nc f32[1,1] var\nk f32[1] =2\nl f32[1] =3\n"
                                "m f32[1] =4\nn f32[1] =5\n> y f32[1,3,1]\n",
                            {{1, -2, 0.5}})[0],
            cell.Run({1, -2, 0.5}));
}

TEST_CASE("tflite recurrent: LSTM is one step") {
  const std::string text =
      "LSTM LSTMOptions {\"fused_activation_function\": \"TANH\"}\nx f32[2,1]\n" + CellText(kCell) +
      "h f32[2,1] var\nc f32[2,1] var\n> y f32[2,1]\n";
  CheckNear(OutputsOfTflite(text, {{1, -2}})[0], {kCell.Run({1})[0], kCell.Run({-2})[0]});
}

TEST_CASE("tflite recurrent: LSTM with one matrix") {
  // Gates i, c, f, o; columns x, h.
  std::string weights = "w f32[4,2] =", bias = "b f32[4] =";
  for (const int g : {0, 2, 1, 3}) {
    weights += fmt::format("{}{},{}", g == 0 ? "" : ",", kCell.w[g], kCell.r[g]);
    bias += fmt::format("{}{}", g == 0 ? "" : ",", kCell.b[g]);
  }
  const auto outputs = OutputsOfTflite(
      "LSTM/2 LSTMOptions {\"fused_activation_function\": \"TANH\", \"kernel_type\": \"BASIC\"}\n"
      "x f32[1,1]\nh f32[1,1]\n" +
          weights + "\n" + bias +
          "\nc f32[1,1]\n> y f32[1,1]\n> state f32[1,1]\n> t f32[1,2]\n> u f32[1,4]\n",
      {{1}, {0.5}, {0.25}});
  const auto sum = [&](int g) { return kCell.w[g] + kCell.r[g] * 0.5 + kCell.b[g]; };
  const double c = Sigmoid(sum(1)) * 0.25 + Sigmoid(sum(0)) * std::tanh(sum(2));
  CheckNear(outputs[0], {Sigmoid(sum(3)) * std::tanh(c)});
  CheckNear(outputs[1], {c});
  CheckNear(outputs[2], {1, 0.5});
  CheckNear(outputs[3], {sum(0), sum(2), sum(1), sum(3)});
}

TEST_CASE("tflite recurrent: BIDIRECTIONAL_SEQUENCE_LSTM") {
  Cell back = kCell;
  back.w[2] = -0.5;
  back.projection = 3;
  const std::string rest = "x f32[1,2,1]\n" + CellText(kCell) + CellText(back) +
                           "h f32[1,1] var\nc f32[1,1] var\ni f32[1,1] var\nd f32[1,1] var\n";
  const auto text = [&](bool merged) {
    return fmt::format(
               "BIDIRECTIONAL_SEQUENCE_LSTM BidirectionalSequenceLSTMOptions "
               "{{\"fused_activation_function\": \"TANH\", \"time_major\": false, "
               "\"merge_outputs\": {}}}\n",
               merged) +
           rest + "-\n-\n-\n-\n-\n-\n-\n-\n-\n" +
           (merged ? "> y f32[1,2,2]\n" : "> y f32[1,2,1]\n> z f32[1,2,1]\n");
  };
  const auto f = kCell.Run({1, -2}), b = back.Run({-2, 1});
  CheckNear(OutputsOfTflite(text(true), {{1, -2}})[0], {f[0], b[1], f[1], b[0]});
  const auto both = OutputsOfTflite(text(false), {{1, -2}});
  CheckNear(both[0], f);
  CheckNear(both[1], {b[1], b[0]});
}

TEST_CASE("tflite recurrent: RNN") {
  const std::string weights = "w f32[1,1] =0.5\nr f32[1,1] =-0.25\nb f32[1] =0.125\n";
  // tanh(0.5), then tanh(0.5 x - 0.25 h + 0.125).
  const auto run = [](const std::vector<double>& x, bool relu) {
    double h = 0;
    std::vector<double> y;
    for (const double v : x) {
      const double sum = 0.5 * v - 0.25 * h + 0.125;
      h = relu ? std::max(0.0, sum) : std::tanh(sum);
      y.push_back(h);
    }
    return y;
  };
  for (const bool relu : {false, true}) {
    const std::string options =
        fmt::format("{{\"fused_activation_function\": \"{}\", \"time_major\": true}}\n",
                    relu ? "RELU" : "TANH");
    CheckNear(OutputsOfTflite("UNIDIRECTIONAL_SEQUENCE_RNN SequenceRNNOptions " + options +
                                  "x f32[3,1,1]\n" + weights + "h f32[1,1] var\n> y f32[3,1,1]\n",
                              {{1, 2, -3}})[0],
              run({1, 2, -3}, relu));
  }
  CheckNear(
      OutputsOfTflite("RNN RNNOptions {\"fused_activation_function\": \"TANH\"}\nx f32[2,1]\n" +
                          weights + "h f32[2,1] var\n> y f32[2,1]\n",
                      {{1, -3}})[0],
      {run({1}, false)[0], run({-3}, false)[0]});
  const auto f = run({1, 2}, false), b = run({2, 1}, false);
  CheckNear(OutputsOfTflite("BIDIRECTIONAL_SEQUENCE_RNN BidirectionalSequenceRNNOptions "
                            "{\"fused_activation_function\": \"TANH\", \"time_major\": true, "
                            "\"merge_outputs\": true}\nx f32[2,1,1]\n" +
                                weights +
                                "h f32[1,1] var\nv f32[1,1] =0.5\ns f32[1,1] =-0.25\n"
                                "d f32[1] =0.125\ni f32[1,1] var\n-\n-\n-\n> y f32[2,1,2]\n",
                            {{1, 2}})[0],
            {f[0], b[1], f[1], b[0]});
}

TEST_CASE("tflite recurrent: SVDF uses the newest weights of the steps") {
  const std::string text =
      "SVDF SVDFOptions {\"rank\": 2, \"fused_activation_function\": \"RELU\"}\nx f32[1,2]\n"
      "f f32[4,2] =1,0,0,1,1,1,2,-1\nt f32[4,3] =9,9,1,9,9,2,9,9,-1,9,9,3\nb f32[2] =0.5,-10\n"
      "s f32[1,12] var\n> y f32[1,2]\n";
  // Filters 3, 5, 8, 1; units 3 + 10 + 0.5 and -8 + 3 - 10.
  CheckNear(OutputsOfTflite(text, {{3, 5}})[0], {13.5, 0});
}

TEST_CASE("tflite recurrent: unsupported constructs are named") {
  const std::string lstm =
      "UNIDIRECTIONAL_SEQUENCE_LSTM UnidirectionalSequenceLSTMOptions "
      "{\"fused_activation_function\": \"TANH\"}\nx f32[1,3,1]\n";
  const std::string cell = CellText(kCell);
  const std::string states = "h f32[1,1] var\nc f32[1,1] var\n> y f32[1,3,1]\n";
  std::string linear = lstm;
  linear.replace(linear.find("TANH"), 4, "NONE");
  CHECK(WhyNotImported(linear + cell + states).find("an LSTM without activation is unsupported") !=
        std::string::npos);
  CHECK(
      WhyNotImported("RNN RNNOptions {\"fused_activation_function\": \"RELU6\"}\nx f32[1,1]\n"
                     "w f32[1,1] =1\nr f32[1,1] =1\nb f32[1] =1\nh f32[1,1] var\n> y f32[1,1]\n") ==
      "activation RELU6 of a recurrent layer is unsupported");
  // Of other operators, a variable is a constant.
  CHECK(OutputsOfTflite("ABS AbsOptions {}\nx f32[1] var\n> y f32[1]\n", {}) ==
        std::vector<std::vector<double>>{{0}});
}

TEST_CASE("tflite operators: NON_MAX_SUPPRESSION fills its lists with zeros") {
  const std::string boxes = "b f32[3,4] =0,0,1,1,0,0,1,0.5,2,2,3,3\ns f32[3]\nn i32[] =4\n";
  const auto v4 = [&](double iou) {
    return "NON_MAX_SUPPRESSION_V4 NonMaxSuppressionV4Options {}\n" + boxes +
           fmt::format("i f32[] ={}\nt f32[] =0\n> y i32[4]\n> c i32[]\n", iou);
  };
  using Outputs = std::vector<std::vector<double>>;
  CHECK(OutputsOfTflite(v4(0.6), {{0.5, 0.25, 0.75}}) == Outputs{{2, 0, 1, 0}, {3}});
  // An overlap of exactly the threshold suppresses.
  CHECK(OutputsOfTflite(v4(0.5), {{0.5, 0.25, 0.75}}) == Outputs{{2, 0, 0, 0}, {2}});
  const auto v5 = [&](double sigma) {
    return "NON_MAX_SUPPRESSION_V5 NonMaxSuppressionV5Options {}\n" + boxes +
           fmt::format("i f32[] =0.5\nt f32[] =0\ng f32[] ={}\n> y i32[4]\n> z f32[4]\n> c i32[]\n",
                       sigma);
  };
  CHECK(OutputsOfTflite(v5(0), {{0.5, 0.25, 0.75}}) ==
        Outputs{{2, 0, 0, 0}, {0.75, 0.5, 0, 0}, {2}});
  // The overlap of 0.5 lowers 0.25 by exp(-0.5 / sigma * 0.25).
  const auto soft = OutputsOfTflite(
      "NON_MAX_SUPPRESSION_V5 NonMaxSuppressionV5Options {}\n" + boxes +
          "i f32[] =0.9\nt f32[] =0.1\ng f32[] =0.5\n> y i32[4]\n> z f32[4]\n> c i32[]\n",
      {{0.5, 0.25, 0.75}});
  CHECK(soft[0] == std::vector<double>{2, 0, 1, 0});
  CheckNear(soft[1], {0.75, 0.5, 0.25 * std::exp(-0.25), 0});
  CHECK(soft[2] == std::vector<double>{3});
}

// With a second operator code and a subgraph for the update.
std::string ScatterText(const std::string& text, bool add) {
  std::string json = tflite::OperatorModel(
      text +
      (add ? "graph {\"tensors\": [{\"name\": \"a\"}, {\"name\": \"b\"}, {\"name\": \"c\"}], "
             "\"inputs\": [0, 1], \"outputs\": [2], \"operators\": [{\"opcode_index\": 1, "
             "\"inputs\": [0, 1], \"outputs\": [2]}]}\n"
           : "graph {\"tensors\": [{\"name\": \"a\"}, {\"name\": \"b\"}], \"inputs\": [0, 1], "
             "\"outputs\": [1], \"operators\": []}\n"));
  const size_t at = json.find("\"operator_codes\": [") + 19;
  json.insert(json.find(']', at),
              ", {\"deprecated_builtin_code\": 127, \"builtin_code\": \"STABLEHLO_ADD\"}");
  return json;
}

TEST_CASE("tflite operators: STABLEHLO_SCATTER drops updates that are out of range") {
  const std::string rows =
      "STABLEHLO_SCATTER StablehloScatterOptions {\"update_window_dims\": [1], "
      "\"inserted_window_dims\": [0], \"scatter_dims_to_operand_dims\": [0], "
      "\"index_vector_dim\": 1, \"update_computation_subgraph_index\": 1}\n"
      "x f32[3,2]\ni i32[4,1]\nu f32[4,2]\n> y f32[3,2]\n";
  const std::vector<std::vector<double>> inputs = {
      {1, 2, 3, 4, 5, 6}, {2, -1, 0, 2}, {10, 20, 30, 40, 50, 60, 70, 80}};
  CHECK(OutputsOfTflite(ScatterText(rows, true), inputs)[0] ==
        std::vector<double>{51, 62, 3, 4, 85, 106});
  CHECK(OutputsOfTflite(ScatterText(rows, false), inputs)[0] ==
        std::vector<double>{50, 60, 3, 4, 70, 80});
  // A window of two columns at a position; the half outside is dropped.
  const std::string windows =
      "STABLEHLO_SCATTER StablehloScatterOptions {\"update_window_dims\": [0], "
      "\"inserted_window_dims\": [0], \"scatter_dims_to_operand_dims\": [1, 0], "
      "\"index_vector_dim\": 0, \"update_computation_subgraph_index\": 1}\n"
      "x i32[2,3]\ni i64[2,2]\nu i32[2,2]\n> y i32[2,3]\n";
  CHECK(OutputsOfTflite(ScatterText(windows, false),
                        {{0, 0, 0, 0, 0, 0}, {2, 0, 0, 1}, {1, 2, 3, 4}})[0] ==
        std::vector<double>{0, 0, 1, 2, 4, 0});
}

}  // namespace
}  // namespace nn::test::tflite_recurrent_test
