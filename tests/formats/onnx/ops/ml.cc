#include "formats/onnx/ops/ml.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "support/files.h"
#include "support/run_graph.h"

namespace nn::test::onnx_ml {

std::string Text(std::string_view name, std::string_view value) {
  return fmt::format("attribute {{ name: \"{}\" type: STRING s: \"{}\" }} ", name, value);
}
std::string Texts(std::string_view name, const std::vector<std::string>& values) {
  std::string out = fmt::format("attribute {{ name: \"{}\" type: STRINGS ", name);
  for (const auto& v : values) out += fmt::format("strings: \"{}\" ", v);
  return out + "} ";
}
std::string Number(std::string_view name, double v) {
  return fmt::format("attribute {{ name: \"{}\" type: FLOAT f: {} }} ", name, v);
}
std::string Numbers(std::string_view name, const std::vector<double>& values) {
  return fmt::format("attribute {{ name: \"{}\" type: FLOATS floats: [{}] }} ", name,
                     fmt::join(values, ", "));
}
std::string Vector(std::string_view name, int type, const std::vector<double>& values) {
  const char* const list = type == kF64   ? "double_data"
                           : type == kF32 ? "float_data"
                                          : "int32_data";
  return fmt::format(
      "attribute {{ name: \"{}\" type: TENSOR t {{ data_type: {} dims: {} {}: [{}] }} }} ", name,
      type, values.size(), list, fmt::join(values, ", "));
}

std::string Model::text() const {
  std::vector<std::string> inputs, outputs_of;
  std::string ports;
  for (size_t i = 0; i < types.size(); ++i) {
    inputs.push_back(fmt::format("x{}", i));
    ports += onnx_text::Input(inputs.back(), types[i]);
  }
  for (int i = 0; i < outputs; ++i) outputs_of.push_back(fmt::format("y{}", i));
  return fmt::format(
      "ir_version: 10\nopset_import {{ version: 20 }}\nopset_import {{ domain: \"ai.onnx.ml\" "
      "version: {} }}\ngraph {{ name: \"g\"\n{} {} {} }}\n",
      version, onnx_text::Node(op, inputs, outputs_of, "domain: \"ai.onnx.ml\" " + attributes),
      ports, onnx_text::Outputs(outputs_of));
}

std::string Rows(int element, int64_t rows, int64_t columns) {
  return onnx_text::TypeOf(element, {std::to_string(rows), std::to_string(columns)});
}

void Check(const Model& model, const Values& inputs, const Values& want, double tolerance) {
  CAPTURE(model.op);
  CAPTURE(model.attributes);
  const auto graph = ImportText(model.text());
  REQUIRE_MESSAGE(graph.has_value(), graph.error().message());
  const auto outputs = RunEverywhere(*graph, InputsOf(*graph, inputs));
  REQUIRE(outputs.size() == want.size());
  for (size_t i = 0; i < want.size(); ++i) {
    const std::vector<double> got = outputs[i].ToDoubles();
    CAPTURE(i);
    CAPTURE(fmt::format("{}", fmt::join(got, ", ")));
    REQUIRE(got.size() == want[i].size());
    for (size_t k = 0; k < got.size(); ++k) {
      CAPTURE(k);
      const bool same =
          std::isnan(want[i][k])
              ? std::isnan(got[k])
              : std::abs(got[k] - want[i][k]) <= tolerance * std::max(1.0, std::abs(want[i][k]));
      CHECK(same);
    }
  }
}

std::vector<std::string> LabelsOf(const Model& model, const Values& inputs) {
  const auto graph = ImportText(model.text());
  REQUIRE_MESSAGE(graph.has_value(), graph.error().message());
  const auto outputs = RunEverywhere(*graph, InputsOf(*graph, inputs));
  REQUIRE(outputs.at(0).dtype() == DType::kString);
  return outputs[0].strings();
}

bool Refused(const Model& model, std::string_view why) {
  const auto graph = ImportText(model.text());
  return onnx_text::Contains(graph ? std::string("imported") : graph.error().message(), why);
}

double Sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

}  // namespace nn::test::onnx_ml
