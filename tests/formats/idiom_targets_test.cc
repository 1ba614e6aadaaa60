// Which targets take which idioms.
#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "formats/format.h"
#include "ir/text/text.h"
#include "passes/idioms/idioms.h"
#include "rewrite/legalize.h"
#include "support/run_graph.h"

namespace nn::test::idiom_targets_test {
namespace {

constexpr std::string_view kPixelShuffle = R"(graph {
  in %x: f32[2, 18, 4, 5]
  %s = reshape(%x) {dims = [2, 2, 3, 3, 4, 5]}
  %t = transpose(%s) {perm = [0, 1, 4, 2, 5, 3]}
  %y = reshape(%t) {dims = [2, 2, 12, 15]}
  out "y" = %y
})";
constexpr std::string_view kLastGroups = R"(graph {
  in %x: f32[2, 4, 5, 6]
  const %s: f32[6] = seeded(1)
  const %b: f32[6] = seeded(2)
  const %epsilon: f32[] = [0.001]
  %g = reshape(%x) {dims = [2, 4, 5, 3, 2]}
  %mean = reduce_mean(%g) {axes = [1, 2, 4]}
  %d = sub(%g, %mean)
  %square = squared_difference(%g, %mean)
  %variance = reduce_mean(%square) {axes = [1, 2, 4]}
  %sum = add(%variance, %epsilon)
  %factor = rsqrt(%sum)
  %n = mul(%d, %factor)
  %r = reshape(%n) {dims = [2, 4, 5, 6]}
  %m = mul(%r, %s)
  %y = add(%m, %b)
  out "y" = %y
})";

size_t CountOf(const Graph& graph, std::string_view op) {
  size_t n = 0;
  for (const Node& node : graph.nodes()) n += node.Is(op) ? 1 : 0;
  return n;
}

// An LSTM of two steps, as Keras unrolls it.
constexpr std::string_view kUnrolled = R"(graph {
  in %x: f32[2, 2, 3]
  const %k: f32[3, 16] = seeded(1)
  const %r: f32[4, 16] = seeded(2, 0.5)
  const %b: f32[16] = seeded(3)
  const %zero: f32[2, 4] = splat(0)
  %t = transpose(%x) {perm = [1, 0, 2]}
  %u0, %u1 = split(%t) {axis = 0}
  %x0 = squeeze(%u0) {axes = [0]}
  %x1 = squeeze(%u1) {axes = [0]}
  %p0 = matmul(%x0, %k)
  %q0 = matmul(%zero, %r)
  %s0 = add(%p0, %q0)
  %z0 = add(%s0, %b)
  %zi0, %zf0, %zn0, %zo0 = split(%z0) {axis = 1}
  %i0 = sigmoid(%zi0)
  %f0 = sigmoid(%zf0)
  %fc0 = mul(%f0, %zero)
  %n0 = tanh(%zn0)
  %in0 = mul(%i0, %n0)
  %c0 = add(%fc0, %in0)
  %o0 = sigmoid(%zo0)
  %a0 = tanh(%c0)
  %h0 = mul(%o0, %a0)
  %p1 = matmul(%x1, %k)
  %q1 = matmul(%h0, %r)
  %s1 = add(%p1, %q1)
  %z1 = add(%s1, %b)
  %zi1, %zf1, %zn1, %zo1 = split(%z1) {axis = 1}
  %i1 = sigmoid(%zi1)
  %f1 = sigmoid(%zf1)
  %fc1 = mul(%f1, %c0)
  %n1 = tanh(%zn1)
  %in1 = mul(%i1, %n1)
  %c1 = add(%fc1, %in1)
  %o1 = sigmoid(%zo1)
  %a1 = tanh(%c1)
  %h1 = mul(%o1, %a1)
  out "y" = %h1
})";

