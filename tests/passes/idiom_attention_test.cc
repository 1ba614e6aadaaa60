// The idioms of attention and of rotary position embeddings (passes/idioms/attention.cc).
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ir/op_def.h"
#include "ir/text/text.h"
#include "passes/idioms/idioms.h"
#include "support/run_graph.h"

namespace nn::test::idiom_attention_test {
namespace {

std::map<std::string_view, uint64_t> Fused(Graph& graph) {
  const auto counts = FuseIdioms(graph, {});
  REQUIRE_MESSAGE(counts.has_value(), counts.error().message());
  return *counts;
}

const Node* Find(const Graph& graph, std::string_view op) {
  for (const Node& node : graph.nodes())
    if (node.Is(op)) return &node;
  return nullptr;
}

struct Row {
  std::string_view name;
  std::string graph;            // without its output y
  std::string_view attrs = "";  // all of them
  size_t inputs = 3;
};

void CheckRow(const Row& row, std::string_view op, double tolerance) {
  CAPTURE(row.name);
  const Graph spelled_out = Parse(fmt::format("graph {{ {} out \"y\" = %y }}", row.graph));
  Graph graph = spelled_out.Clone();
  const auto counts = Fused(graph);
  CAPTURE(PrintGraph(graph));
  REQUIRE(counts.size() == 1);
  CHECK(counts.at(op) == 1);
  const Node* const node = Find(graph, op);
  REQUIRE(node != nullptr);
  CHECK(node->attrs().ToString() == row.attrs);
  CHECK(node->inputs().size() == row.inputs);
  CHECK(Find(graph, "softmax") == nullptr);
  CHECK(LargestDifference(graph, spelled_out) <= tolerance);
}

constexpr std::string_view kOperands =
    "in %q: f32[2, 3, 5, 16] in %k: f32[2, 3, 7, 16] in %v: f32[2, 3, 7, 4] "
    "in %m: f32[2, 1, 1, 7] in %c: bool[5, 7] "
    "const %r: f32[] = [0.5] const %s: f32[] = [0.25] const %d: f32[] = [4] "
    "const %n: f32[] = [-inf] const %zero: f32[] = [0] "
    "const %causal: bool[1, 1, 3, 4] = [1, 0, 0, 0, 1, 1, 0, 0, 1, 1, 1, 0] "
    "const %least: f32[] = [-3.4028235e38] "
    "const %bias: f32[3, 4] = [0, -inf, -inf, -inf, 0, 0, -inf, -inf, 0, 0, 0, -inf] "
    "%t = transpose(%k) {perm = [0, 1, 3, 2]} ";

std::string On(std::string_view nodes) {
  return std::string(kOperands) + std::string(nodes);
}

TEST_CASE("idioms: attention") {
  const std::string square =
      "in %x: f32[2, 3, 3, 16] in %z: f32[2, 3, 4, 16] in %w: f32[2, 3, 4, 5] "
      "%u = transpose(%z) {perm = [0, 1, 3, 2]} ";
  for (const Row& row : std::vector<Row>{
           {"scaled_dot_product_attention of PyTorch",
            On("%a = mul(%q, %r) %b = mul(%t, %r) %p = matmul(%a, %b) %w = softmax(%p) "
               "%y = matmul(%w, %v)")},
           {"with a mask, and weights that are not NaN",
            On("%a = mul(%q, %r) %b = mul(%t, %r) %p = matmul(%a, %b) %x = add(%p, %m) "
               "%w = softmax(%x) %i = is_nan(%w) %o = select(%i, %zero, %w) "
               "%y = matmul(%o, %v)"),
            "", 4},
           {"Swin Transformer V2, scales of the heads",
            On("const %g: f32[1, 3, 1, 1] = [0.5, 1, 2] %p = matmul(%q, %t) %z = mul(%p, %g) "
               "%x = add(%z, %m) %w = softmax(%x) %y = matmul(%w, %v)"),
            "{scale = 1.0}", 4},
           {"keys that are scaled before they are transposed",
            On("%a = mul(%q, %r) %e = mul(%k, %r) %b = transpose(%e) {perm = [0, 1, 3, 2]} "
               "%p = matmul(%a, %b) %w = softmax(%p) %y = matmul(%w, %v)")},
           {"BERT",
            On("%p = matmul(%q, %t) %x = div(%p, %d) %z = add(%x, %m) %w = softmax(%z) "
               "{axis = 3} %y = matmul(%w, %v)"),
            "", 4},
           {"Keras, of another scale",
            On("%a = mul(%q, %r) %p = matmul(%a, %k) {transpose_b = true} %z = add(%m, %p) "
               "%w = softmax(%z) %y = matmul(%w, %v)"),
            "{scale = 0.5}", 4},
           {"no scale", On("%p = matmul(%q, %t) %w = softmax(%p) %y = matmul(%w, %v)"),
            "{scale = 1.0}"},
           {"scores that a condition keeps",
            On("%p = matmul(%q, %t) %z = mul(%s, %p) %x = select(%c, %z, %n) "
               "%w = softmax(%x) %y = matmul(%w, %v)"),
            "", 4},
           {"scores that a condition replaces",
            On("%p = matmul(%q, %t) %z = mul(%s, %p) %x = select(%c, %n, %z) "
               "%w = softmax(%x) %y = matmul(%w, %v)"),
            "", 4},
           {"GPT-2, causal",
            On(square + "%p = matmul(%x, %u) %o = div(%p, %d) %i = select(%causal, %o, %least) "
                        "%j = softmax(%i) %y = matmul(%j, %w)"),
            "{is_causal = true}"},
           {"is_causal of PyTorch",
            On(square + "%p = matmul(%x, %u) %o = div(%p, %d) %i = add(%o, %bias) "
                        "%j = softmax(%i) %y = matmul(%j, %w)"),
            "{is_causal = true}"},
           {"Gemma 2, a softcap",
            On("%p = matmul(%q, %t) %a = mul(%p, %s) %b = div(%a, %d) %e = tanh(%b) "
               "%f = mul(%e, %d) %z = add(%f, %m) %w = softmax(%z) %y = matmul(%w, %v)"),
            "{softcap = 4.0}", 4},
           {"keys transposed with the heads",
            "in %q: f32[2, 3, 5, 16] in %x: f32[2, 7, 3, 16] in %v: f32[2, 3, 7, 4] "
            "const %d: f32[] = [4] %t = transpose(%x) {perm = [0, 2, 3, 1]} "
            "%p = matmul(%q, %t) %z = div(%p, %d) %w = softmax(%z) %y = matmul(%w, %v)"},
           {"MultiheadAttention of PyTorch, heads in the first axis",
            "in %q: f32[6, 5, 16] in %k: f32[6, 7, 16] in %v: f32[6, 7, 4] in %m: f32[6, 1, 7] "
            "const %d: f32[] = [4] %t = transpose(%k) {perm = [0, 2, 1]} %a = div(%q, %d) "
            "%p = matmul(%a, %t) %z = add(%p, %m) %w = softmax(%z) %y = matmul(%w, %v)",
            "", 4},
       })
    CheckRow(row, "attention", 2e-6);
}

TEST_CASE("idioms: attention of repeated keys") {
  Graph graph = Parse(R"(graph {
    in %q: f32[2, 6, 5, 16]  in %k: f32[2, 2, 7, 16]  in %v: f32[2, 2, 7, 4]
    %k1 = expand_dims(%k) {axes = [2]}  %k2 = expand(%k1) {dims = [2, 2, 3, 7, 16]}
    %k3 = reshape(%k2) {dims = [2, 6, 7, 16]}  %t = transpose(%k3) {perm = [0, 1, 3, 2]}
    %v1 = reshape(%v) {dims = [2, 2, 1, 7, 4]}  %v2 = expand(%v1) {dims = [2, 2, 3, 7, 4]}
    %v3 = reshape(%v2) {dims = [2, 6, 7, 4]}
    const %s: f32[] = [0.25]  %p = matmul(%q, %t)  %z = mul(%p, %s)  %w = softmax(%z)
    %y = matmul(%w, %v3)  out "y" = %y })");
  const Graph spelled_out = graph.Clone();
  CHECK(Fused(graph).at("attention") == 1);
  CHECK(graph.nodes().size() == 1);
  CHECK(LargestDifference(graph, spelled_out) <= 2e-6);
}

TEST_CASE("idioms: attention of symbolic sizes") {
  Graph graph = Parse(R"(graph {
    in %x: f32[b, n, 8]  in %m: f32[b, 1, 1, n]  const %d: f32[] = [2]
    %h = reshape(%x) {dims = [b, n, 2, 4]}  %q = transpose(%h) {perm = [0, 2, 1, 3]}
    %t = transpose(%h) {perm = [0, 2, 3, 1]}  %p = matmul(%q, %t)  %z = div(%p, %d)
    %s = add(%z, %m)  %w = softmax(%s)  %y = matmul(%w, %q)  out "y" = %y })");
  CHECK(Fused(graph).at("attention") == 1);
  CHECK(graph.outputs()[0].value->type().ToString() == "f32[b, 2, n, 4]");
}

