#include "tensorio/graph_digest.h"

#include <doctest/doctest.h>

#include "support/run_graph.h"

namespace nn::test::graph_digest_test {
namespace {

GraphDigests Digests(std::string_view text) {
  const auto digests = DigestGraph(Parse(text), nullptr);
  REQUIRE_MESSAGE(digests.has_value(), digests.error().message());
  return *digests;
}

constexpr std::string_view kBase = R"(graph "g" {
  in %x: f32[n, 4]
  const %k: f32[4] = seeded(1)
  const %m: f32[4] = seeded(2)
  %a = add(%x, %k)
  %b = mul(%x, %m)
  %y = sub(%a, %b)
  out "y" = %y
})";

TEST_CASE("graph digest: names, order and unused nodes are ignored") {
  const GraphDigests base = Digests(kBase);
  CHECK(base.structure.size() == 71);
  CHECK(base.structure.starts_with("sha256:"));
  CHECK(base.structure != base.weights);
  for (const std::string_view same : {
           R"(graph "other" {
             in %input: f32[batch, 4]
             const %two: f32[4] = seeded(2)
             const %one: f32[4] = seeded(1)
             %q = mul(%input, %two) "second"
             %p = add(%input, %one) "first"
             %r = sub(%p, %q)
             out "result" = %r
           })",
           R"(graph {
             in %x: f32[n, 4]
             const %k: f32[4] = seeded(1)
             const %m: f32[4] = seeded(2)
             const %unused: f32[4] = seeded(3)
             %a = add(%x, %k)
             %dead = relu(%a)
             %b = mul(%x, %m)
             %y = sub(%a, %b)
             out "y" = %y
           })",
       }) {
    CHECK(Digests(same).structure == base.structure);
    CHECK(Digests(same).weights == base.weights);
  }
}

TEST_CASE("graph digest: structure and weights") {
  struct Row {
    const char* name;
    std::string from;
    std::string to;
    bool structure;  // the same
    bool weights;
  };
  for (const Row& r : {
           Row{"contents", "seeded(2)", "seeded(3)", true, false},
           Row{"constants exchanged", "const %k: f32[4] = seeded(1)",
               "const %k: f32[4] = seeded(4)", true, false},
           Row{"operator", "= mul(", "= div(", false, true},
           Row{"order of inputs", "sub(%a, %b)", "sub(%b, %a)", false, false},
           Row{"another value", "mul(%x, %m)", "mul(%a, %m)", false, true},
           Row{"input type", "f32[n, 4]", "f32[2, 4]", false, true},
       }) {
    CAPTURE(r.name);
    std::string text(kBase);
    text.replace(text.find(r.from), r.from.size(), r.to);
    const GraphDigests base = Digests(kBase), other = Digests(text);
    CHECK((other.structure == base.structure) == r.structure);
    CHECK((other.weights == base.weights) == r.weights);
  }
}

TEST_CASE("graph digest: one value used twice is not two equal values") {
  const GraphDigests once = Digests(R"(graph {
    in %x: f32[4]
    %a = relu(%x)
    %y = add(%a, %a)
    out "y" = %y
  })");
  const GraphDigests twice = Digests(R"(graph {
    in %x: f32[4]
    %a = relu(%x)
    %b = relu(%x)
    %y = add(%a, %b)
    out "y" = %y
  })");
  CHECK(once.structure != twice.structure);
  CHECK(once.weights == twice.weights);
}

TEST_CASE("graph digest: integers that shape others are structure as well") {
  const auto with_axis = [](const std::string& axes) {
    return Digests("graph { in %x: f32[2, 3, 4]  const %i: i64[3] = " + axes +
                   "  %y = reshape(%x, %i)  out \"y\" = %y }");
  };
  const GraphDigests a = with_axis("[4, 3, 2]"), b = with_axis("[2, 4, 3]");
  CHECK(a.structure != b.structure);
  CHECK(a.weights != b.weights);
}

TEST_CASE("graph digest: opaque nodes count with the caller's description") {
  const Graph graph = Parse(R"(graph {
    in %x: f32[4]
    const %k: f32[4] = seeded(1)
    %h = add(%x, %k)
    %y = opaque(%x) {op = "Odd"}
    out "y" = %y
  })");
  const Value* captured = nullptr;
  for (const Value& v : graph.values())
    if (v.name() == "h") captured = &v;
  REQUIRE(captured != nullptr);
  const auto digests = [&](const OpaqueContents& contents) {
    return *DigestGraph(graph, [&](const Node&) { return contents; });
  };
  const auto tensor = [](float v) { return [v] { return Result<Tensor>(Tensor::Scalar(v)); }; };
  const GraphDigests base = digests({"Odd", {}, {tensor(1)}});
  CHECK(digests({"Odd", {}, {tensor(1)}}).structure == base.structure);
  CHECK(digests({"Other", {}, {tensor(1)}}).structure != base.structure);
  CHECK(digests({"Odd", {captured}, {tensor(1)}}).structure != base.structure);
  CHECK(digests({"Odd", {}, {tensor(2)}}).structure == base.structure);
  CHECK(digests({"Odd", {}, {tensor(2)}}).weights != base.weights);
  const auto broken = [] { return Result<Tensor>(ModelError("no such file")); };
  const auto failed = DigestGraph(graph, [&](const Node&) {
    return OpaqueContents{"Odd", {}, {broken}};
  });
  REQUIRE(!failed.has_value());
  CHECK(failed.error().message() == "no such file");
}

}  // namespace
}  // namespace nn::test::graph_digest_test
