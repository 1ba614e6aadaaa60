#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "formats/format.h"
#include "support/files.h"
#include "support/run_graph.h"

// The optimizers of ai.onnx.preview.training.
namespace nn::test::onnx_optimizer_test {
namespace {

std::string Float(std::string_view name, double value) {
  return fmt::format("attribute {{ name: \"{}\" type: FLOAT f: {} }} ", name, value);
}

// An optimizer of `count` tensors of two elements with `lists` lists, in a type of ONNX.
std::string Model(std::string_view op, std::string_view attributes, int lists, int count = 1,
                  int type = 1) {
  std::string node, ports;
  const auto port = [](std::string_view kind, const std::string& name, int element,
                       std::string_view dims) {
    return fmt::format(
        "{} {{ name: \"{}\" type {{ tensor_type {{ elem_type: {} shape {{ {} }} }} "
        "}} }}\n",
        kind, name, element, dims);
  };
  for (const char* name : {"r", "t"}) {
    node += fmt::format("input: \"{}\" ", name);
    ports += port("input", name, *name == 'r' ? 1 : 7, "");
  }
  for (int list = 0; list < lists; ++list)
    for (int i = 0; i < count; ++i) {
      const std::string name = fmt::format("x{}_{}", list, i);
      node += fmt::format("input: \"{}\" ", name);
      ports += port("input", name, type, "dim { dim_value: 2 }");
    }
  for (int list = 1; list < lists; ++list)
    for (int i = 0; i < count; ++i) {
      const std::string name = fmt::format("y{}_{}", list, i);
      node += fmt::format("output: \"{}\" ", name);
      ports += port("output", name, type, "dim { dim_value: 2 }");
    }
  return fmt::format(
      "ir_version: 8\nopset_import {{ version: 17 }}\nopset_import {{ domain: "
      "\"ai.onnx.preview.training\" version: 1 }}\ngraph {{ name: \"g\"\nnode {{ {} op_type: "
      "\"{}\" domain: \"ai.onnx.preview.training\" {} }}\n{} }}\n",
      node, op, attributes, ports);
}

void Check(const std::string& model, const std::vector<std::vector<double>>& inputs,
           const std::vector<std::vector<double>>& want, double tolerance = 1e-6) {
  const auto graph = ImportText(model);
  REQUIRE_MESSAGE(graph.has_value(), graph.error().message());
  const auto outputs = RunEverywhere(*graph, InputsOf(*graph, inputs));
  REQUIRE(outputs.size() == want.size());
  for (size_t i = 0; i < want.size(); ++i)
    for (size_t k = 0; k < 2; ++k) {
      CAPTURE(i);
      CAPTURE(k);
      CHECK(outputs[i].GetDouble(static_cast<int64_t>(k)) ==
            doctest::Approx(want[i][k]).epsilon(tolerance));
    }
}

}  // namespace

TEST_CASE("ONNX: Momentum") {
  const std::string rates = Float("alpha", 0.5) + Float("beta", 0.25);
  const auto mode = [](std::string_view name) {
    return fmt::format("attribute {{ name: \"mode\" type: STRING s: \"{}\" }} ", name);
  };
  const std::string standard =
      Model("Momentum", rates + Float("norm_coefficient", 0) + mode("standard"), 3);
  // v = 0.5 * 4 + g in the first step, then 0.5 * 4 + 0.25 * g; x - 0.1 * v.
  for (const double step : {0.0, 3.0}) {
    const double first = step == 0 ? 2 + 8 : 2 + 2, second = step == 0 ? 2 - 8 : 2 - 2;
    Check(standard, {{0.125}, {step}, {1, 2}, {8, -8}, {4, 4}},
          {{1 - first / 8, 2 - second / 8}, {first, second}});
  }
  // g = 0.5 * 2 + 3 = 4, v = 4 + 2 = 6, x - 0.5 * (4 + 0.5 * 6).
  Check(Model("Momentum", rates + Float("norm_coefficient", 0.5) + mode("nesterov"), 3),
        {{0.5}, {0}, {2, 2}, {3, 3}, {4, 4}}, {{-1.5, -1.5}, {6, 6}});
  CHECK(ImportText(Model("Momentum", rates + Float("norm_coefficient", 0) + mode("x"), 3))
            .error()
            .message()
            .find("unknown mode \"x\"") != std::string::npos);
  CHECK(ImportText(Model("Momentum", rates + mode("standard"), 3))
            .error()
            .message()
            .find("attribute norm_coefficient is missing") != std::string::npos);
}

TEST_CASE("ONNX: Adagrad of two tensors") {
  // The rate is 1 / (1 + 2 * 0.5); x - rate * g / (sqrt(h + g * g) + epsilon).
  Check(Model("Adagrad", Float("decay_factor", 0.5) + Float("epsilon", 1), 3, 2),
        {{1}, {2}, {10, 10}, {20, 20}, {3, 4}, {-3, 0}, {16, 9}, {0, 4}},
        {{9.75, 10 - 2 / 6.0}, {20.375, 20}, {25, 25}, {9, 4}});
  Check(Model("Adagrad", "", 3, 1, 11), {{1}, {2}, {10, 10}, {3, 4}, {16, 9}},
        {{10 - 3 / (5 + 1e-6), 10 - 4 / (5 + 1e-6)}, {25, 25}}, 1e-12);
}

TEST_CASE("ONNX: Adam") {
  const std::string attributes = Float("alpha", 0.5) + Float("beta", 0.75) + Float("epsilon", 1);
  // v = 0.5 * 2 + 0.5 * 4 = 3 and h = 0.75 * 4 + 0.25 * 16 = 7.
  for (const int step : {0, 1, 3}) {
    const double rate =
        step == 0 ? 0.5 : 0.5 * std::sqrt(1 - std::pow(0.75, step)) / (1 - std::pow(0.5, step));
    const double x = 1 - rate * 3 / (std::sqrt(7.0) + 1);
    Check(Model("Adam", attributes, 4), {{0.5}, {double(step)}, {1, 1}, {4, 4}, {2, 2}, {4, 4}},
          {{x, x}, {3, 3}, {7, 7}});
    Check(Model("Adam", attributes + Float("norm_coefficient_post", 0.25), 4),
          {{0.5}, {double(step)}, {1, 1}, {4, 4}, {2, 2}, {4, 4}},
          {{0.75 * x, 0.75 * x}, {3, 3}, {7, 7}});
  }
  CHECK(ImportText(Model("Adam", "", 4, 1, 11)).error().message().find("Adam of f64") !=
        std::string::npos);
  CHECK(ImportText(Model("Adam", "", 3)).error().message().find("not a multiple of 4") !=
        std::string::npos);
}

}  // namespace nn::test::onnx_optimizer_test
