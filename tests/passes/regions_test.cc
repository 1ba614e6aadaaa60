// Passes in the regions of loops and branches.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ops/control/loop.h"
#include "ops/nn/conv.h"
#include "passes/core/passes.h"
#include "passes/region_runs.h"
#include "rewrite/scalars.h"
#include "rewrite/target.h"

namespace nn::test::regions_test {
namespace {

TEST_CASE("regions: a branch with a constant condition is inlined") {
  for (const bool taken : {true, false}) {
    const Graph g = After(fmt::format(R"(graph {{ in %x: f32[2, 3]  const %c: bool[] = [{}]
          %y = branch(%c, %x) {{why = "test"}} regions {{
            graph {{ in %v: f32[2, 3]  %r = relu(%v)  %s = exp(%r)  out "s" = %s }}
            graph {{ in %v: f32[2, 3]  %t = transpose(%v) {{perm = [1, 0]}}  out "t" = %t }} }}
          out "y" = %y }})",
                                      taken ? 1 : 0),
                          FoldConstants, {{Seeded({2, 3})}});
    CHECK(Count(g, "branch") == 0);
    CHECK(Count(g) == (taken ? 2 : 1));
  }
}

TEST_CASE("regions: captured constants fold in regions") {
  const Graph g = After(
      R"(graph { in %x: f32[3]  in %c: bool[]  const %k: f32[3] = [1, -2, 3]
      %y = branch(%c, %x, %k) {why = "test"} regions {
        graph { in %v: f32[3]  in %k: f32[3]  %a = abs(%k)  %s = add(%v, %a)  out "s" = %s }
        graph { in %v: f32[3]  in %k: f32[3]  %n = neg(%v)  out "n" = %n } }
      out "y" = %y })",
      FoldConstants, {{Seeded({3}), Tensor::Scalar(true)}, {Seeded({3}), Tensor::Scalar(false)}});
  const Node& branch = Only(g, "branch");
  CHECK(branch.inputs().size() == 2);
  CHECK(Count(g, "abs") == 0);
}

TEST_CASE("regions: what fails in a region fails when it runs") {
  // The index is out of range in the branch that is not taken.
  const Graph g = After(R"(graph { in %x: f32[3]  in %c: bool[]  const %i: i64[1] = [7]
      %y = branch(%c, %x, %i) {why = "test"} regions {
        graph { in %v: f32[3]  in %i: i64[1]  const %t: f32[3] = [1, 2, 3]
          %s = gather(%t, %i)  out "s" = %s }
        graph { in %v: f32[3]  in %i: i64[1]  const %f: i64[1] = [0]  %s = gather(%v, %f)
          out "s" = %s } }
      out "y" = %y })",
                        FoldConstants, {{Seeded({3}), Tensor::Scalar(false)}});
  CHECK(Count(g, "branch") == 1);
}

// A loop over %x whose region results in %w and the stack element %e.
std::string Loop(std::string_view trips, std::string_view condition, std::string_view body,
                 std::string_view go = "%yes") {
  return fmt::format(R"(graph {{ in %x: f32[2, 3]  in %n: i64[]  const %two: i64[] = [2]
      const %one: i64[] = [1]  const %zero: i64[] = [0]  const %yes: bool[] = [1]
      const %no: bool[] = [0]
      %y, %all = loop({}, {}, %x) {{carried = 1, why = "test"}} regions {{
        graph {{ in %i: i64[]  in %v: f32[2, 3]  const %yes: bool[] = [1]  const %no: bool[] = [0]
          {}
          out "go" = {}  out "w" = %w  out "e" = %e }} }}
      out "y" = %y  out "all" = %all }})",
                     trips, condition, body, go);
}

const std::string kBody = "%w = tanh(%v)  %f = cast(%i) {to = f32}  %e = add(%v, %f)";

TEST_CASE("regions: loops with no or one iteration are inlined") {
  const std::vector<std::vector<Tensor>> runs = {{Seeded({2, 3}), Number(3)}};
  const auto count = [&](const std::string& text) {
    return Count(After(text, FoldConstants, runs), "loop");
  };
  CHECK(count(Loop("%zero", "_", kBody)) == 0);
  CHECK(count(Loop("%n", "%no", kBody)) == 0);
  CHECK(count(Loop("%one", "_", kBody)) == 0);
  CHECK(count(Loop("_", "%yes", kBody, "%no")) == 0);
  CHECK(count(Loop("%one", "%yes", kBody)) == 0);
  CHECK(count(Loop("%n", "_", kBody)) == 1);
  CHECK(count(Loop("%two", "_", kBody)) == 1);  // it would become larger
}

