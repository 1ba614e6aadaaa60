// The outputs of ONNX models.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "formats/format.h"
#include "formats/given_inputs.h"
#include "formats/onnx/text.h"
#include "passes/core/ports.h"

namespace nn::test::onnx_outputs_test {
namespace {

using namespace onnx_text;

// As PyTorch's exporter writes a network that returns a value twice.
TEST_CASE("onnx outputs: a value that is listed twice is two outputs with different names") {
  const std::string text = Node("Relu", {"x"}, {"y"}) + Node("Neg", {"x"}, {"y_1"}) +
                           Input("x", TypeOf(kF32, {"2"})) + Outputs({"y", "y", "y_1"});
  Check(text, {{1, -2}}, {{1, 0}, {1, 0}, {-1, 2}});
  const std::vector<std::string> names = {"y", "y_2", "y_1"};
  const ImportedModel imported = Import(text);
  CHECK(NamesOf(imported.graph.outputs()) == names);
  const ReadModel read = Read(text);
  const PortKinds kinds = PortKindsOf(read);
  REQUIRE(kinds.outputs.size() == names.size());
  for (size_t i = 0; i < names.size(); ++i) CHECK(kinds.outputs[i].first == names[i]);
  for (const char* const format : {"onnx", "tflite", "coreml"}) {
    CAPTURE(format);
    const Format& to = *FindFormat(format);
    const auto image =
        to.writer.Write(imported.graph, {.path = "m" + std::string(to.extensions[0])});
    CHECK_MESSAGE(image.has_value(), image.error().message());
  }
}

}  // namespace
}  // namespace nn::test::onnx_outputs_test
