// float16 and bfloat16 on the kernels for float32: the bits of the reference evaluation, which
// computes each operator in float32 and rounds once.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

#include "support/run_graph.h"

namespace nn::test::half_test {
namespace {

// The graph's text with the type in place of T.
void RunHalf(std::string text) {
  for (const char* type : {"f16", "bf16"}) {
    std::string graph_text;
    for (const char c : text) graph_text += c == 'T' ? std::string(type) : std::string(1, c);
    CAPTURE(graph_text);
    const Graph graph = Parse(graph_text);
    CheckHasKernels(graph);
    RunEverywhere(graph, InputsOf(graph, {}));
  }
}

TEST_CASE("16-bit floats: operators with weights") {
  RunHalf(R"(graph { in %x: T[1, 5, 9, 9]  const %w: T[20, 5, 3, 3] = seeded(3)
             const %b: T[20] = seeded(4)
             %c = conv(%x, %w, %b) {pads = [1, 1, 1, 1]}
             const %d: T[20, 1, 3, 3] = seeded(5)
             %e = conv(%c, %d) {groups = 20, strides = [2, 2]}
             out "y" = %e })");
  RunHalf(R"(graph { in %x: T[1, 6, 5, 5]  const %w: T[6, 4, 3, 3] = seeded(3)
             %y = conv_transpose(%x, %w) {strides = [2, 2]}  out "y" = %y })");
  RunHalf(R"(graph { in %a: T[2, 7, 40]  in %b: T[2, 40, 9]  const %w: T[9, 33] = seeded(3)
             const %c: T[33] = seeded(4)
             %m = matmul(%a, %b)  %y = matmul(%m, %w, %c)  out "y" = %y })");
  RunHalf(R"(graph { in %x: T[2, 6, 5, 5]  const %s: T[6] = seeded(3)  const %b: T[6] = seeded(4)
             const %m: T[6] = seeded(5)  const %v: T[6] = [1, 2, 0.5, 1, 3, 2]
             %y = batch_norm(%x, %s, %b, %m, %v)  out "y" = %y })");
}

TEST_CASE("16-bit floats: chains of elementwise operators") {
  RunHalf(R"(graph { in %x: T[3, 50]  in %z: T[50]
             %a = add(%x, %z)  %m = mul(%a, %x)  %t = tanh(%m)  %s = sigmoid(%t)
             %p = div(%s, %z)  %e = exp(%p)  %r = relu(%e)  out "y" = %r })");
  // Overflow and subnormal numbers.
  RunHalf(R"(graph { in %x: T[4, 33]  const %big: T[1] = [60000]  const %tiny: T[1] = [0.00001]
             %a = mul(%x, %big)  %b = add(%a, %a)  %c = mul(%b, %tiny)  %d = mul(%c, %tiny)
             out "b" = %b  out "d" = %d })");
}

TEST_CASE("16-bit floats: rows, windows and samples") {
  RunHalf(R"(graph { in %x: T[2, 6, 8, 8]  %p = max_pool(%x) {kernel = [2, 2], strides = [2, 2]}
             %a = average_pool(%p) {kernel = [3, 3]}  out "y" = %a })");
  RunHalf(R"(graph { in %x: T[4, 60]  %s = softmax(%x) {axis = 1}
             %m = reduce_mean(%s) {axes = [1]}  %l = log_softmax(%x) {axis = 1}
             out "s" = %s  out "m" = %m  out "l" = %l })");
  RunHalf(R"(graph { in %x: T[4, 60]  const %s: T[60] = seeded(2)  const %b: T[60] = seeded(3)
             %y = layer_norm(%x, %s, %b) {axis = 1}  out "y" = %y })");
}

TEST_CASE("16-bit floats: data movement stays in 16 bits, or in float32 between float32 nodes") {
  RunHalf(R"(graph { in %x: T[2, 3, 40]  %t = transpose(%x) {perm = [0, 2, 1]}
             %e = exp(%t)  %u = transpose(%e) {perm = [0, 2, 1]}  %c = concat(%u, %x) {axis = 1}
             %n = neg(%u)  %s = slice(%n) {axes = [2], starts = [3], ends = [30]}
             %g = tanh(%s)  out "c" = %c  out "g" = %g })");
  RunHalf(R"(graph { in %x: T[6, 10]  %i = cast(%x) {to = i32}  %f = cast(%i) {to = f32}
             %q = less(%x, %x)  %h = cast(%f) {to = f16}  out "h" = %h  out "q" = %q })");
}

}  // namespace
}  // namespace nn::test::half_test
