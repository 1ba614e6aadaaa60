// Kernels behind sizes that only a run knows, and in the bodies of loops and branches.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "exec/runtime/kernel_runner.h"
#include "exec/runtime/planning/split.h"
#include "ir/seeded.h"
#include "ops/nn/conv.h"
#include "support/run_graph.h"

namespace nn::test::open_shapes_test {
namespace {

// Of the rows of x, one for each element of `which` that is not zero.
const char* const kPicked = R"(graph { in %x: f32[9, 96]  in %which: i32[7]
    const %w: f32[96, 96] = seeded(1, 0.2)
    %h = matmul(%x, %w)  %r = relu(%h)
    %nz = non_zero(%which)  %rows = reshape(%nz) {dims = [-1]}
    %p = gather(%r, %rows)  %m = matmul(%p, %w)  %t = tanh(%m)  %s = softmax(%t)
    out "s" = %s  out "r" = %r })";

TEST_CASE("open shapes: the part before them has a plan") {
  const Graph graph = Parse(kPicked);
  const auto split = SplitAtOpenShapes(graph);
  REQUIRE(split.has_value());
  CHECK(split->known.nodes().size() == 2);
  CHECK(split->known.outputs().size() == 1);
  CHECK(split->open.nodes().size() == graph.nodes().size() - 2);
  CHECK(split->open.inputs().size() == 3);
  CHECK(!SplitAtOpenShapes(Parse("graph { in %x: f32[3] %y = non_zero(%x) out \"y\" = %y }")));
}

TEST_CASE("open shapes: the bits are those of the reference evaluation") {
  const Graph graph = Parse(kPicked);
  for (const std::vector<int32_t>& which :
       {std::vector<int32_t>{0, 1, 0, 0, 5, 0, 1}, {1, 1, 1, 1, 1, 1, 1}, {0, 0, 0, 0, 0, 0, 0}}) {
    std::vector<Tensor> inputs = InputsOf(graph, {});
    inputs[1] = Tensor::Of<int32_t>({7}, which);
    const auto results = RunEverywhere(graph, inputs);
    CHECK(results[0].dims()[1] == 96);
  }
  // Outputs that the part before gives as they are, and inputs as outputs.
  CheckSameBits(Parse(R"(graph { in %x: f32[40, 200] %a = exp(%x) %n = non_zero(%a)
                        out "x" = %x  out "a" = %a  out "n" = %n  out "again" = %a })"),
                InputsOf(Parse("graph { in %x: f32[40, 200] out \"x\" = %x }"), {}));
}

Tensor Seeded(std::vector<int64_t> dims) {
  auto t = SeededTensor(DType::kF32, std::move(dims), 3, 0);
  REQUIRE(t.has_value());
  return *std::move(t);
}

TEST_CASE("open shapes: plans by shape") {
  const Graph graph = Parse(R"(graph { in %x: f32[n, 128]  const %w: f32[128, 128] = seeded(1, 0.2)
      %y = matmul(%x, %w)  %i = shape_of(%x)  %e = erf(%y)  out "y" = %e  out "i" = %i })");
  ProgramOptions options;
  options.limits.max_memory = 1 << 20;
  KernelCache cache(options);
  const auto entry = [&](const Node& node, const std::vector<Tensor>& inputs) {
    std::vector<const Tensor*> pointers;
    for (const Tensor& t : inputs) pointers.push_back(&t);
    return cache.OfNode(node, pointers);
  };
  const Node& matmul = graph.nodes().front();
  const Tensor& w = matmul.input(1)->constant();
  // Few rows: only if they come back.
  CHECK(entry(matmul, {Seeded({4, 128}), w}) == nullptr);
  const auto four = entry(matmul, {Seeded({4, 128}), w});
  REQUIRE(four != nullptr);
  CHECK(entry(matmul, {Seeded({4, 128}), w}) == four);
  const auto many = entry(matmul, {Seeded({16, 128}), w});
  REQUIRE(many != nullptr);
  CHECK(many != four);
  CHECK(many->graph.outputs()[0].value->type().const_dims() == std::vector<int64_t>{16, 128});
  // There is no kernel that copies dimensions.
  CHECK(entry(*std::next(graph.nodes().begin()), {Seeded({4, 128})}) == nullptr);
  // Of other shapes than the node takes.
  CHECK(entry(matmul, {Seeded({4, 127}), w}) == nullptr);
}

