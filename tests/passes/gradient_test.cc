#include "passes/gradient/gradient.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "ir/eval.h"
#include "support/run_graph.h"

// The derivatives of operators, compared with central differences.
namespace nn::test::gradient_test {
namespace {

// A graph in the text form without braces; its inputs are floats between `low` and `high`.
struct Row {
  std::string graph;
  double low = -2, high = 2;
};

// Distinct values that no shape or order repeats.
Tensor Filled(const Type& type, size_t input, double low, double high) {
  auto b = TensorBuilder::Create(type.dtype, *type.const_dims());
  REQUIRE(b.has_value());
  double whole = 0;
  for (int64_t k = 0; k < b->elements(); ++k)
    b->SetDouble(k, low + (high - low) * std::modf(0.6180339887 * static_cast<double>(k + 1) +
                                                       0.37 * static_cast<double>(input),
                                                   &whole));
  return b->Finish();
}

double Sum(const Tensor& t) {
  double sum = 0;
  for (int64_t k = 0; k < t.elements(); ++k) sum += t.GetDouble(k);
  return sum;
}

// The graph with its output weighted, so that each element has a derivative of its own.
Graph Weighted(const std::string& text) {
  Graph graph = Parse("graph { " + text + " out \"y\" = %y }");
  Value* const y = graph.outputs()[0].value;
  REQUIRE(y->type().const_dims().has_value());
  Value* const weights = graph.AddConstant(Filled(y->type(), 5, 0.5, 1.5));
  const auto product = graph.Append("mul", {y, weights});
  REQUIRE(product.has_value());
  graph.set_output(0, (*product)->output());
  return graph;
}

double SumAt(const Graph& graph, const std::vector<Tensor>& inputs) {
  std::vector<const Tensor*> pointers;
  for (const Tensor& t : inputs) pointers.push_back(&t);
  EvalBudget budget;
  const auto y = EvalGraph(graph, pointers, budget, false);
  REQUIRE_MESSAGE(y.has_value(), y.error().message());
  return Sum((*y)[0]);
}

Tensor Moved(const Tensor& t, int64_t element, double step) {
  auto b = TensorBuilder::Create(t.dtype(), {t.dims().begin(), t.dims().end()});
  REQUIRE(b.has_value());
  for (int64_t k = 0; k < t.elements(); ++k)
    b->SetDouble(k, t.GetDouble(k) + (k == element ? step : 0));
  return b->Finish();
}

std::vector<Value*> InputValues(const Graph& graph) {
  std::vector<Value*> xs;
  for (const Port& port : graph.inputs()) xs.push_back(port.value);
  return xs;
}

void CheckRow(const Row& row) {
  CAPTURE(row.graph);
  const Graph graph = Weighted(row.graph);
  Graph both = graph.Clone();
  const auto dx = AddGradient(both, both.outputs()[0].value, InputValues(both));
  REQUIRE_MESSAGE(dx.has_value(), dx.error().message());
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < dx->size(); ++i) {
    CHECK((*dx)[i]->type().ToString() == both.inputs()[i].value->type().ToString());
    both.AddOutput(fmt::format("dx{}", i), (*dx)[i]);
    inputs.push_back(Filled(both.inputs()[i].value->type(), i, row.low, row.high));
  }
  const auto outputs = RunEverywhere(both, inputs);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool is_double = inputs[i].dtype() == DType::kF64;
    const double step = is_double ? 1e-5 : 1.0 / 256;
    for (int64_t k = 0; k < inputs[i].elements(); ++k) {
      std::vector<Tensor> above = inputs, below = inputs;
      above[i] = Moved(inputs[i], k, step);
      below[i] = Moved(inputs[i], k, -step);
      const double want = (SumAt(graph, above) - SumAt(graph, below)) / (2 * step);
      CAPTURE(i);
      CAPTURE(k);
      CAPTURE(inputs[i].GetDouble(k));
      CHECK(outputs[i + 1].GetDouble(k) ==
            doctest::Approx(want).epsilon(is_double ? 1e-7 : 2e-3).scale(1));
    }
  }
}

std::string Unary(std::string_view op) {
  return fmt::format("in %x: f32[2, 3] %y = {}(%x)", op);
}

