#include "ir/graph.h"

#include <doctest/doctest.h>

#include "ir/op_def.h"
#include "ir/text.h"
#include "ir/verify.h"

namespace nn {
namespace {

Graph Parsed(std::string_view text) {
  auto g = ParseGraph(text);
  REQUIRE_MESSAGE(g.has_value(), g.error().message());
  return *std::move(g);
}

TEST_CASE("text: a graph prints and parses to the same text") {
  const std::string text = R"(graph "g" {
  in %x: f32[batch, 3, 8, 8]
  const %w: f32[2, 3, 1, 1] = [1.0, 2.0, 3.0, 4.0, -5.5, 1e-30]
  const %2 "odd name": u8[2]{scale=0.5, zp=128} = [0, 255]
  %y = conv(%x, %w) {strides = [2, 2]} "c" : f32[batch, 2, 4, 4]
  %z = relu(%y) : f32[batch, 2, 4, 4]
  out "y" = %z
  out "second \"output\"" = %2
}
)";
  CHECK(PrintGraph(Parsed(text)) == text);
}

TEST_CASE("text: complete printing keeps every bit") {
  const Graph g = Parsed(R"(graph {
    const %a: f32[40] = seeded(5)
    const %b: f32[3] = hex("0000c07f0100807f00000080")
    const %c: f16[2] = [0.333, -2]
    const %d: i4[3] = [-8, 7, 1]
    const %e: str[2] = ["a\n\"", "\x00z"]
    const %f: bool[2] = [1, 0]
    out "a" = %a  out "b" = %b  out "c" = %c  out "d" = %d  out "e" = %e  out "f" = %f
  })");
  PrintOptions options;
  options.complete = true;
  const Graph again = Parsed(PrintGraph(g, options));
  REQUIRE(again.outputs().size() == g.outputs().size());
  for (size_t i = 0; i < g.outputs().size(); ++i) {
    CAPTURE(i);
    CHECK(again.outputs()[i].value->constant().Identical(g.outputs()[i].value->constant()));
  }
}

TEST_CASE("text: errors say where") {
  struct Row {
    const char* text;
    const char* message;
  };
  for (const Row& r : {
           Row{"graph { in %x: f33[1] }", "line 1, column 19: \"f33\" is not an element type"},
           Row{"graph {\n  %y = relu(%x)\n}", "line 2, column 15: %x is not defined"},
           Row{"graph { in %x: f32[1]  %y = rele(%x) }", "no operator named \"rele\""},
           Row{"graph { in %x: f32[1]  in %x: f32[1] }", "%x is defined twice"},
           Row{"graph { const %x: f32[2] = [1] }", "1 elements, the shape needs 2"},
           Row{"graph { in %x: f32[2]  %y = relu(%x) {a = 1} }", "no attribute named \"a\""},
           Row{"graph { in %x: f32[2]  %y = clip(%x) {min = abc} }", "\"abc\" is not a number"},
           Row{"graph { in %x: f32[2]  %y = relu(%x) : f32[3]  out \"y\" = %y }",
               "declared f32[3] but is f32[2]"},
           Row{"graph { in %x: f32[2]  %y = relu(%x, %x) }", "takes at most 1 inputs, not 2"},
           Row{"graph { } x", "text after the graph"},
       }) {
    CAPTURE(std::string(r.text));
    const auto g = ParseGraph(r.text);
    REQUIRE_FALSE(g.has_value());
    CAPTURE(g.error().message());
    CHECK(g.error().message().find(r.message) != std::string::npos);
  }
}

TEST_CASE("graph: use lists follow every change") {
  Graph g = Parsed(R"(graph { in %x: f32[2]  %a = relu(%x)  %b = add(%a, %a)  out "b" = %b })");
  Node& relu = g.nodes().front();
  Node& add = g.nodes().back();
  Value* x = g.inputs()[0].value;
  CHECK(relu.output()->uses().size() == 2);
  g.SetInput(&add, 0, x);
  CHECK(relu.output()->uses().size() == 1);
  CHECK(x->uses().size() == 2);
  g.ReplaceUses(relu.output(), x);
  CHECK_FALSE(g.HasUses(relu.output()));
  g.Erase(&relu);
  CHECK(Verify(g).has_value());
  CHECK(PrintGraph(g).find("add(%x, %x)") != std::string::npos);
}

TEST_CASE("graph: a clone is the same and independent") {
  Graph g = Parsed(R"(graph "g" { in %x: f32[2]  const %c: f32[2] = [1, 2]
                                  %y = add(%x, %c) "n"  out "y" = %y })");
  Graph copy = g.Clone();
  CHECK(PrintGraph(copy) == PrintGraph(g));
  CHECK(Verify(copy).has_value());
  copy.MakeConstant(copy.outputs()[0].value, Tensor::Of<float>({2}, {5, 6}));
  CHECK(copy.outputs()[0].value->is_constant());
  CHECK_FALSE(g.outputs()[0].value->is_constant());
  CHECK(Verify(g).has_value());
}

TEST_CASE("graph: sorting restores order and finds cycles") {
  Graph g = Parsed(R"(graph { in %x: f32[2]  %a = relu(%x)  %b = neg(%a)  %c = abs(%b)
                              out "c" = %c })");
  g.nodes().reverse();
  CHECK_FALSE(Verify(g).has_value());
  REQUIRE(g.SortNodes().has_value());
  CHECK(Verify(g).has_value());
  g.SetInput(&g.nodes().front(), 0, g.nodes().back().output());
  const auto cycle = g.SortNodes();
  REQUIRE_FALSE(cycle.has_value());
  CHECK(cycle.error().message().find("a cycle of 3 operators") != std::string::npos);
}

TEST_CASE("verify: broken graphs are named") {
  Graph g = Parsed(R"(graph { in %x: f32[2]  %a = relu(%x)  out "a" = %a })");
  g.AddOutput("a", g.inputs()[0].value);
  CHECK(Verify(g).error().message() == "two outputs are named \"a\"");
}

}  // namespace
}  // namespace nn
