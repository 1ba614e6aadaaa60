// The requirements of graphs on their inputs, and inputs drawn from them.
#include "passes/facts/input_domains.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "ir/op_def.h"
#include "ir/seeded.h"
#include "support/run_graph.h"

namespace nn::test::input_domains_test {
namespace {

struct Case {
  std::string name;
  std::string graph;
  std::string domain;  // of input 0
};

const std::vector<Case>& Cases() {
  static const std::vector<Case> cases = {
      {"nothing", "in %x: f32[4]  %y = relu(%x)", ""},
      {"gather", "in %x: i64[3]  const %t: f32[7, 2] = splat(1)  %y = gather(%t, %x)", "in [0, 6]"},
      {"gather of an axis",
       "in %x: i32[3]  const %t: f32[7, 2] = splat(1)  %y = gather(%t, %x) {axis = -1}",
       "in [0, 1]"},
      {"elements",
       "in %x: i64[1, 2]  const %t: f32[7, 2] = splat(1)  %y = gather_elements(%t, %x) {axis = 1}",
       "in [0, 1]"},
      {"vectors of indices",
       "in %x: i64[3, 2]  const %t: f32[7, 5] = splat(1)  %y = gather_nd(%t, %x)", "in [0, 4]"},
      {"axes that a declared shape lacks",
       "in %x: i64[1]  const %t: f32[1, 3, 1, 5] = splat(1)  %y = squeeze(%t, %x) : f32[1, 3, 5]",
       "[2]"},
      {"axes that a declared shape adds",
       "in %x: i64[2]  const %t: f32[3, 4] = splat(1)  %y = expand_dims(%t, %x) : f32[3, 1, 4, 1]",
       "[1, 3]"},
      {"axes that a declared shape reduces",
       "in %x: i64[2]  const %t: f32[3, 4, 5] = splat(1)  %y = reduce_sum(%t, %x) : f32[1, 4, 1]",
       "[0, 2]"},
      {"axes that a declared shape shortens",
       "in %x: i64[1]  const %s: i64[1] = [0]  const %e: i64[1] = [2]  "
       "const %t: f32[3, 4, 5] = splat(1)  %y = slice(%t, %s, %e, %x) : f32[3, 2, 5]",
       "[1]"},
      {"sizes of axes that are dropped",
       "in %x: i64[2]  const %t: f32[1, 1, 3, 4] = splat(1)  %r = resize(%t, _, _, %x)  "
       "%y = squeeze(%r) {axes = [0, 1]} : f32[6, 2]",
       "[6, 2]"},
      {"moved and cast",
       "in %x: i32[2, 3]  const %t: f32[7, 2] = splat(1)  %a = transpose(%x) {perm = [1, 0]}  "
       "%b = reshape(%a) {dims = [6]}  %c = cast(%b) {to = i64}  %y = gather(%t, %c)",
       "in [0, 6]"},
      {"arithmetic",
       "in %x: i64[3]  const %k: i64[] = [2]  const %m: i64[3] = [0, 1, 3]  const %t: f32[17, 2] = "
       "splat(1)  %a = mul(%x, %k)  %b = add(%a, %m)  %y = gather(%t, %b)",
       "in [0, 6.5]"},
      {"difference from a constant",
       "in %x: i64[3]  const %k: i64[] = [9]  const %t: f32[7, 2] = splat(1)  %a = sub(%k, %x)  "
       "%y = gather(%t, %a)",
       "in [3, 9]"},
      {"clipped before",
       "in %x: i64[3]  %a = clip(%x) {min = 0, max = 6}  const %t: f32[7, 2] = splat(1)  "
       "%y = gather(%t, %a)",
       ""},
      {"clipped on one side",
       "in %x: i64[3]  %a = relu(%x)  const %t: f32[7, 2] = splat(1)  %y = gather(%t, %a)",
       "at most 6"},
      {"remainder",
       "in %x: i64[3]  const %k: i64[] = [7]  %a = mod(%x, %k)  const %t: f32[7, 2] = splat(1)  "
       "%y = gather(%t, %a)",
       "at least 0"},
      {"two tables",
       "in %x: i64[3]  const %t: f32[7, 2] = splat(1)  const %u: f32[4, 2] = splat(1)  "
       "%a = gather(%t, %x)  %b = gather(%u, %x)  %y = add(%a, %b)",
       "in [0, 3]"},
      {"branches of a select",
       "in %x: i64[3]  const %c: bool[3] = [1, 0, 1]  const %k: i64[] = [0]  %a = select(%c, %x, "
       "%k)  const %t: f32[7, 2] = splat(1)  %y = gather(%t, %a)",
       "in [0, 6]"},
      {"an inverted mask",
       "in %x: i64[3]  const %one: f32[] = [1]  const %k: f32[] = [-10000]  %a = cast(%x) {to = "
       "f32}  %b = sub(%one, %a)  %y = mul(%b, %k)",
       "in [0, 1]"},
      {"logarithm", "in %x: f32[4]  %y = log(%x)", "at least 0.015625"},
      {"root of a negation", "in %x: f32[4]  %a = neg(%x)  %y = sqrt(%a)", "at most -0"},
      {"reciprocal of a root", "in %x: f32[4]  %a = sqrt(%x)  %y = reciprocal(%a)",
       "at least 0.015625"},
      {"arc", "in %x: f32[4]  %y = acos(%x)", "in [-1, 1]"},
      {"divisor", "in %x: f32[4]  const %k: f32[4] = splat(2)  %y = div(%k, %x)", "not 0"},
      {"fractional power", "in %x: f32[4]  const %k: f32[] = [0.5]  %y = pow(%x, %k)",
       "at least 0"},
      {"whole power", "in %x: f32[4]  const %k: f32[] = [2]  %y = pow(%x, %k)", ""},
      {"power of integers", "in %x: i32[4]  const %a: i32[4] = splat(2)  %y = pow(%a, %x)",
       "in [0, 3]"},
      {"power of integers by floats",
       "in %x: f32[4]  const %a: i32[4] = splat(2)  %y = pow(%a, %x)", "[2, 3, 0, 1]"},
      {"counts", "in %x: i64[1]  const %t: f32[5, 3] = seeded(1)  %y, %i = top_k(%t, %x)",
       "in [1, 3]"},
      {"a shape", "in %x: i64[2]  const %t: f32[6] = splat(1)  %y = reshape(%t, %x)", "[1, -1]"},
      {"a shape of fewer axes",
       "in %x: i64[2]  const %t: f32[1, 3, 1] = splat(1)  %y = expand(%t, %x)", "[3, 1]"},
      {"a shape of more axes", "in %x: i64[3]  const %t: f32[3, 1] = splat(1)  %y = expand(%t, %x)",
       "[1, 3, 1]"},
      {"an axis", "in %x: i64[]  const %t: f32[2, 3] = splat(1)  %y = cum_sum(%t, %x)",
       "in [0, 1]"},
  };
  return cases;
}

TEST_CASE("input domains: requirements reach the inputs") {
  for (const Case& c : Cases()) {
    CAPTURE(c.name);
    const Graph graph = Parse("graph { " + c.graph + "  out \"y\" = %y }");
    const std::vector<Domain> domains = InputDomains(graph);
    REQUIRE(domains.size() == 1);
    CHECK(domains[0].Describe() == c.domain);
    CHECK(domains[0].restricted() == !c.domain.empty());
    CHECK(domains[0].node.empty() == c.domain.empty());
  }
}

TEST_CASE("input domains: generated inputs run") {
  for (const Case& c : Cases()) {
    CAPTURE(c.name);
    const Graph graph = Parse("graph { " + c.graph + "  out \"y\" = %y }");
    const Port& x = graph.inputs()[0];
    for (int level = 0; level <= kMaxNarrowing; ++level) {
      const Domain domain = Narrowed(InputDomains(graph)[0], x.value->type(), level);
      const auto input = SeededInput(x.name, x.value->type(), 0, 7, domain);
      REQUIRE(input.has_value());
      Graph bound = graph.Clone();
      auto program = Program::Compile(std::move(bound), ProgramOptions{});
      REQUIRE_MESSAGE(program.has_value(), program.error().message());
      const std::vector<Tensor> inputs = {*input};
      const auto y = program->Run(inputs);
      REQUIRE_MESSAGE(y.has_value(), y.error().message());
      if ((*y)[0].dtype() != DType::kF32) continue;
      for (int64_t i = 0; i < (*y)[0].elements(); ++i) CHECK(std::isfinite((*y)[0].GetDouble(i)));
    }
  }
}

TEST_CASE("input domains: unrestricted inputs are those of SeededTensor") {
  for (const DType t : {DType::kF32, DType::kF16, DType::kI64, DType::kI8, DType::kU8, DType::kBool,
                        DType::kString}) {
    const Type type(t, {Dim(3), Dim(5)});
    const auto a = SeededInput("x", type, 2, 9), b = SeededTensor(t, {3, 5}, 9, 2);
    REQUIRE(a.has_value());
    REQUIRE(b.has_value());
    CHECK(a->Identical(*b));
  }
}

std::pair<double, double> RangeOf(const Type& type, const Domain& domain) {
  const auto t = SeededInput("x", type, 0, 1, domain);
  REQUIRE(t.has_value());
  std::pair<double, double> range{t->GetDouble(0), t->GetDouble(0)};
  for (int64_t i = 0; i < t->elements(); ++i) {
    range.first = std::min(range.first, t->GetDouble(i));
    range.second = std::max(range.second, t->GetDouble(i));
    if (domain.nonzero) CHECK(t->GetDouble(i) != 0);
  }
  return range;
}

TEST_CASE("input domains: drawn inputs") {
  const auto type = [](DType t) { return Type(t, {Dim(4000)}); };
  CHECK(RangeOf(type(DType::kI64), Between(0, 30521)).second > 30000);
  CHECK(RangeOf(type(DType::kI32), Between(3, 5)) == std::pair(3.0, 5.0));
  CHECK(RangeOf(type(DType::kU8), Between(-5, 300)) == std::pair(0.0, 255.0));
  CHECK(RangeOf(type(DType::kBool), Between(0, 0)) == std::pair(0.0, 0.0));
  Domain positive;
  positive.min = 0.5;
  CHECK(RangeOf(type(DType::kI64), positive) == std::pair(1.0, 10.0));
  const auto [low, high] = RangeOf(type(DType::kF32), positive);
  CHECK(low >= 0.5);
  CHECK(high < 1);
  positive.min = 3;
  CHECK(RangeOf(type(DType::kF32), positive).first >= 3);
  CHECK(RangeOf(type(DType::kF32), positive).second <= 5);
  Domain nonzero;
  nonzero.nonzero = true;
  CHECK(RangeOf(type(DType::kI64), nonzero) == std::pair(1.0, 9.0));
  CHECK(RangeOf(type(DType::kF32), nonzero).first < -0.9);
  // The numbers that quantized elements represent.
  Type quantized = type(DType::kU8);
  quantized.quant = Quant::PerTensor(0.5f, 10);
  CHECK(RangeOf(quantized, Between(0, 2)) == std::pair(10.0, 14.0));
}

TEST_CASE("input domains: requirements refer to existing operators and inputs") {
  for (const auto& entry : Domains()) {  // no structured binding: clang cannot capture it
    const auto& op = entry.first;
    CAPTURE(op);
    CHECK(Ops().Find(op) != nullptr);
    const bool exists = entry.second != nullptr;
    CHECK(exists);
  }
}

}  // namespace
}  // namespace nn::test::input_domains_test
