#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "formats/format.h"
#include "passes/core/passes.h"
#include "support/files.h"
#include "support/run_graph.h"

// Operators that continue a sequence, and SwiGLU.
namespace nn::test::onnx_state_test {
namespace {

struct Port {
  std::string name;
  int type;
  std::string dims;  // "2, n"
};

std::string Declared(std::string_view kind, const Port& port) {
  std::string dims;
  for (size_t at = 0; at < port.dims.size();) {
    const size_t end = std::min(port.dims.find(", ", at), port.dims.size());
    const std::string dim = port.dims.substr(at, end - at);
    const bool number = dim.find_first_not_of("0123456789") == std::string::npos;
    dims += number ? fmt::format("dim {{ dim_value: {} }} ", dim)
                   : fmt::format("dim {{ dim_param: \"{}\" }} ", dim);
    at = end + 2;
  }
  return fmt::format(
      "{} {{ name: \"{}\" type {{ tensor_type {{ elem_type: {} shape {{ {} }} }} }} }}\n", kind,
      port.name, port.type, dims);
}

std::string Model(std::string_view op, const std::vector<Port>& inputs, int outputs,
                  std::string_view attributes = "", int type = 1) {
  std::string node, ports;
  for (const Port& port : inputs) {
    node += fmt::format("input: \"{}\" ", port.name);
    if (!port.name.empty()) ports += Declared("input", port);
  }
  for (int i = 0; i < outputs; ++i) {
    node += fmt::format("output: \"y{}\" ", i);
    ports += fmt::format("output {{ name: \"y{}\" type {{ tensor_type {{ elem_type: {} }} }} }}\n",
                         i, type);
  }
  return fmt::format(
      "ir_version: 12\nopset_import {{ version: 28 }}\ngraph {{ name: \"g\"\nnode {{ {} op_type: "
      "\"{}\" {} }}\n{} }}\n",
      node, op, attributes, ports);
}

std::string Text(std::string_view name, std::string_view value) {
  return fmt::format("attribute {{ name: \"{}\" type: STRING s: \"{}\" }} ", name, value);
}
std::string Int(std::string_view name, int64_t value) {
  return fmt::format("attribute {{ name: \"{}\" type: INT i: {} }} ", name, value);
}

bool IsRefused(const std::string& model, std::string_view why) {
  const auto graph = ImportText(model);
  if (graph) return false;
  CAPTURE(graph.error().message());
  CHECK(graph.error().message().find(why) != std::string::npos);
  return true;
}

void Check(const std::string& model, const std::vector<std::vector<double>>& inputs,
           const std::vector<std::vector<double>>& want, double tolerance = 0,
           const std::map<std::string, std::vector<int64_t>>& shapes = {}) {
  auto graph = ImportText(model);
  REQUIRE_MESSAGE(graph.has_value(), graph.error().message());
  if (!shapes.empty()) REQUIRE(BindInputShapes(*graph, shapes).has_value());
  const auto outputs = RunEverywhere(*graph, InputsOf(*graph, inputs));
  REQUIRE(outputs.size() == want.size());
  for (size_t i = 0; i < want.size(); ++i) {
    const std::vector<double> got = outputs[i].ToDoubles();
    REQUIRE(got.size() == want[i].size());
    for (size_t k = 0; k < got.size(); ++k) {
      CAPTURE(i);
      CAPTURE(k);
      CHECK(std::fabs(got[k] - want[i][k]) <= tolerance);
    }
  }
}

constexpr int kF32 = 1, kI64 = 7, kF16 = 10;

}  // namespace

TEST_CASE("ONNX: TensorScatter") {
  const std::vector<double> cache = {1, 2, 3, 4, 5, 6, 7, 8}, update = {10, 20, 30, 40};
  const std::vector<Port> ports = {
      {"c", kF32, "2, 4, 1"}, {"u", kF32, "2, 2, 1"}, {"i", kI64, "2"}};
  Check(Model("TensorScatter", ports, 1), {cache, update, {1, 2}}, {{1, 10, 20, 4, 5, 6, 30, 40}});
  Check(Model("TensorScatter", ports, 1, Text("mode", "circular")), {cache, update, {3, 6}},
        {{20, 2, 3, 10, 5, 6, 30, 40}});
  // Without indices, and along another axis.
  Check(Model("TensorScatter", {ports[0], ports[1]}, 1), {cache, update},
        {{10, 20, 3, 4, 30, 40, 7, 8}});
  Check(Model("TensorScatter", {{"c", kF32, "2, 1, 4"}, {"u", kF32, "2, 1, 2"}, ports[2]}, 1,
              Int("axis", -1)),
        {cache, update, {0, 1}}, {{10, 20, 3, 4, 5, 30, 40, 8}});
  Check(Model("TensorScatter", {{"c", kF16, "b, m, 1"}, {"u", kF16, "b, n, 1"}, {"i", kI64, "b"}},
              1, Text("mode", "circular"), kF16),
        {cache, update, {3, 6}}, {{20, 2, 3, 10, 5, 6, 30, 40}}, 0,
        {{"c", {2, 4, 1}}, {"u", {2, 2, 1}}, {"i", {2}}});
  const auto graph = ImportText(Model("TensorScatter", ports, 1));
  REQUIRE(graph.has_value());
  CheckSameError(*graph, InputsOf(*graph, {cache, update, {1, 3}}));
  CHECK(IsRefused(Model("TensorScatter", ports, 1, Int("axis", 0)), "cannot be the batch"));
  CHECK(IsRefused(Model("TensorScatter", ports, 1, Text("mode", "ring")), "unknown mode"));
  CHECK(IsRefused(Model("TensorScatter", {ports[0], {"u", kF32, "2, 5, 1"}}, 1),
                  "does not match cache"));
}

TEST_CASE("ONNX: CausalConvWithState") {
  const Port x = {"x", kF32, "1, 2, 3"}, w = {"w", kF32, "2, 1, 3"}, b = {"b", kF32, "2"},
             s = {"s", kF32, "1, 2, 2"};
  const std::vector<double> input = {1, 2, 3, 4, 5, 6}, filter = {1, 10, 100, 1, 0, 0},
                            state = {7, 8, 9, 10};
  Check(Model("CausalConvWithState", {x, w}, 2), {input, filter},
        {{100, 210, 321, 0, 0, 4}, {2, 3, 5, 6}});
  Check(Model("CausalConvWithState", {x, w, b, s}, 2), {input, filter, {0.5, -1}, state},
        {{187.5, 218.5, 321.5, 8, 9, 3}, {2, 3, 5, 6}});
  // The state is longer than the input, and a filter of one element has none.
  Check(Model("CausalConvWithState",
              {{"x", kF32, "1, 1, 1"}, {"w", kF32, "1, 1, 3"}, {"", 0, ""}, {"s", kF32, "1, 1, 2"}},
              2),
        {{5}, {1, 10, 100}, {7, 8}}, {{587}, {8, 5}});
  Check(Model("CausalConvWithState", {x, {"w", kF32, "2, 1, 1"}}, 2), {input, {2, 3}},
        {{2, 4, 6, 12, 15, 18}, {}});
  const auto silu = [](double v) { return v / (1 + std::exp(-v)); };
  for (const char* name : {"silu", "swish"})
    Check(Model("CausalConvWithState", {x, {"w", kF32, "2, 1, 1"}}, 1, Text("activation", name)),
          {input, {1, -1}}, {{silu(1), silu(2), silu(3), silu(-4), silu(-5), silu(-6)}}, 1e-6);
  CHECK(IsRefused(Model("CausalConvWithState", {x, w}, 2, Text("activation", "relu")),
                  "unknown activation"));
  CHECK(IsRefused(Model("CausalConvWithState", {x, {"w", kF32, "c, 1, k"}}, 2),
                  "a filter of known shape"));
}

TEST_CASE("ONNX: LinearAttention") {
  const std::vector<Port> ports = {{"q", kF32, "1, 2, 1"}, {"k", kF32, "1, 2, 1"},
                                   {"v", kF32, "1, 2, 1"}, {"s", kF32, "1, 1, 1, 1"},
                                   {"d", kF32, "1, 2, 1"}, {"b", kF32, "1, 2, 1"}};
  const std::string heads = Int("q_num_heads", 1) + Int("kv_num_heads", 1);
  const std::vector<std::vector<double>> inputs = {{1, 3}, {2, 1}, {5, 7}, {8}, {0, 0}, {0.5, 2}};
  // S = -3, then u = 2 (7 + 3).
  Check(Model("LinearAttention", ports, 2, heads), inputs, {{-3, 51}, {17}});
  Check(Model("LinearAttention", {ports[0], ports[1], ports[2]}, 2,
              heads + Text("update_rule", "linear") + Int("chunk_size", 16)),
        {{1, 3}, {2, 1}, {5, 7}}, {{10, 51}, {17}});
  CHECK(IsRefused(Model("LinearAttention", ports, 2, heads + Text("update_rule", "gated")),
                  "update_rule gated has no beta"));
  CHECK(IsRefused(Model("LinearAttention", {ports[0], ports[1], ports[2]}, 2, heads),
                  "update_rule gated_delta needs decay"));
  CHECK(IsRefused(Model("LinearAttention", ports, 2, heads + Text("update_rule", "x")),
                  "unknown update_rule"));
  CHECK(IsRefused(Model("LinearAttention", ports, 2), "attribute q_num_heads is missing"));
}

TEST_CASE("ONNX: SwiGLU") {
  const auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
  const std::vector<Port> ports = {{"a", kF32, "3"}, {"b", kF32, "3"}};
  for (const double alpha : {1.0, 0.5}) {
    std::vector<double> want;
    for (const auto& [a, b] : {std::pair(1.0, 2.0), std::pair(-2.0, 3.0), std::pair(0.5, -4.0)})
      want.push_back(a * sigmoid(alpha * a) * b);
    Check(Model("SwiGLU", ports, 1,
                alpha == 1 ? "" : "attribute { name: \"alpha\" type: FLOAT f: 0.5 }"),
          {{1, -2, 0.5}, {2, 3, -4}}, {want}, 1e-6);
  }
  CHECK(IsRefused(Model("SwiGLU", {ports[0], {"b", kF32, "1"}}, 1), "must have one shape"));
}

}  // namespace nn::test::onnx_state_test