TEST_CASE("regions: a loop is unrolled where that is smaller") {
  // All but one node depend on the number of the iteration alone.
  const Graph g =
      After(Loop("%two", "_",
                 "%f = cast(%i) {to = f32}  %a = add(%f, %f)  %b = exp(%a)  %d = sin(%b)  "
                 "%e = cos(%d)  %w = mul(%v, %b)"),
            FoldConstants, {{Seeded({2, 3}), Number(3)}});
  CHECK(Count(g, "loop") == 0);
  CHECK(Count(g, "mul") == 2);
  CHECK(Count(g) == 2);
}

TEST_CASE("regions: a known condition becomes a trip count") {
  const Graph g = After(R"(graph { in %x: f32[3]  const %zero: i64[] = [0]  const %yes: bool[] = [1]
      %y, %k = loop(_, %yes, %x, %zero) {carried = 2, why = "test"} regions {
        graph { in %i: i64[]  in %v: f32[3]  in %j: i64[]  const %one: i64[] = [1]
          const %five: i64[] = [5]
          %w = exp(%v)  %z = tanh(%w)  %q = sin(%z)  %k = add(%j, %one)  %more = less(%k, %five)
          out "more" = %more  out "w" = %q  out "k" = %k } }
      out "y" = %y })",
                        FoldConstants, {{Seeded({3})}});
  const Node& loop = Only(g, "loop");
  REQUIRE(loop.input(0) != nullptr);
  CHECK(loop.input(0)->constant().GetInt(0) == 5);
  CHECK(loop.input(1) == nullptr);
  // The counter only served the condition.
  CHECK(loop.attrs<LoopAttrs>().carried == 1);
  CHECK(Count(g, "less") == 0);
  CHECK(Count(g, "add") == 0);
}

TEST_CASE("regions: dead code") {
  const Graph g = After(R"(graph { in %x: f32[3]  in %d: f32[3]  in %n: i64[]
      %unused = neg(%d)
      %y, %z, %a, %b = loop(%n, _, %x, %d, %unused, %x, %x) {carried = 2, why = "test"} regions {
        graph { in %i: i64[]  in %v: f32[3]  in %u: f32[3]  in %c: f32[3]  in %p: f32[3]
          in %q: f32[3]  const %go: bool[] = [1]
          %w = add(%v, %p)  %t = mul(%w, %q)  %s = add(%u, %c)  %dead = exp(%t)
          out "go" = %go  out "w" = %t  out "s" = %s  out "a" = %dead  out "b" = %w } }
      out "y" = %y  out "b" = %b })",
                        RemoveDeadCode, {{Seeded({3}), Seeded({3}), Number(3)}});
  CHECK(Count(g, "neg") == 0);
  CHECK(Count(g, "exp") == 0);
  const Node& loop = Only(g, "loop");
  CHECK(loop.attrs<LoopAttrs>().carried == 1);
  CHECK(loop.outputs().size() == 2);
  CHECK(loop.inputs().size() == 4);  // the second captured %x is the first one
  CHECK(loop.regions()[0]->nodes().size() == 2);
}

TEST_CASE("regions: carried values that lead to used ones stay") {
  const Graph g = After(R"(graph { in %x: f32[3]  in %d: f32[3]  in %n: i64[]
      %y, %z = loop(%n, _, %x, %d) {carried = 2, why = "test"} regions {
        graph { in %i: i64[]  in %v: f32[3]  in %u: f32[3]  const %go: bool[] = [1]
          %w = add(%v, %u)  %s = exp(%u)
          out "go" = %go  out "w" = %w  out "s" = %s } }
      out "y" = %y })",
                        RemoveDeadCode, {{Seeded({3}), Seeded({3}), Number(2)}});
  CHECK(Only(g, "loop").attrs<LoopAttrs>().carried == 2);
}

TEST_CASE("regions: results of a branch without uses go") {
  const Graph g = After(R"(graph { in %x: f32[3]  in %c: bool[]  in %d: f32[3]
      %y, %z = branch(%c, %x, %d) {why = "test"} regions {
        graph { in %v: f32[3]  in %u: f32[3]  %a = exp(%v)  %b = exp(%u)  out "a" = %a  out "b" = %b }
        graph { in %v: f32[3]  in %u: f32[3]  out "a" = %v  out "b" = %u } }
      out "z" = %z })",
                        RemoveDeadCode,
                        {{Seeded({3}), Tensor::Scalar(true), Seeded({3})},
                         {Seeded({3}), Tensor::Scalar(false), Seeded({3})}});
  const Node& branch = Only(g, "branch");
  CHECK(branch.outputs().size() == 1);
  CHECK(branch.inputs().size() == 2);
  CHECK(Count(g, "exp") == 1);
}

