// Steps of recurrent layers in the text form, as exporters write them, and what FuseIdioms() makes
// of them.
#pragma once

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cctype>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ir/op_def.h"
#include "ir/text/text.h"
#include "passes/core/passes.h"
#include "passes/idioms/idioms.h"
#include "support/run_graph.h"

namespace nn::test {

using Counts = std::map<std::string_view, uint64_t>;

inline Counts Fused(Graph& graph) {
  REQUIRE(FoldConstants(graph).has_value());
  const auto counts = FuseIdioms(graph, {});
  REQUIRE_MESSAGE(counts.has_value(), counts.error().message());
  return *counts;
}

inline std::vector<const Node*> Layers(const Graph& graph) {
  std::vector<const Node*> out;
  for (const Node& node : graph.nodes())
    if (node.op().category == Category::kRecurrent) out.push_back(&node);
  return out;
}

inline constexpr int kSteps = 4;

// The text with what it says about one step: X is its input, H and C are the states before it, and
// @ is its number.
inline std::string StepText(std::string_view text, const std::string& x, const std::string& h,
                            const std::string& c, int t) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool is_word = i > 0 && (std::isalnum(text[i - 1]) != 0 || text[i - 1] == '%');
    if (text[i] == '@')
      out += std::to_string(t);
    else if (is_word || text.find_first_of(",) ", i) != i + 1)
      out += text[i];
    else if (text[i] == 'X')
      out += x;
    else if (text[i] == 'H')
      out += h;
    else if (text[i] == 'C')
      out += c;
    else
      out += text[i];
  }
  return out;
}

// Steps in this order, from %h and %c, on %x0, %x1, ...; the states after step t are %ht and %ct.
inline std::string StepsText(std::string_view step, const std::vector<int>& order = {0, 1, 2, 3}) {
  std::string out, h = "%h", c = "%c";
  for (const int t : order) {
    out += StepText(step, fmt::format("%x{}", t), h, c, t) + " ";
    h = fmt::format("%h{}", t);
    c = fmt::format("%c{}", t);
  }
  return out;
}

// The inputs of the steps, [B, 3].
inline constexpr std::string_view kUnstacked =
    "in %x: f32[4, 2, 3] %u0, %u1, %u2, %u3 = split(%x) {axis = 0} "
    "%x0 = squeeze(%u0) {axes = [0]} %x1 = squeeze(%u1) {axes = [0]} "
    "%x2 = squeeze(%u2) {axes = [0]} %x3 = squeeze(%u3) {axes = [0]} ";
inline constexpr std::string_view kZeros =
    "const %h: f32[2, 5] = splat(0) const %c: f32[2, 5] = splat(0) ";
inline constexpr std::string_view kStates = "in %h: f32[2, 5] in %c: f32[2, 5] ";
// All h, [T, B, H].
inline constexpr std::string_view kStacked =
    "%e0 = expand_dims(%h0) {axes = [0]} %e1 = expand_dims(%h1) {axes = [0]} "
    "%e2 = expand_dims(%h2) {axes = [0]} %e3 = expand_dims(%h3) {axes = [0]} "
    "%y = concat(%e0, %e1, %e2, %e3) {axis = 0} out \"y\" = %y ";
inline constexpr std::string_view kLast = "out \"y\" = %h3 ";

// Keras, implementation 2.
inline constexpr std::string_view kKerasWeights =
    "const %k: f32[3, 20] = seeded(2, 0.5) const %r: f32[5, 20] = seeded(3, 0.5) "
    "const %b: f32[20] = seeded(4, 0.5) ";
inline constexpr std::string_view kKerasStep =
    "%p@ = matmul(X, %k) %q@ = matmul(H, %r) %s@ = add(%p@, %q@) %z@ = add(%s@, %b) "
    "%zi@, %zf@, %zn@, %zo@ = split(%z@) {axis = 1} %i@ = sigmoid(%zi@) %f@ = sigmoid(%zf@) "
    "%fc@ = mul(%f@, C) %n@ = tanh(%zn@) %in@ = mul(%i@, %n@) %c@ = add(%fc@, %in@) "
    "%o@ = sigmoid(%zo@) %a@ = tanh(%c@) %h@ = mul(%o@, %a@)";

inline constexpr std::string_view kGruWeights =
    "const %k: f32[3, 15] = seeded(2) const %r: f32[5, 15] = seeded(3, 0.5) "
    "const %b: f32[15] = seeded(4) const %rb: f32[15] = seeded(5) const %one: f32[] = [1] "
    "const %rzr: f32[5, 10] = seeded(6) const %rn: f32[5, 5] = seeded(7) ";

// z, r and the candidate n of Keras, with the reset gate behind the product or before it.
inline constexpr std::string_view kResetAfter =
    "%p@ = matmul(X, %k) %s@ = add(%p@, %b) %xz@, %xr@, %xn@ = split(%s@) {axis = 1} "
    "%q@ = matmul(H, %r) %t@ = add(%q@, %rb) %hz@, %hr@, %hn@ = split(%t@) {axis = 1} "
    "%az@ = add(%xz@, %hz@) %z@ = sigmoid(%az@) %ar@ = add(%xr@, %hr@) %g@ = sigmoid(%ar@) "
    "%gn@ = mul(%g@, %hn@) %an@ = add(%xn@, %gn@) %n@ = tanh(%an@) ";
inline constexpr std::string_view kResetBefore =
    "%p@ = matmul(X, %k) %s@ = add(%p@, %b) %xz@, %xr@, %xn@ = split(%s@) {axis = 1} "
    "%q@ = matmul(H, %rzr) %hz@, %hr@ = split(%q@) {axis = 1} "
    "%az@ = add(%xz@, %hz@) %z@ = sigmoid(%az@) %ar@ = add(%xr@, %hr@) %g@ = sigmoid(%ar@) "
    "%gh@ = mul(%g@, H) %hn@ = matmul(%gh@, %rn) %an@ = add(%xn@, %hn@) %n@ = tanh(%an@) ";
inline constexpr std::string_view kBlend =
    "%zh@ = mul(%z@, H) %zz@ = sub(%one, %z@) %zn@ = mul(%zz@, %n@) %h@ = add(%zh@, %zn@)";

struct Spelled {
  std::string_view name;
  std::string graph;
  std::string_view op;
  std::string_view attrs = "";
  size_t inputs = 4;
  int64_t steps = kSteps;
  std::string_view absent = "";  // an operator that is not left
};

inline void CheckSpelled(const Spelled& row) {
  CAPTURE(row.name);
  const Graph spelled_out = Parse("graph { " + row.graph + "}");
  Graph graph = spelled_out.Clone();
  const Counts counts = Fused(graph);
  CAPTURE(PrintGraph(graph));
  REQUIRE(counts == Counts{{row.op, 1}});
  const Node* const layer = Layers(graph)[0];
  CHECK(layer->attrs().ToString() == row.attrs);
  CHECK(layer->inputs().size() == row.inputs);
  CHECK(layer->input(0)->type().dim(0) == row.steps);
  for (const Node& node : graph.nodes()) {
    CHECK(node.op_name() != "matmul");
    CHECK(node.op_name() != row.absent);
  }
  CHECK(LargestDifference(graph, spelled_out) <= 2e-6);
}

inline std::string Text(std::initializer_list<std::string_view> parts) {
  std::string out;
  for (const std::string_view part : parts) out += part;
  return out;
}

}  // namespace nn::test