std::string UnaryWith(std::string_view op, std::string_view attrs) {
  return Unary(op) + Braced(attrs);
}

std::string Binary(std::string_view op, std::string_view a, std::string_view b) {
  return fmt::format("in %a: {} in %b: {} %y = {}(%a, %b)", a, b, op);
}

// An operator of f64[2, 3, 4] with attributes.
std::string OfCube(std::string_view op, std::string_view attrs) {
  return fmt::format("in %x: f64[2, 3, 4] %y = {}(%x) {}", op, Braced(attrs));
}

std::string Product(std::string_view a, std::string_view b, std::string_view attrs = "") {
  return fmt::format("in %a: f64[{}] in %b: f64[{}] %y = matmul(%a, %b) {}", a, b, Braced(attrs));
}

std::string Conv(std::string_view x, std::string_view w, std::string_view attrs) {
  return fmt::format("in %x: f64[{}] in %w: f64[{}] %y = conv(%x, %w) {}", x, w, Braced(attrs));
}

void CheckRefusal(const std::string& text, std::string_view reason) {
  Graph graph = Parse("graph { " + text + " out \"y\" = %y }");
  const auto dx = AddGradient(graph, graph.outputs()[0].value, InputValues(graph));
  REQUIRE(!dx.has_value());
  CHECK_MESSAGE(dx.error().message().find(reason) != std::string::npos, dx.error().message());
}

}  // namespace

TEST_CASE("Gradient: unary operators") {
  for (const char* op : {"abs",          "neg",         "sign",
                         "floor",        "ceil",        "round",
                         "relu",         "leaky_relu",  "thresholded_relu",
                         "hard_sigmoid", "hard_swish",  "shrink",
                         "softsign",     "exp",         "exp2",
                         "expm1",        "sigmoid",     "silu",
                         "softplus",     "log_sigmoid", "mish",
                         "elu",          "selu",        "celu",
                         "gelu",         "erf",         "sin",
                         "cos",          "atan",        "sinh",
                         "cosh",         "tanh",        "asinh"})
    CheckRow({Unary(op)});
  for (const char* op : {"sqrt", "rsqrt", "reciprocal", "log", "log1p"})
    CheckRow({Unary(op), 0.5, 2});
  for (const char* op : {"asin", "acos", "atanh", "tan"}) CheckRow({Unary(op), -0.8, 0.8});
  CheckRow({Unary("acosh"), 1.5, 3});
  CheckRow({UnaryWith("clip", "min = -1, max = 0.5")});
  CheckRow({UnaryWith("leaky_relu", "alpha = 0.3")});
  CheckRow({UnaryWith("elu", "alpha = 0.3")});
  CheckRow({UnaryWith("celu", "alpha = 0.3")});
  CheckRow({UnaryWith("selu", "alpha = 0.3, gamma = 2")});
  CheckRow({UnaryWith("shrink", "lambd = 0.3, bias = 0.1")});
  CheckRow({UnaryWith("hard_sigmoid", "alpha = 0.5, beta = 0.25")});
  CheckRow({UnaryWith("gelu", "approximate = tanh")});
  CheckRow({UnaryWith("gelu", "approximate = sigmoid")});
  CheckRow({"in %x: f32[2, 3] %z = cast(%x) {to = f64} %y = mul(%z, %z)"});
}

TEST_CASE("Gradient: binary operators and broadcasts") {
  for (const char* op : {"add", "sub", "mul", "div", "maximum", "minimum"}) {
    CheckRow({Binary(op, "f64[2, 3]", "f64[2, 3]"), 0.5, 2});
    CheckRow({Binary(op, "f64[2, 1, 3]", "f64[4, 1]"), 0.5, 2});
    CheckRow({Binary(op, "f64[]", "f64[1, 3]"), 0.5, 2});
  }
  for (const char* op : {"pow", "atan2", "squared_difference", "log_add_exp"}) {
    CheckRow({Binary(op, "f32[2, 3]", "f32[2, 3]"), 0.5, 2});
    CheckRow({Binary(op, "f32[2, 1]", "f32[3]"), 0.5, 2});
  }
  CheckRow({Binary("prelu", "f32[2, 3]", "f32[3]")});
  CheckRow({"in %x: f32[2, 3] const %e: f32[] = [3] %y = pow(%x, %e)"});
  CheckRow({"in %x: f32[2, 3] const %e: i64[3] = [2, 0, 1] %y = pow(%x, %e)"});
  CheckRow(
      {"in %a: f64[2, 1] in %b: f64[3] const %c: bool[2, 3] = [1, 0, 0, 1, 1, 0] "
       "%y = select(%c, %a, %b)"});
}

