#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "exec/program.h"
#include "ir/eval.h"
#include "ir/op_def.h"
#include "support/run_graph.h"

namespace nn::test::attention_ops_test {
namespace {

// With equal scores, all weights are equal.
const std::vector<double> kZeros = {0, 0};
const std::vector<double> kKeys = {1, 2, 3};

std::string Graph1(std::string_view more, std::string_view call) {
  return fmt::format(R"(graph {{ in %q: f32[1, 1, 2, 1]  in %k: f32[1, 1, 3, 1]
                        in %v: f32[1, 1, 3, 1]  {}  %y = attention(%q, %k, %v{}  out "y" = %y }})",
                     more, call);
}

TEST_CASE("attention: masks, by hand") {
  const std::vector<std::vector<double>> inputs = {kZeros, kKeys, {3, 6, 12}};
  for (const OpCase& c : {
           OpCase{"all keys", Graph1("", ")"), inputs, {{7, 7}}},
           OpCase{"causal", Graph1("", ") {is_causal = true}"), inputs, {{3, 4.5}}},
           OpCase{"a row without keys",
                  Graph1("const %m: bool[2, 3] = [0, 0, 0, 1, 0, 1]", ", %m)"),
                  inputs,
                  {{0, 7.5}}},
           OpCase{"a row without keys, by numbers",
                  Graph1("const %m: f32[2, 3] = [-inf, -inf, -inf, 0, -inf, 0]", ", %m)"),
                  inputs,
                  {{0, 7.5}}},
           OpCase{"both",
                  Graph1("const %m: bool[3] = [0, 1, 1]", ", %m) {is_causal = true}"),
                  inputs,
                  {{0, 6}}},
       })
    CheckCase(c);
}

TEST_CASE("attention: scale and softcap") {
  // Scores 0 and x, of which the softmax has the weight 1 / (1 + e^-x).
  const auto weight = [](double x) { return 1 / (1 + std::exp(-x)); };
  const auto graph = [](std::string_view attrs) {
    return fmt::format(R"(graph {{ in %q: f32[1, 1, 1, 4]  in %k: f32[1, 1, 2, 4]
                          in %v: f32[1, 1, 2, 1]  %y = attention(%q, %k, %v){}  out "y" = %y }})",
                       attrs);
  };
  const std::vector<std::vector<double>> inputs = {
      {1, 1, 1, 1}, {0, 0, 0, 0, 1, 1, 0.5, 0.5}, {0, 1}};
  CheckCase({"1 / sqrt(E)", graph(""), inputs, {{weight(1.5)}}, 1e-6});
  CheckCase({"scale", graph(" {scale = 0.25}"), inputs, {{weight(0.75)}}, 1e-6});
  CheckCase({"softcap", graph(" {softcap = 2.0}"), inputs, {{weight(2 * std::tanh(0.75))}}, 1e-6});
}

// The bits of keys and values that are repeated for the heads that share them.
TEST_CASE("attention: query heads that share keys") {
  for (const std::string mask : {"", ", %m", ", %h"}) {
    CAPTURE(mask);
    const Graph grouped = Parse(fmt::format(
        R"(graph {{ in %q: f32[2, 6, 5, 8]  in %k: f32[2, 2, 7, 8]  in %v: f32[2, 2, 7, 3]
           in %m: bool[2, 1, 5, 7]  in %h: f32[6, 5, 7]
           %y = attention(%q, %k, %v{})  out "y" = %y }})",
        mask));
    const Graph repeated = Parse(fmt::format(
        R"(graph {{ in %q: f32[2, 6, 5, 8]  in %k: f32[2, 2, 7, 8]  in %v: f32[2, 2, 7, 3]
           in %m: bool[2, 1, 5, 7]  in %h: f32[6, 5, 7]
           %k1 = expand_dims(%k) {{axes = [2]}}  %k2 = expand(%k1) {{dims = [2, 2, 3, 7, 8]}}
           %k3 = reshape(%k2) {{dims = [2, 6, 7, 8]}}
           %v1 = expand_dims(%v) {{axes = [2]}}  %v2 = expand(%v1) {{dims = [2, 2, 3, 7, 3]}}
           %v3 = reshape(%v2) {{dims = [2, 6, 7, 3]}}
           %y = attention(%q, %k3, %v3{})  out "y" = %y }})",
        mask));
    const auto inputs = InputsOf(grouped, {});
    CHECK(RunEverywhere(grouped, inputs)[0].ToDoubles() ==
          RunEverywhere(repeated, inputs)[0].ToDoubles());
  }
}