// Legalizes the graph, which nothing may prevent; with `fuse` as nnconvert --fuse does.
RewriteCounts Legalized(Graph& graph, std::string_view format, bool fuse) {
  CAPTURE(format);
  const Target& target = *FindFormat(format)->target;
  RewriteCounts counts;
  if (fuse) REQUIRE(FuseIdiomsFor(target, graph, IdiomScope::kAll, &counts).has_value());
  InterfaceAxes axes;
  const auto unsupported = Legalize(graph, target, &axes, &counts);
  REQUIRE_MESSAGE(unsupported.has_value(), unsupported.error().message());
  CHECK(unsupported->empty());
  return counts;
}

TEST_CASE("idioms: pixel_shuffle where transposes have fewer axes, or with --fuse") {
  const Graph spelled_out = Parse(kPixelShuffle);
  for (const auto& form : {std::pair("coreml", false), std::pair("coreml", true),
                           std::pair("tflite", true), std::pair("onnx", true)}) {
    CAPTURE(form.first);
    Graph graph = spelled_out.Clone();
    auto counts = Legalized(graph, form.first, form.second);
    CHECK(counts[{"depth_to_space", kIdiomRewrite}] == 1);
    CHECK(CountOf(graph, "depth_to_space") == 1);
    CHECK(CountOf(graph, "reshape") == 0);
    const auto inputs = InputsOf(spelled_out, {});
    CHECK(RunEverywhere(graph, inputs)[0].ToDoubles() ==
          RunEverywhere(spelled_out, inputs)[0].ToDoubles());
  }
  // Transposes of six axes are legal there.
  for (const std::string_view format : {"tflite", "onnx"}) {
    Graph graph = spelled_out.Clone();
    CHECK(Legalized(graph, format, false).empty());
    CHECK(CountOf(graph, "transpose") == 1);
  }
}

TEST_CASE("idioms: an operator that has only the other layout is taken") {
  Graph graph = Parse(kLastGroups);
  auto counts = Legalized(graph, "onnx", true);
  CHECK(counts[{"group_norm", kIdiomRewrite}] == 1);
  CHECK(CountOf(graph, "group_norm") == 1);
  CHECK(CountOf(graph, "reduce_mean") == 0);
  // TensorFlow Lite has no such operator in either.
  graph = Parse(kLastGroups);
  CHECK(Legalized(graph, "tflite", true).empty());
  CHECK(CountOf(graph, "reduce_mean") == 2);
}

TEST_CASE("idioms: an unrolled layer where the target has it") {
  const Graph spelled_out = Parse(kUnrolled);
  // These formats have weights of a matrix product in another order, ONNX has them as they are.
  for (const auto& form :
       {std::pair("tflite", false), std::pair("coreml", false), std::pair("nnapi", false),
        std::pair("tflite", true), std::pair("coreml", true), std::pair("nnapi", true),
        std::pair("onnx", true)}) {
    CAPTURE(form.first);
    Graph graph = spelled_out.Clone();
    auto counts = Legalized(graph, form.first, form.second);
    CHECK(counts[{"lstm", kIdiomRewrite}] == 1);
    CHECK(CountOf(graph, "lstm") == 1);
    CHECK(CountOf(graph, "tanh") == 0);
    // NNAPI has no transpose, so the input may be another one.
    if (std::string_view(form.first) != "nnapi")
      CHECK(LargestDifference(graph, spelled_out) <= 1e-6);
  }
  Graph graph = spelled_out.Clone();
  CHECK(Legalized(graph, "onnx", false).empty());
  CHECK(CountOf(graph, "lstm") == 0);
  // TensorFlow Lite's layers start from zeros.
  graph = Parse(std::string(kUnrolled).replace(kUnrolled.find("const %zero: f32[2, 4] = splat(0)"),
                                               33, "in %zero: f32[2, 4]"));
  auto counts = Legalized(graph, "tflite", true);
  CHECK(!counts.contains({"lstm", kIdiomRewrite}));
}

}  // namespace
}  // namespace nn::test::idiom_targets_test
