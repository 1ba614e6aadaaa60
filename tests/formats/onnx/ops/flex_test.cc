#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "formats/onnx/text.h"

// FlexAttention of ai.onnx.preview. All products are 0, so a row of Y is the mean of the values, 3,
// 6 and 12, unless a subgraph changes the scores or the weights.
namespace nn::test::onnx_flex_test {
namespace {

using namespace onnx_text;

constexpr std::string_view kPreview = "opset_import { domain: \"ai.onnx.preview\" version: 1 }";

// A subgraph of one operator on `v` and `other`, a name of the graph around it.
std::string Mod(std::string_view attribute, std::string_view op, const std::string& other) {
  return Subgraph(attribute, Input("v") + Node(op, {"v", other}, {"w"}) + Outputs({"w"}));
}

std::string Flex(int heads, const std::string& attributes) {
  return Node("FlexAttention", {"q", "k", "x"}, {"y"},
              "domain: \"ai.onnx.preview\" " + attributes) +
         "initializer { name: \"hide\" data_type: 1 dims: 3 float_data: [0, -inf, 0] }\n" +
         Float("two", 2) + Float("less", -2) +
         Input("q", TypeOf(kF32, {"1", std::to_string(heads), "1", "4"})) +
         Input("k", TypeOf(kF32, {"1", "1", "3", "4"})) +
         Input("x", TypeOf(kF32, {"1", "1", "3", "1"})) + Outputs({"y"});
}

TEST_CASE("ONNX FlexAttention") {
  const std::vector<double> k(12, 1), x = {3, 6, 12};
  const std::string hide = Mod("score_mod", "Add", "hide"), twice = Mod("prob_mod", "Mul", "two");
  const std::string in_f64 = Int("softmax_precision", 11);
  const std::string scale = "attribute { name: \"scale\" type: FLOAT f: 0.5 }";
  for (const int heads : {1, 2}) {
    const std::vector<double> q(static_cast<size_t>(4 * heads), 0);
    const auto check = [&](const std::string& attributes, double y) {
      Check(Flex(heads, attributes), {q, k, x}, {std::vector<double>(q.size() / 4, y)}, 24,
            std::string(kPreview));
    };
    check("", 7);
    check(scale, 7);
    check(hide, 7.5);
    check(twice, 14);
    check(hide + twice + scale, 15);
    check(in_f64, 7);
  }
  // Products of 0, 3 and 6, all of which become -2.
  Check(Flex(1, Mod("score_mod", "Min", "less")),
        {{2, 0, 0, 0}, {0, 0, 0, 0, 3, 0, 0, 0, 6, 0, 0, 0}, x}, {{7}}, 24, std::string(kPreview));
}

TEST_CASE("ONNX FlexAttention: what is refused") {
  const auto why = [](const std::string& attributes) {
    const ReadModel read = Read(Flex(1, attributes), 24, std::string(kPreview));
    const auto imported = read.format->importer.Import(*read.model);
    if (!imported) return imported.error().message();
    return imported->unsupported.empty() ? std::string() : imported->unsupported[0].reason;
  };
  CHECK(Contains(why("attribute { name: \"scale\" type: FLOAT f: -1 }"), "a scale of -1"));
  CHECK(Contains(why(Int("softmax_precision", 7)), "it must be a type of floats"));
  CHECK(Contains(why(Mod("score_mod", "Equal", "two")), "score_mod returns bool"));
  CHECK(Contains(why(Mod("prob_mod", "Nonsense", "two")), "Nonsense"));
}

}  // namespace
}  // namespace nn::test::onnx_flex_test
