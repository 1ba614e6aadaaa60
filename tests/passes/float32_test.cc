// ComputeInFloat32 (passes/types/float32.h): from other floating-point types to float32.
#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "ir/text/text.h"
#include "ir/verify.h"
#include "passes/core/passes.h"
#include "passes/types/float32.h"
#include "support/run_graph.h"

namespace nn::test::float32_test {
namespace {

TEST_CASE("float32: values, constants and attributes of other floating-point types") {
  for (const std::string type : {"f16", "bf16", "f64"}) {
    CAPTURE(type);
    Graph g = Parse(R"(graph "g" {
      in %x "x": )" +
                    type +
                    R"([2, 3]
      in %i "i": i32[3]
      const %w: )" + type +
                    R"([3] = [0.5, -2, 1]
      %a = mul(%x, %w)
      %c = cast(%i) {to = )" +
                    type + R"(}
      %s = add(%a, %c)
      %d = cast(%s) {to = i64}
      out "s" = %s
      out "d" = %d
    })");
    CHECK(HasOtherFloats(g));
    REQUIRE(ComputeInFloat32(g).has_value());
    CHECK_FALSE(HasOtherFloats(g));
    CHECK(g.inputs()[0].value->type().ToString() == "f32[2, 3]");
    CHECK(g.inputs()[1].value->type().ToString() == "i32[3]");
    CHECK(g.outputs()[0].value->type().ToString() == "f32[2, 3]");
    CHECK(g.outputs()[1].value->type().ToString() == "i64[2, 3]");
    const auto y = RunEverywhere(g, {Tensor::Of({2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6}),
                                     Tensor::Of({3}, std::vector<int32_t>{10, 20, 30})});
    CHECK(y[0].ToDoubles() == std::vector<double>{10.5, 16, 33, 12, 10, 36});
    CHECK(y[1].ToDoubles() == std::vector<double>{10, 16, 33, 12, 10, 36});
  }
}

TEST_CASE("float32: results are not rounded to 16 bits") {
  Graph g = Parse(R"(graph "g" {
    in %x "x": f16[2]
    %y = add(%x, %x)
    %z = mul(%y, %x)
    out "z" = %z
  })");
  REQUIRE(ComputeInFloat32(g).has_value());
  const auto z = RunEverywhere(g, {Tensor::Of({2}, std::vector<float>{1.0009765625f, 300})});
  CHECK(z[0].ToDoubles() == std::vector<double>{2.003908157348633, 180000});
}

TEST_CASE("float32: other models stay as they are") {
  Graph g = Parse(R"(graph "g" {
    in %x "x": u8[2]{scale=0.5, zp=1}
    %y = dequantize(%x)
    out "y" = %y
  })");
  CHECK_FALSE(HasOtherFloats(g));
  const std::string before = PrintGraph(g);
  REQUIRE(ComputeInFloat32(g).has_value());
  CHECK(PrintGraph(g) == before);
}

// All nodes come from one operator of a file, except those that `outside` names.
Graph OfOneOperator(const std::string& text, std::string_view outside = "") {
  Graph g = Parse(text);
  for (Node& node : g.nodes())
    if (!node.Is(outside)) node.set_source({.op = std::string_view("COMPLEX_ABS"), .index = 3});
  return g;
}

TEST_CASE("inner float32: doubles inside of an operator") {
  Graph g = OfOneOperator(R"(graph "g" {
    in %x "x": f32[2, 3]
    const %end: f64[] = [inf]
    const %re: i64[] = [0]
    const %im: i64[] = [1]
    %w = cast(%x) {to = f64}
    %a = gather(%w, %re)
    %b = gather(%w, %im)
    %c = mul(%a, %a)
    %d = mul(%b, %b)
    %s = add(%c, %d)
    %r = sqrt(%s)
    %i = is_inf(%a)
    %e = select(%i, %end, %r)
    %y = cast(%e) {to = f32}
    out "y" = %y
  })");
  REQUIRE(ComputeInnerInFloat32(g).has_value());
  REQUIRE(RemoveDeadCode(g).has_value());
  CHECK_FALSE(HasOtherFloats(g));
  // Their squares are beyond float32.
  const auto y = RunEverywhere(
      g, {Tensor::Of({2, 3}, std::vector<float>{3e30f, -3e-30f, 0, -4e30f, 4e-30f, 0})});
  CHECK(y[0].Identical(Tensor::Of({3}, std::vector<float>{5e30f, 5e-30f, 0})));
}

TEST_CASE("inner float32: other types stay") {
  Graph g = OfOneOperator(R"(graph { in %x: f16[2] const %c: f64[] = [-1.5] %h = cast(%c) {to = f16}
      %y = mul(%x, %h) out "y" = %y })",
                          "mul");
  REQUIRE(ComputeInnerInFloat32(g).has_value());
  REQUIRE(Verify(g).has_value());
  CHECK(g.outputs()[0].value->def()->input(1)->dtype() == DType::kF16);
  CHECK(g.outputs()[0].value->def()->input(1)->def()->input(0)->dtype() == DType::kF32);
}

TEST_CASE("inner float32: doubles that the model asks for stay") {
  struct Row {
    std::string graph;
    std::string_view outside;
  };
  for (const Row& r : std::vector<Row>{
           // Of two operators.
           {R"(graph { in %x: f32[2] %w = cast(%x) {to = f64} %v = exp(%w) %y = cast(%v) {to = f32}
              out "y" = %y })",
            "exp"},
           // Of the caller.
           {R"(graph { in %x: f64[2] %y = exp(%x) out "y" = %y })", ""},
           // Integers with more digits.
           {R"(graph { in %x: i32[2] %w = cast(%x) {to = f64} %v = exp(%w) %y = cast(%v) {to = f32}
              out "y" = %y })",
            ""},
           // A constant with more digits.
           {R"(graph { in %x: f32[2] const %c: f64[] = [0.1] %w = cast(%x) {to = f64}
              %v = mul(%w, %c) %y = cast(%v) {to = f32} out "y" = %y })",
            ""}}) {
    CAPTURE(r.graph);
    Graph g = OfOneOperator(r.graph, r.outside);
    const std::string before = PrintGraph(g);
    REQUIRE(ComputeInnerInFloat32(g).has_value());
    CHECK(PrintGraph(g) == before);
  }
}

}  // namespace
}  // namespace nn::test::float32_test