TEST_CASE("regions: a carried value that no iteration changes is captured") {
  const Graph g =
      After(R"(graph { in %x: f32[3]  in %d: f32[3]  in %n: i64[]
      %y, %z, %all = loop(%n, _, %x, %d) {carried = 2, why = "test"} regions {
        graph { in %i: i64[]  in %v: f32[3]  in %u: f32[3]  const %go: bool[] = [1]
          %w = add(%v, %u)  out "go" = %go  out "w" = %w  out "u" = %u  out "e" = %w } }
      out "y" = %y  out "z" = %z  out "all" = %all })",
            FoldConstants,
            {{Seeded({3}), Seeded({3}), Number(2)}, {Seeded({3}), Seeded({3}), Number(0)}});
  const Node& loop = Only(g, "loop");
  CHECK(loop.attrs<LoopAttrs>().carried == 1);
  CHECK(loop.outputs().size() == 2);
}

TEST_CASE("regions: scalars become vectors on both sides") {
  const auto vectors = [](Graph& g) { return ScalarsAsVectors(g); };
  const std::string text = R"(graph { in %x: f32[3]  in %m: f32[4]
      %s = reduce_sum(%x) {keep_dims = false}
      const %zero: i64[] = [0]  const %yes: bool[] = [1]  const %four: i64[] = [4]
      %y, %k, %all = loop(%four, %yes, %s, %zero, %m) {carried = 2, why = "test"} regions {
        graph { in %i: i64[]  in %v: f32[]  in %j: i64[]  in %t: f32[4]
          const %one: i64[] = [1]  const %three: i64[] = [3]
          %e = gather(%t, %i)  %w = add(%v, %e)  %k = add(%j, %one)  %go = less(%k, %three)
          out "go" = %go  out "w" = %w  out "k" = %k  out "e" = %e } }
      %z = mul(%x, %y)
      out "z" = %z  out "all" = %all })";
  const Graph g = After(text, vectors, {{Seeded({3}), Seeded({4})}});
  const Node& loop = Only(g, "loop");
  const auto is_scalar = [](const Value* v) { return v->type().ranked() && v->type().rank() == 0; };
  CHECK(std::ranges::none_of(loop.inputs(), is_scalar));
  CHECK(std::ranges::none_of(loop.outputs(), is_scalar));
  for (const Port& p : loop.regions()[0]->inputs()) CHECK(!is_scalar(p.value));
  for (const Port& p : loop.regions()[0]->outputs()) CHECK(!is_scalar(p.value));
}

// ---- Axes

Status ChangeAllAxes(Graph& g) {
  return ChangeAxes(g).map([](bool) {});
}

// Without convolutions whose channels are not last.
Status ChangeAxesOfNxc(Graph& g) {
  AxesOptions options;
  options.allow = [](const Node& node, Operand, const AxisMap&, const AxesChange& change) {
    return !node.Is("conv") || change.attrs.As<ConvAttrs>().layout == Layout::kNxc;
  };
  return ChangeAxes(g, options).map([](bool) {});
}

TEST_CASE("regions: permutations of carried values leave the loop") {
  const Graph g = After(R"(graph { in %x: f32[1, 2, 4, 5]  in %k: f32[1, 2, 4, 5]  in %n: i64[]
      %y, %all = loop(%n, _, %x, %k) {carried = 1, why = "test"} regions {
        graph { in %i: i64[]  in %v: f32[1, 2, 4, 5]  in %k: f32[1, 2, 4, 5]
          const %go: bool[] = [1]  const %w: f32[2, 3, 3, 2] = seeded(1, 0.2)
          const %a: f32[2] = [1, 2]
          %t = transpose(%v) {perm = [0, 2, 3, 1]}
          %c = conv(%t, %w) {layout = nxc, filter_layout = oxi, pads = [1, 1, 1, 1]}
          %m = mul(%c, %a)
          %b = transpose(%m) {perm = [0, 3, 1, 2]}
          %r = relu(%b)
          %s = add(%r, %k)
          out "go" = %go  out "s" = %s  out "e" = %r } }
      out "y" = %y  out "all" = %all })",
                        ChangeAxesOfNxc,
                        {{Seeded({1, 2, 4, 5}), Seeded({1, 2, 4, 5}), Number(3)},
                         {Seeded({1, 2, 4, 5}), Seeded({1, 2, 4, 5}), Number(0)}});
  CHECK(Count(*Only(g, "loop").regions()[0], "transpose") == 0);
  CHECK(Count(g, "transpose") == 4);
}

TEST_CASE("regions: permutations around a loop go in and cancel") {
  const Graph g = After(R"(graph { in %x: f32[2, 3, 4]  in %n: i64[]  in %k: f32[2, 3, 4]
      %t = transpose(%x) {perm = [2, 0, 1]}
      %u = transpose(%k) {perm = [2, 0, 1]}
      %y = loop(%n, _, %t, %u) {carried = 1, why = "test"} regions {
        graph { in %i: i64[]  in %v: f32[4, 2, 3]  in %k: f32[4, 2, 3]  const %go: bool[] = [1]
          %e = exp(%v)  %w = add(%e, %k)  out "go" = %go  out "w" = %w } }
      %z = transpose(%y) {perm = [1, 2, 0]}
      out "z" = %z })",
                        ChangeAllAxes, {{Seeded({2, 3, 4}), Number(2), Seeded({2, 3, 4})}});
  CHECK(Count(g, "transpose") == 0);
}