TEST_CASE("idioms: what is not attention") {
  for (const std::string_view nodes : {
           // The softmax of columns; weights with another use; a sum behind the product.
           "%p = matmul(%q, %t) %w = softmax(%p) {axis = 2} %y = matmul(%w, %v)",
           "%p = matmul(%q, %t) %w = softmax(%p) %z = matmul(%w, %v) %o = reduce_sum(%w) "
           "%y = add(%z, %o)",
           // A number that does not exclude a key; one that is finite, where rows may have no key.
           "%p = matmul(%q, %t) %z = select(%c, %p, %zero) %w = softmax(%z) %y = matmul(%w, %v)",
           "%p = matmul(%q, %t) %z = select(%c, %p, %least) %w = softmax(%z) "
           "%y = matmul(%w, %v)",
           // A negative scale.
           "%a = neg(%q) %p = matmul(%a, %t) %z = mul(%p, %s) %w = softmax(%z) "
           "%y = matmul(%w, %v)",
       }) {
    CAPTURE(nodes);
    Graph graph = Parse(fmt::format("graph {{ {} {} out \"y\" = %y }}", kOperands, nodes));
    CHECK(Fused(graph).empty());
  }
}

constexpr std::string_view kAngles =
    "in %x: f32[2, 3, 5, 8] in %f: f32[2, 5, 4] %e = concat(%f, %f) {axis = 2} "
    "%c0 = cos(%e) %s0 = sin(%e) %c = expand_dims(%c0) {axes = [1]} "
    "%s = expand_dims(%s0) {axes = [1]} ";