TEST_CASE("Gradient: reductions") {
  for (const char* op : {"reduce_sum", "reduce_mean", "reduce_max", "reduce_min",
                         "reduce_sum_square", "reduce_l1", "reduce_l2"})
    for (const char* attrs :
         {"", "keep_dims = false", "axes = [1]", "axes = [-1, 0], keep_dims = false"})
      CheckRow({OfCube(op, attrs)});
  for (const char* op : {"reduce_log_sum", "reduce_log_sum_exp"})
    for (const char* attrs : {"axes = [1]", "axes = [0, 2], keep_dims = false"})
      CheckRow({fmt::format("in %x: f32[2, 3, 4] %y = {}(%x) {}", op, Braced(attrs)), 0.5, 2});
  CheckRow(
      {"in %x: f64[2, 3] const %a: i64[1] = [-1] %y = reduce_mean(%x, %a) "
       "{keep_dims = false}"});
  for (const char* attrs : {"axis = 1", "axis = 2, reverse = true", "axis = -3, exclusive = true"})
    CheckRow({OfCube("cum_sum", attrs)});
  for (const char* op : {"softmax", "log_softmax"})
    for (const char* attrs : {"", "axis = 0"})
      CheckRow({fmt::format("in %x: f32[3, 4] %y = {}(%x) {}", op, Braced(attrs))});
  CheckRow({"in %x: f32[3, 4] %y = softmax(%x) {beta = 0.5}"});
}

TEST_CASE("Gradient: movement") {
  for (const auto& [op, attrs] : std::vector<std::pair<std::string, std::string>>{
           {"reshape", "dims = [6, -1]"},
           {"expand_dims", "axes = [0, -1]"},
           {"transpose", "perm = [2, 0, 1]"},
           {"expand", "dims = [2, 2, 3, 4]"},
           {"tile", "repeats = [2, 1, 3]"},
           {"reverse", "axes = [0, 2]"},
           {"slice", "axes = [2, 1], starts = [3, 0], ends = [-9, 2], steps = [-2, 1]"},
           {"trilu", "upper = false, k = 1"},
           {"pad", "pads = [0, 1, -1, 2, 0, 1]"},
           {"pad", "pads = [0, 1, 2, 1, 0, 1], mode = reflect"},
           {"pad", "pads = [0, 1, 2, 1, 0, 1], mode = edge"}})
    CheckRow({OfCube(op, attrs)});
  CheckRow({"in %x: f64[2, 1, 3] %y = squeeze(%x)"});
  CheckRow({"in %x: f64[3, 1] %y = expand(%x) {dims = [2, 1, 4]}"});
  CheckRow({"in %a: f64[2, 3] in %b: f64[2, 1] %y = concat(%a, %b, %a) {axis = -1}"});
  CheckRow({"in %x: f64[5, 2] %a, %b, %c = split(%x) {sizes = [1, 2, 2]} %y = mul(%a, %c)"});
  CheckRow(
      {"in %x: f64[2, 3, 4] const %i: i64[2, 2] = [2, 0, -1, 0] "
       "%y = gather(%x, %i) {axis = 1}"});
  CheckRow(
      {"in %x: f64[2, 3] const %i: i64[2, 4] = [2, 0, -1, 0, 1, 1, 1, 0] "
       "%y = gather_elements(%x, %i) {axis = 1}"});
  CheckRow({"in %x: f64[2, 3] const %i: i64[3, 2] = [1, 0, 0, -1, 1, 0] %y = gather_nd(%x, %i)"});
}

