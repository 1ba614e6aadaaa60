#include "convert/quantize/half_range.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "convert/quantize/shrink.h"
#include "formats/format.h"
#include "support/run_graph.h"

namespace nn::test::half_range_test {
namespace {

TEST_CASE("half range: operators with a number that float16 does not hold") {
  const Graph g = Parse(R"(graph { in %x: f32[batch, 8] const %k: f32[] = [1000]
    %a = mul(%x, %k) %b = mul(%a, %k) %c = mul(%b, %x) %d = div(%b, %k) %y = exp(%x)
    out "c" = %c out "d" = %d out "y" = %y })");
  const auto f16 = OutOfRange(g, DType::kF16, VerifyOptions());
  REQUIRE(f16);
  CHECK(*f16 == std::vector<bool>{false, true, true, true, false});
  const auto bf16 = OutOfRange(g, DType::kBF16, VerifyOptions());
  REQUIRE(bf16);
  CHECK(*bf16 == std::vector<bool>(5, false));
}

TEST_CASE("half range: operators whose numbers are all too small") {
  // A constant may have fewer bits, but not vanish; the square of 1e-4 has lost most of its bits.
  const Graph g = Parse(R"(graph { in %x: f32[8] const %k: f32[] = [1e-4] const %e: f32[] = [1e-5]
    const %v: f32[] = [1e-12] %a = mul(%x, %k) %b = mul(%a, %a) %c = add(%x, %e) %d = add(%x, %v)
    out "b" = %b out "c" = %c out "d" = %d })");
  VerifyOptions options;
  options.data = [](const Graph&) -> Result<std::vector<VerifyInputs>> {
    VerifyInputs ones;
    ones.tensors = {Tensor::Of({8}, std::vector<float>(8, 1.0F))};
    return std::vector<VerifyInputs>{ones};
  };
  const auto f16 = OutOfRange(g, DType::kF16, options);
  REQUIRE(f16);
  CHECK(*f16 == std::vector<bool>{false, true, false, true});
}

// onnx.checker refuses MeanVarianceNormalization of other types than float32, the function of
// AffineGrid fails for one image, and ONNX Runtime ends with an error in reductions of ScatterND
// and ScatterElements.
TEST_CASE("half range: operators of 16 bits that no runtime has are not one operator") {
  const std::string normalize =
      "mean_variance_normalization(%x) {axes = [0, 2, 3], epsilon = 1e-9, epsilon_rule = outside}";
  const std::string image = "in %x: {0}[2, 3, 4, 4] ";
  const std::string grid = "in %x: {0}[1, 2, 3] const %s: i64[4] = [1, 3, 4, 5] ";
  const std::string points = "in %x: {0}[4] in %u: {0}[2] const %i: i64[2, 1] = [1, 3] ";
  const std::string elements = "in %x: {0}[4] in %u: {0}[2] const %i: i64[2] = [1, 3] ";
  const struct {
    std::string inputs, node;
    bool f16 = false;
    bool bf16 = false;
  } rows[] = {
      {image, normalize},
      {grid, "affine_grid(%x, %s)"},
      {points, "scatter_nd(%x, %i, %u) {reduction = add}"},
      {points, "scatter_nd(%x, %i, %u) {reduction = max}"},
      {points, "scatter_nd(%x, %i, %u)", true, true},
      {elements, "scatter_elements(%x, %i, %u) {reduction = mul}"},
      {elements, "scatter_elements(%x, %i, %u) {reduction = min}", true, false},
      {elements, "scatter_elements(%x, %i, %u)", true, true},
      {image, "tanh(%x)", true, true},
      {image, "softmax(%x) {axis = 3}", true, true},
  };
  for (const auto& row : rows) {
    CAPTURE(row.node);
    const auto has = [&](std::string_view dtype) {
      std::string inputs = row.inputs;
      for (size_t at; (at = inputs.find("{0}")) != std::string::npos;) inputs.replace(at, 3, dtype);
      const Graph graph = Parse("graph { " + inputs + "%y = " + row.node + " out \"y\" = %y }");
      return IsOneOperator(graph.nodes().front(), *FindFormat("onnx"),
                           {.path = "m.onnx", .opset = 20});
    };
    CHECK(has("f32"));
    CHECK(has("f16") == row.f16);
    CHECK(has("bf16") == row.bf16);
  }
  // The function that defines Clip has Where, which takes bfloat16 from operator set 16 on.
  const Graph clip = Parse(R"(graph { in %x: bf16[4] %y = clip(%x) {min = 0, max = 5}
    out "y" = %y })");
  for (const int64_t opset : {13, 15, 16, 21}) {
    CAPTURE(opset);
    CHECK(IsOneOperator(clip.nodes().front(), *FindFormat("onnx"),
                        {.path = "m.onnx", .opset = opset}) == (opset >= 16));
  }
}

}  // namespace
}  // namespace nn::test::half_range_test