constexpr std::string_view kHalves =
    "%a = slice(%x) {axes = [3], starts = [0], ends = [4]} "
    "%b = slice(%x) {axes = [3], starts = [4], ends = [9223372036854775807]} ";
constexpr std::string_view kPairs =
    "%a = slice(%x) {axes = [-1], starts = [0], ends = [8], steps = [2]} "
    "%b = slice(%x) {axes = [-1], starts = [1], ends = [8], steps = [2]} ";

TEST_CASE("idioms: rotary embeddings, to the bit") {
  const auto text = [](std::initializer_list<std::string_view> parts) {
    std::string out;
    for (const std::string_view part : parts) out += part;
    return out;
  };
  const std::string_view turned =
      "%o = neg(%b) %r = concat(%o, %a) {axis = 3} %l = mul(%x, %c) %n = mul(%r, %s) "
      "%y = add(%l, %n)";
  for (const Row& row : std::vector<Row>{
           {"rotate_half", text({kAngles, kHalves, turned})},
           {"rotate_half, split",
            text({kAngles, "%a, %b = split(%x) {axis = 3, sizes = [4, 4]} ", turned})},
           {"rotate_half, constant angles",
            text({"in %x: f32[2, 3, 5, 8] ", kHalves,
                  "const %c1: f32[1, 8] = [1, 2, 3, 4, 1, 2, 3, 4] %o = neg(%b) "
                  "%r = concat(%o, %a) {axis = 3} %l = mul(%x, %c1) %n = mul(%r, %c1) "
                  "%y = add(%n, %l)"})},
           {"rotate_every_two",
            text({"in %x: f32[2, 3, 5, 8] const %c: f32[8] = [1, 1, 2, 2, 3, 3, 4, 4] "
                  "const %s: f32[8] = [5, 5, 6, 6, 7, 7, 8, 8] ",
                  kPairs,
                  "%o = neg(%b) %e1 = expand_dims(%o) {axes = [4]} %e2 = expand_dims(%a) "
                  "{axes = [4]} %r = concat(%e1, %e2) {axis = 4} "
                  "%z = reshape(%r) {dims = [2, 3, 5, 8]} %l = mul(%x, %c) %n = mul(%z, %s) "
                  "%y = add(%l, %n)"}),
            "{interleaved = true}"},
           {"the body of RotaryEmbedding",
            text({"in %x: f32[2, 3, 5, 8] in %c: f32[2, 1, 5, 4] in %s: f32[2, 1, 5, 4] ", kHalves,
                  "%ca = mul(%c, %a) %sb = mul(%s, %b) %u = sub(%ca, %sb) %sa = mul(%s, %a) "
                  "%cb = mul(%c, %b) %v = add(%sa, %cb) %y = concat(%u, %v) {axis = -1}"})},
           {"its body, interleaved",
            text({"in %x: f32[2, 3, 5, 8] in %c: f32[2, 1, 5, 4] in %s: f32[2, 1, 5, 4] ", kPairs,
                  "%ca = mul(%c, %a) %sb = mul(%s, %b) %u = sub(%ca, %sb) %sa = mul(%s, %a) "
                  "%cb = mul(%c, %b) %v = add(%sa, %cb) %e1 = expand_dims(%u) {axes = [-1]} "
                  "%e2 = expand_dims(%v) {axes = [-1]} %r = concat(%e1, %e2) {axis = 4} "
                  "%y = reshape(%r) {dims = [2, 3, 5, 8]}"}),
            "{interleaved = true}"},
       })
    CheckRow(row, "rotary_embedding", 0);
}

TEST_CASE("idioms: what is not a rotary embedding") {
  for (const std::string_view nodes : {
           // The halves exchanged; angles that are not there twice.
           "%o = neg(%a) %r = concat(%o, %b) {axis = 3} %l = mul(%x, %c) %n = mul(%r, %s) "
           "%y = add(%l, %n)",
           "in %g: f32[5, 8] %o = neg(%b) %r = concat(%o, %a) {axis = 3} %l = mul(%x, %c) "
           "%n = mul(%r, %g) %y = add(%l, %n)",
       }) {
    CAPTURE(nodes);
    Graph graph =
        Parse(fmt::format("graph {{ {} {} {} out \"y\" = %y }}", kAngles, kHalves, nodes));
    CHECK(Fused(graph).empty());
  }
}

}  // namespace
}  // namespace nn::test::idiom_attention_test