TEST_CASE("attention: 16-bit floats are rounded once") {
  const Graph narrow = Parse(R"(graph { in %q: f16[1, 2, 5, 8]  %y = attention(%q, %q, %q)
                                out "y" = %y })");
  const Graph wide = Parse(R"(graph { in %q: f16[1, 2, 5, 8]  %x = cast(%q) {to = f32}
                              %z = attention(%x, %x, %x)  %y = cast(%z) {to = f16}
                              out "y" = %y })");
  const auto inputs = InputsOf(narrow, {});
  CHECK(RunEverywhere(narrow, inputs)[0].ToDoubles() == RunEverywhere(wide, inputs)[0].ToDoubles());
}

TEST_CASE("attention: operands that do not fit") {
  const auto fails = [](std::string_view operands, std::string_view attrs, std::string_view part) {
    return Fails(fmt::format("graph {{ {} %y = attention(%q, %k, %v, %m){}  out \"y\" = %y }}",
                             operands, attrs),
                 part);
  };
  CHECK(fails("in %q: f32[1, 3, 2, 4] in %k: f32[1, 2, 5, 4] in %v: f32[1, 2, 5, 4] in %m: bool[5]",
              "", "is not a multiple of 2"));
  CHECK(fails("in %q: f32[1, h, 2, 4] in %k: f32[1, 2, 5, 4] in %v: f32[1, 2, 5, 4] in %m: bool[5]",
              "", "must be known"));
  CHECK(fails("in %q: f32[1, 2, 2, 4] in %k: f32[1, 2, 5, 3] in %v: f32[1, 2, 5, 4] in %m: bool[5]",
              "", "head sizes"));
  CHECK(fails("in %q: f32[1, 2, 2, 4] in %k: f32[1, 2, 5, 4] in %v: f32[1, 2, 6, 4] in %m: bool[5]",
              "", "sequences"));
  CHECK(fails("in %q: f32[1, 2, 2, 4] in %k: f32[1, 2, 5, 4] in %v: f32[1, 2, 5, 4] in %m: i32[5]",
              "", "must be of bool or f32"));
  CHECK(
      fails("in %q: f32[1, 2, 1, 4] in %k: f32[1, 2, 5, 4] in %v: f32[1, 2, 5, 4] "
            "in %m: bool[3, 5]",
            "", "does not broadcast"));
  CHECK(fails("in %q: f32[1, 2, 2, 4] in %k: f32[1, 2, 5, 4] in %v: f32[1, 2, 5, 4] in %m: bool[5]",
              " {scale = -1.0}", "scale is -1"));
}

// The parts count against the limits of a run, too.
TEST_CASE("attention: a budget bounds its scores") {
  const Graph g = Parse(R"(graph { in %q: f32[1, 1, 200, 2]  %y = attention(%q, %q, %q)
                           out "y" = %y })");
  const auto inputs = InputsOf(g, {});
  EvalBudget budget;
  budget.bytes = 100000;  // the scores are 160,000
  const auto y = EvalNode(g.nodes().front(), {&inputs[0], &inputs[0], &inputs[0]}, &budget);
  REQUIRE(!y.has_value());
  CHECK(y.error().code() == ErrorCode::kLimit);
}

TEST_CASE("rotary_embedding: by hand") {
  const auto graph = [](std::string_view angles, std::string_view attrs) {
    return fmt::format(R"(graph {{ in %x: f32[1, 1, 1, 5]  in %c: f32[{0}]  in %s: f32[{0}]
                          %y = rotary_embedding(%x, %c, %s){1}  out "y" = %y }})",
                       angles, attrs);
  };
  const std::vector<double> x = {1, 2, 3, 4, 5};
  CheckCase(
      {"halves", graph("2", ""), {x, {2, 10}, {1, 100}}, {{2 - 3, 20 - 400, 6 + 1, 40 + 200, 5}}});
  CheckCase({"interleaved",
             graph("1, 2", " {interleaved = true}"),
             {x, {2, 10}, {1, 100}},
             {{2 - 2, 4 + 1, 30 - 400, 40 + 300, 5}}});
}

}  // namespace
}  // namespace nn::test::attention_ops_test
