// Pairs of values, and where two models part.
#include "against/drift.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "support/run_graph.h"

namespace nn::test::drift_test {
namespace {

using against::ValueDrift;
using against::ValuePair;

against::FindName ExactNames(const std::vector<std::string>& names) {
  return [names](std::string_view name) -> std::optional<size_t> {
    const auto it = std::ranges::find(names, name);
    if (it == names.end()) return std::nullopt;
    return it - names.begin();
  };
}

std::vector<ValuePair> PairsOf(const Graph& a, const Graph& b) {
  std::vector<against::PortPair> inputs, outputs;
  for (size_t i = 0; i < a.inputs().size(); ++i) inputs.push_back({i, i});
  for (size_t i = 0; i < a.outputs().size(); ++i) outputs.push_back({i, i});
  return against::PairValues(a, b, inputs, outputs, ExactNames);
}

// "a=b computation", one line a pair.
std::string PairText(const Graph& a, const Graph& b) {
  std::string out;
  for (const ValuePair& p : PairsOf(a, b))
    out += against::NameOf(*p.a) + "=" + against::NameOf(*p.b) + " " +
           std::string(against::PairedByName(p.by)) + "\n";
  return out;
}

TEST_CASE("pairs: what the same operators compute, in any layout and under any name") {
  const Graph a = Parse(R"(graph {
    in %x: f32[1, 3, 6, 6]
    const %w: f32[4, 3, 3, 3] = seeded(1)
    %c = conv(%x, %w)
    %r = relu(%c)
    %m = reduce_mean(%r) {axes=[2, 3]}
    out "y" = %m
  })");
  const Graph b = Parse(R"(graph {
    in %x: f32[1, 3, 6, 6]
    const %w: f32[4, 3, 3, 3] = seeded(1)
    %t = transpose(%x) {perm=[0, 2, 3, 1]}
    %p = conv(%t, %w) {layout=nxc}
    %q = relu(%p)
    %s = reduce_mean(%q) {axes=[1, 2]}
    out "y" = %s
  })");
  CHECK(PairText(a, b) == "c=p computation\nr=q computation\nm=s interface\n");
}

TEST_CASE("pairs: names, equal constants, order") {
  const Graph a = Parse(R"(graph {
    in %x: f32[4, 20]
    const %w: f32[20, 20] = seeded(1)
    const %k: f32[1] = [2]
    %s = mul(%x, %k)
    %h = relu(%s)
    %p = matmul(%h, %w)
    %e = exp(%p)
    %y = tanh(%e)
    out "y" = %y
  })");
  // Another operator at the beginning: nothing is computed alike.
  const Graph b = Parse(R"(graph {
    in %x: f32[4, 20]
    const %w: f32[20, 20] = seeded(1)
    %s1 = abs(%x)
    %h = relu(%s1)
    %q = matmul(%h, %w)
    %f = exp(%q)
    %z = tanh(%f)
    out "y" = %z
  })");
  CHECK(PairText(a, b) == "h=h name\np=q constants\ne=f order\ny=z interface\n");
  // A name of a value with other elements is a coincidence.
  const Graph c = Parse(R"(graph {
    in %x: f32[4, 20]
    %h = reduce_max(%x) {axes=[1]}
    %y = tanh(%h)
    out "y" = %y
  })");
  CHECK(PairText(a, c) == "y=y interface\n");
}

std::vector<ValueDrift> DriftsOf(const Graph& a, const Graph& b, double rtol = 1e-5) {
  const auto create = [](const Graph& graph) {
    auto stepper = Stepper::Create(graph.Clone(), {});
    REQUIRE(stepper.has_value());
    return *std::move(stepper);
  };
  Stepper here = create(a), there = create(b);
  const std::vector<Tensor> inputs = InputsOf(a, {});
  const auto pairs = PairsOf(here.graph(), there.graph());
  const auto reference = against::ModelReference(there, inputs, pairs);
  REQUIRE(reference.has_value());
  auto drifts = against::CompareValues(here, inputs, **reference, {0, rtol, nullptr});
  REQUIRE_MESSAGE(drifts.has_value(), drifts.error().message());
  // Both keep nothing but what no value of the other model needed.
  CHECK(here.alive_bytes() == 0);
  return *std::move(drifts);
}

// The names of the values that part.
std::string Parting(const std::vector<ValueDrift>& drifts) {
  std::string out;
  for (const ValueDrift& d : drifts)
    if (d.parts) out += d.name + " ";
  return out;
}

std::string Chain(const std::string& first, const std::string& third) {
  return "graph { in %x: f32[8]  const %k: f32[8] = splat(" + first +
         ")  %a = mul(%x, %k)  %b = sigmoid(%a)  %c = " + third + "(%b)  out \"c\" = %c }";
}

