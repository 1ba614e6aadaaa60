// Operators without the inputs that they require.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "formats/format.h"
#include "formats/onnx/text.h"

namespace nn::test::onnx_absent_inputs_test {
namespace {

using namespace onnx_text;

struct ImportedOperator {
  std::string domain, op;
};

std::vector<ImportedOperator> ImportedOperators() {
  std::vector<ImportedOperator> list;
  for (const OperatorSupport& o : FindFormat("onnx")->operators()) {
    if (!o.imported) continue;
    const size_t dot = o.name.rfind('.');
    if (dot == std::string::npos)
      list.push_back({"", o.name});
    else
      list.push_back({o.name.substr(0, dot), o.name.substr(dot + 1)});
  }
  return list;
}

// The first `present` of the inputs are there.
ReadModel ModelOf(const ImportedOperator& o, size_t present, int opset) {
  std::vector<std::string> inputs(7);
  for (size_t i = 0; i < present; ++i) inputs[i] = "x";
  const std::string domain = fmt::format("domain: \"{}\"", o.domain);
  const std::string versions =
      o.domain.empty() ? "" : fmt::format("opset_import {{ {} version: {} }}", domain, opset);
  return Read(
      Input("x", TypeOf(kF32, {"2", "3"})) + Node(o.op, inputs, {"y"}, domain) + Outputs({"y"}),
      opset, versions);
}

TEST_CASE("onnx operators without inputs that they require are no crash") {
  const auto operators = ImportedOperators();
  CHECK(operators.size() > 200);
  for (const ImportedOperator& o : operators)
    for (const int opset : {1, 6, 12, 22, 26})
      for (const size_t present : {0, 1, 2, 3}) {
        CAPTURE(o.op);
        CAPTURE(opset);
        CAPTURE(present);
        const ReadModel model = ModelOf(o, present, opset);
        const auto imported = model.format->importer.Import(*model.model);
        CHECK((imported.has_value() || !imported.error().message().empty()));
      }
}

}  // namespace
}  // namespace nn::test::onnx_absent_inputs_test
