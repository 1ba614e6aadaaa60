#include "formats/onnx/text.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "support/run_graph.h"

namespace nn::test::onnx_text {

std::string Node(std::string_view op, const std::vector<std::string>& inputs,
                 const std::vector<std::string>& outputs, std::string_view attributes) {
  std::string out = "node {";
  for (const auto& name : inputs) out += fmt::format(" input: \"{}\"", name);
  for (const auto& name : outputs) out += fmt::format(" output: \"{}\"", name);
  return out + fmt::format(" op_type: \"{}\" {} }}\n", op, attributes);
}

std::string Ints(std::string_view name, const std::vector<int64_t>& values) {
  return fmt::format("attribute {{ name: \"{}\" type: INTS ints: [{}] }}", name,
                     fmt::join(values, ", "));
}
std::string Int(std::string_view name, int64_t v) {
  return fmt::format("attribute {{ name: \"{}\" type: INT i: {} }}", name, v);
}

std::string TypeOf(int element, const std::vector<std::string>& dims) {
  std::string out = fmt::format("type {{ tensor_type {{ elem_type: {} shape {{", element);
  for (const auto& d : dims)
    out += d[0] >= '0' && d[0] <= '9' ? fmt::format(" dim {{ dim_value: {} }}", d)
                                      : fmt::format(" dim {{ dim_param: \"{}\" }}", d);
  return out + " } } }";
}
std::string Input(std::string_view name, const std::string& type) {
  return fmt::format("input {{ name: \"{}\" {} }}\n", name, type);
}
std::string Outputs(const std::vector<std::string>& names) {
  std::string out;
  for (const auto& name : names) out += fmt::format("output {{ name: \"{}\" }}\n", name);
  return out;
}
std::string Integer(std::string_view name, int64_t v, std::string_view dims) {
  return fmt::format("initializer {{ name: \"{}\" data_type: 7 {} int64_data: {} }}\n", name, dims,
                     v);
}
std::string Flag(std::string_view name, bool v) {
  return fmt::format("initializer {{ name: \"{}\" data_type: 9 int32_data: {} }}\n", name,
                     v ? 1 : 0);
}
std::string Float(std::string_view name, float v) {
  return fmt::format("initializer {{ name: \"{}\" data_type: 1 float_data: {} }}\n", name, v);
}

std::string Subgraph(std::string_view attribute, const std::string& contents) {
  return fmt::format("attribute {{ name: \"{}\" type: GRAPH g {{ name: \"{}\"\n{} }} }}\n",
                     attribute, attribute, contents);
}

ReadModel Read(const std::string& graph, int opset, const std::string& more) {
  const std::string text =
      fmt::format("ir_version: 8\nopset_import {{ version: {} }}\n{}\ngraph {{ name: \"g\"\n{} }}",
                  opset, more, graph);
  const auto read = ReadModelBytes(Blob::Copy(std::as_bytes(std::span(text))), "m.textproto");
  REQUIRE_MESSAGE(read.has_value(), read.error().message());
  return *read;
}

ImportedModel Import(const std::string& graph, int opset, const std::string& more) {
  const ReadModel read = Read(graph, opset, more);
  auto imported = read.format->importer.Import(*read.model);
  REQUIRE_MESSAGE(imported.has_value(), imported.error().message());
  return *std::move(imported);
}

size_t Check(const std::string& graph, const Values& inputs, const Values& outputs, int opset,
             const std::string& more) {
  CAPTURE(graph);
  const ImportedModel model = Import(graph, opset, more);
  for (const auto& u : model.unsupported) FAIL_CHECK(u.reason);
  if (!model.unsupported.empty()) return 0;
  const auto results = RunEverywhere(model.graph, InputsOf(model.graph, inputs));
  REQUIRE(results.size() == outputs.size());
  for (size_t i = 0; i < results.size(); ++i) CHECK(results[i].ToDoubles() == outputs[i]);
  return model.graph.nodes().size();
}

std::string WhyNot(const std::string& graph, int opset) {
  std::string out;
  const ImportedModel model = Import(graph, opset);
  for (const auto& u : model.unsupported) out += fmt::format("{}: {}\n", u.source, u.reason);
  out += WhyOpen(model.graph);
  return out;
}

std::string ErrorOfImport(const std::string& graph) {
  const ReadModel read = Read(graph);
  const auto imported = read.format->importer.Import(*read.model);
  return imported ? "" : imported.error().message();
}

bool Contains(const std::string& text, std::string_view part) {
  if (text.find(part) != std::string::npos) return true;
  MESSAGE(text);
  return false;
}

}  // namespace nn::test::onnx_text