TEST_CASE("drift: the first value that parts, and those behind it") {
  const Graph a = Parse(Chain("2", "exp"));
  CHECK(Parting(DriftsOf(a, Parse(Chain("2", "exp")))) == "");
  CHECK(Parting(DriftsOf(a, Parse(Chain("2", "tanh")))) == "c ");
  const auto drifts = DriftsOf(a, Parse(Chain("2.5", "exp")));
  CHECK(Parting(drifts) == "a b c ");
  CHECK(drifts[0].comparison.outside == 8);
  CHECK(drifts[0].op == "mul");
  CHECK(drifts[0].other.name == "a");
  CHECK(Parting(DriftsOf(a, Parse(Chain("2.5", "exp")), 0.3)) == "");
}

TEST_CASE(
    "drift: values of equal names with nothing in common are no pair if what follows agrees") {
  // "b" is another value in the second graph.
  const Graph a = Parse(R"(graph { in %x: f32[8]
    %a = exp(%x)  %b = neg(%a)  %c = abs(%b)  %d = tanh(%c)  out "d" = %d })");
  const Graph b = Parse(R"(graph { in %x: f32[8]
    %a = exp(%x)  %b = add(%a, %a)  %n = neg(%a)  %e = sub(%b, %a)  %c = abs(%e)  %d = tanh(%c)
    out "d" = %d })");
  const auto drifts = DriftsOf(a, b);
  CHECK(Parting(drifts) == "");
  REQUIRE(drifts.size() == 4);
  CHECK_FALSE(drifts[1].comparison.agrees);
}

// "a=b by contents", one line a pair that is not of one name.
std::string OtherPairs(const std::vector<ValueDrift>& drifts) {
  std::string out;
  for (const ValueDrift& d : drifts)
    if (d.name != d.other.name)
      out += d.name + "=" + d.other.name + " by " + std::string(against::PairedByName(d.other.by)) +
             "\n";
  return out;
}

TEST_CASE("drift: where structures differ, values are paired by their contents") {
  // One model adds the bias to what the other calls by that name. It is small, so that both are
  // much alike.
  const Graph a = Parse(R"(graph { in %x: f32[2, 4]  const %w: f32[4, 4] = seeded(1)
    const %k: f32[4] = seeded(2)  const %s: f32[1] = [0.01]  %bias = mul(%k, %s)
    %m = matmul(%x, %w)  %h = add(%m, %bias)  %r = tanh(%h)  %y = neg(%r)  out "y" = %y })");
  const Graph b = Parse(R"(graph { in %x: f32[2, 4]  const %w: f32[4, 4] = seeded(1)
    const %k: f32[4] = seeded(2)  const %s: f32[1] = [0.01]  %bias = mul(%k, %s)
    const %one: f32[1] = [1]  %p = mul(%x, %one)
    %h = matmul(%p, %w)  %sum = add(%bias, %h)  %r = tanh(%sum)  %y = neg(%r)  out "y" = %y })");
  const auto forth = DriftsOf(a, b);
  CHECK(Parting(forth) == "");
  CHECK(OtherPairs(forth).find("h=sum by contents\n") != std::string::npos);
  const auto back = DriftsOf(b, a);
  CHECK(Parting(back) == "");
  CHECK(OtherPairs(back).find("sum=h by contents\n") != std::string::npos);
  // A difference stays one: no value of the other model has these numbers.
  const Graph c = Parse(R"(graph { in %x: f32[2, 4]  const %w: f32[4, 4] = seeded(1)
    const %k: f32[4] = seeded(2)  const %s: f32[1] = [0.02]  %bias = mul(%k, %s)
    const %one: f32[1] = [1]  %p = mul(%x, %one)
    %h = matmul(%p, %w)  %sum = add(%bias, %h)  %r = tanh(%sum)  %y = neg(%r)  out "y" = %y })");
  CHECK(Parting(DriftsOf(a, c)).starts_with("h "));
}

TEST_CASE("drift: quantized values are compared as real numbers, up to a step") {
  const std::string type = "i8[8]{scale=0.5, zp=3}";
  const Graph a = Parse("graph { in %x: f32[8]  %q = quantize(%x): " + type +
                        "  %d = dequantize(%q)  out \"d\" = %d }");
  const Graph b = Parse(
      "graph { in %x: f32[8]  const %k: f32[8] = splat(1)  %q = mul(%x, %k)"
      "  %d = abs(%q)  out \"d\" = %d }");
  const auto drifts = DriftsOf(a, b);
  REQUIRE(drifts.size() == 2);
  CHECK(drifts[0].name == "q");
  CHECK(drifts[0].comparison.agrees);
  CHECK_FALSE(drifts[0].comparison.identical);
  CHECK(drifts[0].comparison.max_absolute <= 0.25);
}

TEST_CASE("drift: NaN and infinity are counted in both models") {
  const Graph a = Parse(R"(graph { in %x: f32[8]  %n = abs(%x)  %m = neg(%n)  %y = log(%m)
    %z = relu(%y)  out "z" = %z })");
  const auto drifts = DriftsOf(a, a);
  CHECK(Parting(drifts) == "");
  CHECK(drifts[1].here.nan == 0);
  CHECK(drifts[2].here.nan == 8);
  CHECK(drifts[2].there.nan == 8);
}

}  // namespace
}  // namespace nn::test::drift_test