TEST_CASE("Gradient: matrix products") {
  CheckRow({Product("2, 3", "3, 4")});
  CheckRow({Product("3, 2", "3, 4", "transpose_a = true")});
  CheckRow({Product("2, 3", "4, 3", "transpose_b = true")});
  CheckRow({Product("3, 2", "4, 3", "transpose_a = true, transpose_b = true")});
  CheckRow({Product("5, 2, 3", "3, 4")});
  CheckRow({Product("2, 3", "5, 4, 3", "transpose_b = true")});
  CheckRow({Product("2, 1, 2, 3", "3, 3, 4")});
  CheckRow({Product("3", "3")});
  CheckRow({Product("3", "3, 4")});
  CheckRow({Product("2, 3", "3")});
  CheckRow({Product("3", "5, 4, 3", "transpose_b = true")});
  CheckRow({Product("5, 3, 2", "3", "transpose_a = true")});
  CheckRow({"in %a: f64[2, 3] in %b: f64[3, 4] in %c: f64[4] %y = matmul(%a, %b, %c)"});
}

TEST_CASE("Gradient: convolutions") {
  CheckRow({Conv("2, 2, 5", "3, 2, 3", "")});
  CheckRow({Conv("2, 2, 6, 5", "3, 2, 3, 2", "strides = [2, 1], pads = [1, 0, 0, 1]")});
  CheckRow({Conv("1, 2, 7, 6", "2, 2, 2, 3", "strides = [3, 2], dilations = [2, 1]")});
  CheckRow({Conv("2, 4, 5", "6, 2, 2", "groups = 2, strides = [2]")});
  CheckRow({Conv("2, 3, 6", "3, 1, 3", "groups = 3, padding = same_upper, strides = [2]")});
  CheckRow({"in %x: f64[2, 2, 5] in %w: f64[3, 2, 2] in %b: f64[3] %y = conv(%x, %w, %b)"});
  CheckRefusal(
      "in %x: f32[1, 5, 5, 2] in %w: f32[3, 2, 2, 2] "
      "%y = conv(%x, %w) {layout = nxc, filter_layout = oxi}",
      "with the channels last is unsupported");
}

TEST_CASE("Gradient: transposed convolutions") {
  const auto check = [](std::string_view x, std::string_view w, std::string_view attrs) {
    CheckRow({fmt::format("in %x: f64[{}] in %w: f64[{}] %y = conv_transpose(%x, %w) {}", x, w,
                          Braced(attrs))});
  };
  check("2, 2, 4", "2, 3, 3", "");
  check("1, 2, 3, 4", "2, 2, 3, 2", "strides = [2, 1], pads = [1, 0, 0, 1], dilations = [1, 2]");
  check("1, 4, 3", "4, 2, 2", "groups = 2, strides = [3], output_padding = [1]");
  CheckRow(
      {"in %x: f64[1, 2, 3] in %w: f64[2, 3, 2] in %b: f64[3] "
       "%y = conv_transpose(%x, %w, %b)"});
}

TEST_CASE("Gradient: pools") {
  const auto check = [](std::string_view op, std::string_view x, std::string_view attrs) {
    CheckRow({fmt::format("in %x: f64[{}] %y = {}(%x) {{{}}}", x, op, attrs)});
  };
  for (const char* op : {"max_pool", "average_pool"}) {
    check(op, "2, 3, 6", "kernel = [2]");
    check(op, "1, 2, 5, 6", "kernel = [3, 2], strides = [2, 1], pads = [1, 0, 1, 1]");
    check(op, "1, 2, 6, 6", "kernel = [3, 2], strides = [2, 3], ceil_mode = true");
    check(op, "1, 2, 7", "kernel = [3], dilations = [2]");
    check(op, "1, 2, 7", "kernel = [3], padding = same_upper, strides = [2]");
  }
  check("average_pool", "1, 2, 5, 6",
        "kernel = [3, 2], strides = [2, 1], pads = [1, 0, 1, 1], count_include_pad = true");
  check("average_pool", "1, 1, 6",
        "kernel = [3], strides = [2], pads = [1, 1], ceil_mode = true, count_include_pad = true");
  CheckRefusal("in %x: f32[1, 5, 2] %y = max_pool(%x) {layout = nxc, kernel = [2]}",
               "with the channels last is unsupported");
}

