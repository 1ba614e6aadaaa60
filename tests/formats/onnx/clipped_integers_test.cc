// Clip of integers between QuantizeLinear and DequantizeLinear, as exporters of networks with few
// bits write it.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "formats/onnx/text.h"

namespace nn::test::onnx_clipped_integers_test {
namespace {

using namespace onnx_text;

std::string Number(std::string_view name, int type, std::string_view value) {
  return "initializer { name: \"" + std::string(name) + "\" data_type: " + std::to_string(type) +
         (type == kF32 ? " float_data: " : " int32_data: ") + std::string(value) + " }";
}

constexpr int kU8 = 2, kI8 = 3;
const std::string kBounds = Number("low", kU8, "1") + Number("high", kU8, "5");
const std::string kMapping = Number("s", kF32, "0.5") + Number("z", kU8, "1");

// x in 8 bits, clipped and dequantized.
std::string Clipped(const std::vector<std::string>& clip) {
  return Node("QuantizeLinear", {"x", "s", "z"}, {"q"}) + Node("Clip", clip, {"c"}) +
         Node("DequantizeLinear", {"c", "s", "z"}, {"y"}) + kBounds + kMapping +
         Input("x", TypeOf(kF32, {"5"})) + Outputs({"y"});
}

int64_t CountOf(const std::string& graph, std::string_view op) {
  const ImportedModel model = Import(graph);
  return std::ranges::count_if(model.graph.nodes(), [&](const nn::Node& n) { return n.Is(op); });
}

TEST_CASE("onnx Clip of quantized integers keeps their mapping") {
  const Values x = {{-1, 0, 0.4, 3, 100}};
  Check(Clipped({"q", "low", "high"}), x, {{0, 0, 0.5, 2, 2}});
  Check(Clipped({"q", "", "high"}), x, {{-0.5, 0, 0.5, 2, 2}});
  Check(Clipped({"q", "low"}), x, {{0, 0, 0.5, 3, 100}});
  CHECK(CountOf(Clipped({"q", "low", "high"}), "dequantize") == 2);
  CHECK(CountOf(Clipped({"q", "low", "high"}), "maximum") == 0);
  // Bounds that a run computes are compared with the integers.
  const std::string computed = Node("Identity", {"low"}, {"v"}) + Clipped({"q", "v", "high"});
  Check(computed, x, {{0, 0, 0.5, 2, 2}});
}

TEST_CASE("onnx Clip of constant integers leaves weights of 8 bits") {
  const std::string graph =
      Node("Clip", {"w", "low", "high"}, {"c"}) + Node("DequantizeLinear", {"c", "s"}, {"v"}) +
      Node("Mul", {"x", "v"}, {"y"}) +
      "initializer { name: \"w\" data_type: 3 dims: 3 int32_data: [-128, 5, 127] }" +
      Number("low", kI8, "-127") + Number("high", kI8, "126") + Number("s", kF32, "0.5") +
      Input("x", TypeOf(kF32, {"3"})) + Outputs({"y"});
  Check(graph, {{1, 2, 4}}, {{-63.5, 5, 252}});
  const ImportedModel model = Import(graph);
  const auto at = std::ranges::find_if(model.graph.nodes(),
                                       [](const nn::Node& n) { return n.Is("dequantize"); });
  REQUIRE(at != model.graph.nodes().end());
  const Value* const weights = at->input(0);
  REQUIRE(weights->is_constant());
  CHECK(weights->dtype() == DType::kI8);
  CHECK(weights->constant().ToInts() == std::vector<int64_t>{-127, 5, 126});
  CHECK(weights->type().quant->scales == std::vector<float>{0.5f});
}

}  // namespace
}  // namespace nn::test::onnx_clipped_integers_test
