#include "ir/graph.h"

#include <doctest/doctest.h>

#include <iterator>
#include <list>

#include "ir/op_def.h"
#include "ir/text/text.h"
#include "ir/verify.h"
#include "support/hang.h"

namespace nn::graph_test {
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

TEST_CASE("text: errors have a location") {
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
           Row{"graph { in %x: f32[2]  %y = relu(%x, %x) }", "has 2 inputs; the maximum is 1"},
           Row{"graph { in %x: i8[2]{scale=1, zp=128}  %y = reverse(%x) {axes = [0]} }",
               "zero point 128 is outside the range of i8"},
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

TEST_CASE("graph: a list of many uses stays complete") {
  Graph g;
  Value* const x = g.AddInput("x", Type(DType::kF32, {2}));
  Value* const y = g.AddInput("y", Type(DType::kF32, {2}));
  std::vector<Node*> nodes;
  for (size_t i = 0; i < 2 * UseList::kManyUses; ++i) {
    nodes.push_back(*g.Append("add", {x, x}));
    CHECK(x->uses().size() == 2 * nodes.size());
  }
  g.AddOutput("out", nodes.back()->output());
  for (Node* const node : nodes) {
    g.SetInput(node, 1, y);
    REQUIRE(Verify(g).has_value());
  }
  for (Node* const node : nodes) g.SetInput(node, 0, y);
  CHECK(x->uses().empty());
  CHECK(y->uses().size() == 2 * nodes.size());
  CHECK(Verify(g).has_value());
  g.Clear();
  CHECK(g.nodes().empty());
  CHECK(g.values().empty());
  CHECK(g.AddInput("z", Type(DType::kF32, {2}))->id() > 2);
}

TEST_CASE("graph: nodes of one operator of a file share its name") {
  Graph g;
  Value* const x = g.AddInput("x", Type(DType::kF32, {2}));
  Node* const a = *g.Append("relu", {x});
  Node* const b = *g.Append("neg", {a->output()});
  CHECK(b->source_op() == "neg");
  g.SetSource(a, "Relu", 0);
  g.SetSource(b, "Relu", 1);
  CHECK(a->source_op().data() == b->source_op().data());
  CHECK(b->source().ToString() == "operator 1 (Relu)");
  const Graph copy = g.Clone();
  CHECK(copy.nodes().back().source_op() == "Relu");
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

TEST_CASE("graph: sorting keeps the order where it can, round by round") {
  struct Row {
    const char* name;
    std::vector<size_t> order;  // of the nodes of the chain, at the beginning
    std::vector<size_t> sorted;
  };
  for (const Row& r : {
           Row{"in order", {0, 1, 2, 3}, {0, 1, 2, 3}},
           Row{"reversed", {3, 2, 1, 0}, {0, 1, 2, 3}},
           Row{"one late", {1, 2, 3, 0}, {0, 1, 2, 3}},
           Row{"two rounds", {2, 0, 3, 1}, {0, 1, 2, 3}},
       }) {
    CAPTURE(r.name);
    Graph g = Parsed(R"(graph { in %x: f32[2]  %a = relu(%x)  %b = neg(%a)  %c = abs(%b)
                                %d = exp(%c)  out "d" = %d })");
    std::vector<std::list<Node>::iterator> nodes;
    for (auto it = g.nodes().begin(); it != g.nodes().end(); ++it) nodes.push_back(it);
    for (const size_t i : r.order) g.nodes().splice(g.nodes().end(), g.nodes(), nodes[i]);
    REQUIRE(g.SortNodes().has_value());
    auto it = g.nodes().begin();
    for (const size_t i : r.sorted) CHECK(&*it++ == &*nodes[i]);
  }
  // Nodes that need not move stay before those that must.
  Graph g = Parsed(R"(graph { in %x: f32[2]  %a = relu(%x)  %b = neg(%a)  %c = abs(%x)
                              out "b" = %b  out "c" = %c })");
  g.nodes().splice(g.nodes().begin(), g.nodes(), std::next(g.nodes().begin()));  // b a c
  REQUIRE(g.SortNodes().has_value());
  CHECK(g.nodes().front().Is("relu"));
  CHECK(std::next(g.nodes().begin())->Is("abs"));
  CHECK(g.nodes().back().Is("neg"));
}

// ---- Large graphs: work in proportion to their size ---------------------------------------------

TEST_CASE("graph: sorting a chain that stands the wrong way round ends") {
  test::CheckEnds([] {
    Graph g;
    Value* v = g.AddInput("x", Type(DType::kF32, {Dim(2)}));
    for (int i = 0; i < 100'000; ++i) v = g.AddNode(*Ops().Find("relu"), {v}, {})->output();
    g.AddOutput("y", v);
    g.nodes().reverse();
    REQUIRE(g.SortNodes().has_value());
    CHECK(g.nodes().front().input(0) == g.inputs()[0].value);
    CHECK(g.nodes().back().output() == v);
  });
}

TEST_CASE("graph: the uses of a value with many of them") {
  constexpr size_t kUses = 200'000;
  const OpDef& relu = *Ops().Find("relu");
  enum class Order { kForward, kBackward, kScattered };
  for (const Order order : {Order::kForward, Order::kBackward, Order::kScattered}) {
    test::CheckEnds([&] {
      Graph g;
      Value* x = g.AddInput("x", Type(DType::kF32, {Dim(2)}));
      std::vector<Node*> nodes;
      for (size_t i = 0; i < kUses; ++i) nodes.push_back(g.AddNode(relu, {x}, {}));
      for (size_t i = 0; i < kUses; ++i) {
        const size_t at = order == Order::kForward    ? i
                          : order == Order::kBackward ? kUses - 1 - i
                                                      : (i * 7919) % kUses;
        g.Erase(nodes[at]);
        CHECK(x->uses().size() == kUses - 1 - i);
      }
    });
  }
  test::CheckEnds([&] {
    Graph g;
    Value* x = g.AddInput("x", Type(DType::kF32, {Dim(2)}));
    Value* y = g.AddInput("y", Type(DType::kF32, {Dim(2)}));
    Node* concat = g.AddNode(*Ops().Find("concat"), std::vector<Value*>(kUses, x), {});
    g.ReplaceUses(x, y);
    CHECK(x->uses().empty());
    CHECK(y->uses().size() == kUses);
    CHECK(concat->input(kUses - 1) == y);
    g.SetInputs(concat, {x, y});
    CHECK(y->uses().size() == 1);
  });
}

TEST_CASE("graph: removing a use keeps the order of the others") {
  Graph g = Parsed(R"(graph { in %x: f32[2]  %a = relu(%x)  %b = neg(%x)  %c = abs(%x) })");
  const Value* x = g.inputs()[0].value;
  Node* neg = &*std::next(g.nodes().begin());
  g.Erase(neg);
  REQUIRE(x->uses().size() == 2);
  CHECK(x->uses()[0].node->Is("relu"));
  CHECK(x->uses()[1].node->Is("abs"));
}

TEST_CASE("graph: many outputs are told apart and replaced one by one") {
  constexpr size_t kPorts = 50'000;
  test::CheckEnds([&] {
    Graph g;
    std::vector<Value*> inputs;
    for (size_t i = 0; i < kPorts; ++i) {
      inputs.push_back(g.AddInput({}, Type(DType::kF32, {Dim(2)})));
      g.AddOutput({}, g.AddNode(*Ops().Find("relu"), {inputs.back()}, {})->output());
    }
    for (size_t i = 0; i < kPorts; ++i) {
      Value* y = g.outputs()[i].value;
      REQUIRE(g.IsOutput(y));
      g.ReplaceUses(y, inputs[i]);
      REQUIRE_FALSE(g.IsOutput(y));
      REQUIRE(g.IsOutput(inputs[i]));
      g.Erase(y->def());
    }
    CHECK(g.Clone().outputs().size() == kPorts);
  });
}

TEST_CASE("graph: a value can be several outputs") {
  Graph g = Parsed(R"(graph { in %x: f32[2]  %a = relu(%x)  out "a" = %a  out "b" = %a })");
  Value* x = g.inputs()[0].value;
  Value* a = g.outputs()[0].value;
  g.set_output(0, x);
  CHECK(g.IsOutput(a));
  CHECK(g.IsOutput(x));
  g.set_output(1, x);
  CHECK_FALSE(g.IsOutput(a));
  g.ReplaceUses(x, a);
  CHECK(g.outputs()[1].value == a);
  CHECK_FALSE(g.IsOutput(x));
  const Graph moved = std::move(g);
  CHECK(moved.IsOutput(a));
}

TEST_CASE("infer: large dimensions become opaque symbols, tensors of great rank are refused") {
  Dims dims;
  for (int i = 0; i < 60; ++i) dims.push_back(Dim::Symbol("a" + std::to_string(i)) + Dim(1));
  Graph g;
  Value* x = g.AddInput("x", Type(DType::kF32, dims));
  const auto node = g.Append("relu", {x});
  REQUIRE_MESSAGE(node.has_value(), node.error().message());
  CHECK(OwnSize(*(*node)->output()->type().dims) <= InferContext::kMaxDimsSize);
  const Type first = (*node)->output()->type();
  REQUIRE(InferNode(**node).has_value());
  CHECK((*node)->output()->type() == first);
  Value* deep = g.AddInput("deep", Type(DType::kF32, Dims(65, Dim(1))));
  const auto refused = g.Append("relu", {deep});
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code() == ErrorCode::kLimit);
  CHECK(refused.error().message().find("rank 65; the limit is 64") != std::string::npos);
}

TEST_CASE("verify: broken graphs are named") {
  Graph g = Parsed(R"(graph { in %x: f32[2]  %a = relu(%x)  out "a" = %a })");
  g.AddOutput("a", g.inputs()[0].value);
  CHECK(Verify(g).error().message() == "two outputs are named \"a\"");
}

}  // namespace
}  // namespace nn::graph_test