TEST_CASE("regions: permutations of both branches come out") {
  const Graph g = After(
      R"(graph { in %x: f32[2, 3, 4]  in %c: bool[]
      %y = branch(%c, %x) {why = "test"} regions {
        graph { in %v: f32[2, 3, 4]  %e = exp(%v)  %t = transpose(%e) {perm = [0, 2, 1]}
          out "t" = %t }
        graph { in %v: f32[2, 3, 4]  %t = transpose(%v) {perm = [0, 2, 1]}  %e = neg(%t)
          out "e" = %e } }
      out "y" = %y })",
      ChangeAllAxes,
      {{Seeded({2, 3, 4}), Tensor::Scalar(true)}, {Seeded({2, 3, 4}), Tensor::Scalar(false)}});
  CHECK(Count(g, "transpose") == 1);
  CHECK(Count(*Only(g, "branch").regions()[1], "transpose") == 0);
}

TEST_CASE("regions: a ring that does not agree stays") {
  // The value is permuted once in each iteration.
  const Graph g = After(R"(graph { in %x: f32[3, 3]  in %n: i64[]
      %y = loop(%n, _, %x) {carried = 1, why = "test"} regions {
        graph { in %i: i64[]  in %v: f32[3, 3]  const %go: bool[] = [1]
          %e = exp(%v)  %t = transpose(%e) {perm = [1, 0]}  out "go" = %go  out "t" = %t } }
      out "y" = %y })",
                        ChangeAllAxes, {{Seeded({3, 3}), Number(3)}, {Seeded({3, 3}), Number(2)}});
  CHECK(Count(*Only(g, "loop").regions()[0], "transpose") == 1);
}

// ---- Legalization

std::optional<std::string> LacksExp(const Node& node) {
  if (node.Is("exp")) return "there is no exp";
  if (node.Is("reciprocal")) return "there is no reciprocal";
  return std::nullopt;
}

Result<bool> ReciprocalAsQuotient(Graph& graph, Node& node) {
  Value* const one = graph.AddConstant(Tensor::Scalar(1.0f));
  NN_ASSIGN(Node* const y, graph.Append("div", {one, node.input(0)}, {}, 1, &node));
  graph.Replace(&node, y->output());
  return true;
}

TEST_CASE("regions: are legalized, and refusals say where") {
  static const Rewrite rewrites[] = {{"reciprocal", "quotient", &ReciprocalAsQuotient}};
  Target target;
  target.name = "test";
  target.why_illegal = LacksExp;
  target.rewrites = rewrites;
  const std::string text = R"(graph { in %x: f32[3]  in %n: i64[]  in %c: bool[]
      %y = loop(%n, _, %x, %c) {carried = 1, why = "the trip count is an input"} regions {
        graph { in %i: i64[]  in %v: f32[3]  in %c: bool[]  const %go: bool[] = [1]
          %w = reciprocal(%v)
          %z = branch(%c, %w) {why = "the condition is an input"} regions {
            graph { in %v: f32[3]  %e = exp(%v)  out "e" = %e }
            graph { in %v: f32[3]  %e = reciprocal(%v)  out "e" = %e } }
          out "go" = %go  out "w" = %z } }
      out "y" = %y })";
  Graph lacks_loops = Parse(text);
  auto refused = Legalize(lacks_loops, target);
  REQUIRE(refused.has_value());
  REQUIRE(refused->size() == 1);
  CHECK((*refused)[0].reason == "test has no control flow, and the trip count is an input");
  CHECK(Count(lacks_loops, "reciprocal") == 2);

  target.takes_regions = true;
  CHECK(!IsLegal(Parse(text), target));
  const auto legalize = [&](Graph& g) -> Status {
    RewriteCounts counts;
    NN_ASSIGN(const auto unsupported, Legalize(g, target, nullptr, &counts));
    CHECK(counts[{"reciprocal", "quotient"}] == 2);
    REQUIRE(unsupported.size() == 1);
    CHECK(unsupported[0].op == "exp");
    CHECK(unsupported[0].node == "exp in branch in loop");
    return {};
  };
  const Tensor x = Seeded({3});
  const Graph g =
      After(text, legalize,
            {{x, Number(2), Tensor::Scalar(true)}, {x, Number(3), Tensor::Scalar(false)}});
  CHECK(Count(g, "reciprocal") == 0);
  CHECK(Count(g, "div") == 2);
}

}  // namespace
}  // namespace nn::test::regions_test
