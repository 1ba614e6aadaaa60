#include "formats/onnx/ops/contrib.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "formats/format.h"
#include "support/files.h"
#include "support/run_graph.h"

namespace nn::test::onnx_contrib {
namespace {

std::string AttributesOf(std::string_view list) {
  std::string out;
  while (!list.empty()) {
    const std::string_view one = list.substr(0, list.find(' '));
    list.remove_prefix(std::min(list.size(), one.size() + 1));
    const size_t equals = one.find('=');
    const std::string_view name = one.substr(0, equals), value = one.substr(equals + 1);
    const bool is_text = std::isalpha(static_cast<unsigned char>(value[0])) != 0;
    const bool is_float = value.find('.') != std::string_view::npos;
    if (value.starts_with("[\"")) {
      out += fmt::format("attribute {{ name: \"{}\" type: STRINGS strings: {} }} ", name, value);
    } else if (value[0] == '[') {
      out += fmt::format("attribute {{ name: \"{}\" type: {} {}: {} }} ", name,
                         is_float ? "FLOATS" : "INTS", is_float ? "floats" : "ints", value);
    } else if (is_text) {
      out += fmt::format("attribute {{ name: \"{}\" type: STRING s: \"{}\" }} ", name, value);
    } else {
      out += fmt::format("attribute {{ name: \"{}\" type: {} {}: {} }} ", name,
                         is_float ? "FLOAT" : "INT", is_float ? 'f' : 'i', value);
    }
  }
  return out;
}

Result<ImportedModel> Import(const Row& row) {
  std::string node, ports;
  for (size_t i = 0; i < row.inputs.size(); ++i) {
    const Operand& in = row.inputs[i];
    node += in.type == 0 ? "input: \"\" " : fmt::format("input: \"i{}\" ", i);
    if (in.type == 0) continue;
    if (in.constant) {
      ports += fmt::format("initializer {{ name: \"i{}\" data_type: {} dims: [{}] {}: [{}] }}\n", i,
                           in.type, fmt::join(in.dims, ", "),
                           in.type == kF32   ? "float_data"
                           : in.type == kI64 ? "int64_data"
                                             : "int32_data",
                           fmt::join(in.values, ", "));
      continue;
    }
    ports += fmt::format("input {{ name: \"i{}\" type {{ tensor_type {{ elem_type: {} shape {{", i,
                         in.type);
    for (const int64_t d : in.dims) ports += fmt::format(" dim {{ dim_value: {} }}", d);
    ports += " } } } }\n";
  }
  for (size_t i = 0; i < row.outputs.size(); ++i) {
    node += row.outputs[i].empty() ? "output: \"\" " : fmt::format("output: \"o{}\" ", i);
    if (!row.outputs[i].empty()) ports += fmt::format("output {{ name: \"o{}\" }}\n", i);
  }
  const TempDir dir;
  WriteText(
      dir / "m.textproto",
      fmt::format("ir_version: 8 opset_import {{ version: 16 }}\n"
                  "opset_import {{ domain: \"com.microsoft\" version: 1 }}\n"
                  "graph {{ name: \"g\" node {{ op_type: \"{}\" domain: \"{}\" {} {} }}\n{} }}",
                  row.op, row.domain, node, AttributesOf(row.attrs), ports));
  const auto read = ReadModelFile(dir / "m.textproto");
  REQUIRE_MESSAGE(read.has_value(), read.error().message());
  return read->format->importer.Import(*read->model);
}

}  // namespace

void Check(const Row& row) {
  CAPTURE(row.op);
  CAPTURE(row.attrs);
  CAPTURE(row.inputs.size());
  const auto model = Import(row);
  REQUIRE_MESSAGE(model.has_value(), model.error().message());
  REQUIRE_MESSAGE(model->unsupported.empty(), model->unsupported.front().reason);
  std::vector<Numbers> inputs;
  for (const Operand& in : row.inputs)
    if (in.type != 0 && !in.constant) inputs.push_back(in.values);
  const auto results = RunEverywhere(model->graph, InputsOf(model->graph, inputs));
  size_t next = 0;
  for (const Numbers& expected : row.outputs) {
    if (expected.empty()) continue;
    const Numbers y = results.at(next++).ToDoubles();
    REQUIRE(y.size() == expected.size());
    for (size_t i = 0; i < y.size(); ++i) {
      CAPTURE(i);
      CHECK(std::abs(y[i] - expected[i]) <= 2e-6 * std::max(1.0, std::abs(expected[i])));
    }
  }
  CHECK(next == results.size());
}

std::string WhyNot(const Row& row) {
  const auto model = Import(row);
  if (!model) {
    const std::string& message = model.error().message();  // "operator 0 (...): reason"
    return message.substr(message.find("): ") + 3);
  }
  return model->unsupported.empty() ? "" : model->unsupported.front().reason;
}

}  // namespace nn::test::onnx_contrib
