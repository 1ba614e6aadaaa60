// The quantizers of QONNX, with results computed by hand.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "formats/format.h"
#include "support/files.h"
#include "support/run_graph.h"

namespace nn::test::onnx_qonnx_test {
namespace {

struct Constant {
  std::vector<int64_t> dims;
  std::vector<double> elements;
};

// A node of one operand x with constant parameters.
struct Case {
  std::string op;
  std::string attributes;
  Constant x;
  std::vector<Constant> parameters;
  std::vector<double> y;
  int version = 1;
  std::string domain = "qonnx.custom_op.general";
};

std::string Text(std::string_view name, std::string_view value) {
  return fmt::format("attribute {{ name: \"{}\" type: STRING s: \"{}\" }} ", name, value);
}
std::string Int(std::string_view name, int64_t value) {
  return fmt::format("attribute {{ name: \"{}\" type: INT i: {} }} ", name, value);
}

std::string Initializer(std::string_view name, const Constant& t) {
  return fmt::format("initializer {{ name: \"{}\" data_type: 1 dims: [{}] float_data: [{}] }}\n",
                     name, fmt::join(t.dims, ", "), fmt::join(t.elements, ", "));
}

// With x as an input or as a constant; the parameters named in `computed` are inputs too.
std::string Model(const Case& c, bool constant_x, const std::string& computed = "") {
  std::string inputs = "input: \"x\" ", initializers, ports;
  const auto port = [&](std::string_view name, const Constant& t) {
    std::string dims;
    for (const int64_t d : t.dims) dims += fmt::format(" dim {{ dim_value: {} }}", d);
    return fmt::format(
        "input {{ name: \"{}\" type {{ tensor_type {{ elem_type: 1 shape {{{} }} }} }} }}\n", name,
        dims);
  };
  (constant_x ? initializers : ports) += constant_x ? Initializer("x", c.x) : port("x", c.x);
  for (size_t i = 0; i < c.parameters.size(); ++i) {
    const std::string name = fmt::format("p{}", i);
    inputs += fmt::format("input: \"{}\" ", name);
    if (computed == name)
      ports += port(name, c.parameters[i]);
    else
      initializers += Initializer(name, c.parameters[i]);
  }
  return fmt::format(
      "ir_version: 9\nopset_import {{ version: 17 }}\n"
      "opset_import {{ domain: \"{0}\" version: {1} }}\n"
      "graph {{\nname: \"g\"\nnode {{ {2} output: \"y\" op_type: \"{3}\" domain: \"{0}\" {4} }}\n"
      "{5}{6}output {{ name: \"y\" type {{ tensor_type {{ elem_type: 1 }} }} }}\n}}\n",
      c.domain, c.version, inputs, c.op, c.attributes, initializers, ports);
}

ImportedModel Import(const std::string& text) {
  const TempDir dir;
  WriteText(dir / "m.textproto", text);
  const ReadModel read = ReadOrFail(dir / "m.textproto");
  auto imported = read.format->importer.Import(*read.model);
  REQUIRE_MESSAGE(imported.has_value(), imported.error().message());
  return *std::move(imported);
}

Graph GraphOf(const std::string& text) {
  ImportedModel model = Import(text);
  for (const auto& u : model.unsupported) FAIL(u.reason);
  return std::move(model.graph);
}

std::string RefusalOf(const std::string& text) {
  const ImportedModel model = Import(text);
  REQUIRE(model.unsupported.size() == 1);
  return model.unsupported[0].reason;
}

void Check(const Case& c) {
  CAPTURE(c.op);
  CAPTURE(c.attributes);
  const Graph run = GraphOf(Model(c, false));
  CHECK(RunEverywhere(run, InputsOf(run, {c.x.elements}))[0].ToDoubles() == c.y);
  const Graph constant = GraphOf(Model(c, true));
  CHECK(RunEverywhere(constant, {})[0].ToDoubles() == c.y);
}

const Constant kZero = {{}, {0}};

Constant Number(double v) {
  return {{}, {v}};
}

Case Quant(std::string attributes, std::vector<double> x, double scale, double zero, double bits,
           std::vector<double> y) {
  const auto n = static_cast<int64_t>(x.size());
  return {.op = "IntQuant",
          .attributes = std::move(attributes),
          .x = {{n}, std::move(x)},
          .parameters = {Number(scale), Number(zero), Number(bits)},
          .y = std::move(y)};
}

TEST_CASE("qonnx: IntQuant") {
  const std::vector<double> x = {-100, -0.25, 0.25, 0.75, 100};
  Check(Quant("", x, 0.5, 0, 8, {-64, 0, 0, 1, 63.5}));
  Check(Quant(Int("narrow", 1), x, 0.5, 0, 8, {-63.5, 0, 0, 1, 63.5}));
  Check(Quant(Int("signed", 0), x, 0.25, 0, 8, {0, 0, 0.25, 0.75, 63.75}));
  Check(Quant(Int("signed", 0) + Int("narrow", 1), x, 0.25, 0, 8, {0, 0, 0.25, 0.75, 63.5}));
  Check(Quant("", x, 0.25, 0, 3, {-1, -0.25, 0.25, 0.75, 0.75}));
  // The zero point is added before rounding.
  Check(Quant(Int("signed", 0), {-5, -1.5, 0.4, 20}, 1, 2, 4, {-2, -2, 0, 13}));
  Check(Quant("", {0.5, 1.5, 2.5}, 1, 1, 8, {1, 1, 3}));
  Check(Quant("", x, 0.5, 0, 24, {-100, 0, 0, 1, 100}));
  // One signed bit has the values -1 and 1.
  Check(Quant("", {-3, 0, 2}, 2, 0, 1, {-2, 2, 2}));
  Check(Quant(Int("signed", 0), {-3, 0.5, 2}, 1, 0, 1, {0, 0, 1}));
  Case brevitas = Quant("", x, 0.5, 0, 8, {-64, 0, 0, 1, 63.5});
  brevitas.domain = "onnx.brevitas";
  brevitas.op = "Quant";
  Check(brevitas);
  // A scale for each row.
  Check({.op = "Quant",
         .attributes = "",
         .x = {{2, 2}, {3, 5, 3.5, -1.25}},
         .parameters = {{{2, 1}, {2, 1}}, kZero, Number(8)},
         .y = {4, 4, 4, -1}});
  // A scale for each element.
  Check({.op = "Quant",
         .attributes = "",
         .x = {{2, 2}, {3, 5, 3.5, -1.25}},
         .parameters = {{{2, 2}, {2, 1, 4, 0.5}}, kZero, Number(8)},
         .y = {4, 5, 4, -1}});
}

TEST_CASE("qonnx: rounding modes") {
  const std::vector<double> x = {5.5, 2.5, 1.6, -1.1, -2.5};
  const std::vector<std::pair<std::string, std::vector<double>>> modes = {
      {"ROUND", {6, 2, 2, -1, -2}},   {"half_even", {6, 2, 2, -1, -2}}, {"CEIL", {6, 3, 2, -1, -2}},
      {"floor", {5, 2, 1, -2, -3}},   {"UP", {6, 3, 2, -2, -3}},        {"DOWN", {5, 2, 1, -1, -2}},
      {"half_up", {6, 3, 2, -1, -3}}, {"HALF_DOWN", {5, 2, 2, -1, -2}},
  };
  for (const auto& [mode, y] : modes) Check(Quant(Text("rounding_mode", mode), x, 1, 0, 8, y));
}

TEST_CASE("qonnx: BipolarQuant and Trunc") {
  Check({.op = "BipolarQuant",
         .attributes = "",
         .x = {{3}, {-3, 0, 2}},
         .parameters = {Number(0.5)},
         .y = {-0.5, 0.5, 0.5}});
  const Constant x = {{3}, {10, -10, 3.9}};
  // 40, -40 and 16 steps, divided by 2^4.
  Check({.op = "Trunc",
         .attributes = "",
         .x = x,
         .parameters = {Number(0.25), kZero, Number(8), Number(4)},
         .y = {0.5, -0.75, 0.25}});
  Check({.op = "Trunc",
         .attributes = Text("rounding_mode", "ROUND"),
         .x = x,
         .parameters = {Number(0.25), kZero, Number(8), Number(4)},
         .y = {0.5, -0.5, 0.25}});
  // The result has a scale of its own.
  Check({.op = "Trunc",
         .attributes = "",
         .x = x,
         .parameters = {Number(0.25), kZero, Number(8), Number(4), Number(4)},
         .y = {8, -12, 4},
         .version = 2});
  // 44, -36 and 20 steps; clamped to [-2, 1], less a zero point of 0.25.
  Check({.op = "Trunc",
         .attributes = "",
         .x = x,
         .parameters = {Number(0.25), Number(4), Number(8), Number(4), Number(2)},
         .y = {3, -9, 3},
         .version = 2});
}

TEST_CASE("qonnx: weights and activations of 8 bits are quantized values") {
  const auto count = [](const Graph& g, std::string_view op) {
    return std::count_if(g.nodes().begin(), g.nodes().end(),
                         [&](const Node& n) { return n.Is(op); });
  };
  const Case narrow = Quant(Int("narrow", 1), {-100, 1, 100}, 0.5, 0, 4, {-3.5, 1, 3.5});
  const Graph weights = GraphOf(Model(narrow, true));
  const Value* const integers = weights.outputs()[0].value->def()->input(0);
  CHECK(weights.outputs()[0].value->def()->Is("dequantize"));
  REQUIRE(integers->is_constant());
  CHECK(integers->dtype() == DType::kI8);
  CHECK(integers->constant().ToInts() == std::vector<int64_t>{-7, 2, 7});
  CHECK(integers->type().quant->scales == std::vector<float>{0.5f});

  const Graph wide = GraphOf(Model(Quant("", {0}, 0.5, 0, 8, {0}), false));
  CHECK(count(wide, "quantize") == 1);
  CHECK(count(wide, "dequantize") == 1);
  // QuantizeLinear has no narrow range and only one rounding.
  CHECK(count(GraphOf(Model(narrow, false)), "quantize") == 0);
  CHECK(count(GraphOf(Model(Quant(Text("rounding_mode", "FLOOR"), {0}, 0.5, 0, 8, {0}), false)),
              "quantize") == 0);
}

TEST_CASE("qonnx: refusals") {
  const Case quant = Quant("", {1}, 0.5, 0, 8, {1});
  CHECK(RefusalOf(Model(quant, false, "p2")) == "a bit width that is computed at run time");
  Case wide = quant;
  wide.parameters[2] = Number(40);
  CHECK(RefusalOf(Model(wide, false)) == "a bit width of 40; at most 32");
  Case unknown = quant;
  unknown.op = "FloatQuant";
  CHECK(RefusalOf(Model(unknown, false)) ==
        "FloatQuant (operator set qonnx.custom_op.general, version 1) is unsupported");

  const TempDir dir;
  const auto error_of = [&](const Case& c) {
    WriteText(dir / "m.textproto", Model(c, false));
    const ReadModel read = ReadOrFail(dir / "m.textproto");
    const auto imported = read.format->importer.Import(*read.model);
    REQUIRE(!imported.has_value());
    return imported.error().message();
  };
  Case mode = quant;
  mode.attributes = Text("rounding_mode", "NEAREST");
  CHECK(error_of(mode).ends_with("rounding_mode is \"NEAREST\", which is unknown"));
  Case half = quant;
  half.parameters[2] = Number(2.5);
  CHECK(error_of(half).ends_with("a bit width is 2.5; it must be a positive integer"));
}

}  // namespace
}  // namespace nn::test::onnx_qonnx_test
