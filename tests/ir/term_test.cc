#include "ir/term.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "ir/op_def.h"
#include "ops/support/term_ops.h"

namespace nn {
namespace {

// Adds nodes at the end of a graph.
class Appender final : public NodeInserter {
 public:
  explicit Appender(Graph& graph) : graph_(graph) {}

 private:
  Graph& graph_of_terms() override { return graph_; }
  Result<Node*> InsertNode(std::string_view op, std::vector<Value*> inputs, Attrs attrs,
                           size_t results) override {
    return graph_.Append(op, std::move(inputs), std::move(attrs), results);
  }

  Graph& graph_;
};

std::vector<std::string> NamesOf(const Graph& graph) {
  std::vector<std::string> names;
  for (const Node& n : graph.nodes()) names.emplace_back(n.op_name());
  return names;
}

TEST_CASE("terms add nodes from left to right, each once") {
  Graph graph;
  Value* const x = graph.AddInput("x", Type(DType::kF32, {2, 3}));
  Appender appender(graph);
  const Term t = Apply("tanh", {x});
  const auto y = appender.Build((t + Apply("exp", {x})) * -(t / Apply("sqrt", {x})));
  REQUIRE(y);
  CHECK(NamesOf(graph) ==
        std::vector<std::string>{"tanh", "exp", "add", "sqrt", "div", "neg", "mul"});
  CHECK(*appender.Build(t) == graph.nodes().front().output());
  CHECK(graph.nodes().size() == 7);
  CHECK((*y)->type().ToString() == "f32[2, 3]");
}

TEST_CASE("numbers have the element type of the operands beside them") {
  Graph graph;
  Value* const x = graph.AddInput("x", Type(DType::kI32, {2}));
  Value* const condition = graph.AddInput("c", Type(DType::kBool, {2}));
  Appender appender(graph);
  const auto y = appender.Build(Select(condition, x, 7));
  REQUIRE(y);
  CHECK((*y)->def()->input(2)->dtype() == DType::kI32);
  CHECK((*y)->def()->input(2)->constant().GetInt(0) == 7);
  const auto one = appender.Build(Term(1));
  REQUIRE(one);
  CHECK((*one)->dtype() == DType::kF32);
}

TEST_CASE("an absent operand stays absent, and an operator that does not fit is an error") {
  Graph graph;
  Value* const x = graph.AddInput("x", Type(DType::kF32, {2, 3}));
  Value* const z = graph.AddInput("z", Type(DType::kF32, {4}));
  Appender appender(graph);
  CHECK(Term().is_absent());
  CHECK(Term(nullptr).is_absent());
  CHECK_FALSE(Term(0).is_absent());
  CHECK(appender.Build(Term()) == nullptr);
  const Term sum = x + Term(z);
  CHECK_FALSE(appender.Build(sum * 2));
  CHECK(graph.nodes().empty());
  CHECK_FALSE(appender.Build(Apply("no such operator", {x})));
}

TEST_CASE("all results of an operator are one node") {
  Graph graph;
  Value* const x = graph.AddInput("x", Type(DType::kF32, {2, 4}));
  Appender appender(graph);
  const std::vector<Term> parts =
      ApplyAll("split", {x}, *Attrs(Ops().Find("split")->attrs).With("axis", int64_t{1}), 2);
  const auto y = appender.Build(parts[1] - parts[0]);
  REQUIRE(y);
  CHECK(NamesOf(graph) == std::vector<std::string>{"split", "sub"});
  CHECK((*y)->def()->input(0) == graph.nodes().front().output(1));
}

}  // namespace
}  // namespace nn