TEST_CASE("Gradient: normalizations") {
  for (const char* attrs : {"", "{axis = 1, epsilon = 0.1}"}) {
    CheckRow(
        {fmt::format("in %x: f32[2, 3, 4] in %s: f32[4] in %b: f32[4] "
                     "%y = layer_norm(%x, %s, %b) {}",
                     attrs)});
    CheckRow({fmt::format("in %x: f32[2, 3, 4] in %s: f32[4] %y = rms_norm(%x, %s) {}", attrs)});
  }
  CheckRow({"in %x: f32[2, 3] %y = layer_norm(%x)"});
  CheckRow({"in %x: f32[2, 3, 4] in %s: f32[3] in %b: f32[3] %y = instance_norm(%x, %s, %b)"});
  CheckRow(
      {"in %x: f32[2, 4, 3] in %s: f32[3] in %b: f32[3] "
       "%y = instance_norm(%x, %s, %b) {layout = nxc}"});
  CheckRow(
      {"in %x: f32[2, 3, 2] in %s: f32[3] in %b: f32[3] in %m: f32[3] in %v: f32[3] "
       "%y = batch_norm(%x, %s, %b, %m, %v)",
       0.5, 2});
  CheckRefusal("in %x: f32[2, 3] %z, %m, %d = layer_norm(%x) %y = mul(%z, %m)",
               "with its statistics is unsupported");
}

TEST_CASE("Gradient: repeated use, independent values and order") {
  CheckRow({"in %x: f64[3] %z = mul(%x, %x) %w = add(%z, %x) %y = mul(%w, %z)"});
  CheckRow({"in %x: f64[3] in %u: f64[2] %y = mul(%x, %x)"});
  CheckRow({"in %x: f64[2, 3] %s = shape_of(%x) %z = neg(%x) %y = reshape(%z, %s)"});
}

TEST_CASE("Gradient: ties and points without a derivative") {
  const auto check = [](const std::string& text, const std::vector<double>& x,
                        const std::vector<double>& want) {
    CAPTURE(text);
    Graph graph = Parse("graph { " + text + " out \"y\" = %y }");
    const auto dx = AddGradient(graph, graph.outputs()[0].value, InputValues(graph));
    REQUIRE(dx.has_value());
    graph.AddOutput("dx", (*dx)[0]);
    const auto outputs = RunEverywhere(graph, InputsOf(graph, {x}));
    for (size_t k = 0; k < want.size(); ++k)
      CHECK(outputs[1].GetDouble(static_cast<int64_t>(k)) == want[k]);
  };
  check("in %x: f32[3] %y = reduce_max(%x)", {2, 1, 2}, {0.5, 0, 0.5});
  check("in %x: f32[2] const %b: f32[2] = [1, 1] %y = maximum(%x, %b)", {1, 2}, {0, 1});
  check("in %x: f32[2] %y = relu(%x)", {0, 1}, {0, 1});
  check("in %x: f32[2] %y = abs(%x)", {0, -1}, {0, -1});
  check("in %x: f32[2] const %e: f32[2] = [0, 1] %y = pow(%x, %e)", {0, 0}, {0, 1});
  check("in %x: f32[2] %y = reduce_l2(%x)", {0, 0}, {0, 0});
}

TEST_CASE("Gradient: derivatives of derivatives") {
  Graph graph = Parse(
      "graph { in %x: f32[3] const %e: f32[] = [3] %y = pow(%x, %e) "
      "out \"y\" = %y }");
  Value* y = graph.outputs()[0].value;
  for (int order = 1; order <= 3; ++order) {
    const auto dx = AddGradient(graph, y, InputValues(graph));
    REQUIRE_MESSAGE(dx.has_value(), dx.error().message());
    y = (*dx)[0];
    graph.AddOutput(fmt::format("d{}", order), y);
  }
  const auto outputs = RunEverywhere(graph, InputsOf(graph, {{2, -1, 0}}));
  const double want[3][3] = {{12, 3, 0}, {12, -6, 0}, {6, 6, 6}};
  for (size_t order = 0; order < 3; ++order)
    for (size_t k = 0; k < 3; ++k)
      CHECK(outputs[order + 1].GetDouble(static_cast<int64_t>(k)) ==
            doctest::Approx(want[order][k]));
}

TEST_CASE("Gradient: refusals name the operator") {
  CheckRefusal("in %x: f32[2, 2] %y = det(%x)", "Gradient through det is unsupported");
  CheckRefusal("in %x: f32[n] in %b: f32[m] %y = add(%x, %b)", "Gradient of a broadcast of");
}

}  // namespace nn::test::gradient_test