// Repeats `body`, whose result is %w, n times.
std::string Loop(std::string_view body, std::string_view stacked = "") {
  const bool stacks = !stacked.empty();
  return fmt::format(R"(graph {{ in %n: i64[]  in %v: f32[3, 64]
    %y{0} = loop(%n, _, %v) {{carried = 1, why = "it is a test"}} regions {{
      graph {{ in %i: i64[]  in %v: f32[3, 64]  const %go: bool[] = [1]
        {2}
        out "go" = %go  out "w" = %w  {1} }} }}
    out "y" = %y  {3} }})",
                     stacks ? ", %all" : "", stacked, body, stacks ? "out \"all\" = %all" : "");
}

TEST_CASE("loop: bodies with kernels") {
  const char* const kDense = "const %m: f32[64, 64] = seeded(1, 0.2)  ";
  for (const std::string& text :
       {Loop(kDense + std::string("%p = matmul(%v, %m)  %w = tanh(%p)")),
        Loop("%s = softmax(%v)  %f = cast(%i) {to = f32}  %w = add(%s, %f)", "out \"all\" = %s"),
        // Each iteration doubles the rows.
        Loop(kDense + std::string("%c = concat(%v, %v) {axis = 0}  %w = matmul(%c, %m)"))}) {
    CAPTURE(text);
    const Graph graph = Parse(text);
    for (const int64_t n : {0, 1, 4})
      RunEverywhere(graph, {Tensor::Scalar<int64_t>(n), Seeded({3, 64})});
  }
}

TEST_CASE("loop: an error in a body with kernels") {
  const Graph graph =
      Parse(Loop("const %one: i64[] = [1]  %k = add(%i, %one)  %r = gather(%v, %k)  "
                 "%w = add(%v, %r)"));
  const std::vector<Tensor> good = {Tensor::Scalar<int64_t>(2), Seeded({3, 64})};
  RunEverywhere(graph, good);
  CheckSameError(graph, {Tensor::Scalar<int64_t>(3), good[1]});
}

TEST_CASE("loop: the body is legalized with the program") {
  const Graph graph = Parse(R"(graph { in %n: i64[]  in %v: f32[1, 4, 6, 6]
    %y = loop(%n, _, %v) {carried = 1, why = "it is a test"} regions {
      graph { in %i: i64[]  in %v: f32[1, 4, 6, 6]  const %go: bool[] = [1]
        const %k: f32[4, 4, 3, 3] = seeded(1, 0.2)
        %c = conv(%v, %k) {padding = same_upper}  %w = relu(%c)
        out "go" = %go  out "w" = %w } }
    out "y" = %y })");
  const auto program = Program::Compile(graph, {});
  REQUIRE(program.has_value());
  const auto& nodes = program->graph().nodes();
  const auto loop = std::ranges::find_if(nodes, [](const Node& n) { return n.Is("loop"); });
  REQUIRE(loop != nodes.end());
  for (const Node& node : loop->regions()[0]->nodes()) {
    CHECK(!node.Is("transpose"));
    if (node.Is("conv")) CHECK(node.attrs<ConvAttrs>().layout == Layout::kNxc);
  }
  for (const int64_t n : {0, 1, 3})
    RunEverywhere(graph, {Tensor::Scalar<int64_t>(n), Seeded({1, 4, 6, 6})});
}

TEST_CASE("branch: regions with kernels") {
  const Graph graph = Parse(R"(graph { in %c: bool[]  in %x: f32[5, 64]
    %y = branch(%c, %x) {why = "it is a test"} regions {
      graph { in %x: f32[5, 64]  const %m: f32[64, 64] = seeded(1, 0.2)  %y = matmul(%x, %m)
        out "y" = %y }
      graph { in %x: f32[5, 64]  %y = softmax(%x)  out "y" = %y } }
    %z = exp(%y)
    out "z" = %z })");
  for (const bool c : {false, true}) RunEverywhere(graph, {Tensor::Scalar(c), Seeded({5, 64})});
}

}  // namespace
}  // namespace nn::test::open_shapes_test
