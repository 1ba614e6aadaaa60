#include "formats/onnx/type_models.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <span>

namespace nn::test::onnx_type_models {

namespace {

// "f32[1, n]" as TypeProto in text form; "f32" has no shape, "seq(f32[2])" is a sequence.
std::string TypeText(const std::string& type) {
  static const std::map<std::string, int> kNumbers = {
      {"f32", 1}, {"u8", 2}, {"i8", 3}, {"i32", 6}, {"i64", 7}, {"str", 8}, {"bool", 9}};
  if (type.starts_with("seq(") || type.starts_with("opt("))
    return fmt::format("{} {{ elem_type {{ {} }} }}",
                       type.starts_with("seq(") ? "sequence_type" : "optional_type",
                       TypeText(type.substr(4, type.size() - 5)));
  const size_t bracket = type.find('[');
  std::string shape;
  if (bracket != std::string::npos) {
    std::string dims = type.substr(bracket + 1, type.size() - bracket - 2);
    while (!dims.empty()) {
      const size_t comma = std::min(dims.find(", "), dims.size());
      const std::string dim = dims.substr(0, comma);
      shape += std::isdigit(dim[0]) != 0 ? "dim { dim_value: " + dim + " } "
                                         : "dim { dim_param: '" + dim + "' } ";
      dims = comma == dims.size() ? "" : dims.substr(comma + 2);
    }
    shape = "shape { " + shape + "}";
  }
  return fmt::format("tensor_type {{ elem_type: {} {} }}", kNumbers.at(type.substr(0, bracket)),
                     shape);
}

}  // namespace

std::string Info(const std::string& field, const std::string& name, const std::string& type) {
  return fmt::format("{} {{ name: '{}' type {{ {} }} }}\n", field, name, TypeText(type));
}

std::vector<TypeDefect> CheckText(const std::string& graph, int opset,
                                  const std::string& functions) {
  const std::string text = fmt::format(
      "ir_version: 10 opset_import {{ version: {} }} opset_import {{ domain: 'my' version: 1 }}\n"
      "opset_import {{ domain: 'ai.onnx.ml' version: 3 }} {} graph {{ name: 'g' {} }}",
      opset, functions, graph);
  const Format* format = FindFormat("onnx");
  const auto model =
      format->reader.Read(Blob::Copy(std::as_bytes(std::span(text))), "model.textproto", {});
  REQUIRE_MESSAGE(model.has_value(), text, "\n", model.error().message());
  return format->describer.CheckTypes(**model);
}

std::vector<TypeDefect> CheckNode(const Case& c, const std::string& result) {
  std::string node;
  std::string inputs;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    const std::string name = c.inputs[i].empty() ? "" : fmt::format("i{}", i);
    node += fmt::format("input: '{}' ", name);
    if (!name.empty()) inputs += Info("input", name, c.inputs[i]);
  }
  const size_t dot = c.op.rfind('.');
  const std::string domain = dot == std::string::npos ? "" : c.op.substr(0, dot);
  const size_t data = std::min(c.more.find("initializer"), c.more.size());
  return CheckText(fmt::format("node {{ {} output: 'y' op_type: '{}' domain: '{}' {} }} {} {}{}",
                               node, c.op.substr(dot + 1), domain, c.more.substr(0, data),
                               c.more.substr(data), inputs, result),
                   c.opset);
}

std::string IntAttr(const std::string& name, int64_t value) {
  return fmt::format("attribute {{ name: '{}' type: INT i: {} }} ", name, value);
}
std::string IntsAttr(const std::string& name, const std::string& values) {
  return fmt::format("attribute {{ name: '{}' type: INTS ints: [{}] }} ", name, values);
}
std::string StringAttr(const std::string& name, const std::string& value) {
  return fmt::format("attribute {{ name: '{}' type: STRING s: '{}' }} ", name, value);
}
std::string Data(int input, const std::string& dims, const std::string& values) {
  return fmt::format("initializer {{ name: 'i{}' data_type: 7 {} int64_data: [{}] }} ", input, dims,
                     values);
}

}  // namespace nn::test::onnx_type_models
