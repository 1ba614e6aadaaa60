// Attention whose scores are computed in bands of rows has the same bits as the separate operators.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "exec/program.h"
#include "support/run_graph.h"

namespace nn::test::attention_test {
namespace {

size_t StepsOf(const Graph& graph, bool fuse) {
  ProgramOptions options;
  options.fuse = fuse;
  auto program = Program::Compile(graph, options);
  REQUIRE(program.has_value());
  return program->steps().size();
}

// One step if the scores are large, with the bits of the separate operators.
void RunOneStep(const std::string& text, size_t steps = 1) {
  CAPTURE(text);
  const Graph graph = Parse(text);
  CheckHasKernels(graph);
  CHECK(StepsOf(graph, true) == steps);
  RunEverywhere(graph, InputsOf(graph, {}));
}

TEST_CASE("attention: heads, a scale and a mask") {
  RunOneStep(R"(graph { in %q: f32[1, 2, 760, 5]  in %k: f32[1, 2, 5, 700]
                in %v: f32[1, 2, 700, 4]  in %m: f32[1, 1, 1, 700]
                const %d: f32[1] = [0.25]
                %s = matmul(%q, %k)  %t = mul(%s, %d)  %a = add(%t, %m)
                %p = softmax(%a)  %y = matmul(%p, %v)  out "y" = %y })");
}

TEST_CASE("attention: keys that are transposed, a mask of rows, shared by the heads") {
  RunOneStep(R"(graph { in %q: f32[3, 600, 6]  in %k: f32[1, 610, 6]  in %v: f32[610, 7]
                in %m: f32[600, 610]  in %r: f32[3, 600, 1]
                %s = matmul(%q, %k) {transpose_b = true}  %a = add(%s, %m)  %b = mul(%a, %r)
                %p = softmax(%b) {axis = 2}  %y = matmul(%p, %v)  %z = tanh(%y)
                out "z" = %z })");
}

TEST_CASE("attention: a choice between the scores and a constant") {
  RunOneStep(R"(graph { in %q: f32[2, 800, 4]  in %k: f32[2, 4, 800]  in %v: f32[2, 800, 4]
                in %c: bool[1, 800, 800]  const %n: f32[1] = [-1000]
                %s = matmul(%q, %k)  %a = select(%c, %s, %n)
                %p = softmax(%a)  %y = matmul(%p, %v)  out "y" = %y })");
}

TEST_CASE("attention: scores with other uses, and small ones, are not split") {
  // The probabilities are an output.
  const Graph seen = Parse(R"(graph { in %q: f32[2, 800, 4]  in %k: f32[2, 4, 800]
                in %v: f32[2, 800, 4]  %s = matmul(%q, %k)  %p = softmax(%s)
                %y = matmul(%p, %v)  out "y" = %y  out "p" = %p })");
  CHECK(StepsOf(seen, true) > 2);
  const Graph small = Parse(R"(graph { in %q: f32[2, 80, 16]  in %k: f32[2, 16, 80]
                in %v: f32[2, 80, 16]  %s = matmul(%q, %k)  %p = softmax(%s)
                %y = matmul(%p, %v)  out "y" = %y })");
  CHECK(StepsOf(small, true) > 2);
  // Softmax over the rows of another axis.
  const Graph columns = Parse(R"(graph { in %q: f32[2, 800, 4]  in %k: f32[2, 4, 800]
                in %v: f32[2, 800, 4]  %s = matmul(%q, %k)  %p = softmax(%s) {axis = 1}
                %y = matmul(%p, %v)  out "y" = %y })");
  CHECK(StepsOf(columns, true) > 2);
  for (const Graph* g : {&seen, &columns}) RunEverywhere(*g, InputsOf(*g, {}));
}

TEST_CASE("attention: memory is that of a band") {
  const Graph graph = Parse(R"(graph { in %q: f32[4, 2000, 16]  in %k: f32[4, 16, 2000]
                in %v: f32[4, 2000, 16]  %s = matmul(%q, %k)  %p = softmax(%s)
                %y = matmul(%p, %v)  %z = exp(%y)  %w = transpose(%z) {perm = [1, 0, 2]}
                out "w" = %w })");
  auto program = Program::Compile(graph, {});
  REQUIRE(program.has_value());
  CHECK(program->arena_bytes() < 4 * 2000 * 2000 * sizeof(float) / 10);
}

// Heads that share keys, masks, and the rows that these exclude.
TEST_CASE("attention: the operator runs in bands as its parts do") {
  for (const std::string_view call :
       {"attention(%q, %k, %v)", "attention(%q, %k, %v) {is_causal = true, softcap = 3.0}",
        "attention(%q, %k, %v, %m) {is_causal = true}", "attention(%q, %k, %v, %c)"}) {
    CAPTURE(call);
    const Graph graph = Parse(fmt::format(R"(graph {{ in %q: f32[1, 4, 700, 6]
        in %k: f32[1, 2, 710, 6]  in %v: f32[1, 2, 710, 5]  in %m: f32[700, 710]
        in %c: bool[1, 1, 700, 710]  %y = {}  out "y" = %y }})",
                                          call));
    CheckHasKernels(graph);
    auto program = Program::Compile(graph, {});
    REQUIRE(program.has_value());
    CHECK(program->arena_bytes() < 4 * 700 * 710 * sizeof(float) / 2);
    RunEverywhere(graph, InputsOf(graph, {}));
  }
}

// Exponentials of masked scores are exactly 0, next to denormal ones.
TEST_CASE("softmax: scores far below the largest") {
  const Graph graph = Parse(R"(graph { in %x: f32[2, 40] %y = softmax(%x)
                               %z = log_softmax(%x) out "y" = %y out "z" = %z })");
  std::vector<double> x;
  for (int i = 0; i < 40; ++i) x.push_back(-100 - 0.125 * i);
  for (int i = 0; i < 40; ++i)
    x.push_back(i % 2 == 0 ? -std::numeric_limits<double>::infinity() : -i);
  x[0] = 0;
  const Tensor y = RunEverywhere(graph, InputsOf(graph, {x}))[0];
  CHECK(y.GetDouble(1) > 0);
  CHECK(y.GetDouble(39) == 0);
  CHECK(y.GetDouble(40) == 0);
}

}  // namespace
}  // namespace nn::test::attention_test
