#include "passes/types/half.h"

#include <doctest/doctest.h>

#include <iterator>
#include <string>
#include <string_view>

#include "ir/text/text.h"
#include "ir/verify.h"
#include "support/run_graph.h"

namespace nn::test::half_test {
namespace {

// Each node with the type of its result: "cast:f16 add:f16".
std::string TypesOf(const Graph& g) {
  std::string out;
  for (const Node& node : g.nodes()) {
    if (!out.empty()) out += " ";
    out += std::string(node.op_name()) + ":" + std::string(DTypeName(node.output()->dtype()));
  }
  return out;
}

constexpr std::string_view kModel = R"(graph { in %x: f32[2, 8] in %n: i32[2]
  const %k: i32[2] = [1, 0] const %w: f32[8, 16] = seeded(1) const %b: f32[16] = seeded(2)
  %p = matmul(%x, %w) "product" %s = add(%p, %b) %r = relu(%s) %g = gather(%r, %k) {axis = 0}
  %m = softmax(%g) %i = neg(%n) out "m" = %m out "i" = %i })";

TEST_CASE("half: operators compute in 16 bits between casts at the interface") {
  for (const DType type : {DType::kF16, DType::kBF16}) {
    Graph g = Parse(kModel);
    HalfOptions options;
    options.type = type;
    const auto done = ComputeInHalf(g, options);
    REQUIRE(done);
    REQUIRE(Verify(g));
    const std::string name(DTypeName(type));
    CHECK(TypesOf(g) == "cast:" + name + " matmul:" + name + " add:" + name + " relu:" + name +
                            " gather:" + name + " softmax:" + name + " cast:f32 neg:i32");
    CHECK(done->operators == 5);
    CHECK(done->weights == 2);
    CHECK(done->unaccepted == 0);
    CHECK(LargestDifference(Parse(kModel), g) < (type == DType::kF16 ? 2e-3 : 2e-2));
  }
}

TEST_CASE("half: inputs and outputs, too") {
  Graph g = Parse(kModel);
  HalfOptions options;
  options.interface = true;
  REQUIRE(ComputeInHalf(g, options));
  REQUIRE(Verify(g));
  CHECK(TypesOf(g) == "matmul:f16 add:f16 relu:f16 gather:f16 softmax:f16 neg:i32");
  CHECK(g.inputs()[0].value->dtype() == DType::kF16);
  CHECK(g.inputs()[1].value->dtype() == DType::kI32);
  CHECK(g.outputs()[0].value->dtype() == DType::kF16);
}

TEST_CASE("half: an output that is an input is of the type, too") {
  Graph g = Parse(R"(graph { in %x: f32[2, 8] %r = relu(%x) out "r" = %r out "x" = %x })");
  HalfOptions options;
  options.interface = true;
  REQUIRE(ComputeInHalf(g, options));
  REQUIRE(Verify(g));
  CHECK(TypesOf(g) == "relu:f16");
  CHECK(g.outputs()[1].value == g.inputs()[0].value);
  CHECK(g.outputs()[1].value->dtype() == DType::kF16);
}

TEST_CASE("half: operators that stay in float32") {
  Graph g = Parse(kModel);
  HalfOptions options;
  options.keeps = [](const Node& node) { return node.name() == "product"; };
  options.accepts = [](const Node& node) { return !node.Is("softmax"); };
  const auto done = ComputeInHalf(g, options);
  REQUIRE(done);
  REQUIRE(Verify(g));
  CHECK(TypesOf(g) ==
        "matmul:f32 cast:f16 add:f16 relu:f16 gather:f16 cast:f32 softmax:f32 neg:i32");
  CHECK(done->operators == 3);
  CHECK(done->kept == 1);
  CHECK(done->unaccepted == 1);
  CHECK(done->weights == 1);
}

TEST_CASE("half: a constant out of range keeps its operator in float32") {
  Graph g =
      Parse(R"(graph { in %x: f32[2] const %k: f32[2] = [1, 65519] const %l: f32[2] = [1, 65520]
    const %m: f32[2] = [0, inf] %a = mul(%x, %k) %b = mul(%a, %l) %y = minimum(%b, %m)
    out "y" = %y })");
  const auto done = ComputeInHalf(g, HalfOptions{});
  REQUIRE(done);
  CHECK(TypesOf(g) == "cast:f16 mul:f16 cast:f32 mul:f32 cast:f16 minimum:f16 cast:f32");
  CHECK(done->out_of_range == 1);
}

