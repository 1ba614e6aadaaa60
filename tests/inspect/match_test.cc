#include "inspect/diff/match.h"

#include <doctest/doctest.h>

#include "support/run_graph.h"

namespace nn::test::match_test {
namespace {

TEST_CASE("matching: by structure first, then by name, then by order") {
  const Graph a = Parse(R"(graph {
    in %x: f32[4]
    %p = relu(%x) "one"
    %q = sigmoid(%p) "two"
    %y = tanh(%q) "three"
    out "y" = %y
  })");
  // "one" changed its operator; "two" keeps its name, the third its position.
  const Graph b = Parse(R"(graph {
    in %x: f32[4]
    %p = abs(%x) "one"
    %q = sigmoid(%p) "two"
    %y = tanh(%q) "last"
    out "y" = %y
  })");
  const inspect::Matching m = inspect::MatchNodes(a, b);
  CHECK(m.size() == 2);
  for (const auto& [x, y] : m) CHECK(x->op_name() == y->op_name());
}

}  // namespace
}  // namespace nn::test::match_test