TEST_CASE("half: what would vanish stays in float32, and what divides by it") {
  struct Row {
    std::string_view graph, types;
    DType type = DType::kF16;
  };
  for (const Row& row : {
           // 2^-25 is a tie with 0.
           Row{"const %k: f32[] = [2.98023224e-8] %y = add(%x, %k)", "add:f32"},
           Row{"const %k: f32[] = [2.99e-8] %y = add(%x, %k)", "cast:f16 add:f16 cast:f32"},
           Row{"const %k: f32[2] = [0, 1e-9] %y = mul(%x, %k)", "mul:f32"},
           Row{"const %k: f32[2] = [1, 1e-9] %y = mul(%x, %k)", "cast:f16 mul:f16 cast:f32"},
           Row{"const %k: f32[2] = [0, 0] %y = mul(%x, %k)", "cast:f16 mul:f16 cast:f32"},
           // As far as the quotient.
           Row{"const %k: f32[] = [1e-12] %v = mul(%x, %x) %e = add(%v, %k) %s = sqrt(%e) "
               "%d = div(%x, %s) %y = neg(%d)",
               "cast:f16 mul:f16 cast:f32 add:f32 sqrt:f32 div:f32 cast:f16 neg:f16 cast:f32"},
           Row{"%c = clip(%x) {min = 1e-12} %e = expand(%c) {dims = [3, 2]} %y = div(%x, %e)",
               "clip:f32 expand:f32 div:f32"},
           Row{"const %k: f32[] = [1e-12] %y = maximum(%x, %k)", "maximum:f32"},
           // bfloat16 has the range of float32.
           Row{"const %k: f32[] = [1e-12] %y = add(%x, %k)", "cast:bf16 add:bf16 cast:f32",
               DType::kBF16},
       }) {
    CAPTURE(row.graph);
    Graph g = Parse("graph { in %x: f32[2] " + std::string(row.graph) + " out \"y\" = %y }");
    HalfOptions options;
    options.type = row.type;
    REQUIRE(ComputeInHalf(g, options));
    CHECK(TypesOf(g) == row.types);
  }
}

TEST_CASE("half: integers become numbers of 16 bits, and values keep their names") {
  Graph g = Parse(R"(graph { in %x: i64[2] const %k: f32[2] = [1, 2] %f = cast(%x) {to = f32}
    %s = sub(%k, %f) %y = exp(%s) out "y" = %y })");
  REQUIRE(ComputeInHalf(g, HalfOptions{}));
  CHECK(TypesOf(g) == "cast:f16 sub:f16 exp:f16 cast:f32");
  const Node& difference = *std::next(g.nodes().begin());
  CHECK(difference.output()->name() == "s");
  CHECK(difference.input(0)->name() == "k");
}

TEST_CASE("half: weights alone") {
  Graph g = Parse(kModel);
  HalfOptions options;
  options.weights_only = true;
  auto done = ComputeInHalf(g, options);
  REQUIRE(done);
  REQUIRE(Verify(g));
  CHECK(TypesOf(g) == "dequantize:f32 matmul:f32 add:f32 relu:f32 gather:f32 softmax:f32 neg:i32");
  CHECK(g.nodes().front().input(0)->dtype() == DType::kF16);
  CHECK(done->weights == 1);  // the bias is too small
  CHECK(done->operators == 0);
  CHECK(LargestDifference(Parse(kModel), g) < 1e-3);
  Graph brain = Parse(kModel);
  options.type = DType::kBF16;
  REQUIRE(ComputeInHalf(brain, options));
  REQUIRE(Verify(brain));
  CHECK(brain.nodes().front().input(0)->dtype() == DType::kBF16);
  CHECK(LargestDifference(Parse(kModel), brain) < 1e-2);
  options.type = DType::kF16;
  Graph kept = Parse(kModel);
  options.keeps = [](const Node& node) { return node.Is("matmul"); };
  done = ComputeInHalf(kept, options);
  REQUIRE(done);
  CHECK(done->weights == 0);
}

}  // namespace
}  // namespace nn::test::half_test
