#include "passes/core/passes.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "ir/text/text.h"
#include "ops/array/shape.h"
#include "rewrite/apply_rule.h"
#include "rewrite/expand.h"
#include "rewrite/rewrite.h"
#include "rewrite/target.h"
#include "rewrite/weights.h"
#include "support/run_graph.h"

namespace nn::test::passes_test {
namespace {

size_t Count(const Graph& g, std::string_view op) {
  return static_cast<size_t>(
      std::count_if(g.nodes().begin(), g.nodes().end(), [&](const Node& n) { return n.Is(op); }));
}

TEST_CASE("fold: nodes on constants become constants, dead ones go") {
  Graph g = Parse(R"(graph {
    in %x: f32[2]
    const %a: f32[2] = [1, -2]
    %b = relu(%a)
    %dead = neg(%x)
    %y = add(%x, %b)
    out "y" = %y
  })");
  REQUIRE(FoldConstants(g).has_value());
  CHECK(g.nodes().size() == 1);
  CHECK(g.nodes().front().input(1)->constant().ToDoubles() == std::vector<double>{1, 0});
}

TEST_CASE("fold: a result that may be large stays") {
  // Of each of 2^22 elements, 9 indices of 8 bytes.
  Graph g = Parse(R"(graph {
    const %one: bool[1, 1, 1, 1, 1, 1, 1, 1, 1] = [1]
    %x = tile(%one) {repeats = [2048, 1, 1, 1, 1, 1, 1, 1, 2048]}
    %y = non_zero(%x)
    out "y" = %y
  })");
  REQUIRE(FoldConstants(g).has_value());
  CHECK(Count(g, "tile") == 0);
  CHECK(Count(g, "non_zero") == 1);
}

TEST_CASE("fold: a reshape to a computed shape keeps its symbols") {
  Graph g = Parse(R"(graph {
    in %x: f32[batch, 6]
    const %shape: i64[3] = [-1, 2, 3]
    %y = reshape(%x, %shape)
    out "y" = %y
  })");
  REQUIRE(FoldConstants(g).has_value());
  CHECK(PrintGraph(g).find("reshape(%x) {dims = [batch, 2, 3]}") != std::string::npos);
}

// A rewrite of nodes `from` to nodes `to`.
Result<std::string_view> Rename(Graph& g, Node& node, std::string_view from, std::string_view to) {
  if (!node.Is(from)) return std::string_view();
  Expansion e(g, node);
  NN_ASSIGN(Value* const y, e.Add(to, {node.input(0)}));
  e.Replace(y);
  return from;
}

TEST_CASE("rewrite nodes: visits what a rewrite inserts, and counts") {
  Graph g = Parse(R"(graph { in %x: f32[2] %a = abs(%x) %b = abs(%a) out "y" = %b })");
  RewriteCounts counts;
  const auto rewrite = [&](Node& node) -> Result<std::string_view> {
    NN_ASSIGN(const std::string_view name, Rename(g, node, "abs", "neg"));
    return name.empty() ? Rename(g, node, "neg", "relu") : name;
  };
  CHECK(RewriteNodes(g, "test", rewrite, &counts) == true);
  CHECK(Count(g, "relu") == 2);
  CHECK(g.nodes().size() == 2);
  CHECK(counts == RewriteCounts{{{"abs", "abs"}, 2}, {{"neg", "neg"}, 2}});
  CHECK(RewriteNodes(g, "test", rewrite, &counts) == false);
}

TEST_CASE("rewrite nodes: what a rewrite inserts before it gives up is erased") {
  Graph g = Parse(R"(graph { in %x: f32[2] %a = abs(%x) %b = abs(%a) out "y" = %b })");
  int begun = 0;
  const auto rewrite = [&](Node& node) -> Result<std::string_view> {
    if (!node.Is("abs")) return Rename(g, node, "neg", "abs");  // would not end
    Expansion e(g, node);
    NN_ASSIGN(Value* const y, e.Add("neg", {node.input(0)}));
    NN_RETURN_IF_ERROR(e.Add("neg", {y}));
    ++begun;
    return std::string_view();
  };
  CHECK(RewriteNodes(g, "test", rewrite, nullptr) == false);
  CHECK(begun == 2);
  CHECK(Count(g, "neg") == 0);
  CHECK(g.nodes().size() == 2);
}

TEST_CASE("rewrite nodes: a cycle is an internal error") {
  Graph g = Parse(R"(graph { in %x: f32[2] %y = abs(%x) out "y" = %y })");
  const auto rewrite = [&](Node& node) { return Rename(g, node, "abs", "abs"); };
  const auto done = RewriteNodes(g, "test", rewrite, nullptr);
  REQUIRE_FALSE(done.has_value());
  CHECK(done.error().code() == ErrorCode::kInternal);
  CHECK(done.error().message() == "the rewrites for test do not terminate");
}

TEST_CASE("rewrite nodes: so is one that adds nodes in each round") {
  Graph g = Parse(R"(graph { in %x: f32[2] %y = abs(%x) out "y" = %y })");
  const auto rewrite = [&](Node& node) -> Result<std::string_view> {
    if (!node.Is("abs")) return std::string_view();
    Expansion e(g, node);
    NN_ASSIGN(Value* const a, e.Add("neg", {node.input(0)}));
    NN_ASSIGN(Value* const b, e.Add("abs", {a}));
    NN_ASSIGN(Value* const c, e.Add("abs", {b}));
    e.Replace(c);
    return "longer";
  };
  const auto done = RewriteNodes(g, "test", rewrite, nullptr);
  REQUIRE_FALSE(done.has_value());
  CHECK(done.error().message() == "the rewrites for test do not terminate");
  CHECK(g.nodes().size() < 20000);
}

TEST_CASE("change axes: axes are added to the operands of a node on scalars") {
  Graph g = Parse(R"(graph {
    in %x: i64[]
    const %k: i64[] = [3]
    %m = mul(%x, %k)
    %a = expand_dims(%m) {axes = [0]}
    %b = expand_dims(%m) {axes = [0]}
    %c = expand_dims(%m) {axes = [0]}
    %y = concat(%a, %b, %c) {axis = 0}
    out "y" = %y
  })");
  const auto changed = ChangeAxes(g, {});
  REQUIRE_MESSAGE(changed.has_value(), changed.error().message());
  CHECK(g.outputs()[0].value->type().ToString() == "i64[3]");
  CHECK(Count(g, "expand_dims") + Count(g, "reshape") <= 1);
}

TEST_CASE("bind: input shapes give symbols numbers everywhere") {
  Graph g = Parse(R"(graph {
    in %x: f32[n, 3, h, h]
    const %w: f32[4, 3, 3, 3] = seeded(1)
    %y = conv(%x, %w) {strides = [2, 2]}
    out "y" = %y
  })");
  CHECK(g.outputs()[0].value->type().ToString() ==
        "f32[n, 4, floordiv(h + 1, 2) - 1, floordiv(h + 1, 2) - 1]");
  Graph bound = g.Clone();
  REQUIRE(BindInputShapes(bound, {{"x", {2, 3, 9, 9}}}).has_value());
  CHECK(bound.outputs()[0].value->type().ToString() == "f32[2, 4, 4, 4]");

  const auto error = [&](std::vector<int64_t> shape) {
    Graph copy = g.Clone();
    const auto s = BindInputShapes(copy, {{"x", std::move(shape)}});
    REQUIRE_FALSE(s.has_value());
    CHECK(s.error().code() == ErrorCode::kUsage);
    return s.error().message();
  };
  CHECK(error({2, 3, 9}).find("a tensor of shape [2, 3, 9] does not fit") != std::string::npos);
  CHECK(error({2, 4, 9, 9}).find("does not fit") != std::string::npos);
  CHECK(error({2, 3, 9, 8}) == "dimension \"h\" of the model is bound to both 9 and 8");
}

TEST_CASE("change_axes: a pair of transposes around elementwise nodes cancels") {
  Graph g = Parse(R"(graph {
    in %x: f32[1, 2, 3, 4]
    const %c: f32[2, 1, 1] = [5, 6]
    %a = transpose(%x) {perm = [0, 2, 3, 1]}
    %b = relu(%a)
    %d = transpose(%b) {perm = [0, 3, 1, 2]}
    %e = add(%d, %c)
    out "e" = %e
  })");
  const auto inputs = InputsOf(g, {});
  const auto before = RunEverywhere(g, inputs);
  REQUIRE(ChangeAxes(g).has_value());
  CHECK(Count(g, "transpose") == 0);
  CHECK(RunEverywhere(g, inputs)[0].Identical(before[0]));
}

TEST_CASE("change_axes: a residual block changes as a whole") {
  const char* text = R"(graph {
    in %x: f32[1, 8, 6, 6]
    const %w: f32[8, 8, 3, 3] = seeded(1, 0.2)
    %a = conv(%x, %w) {pads = [1, 1, 1, 1]}
    %b = relu(%a)
    %c = conv(%b, %w) {pads = [1, 1, 1, 1]}
    %d = add(%c, %a)
    %e = relu(%d)
    %f = conv(%e, %w) {pads = [1, 1, 1, 1]}
    out "f" = %f
  })";
  static const Rewrite rewrites[] = {kForms};
  const Target target = {.name = "test",
                         .why_illegal = [](const Node& n) -> std::optional<std::string> {
                           if (n.Is("conv") && n.attrs<ConvAttrs>().layout != Layout::kNxc)
                             return "layout";
                           return std::nullopt;
                         },
                         .forms = {.layout = Layout::kNxc},
                         .rewrites = rewrites};
  Graph g = Parse(text);
  const auto inputs = InputsOf(g, {});
  const auto before = RunEverywhere(g, inputs);
  const auto unsupported = Legalize(g, target);
  REQUIRE_MESSAGE(unsupported.has_value(), unsupported.error().message());
  CHECK(unsupported->empty());
  // One at the input, one at the output.
  CHECK(Count(g, "transpose") == 2);
  CHECK(g.nodes().front().Is("transpose"));
  CHECK(g.nodes().back().Is("transpose"));
  CHECK(RunEverywhere(g, inputs)[0].Identical(before[0]));
}

TEST_CASE("change_axes: unit axes that come and go cancel") {
  Graph g = Parse(R"(graph {
    in %x: f32[4, 5]
    %a = expand_dims(%x) {axes = [0, 2]}
    %b = relu(%a)
    %c = squeeze(%b) {axes = [0]}
    %d = neg(%c)
    %e = squeeze(%d)
    out "e" = %e
  })");
  REQUIRE(ChangeAxes(g).has_value());
  CHECK(g.nodes().size() == 2);
}

TEST_CASE("change_axes: nothing moves past a value of unknown rank") {
  Graph g = Parse(R"(graph {
    in %x: f32[2, 3]
    %a = transpose(%x) {perm = [1, 0]}
    %u = opaque(%x) {op = "Strange"} : f32[*]
    %y = concat(%a, %u) {axis = 0}
    %z = transpose(%a) {perm = [1, 0]}
    out "y" = %y
    out "z" = %z
  })");
  REQUIRE(ChangeAxes(g).has_value());
  CHECK(Count(g, "transpose") == 1);
}

TEST_CASE("change_axes: merging a transpose and a unit axis terminates") {
  Graph g = Parse(R"(graph {
    in %x: f32[2, 3, 6]
    %a = expand_dims(%x) {axes = [3]}
    %b = transpose(%a) {perm = [0, 2, 3, 1]}
    %y = average_pool(%b) {layout = nxc, kernel = [2, 1], strides = [2, 1]}
    out "y" = %y
  })");
  REQUIRE(ChangeAxes(g).has_value());
  CHECK(Count(g, "transpose") == 1);
  CHECK(Count(g, "expand_dims") + Count(g, "reshape") == 1);
}

TEST_CASE("change_axes: a channel shuffle keeps its one transpose") {
  const char* text = R"(graph {
    in %x: f32[1, 5, 5, 8]
    %a = transpose(%x) {perm = [0, 3, 1, 2]}
    %b = reshape(%a) {dims = [1, 2, 4, 5, 5]}
    %c = transpose(%b) {perm = [0, 2, 1, 3, 4]}
    %d = reshape(%c) {dims = [1, 8, 5, 5]}
    %e = transpose(%d) {perm = [0, 2, 3, 1]}
    out "e" = %e
  })";
  Graph g = Parse(text);
  const auto inputs = InputsOf(g, {});
  const auto before = RunEverywhere(g, inputs);
  REQUIRE(ChangeAxes(g).has_value());
  CHECK(Count(g, "transpose") == 1);
  CHECK(RunEverywhere(g, inputs)[0].Identical(before[0]));
}

// A step that undoes another would repeat until the work limit.
TEST_CASE("change_axes: axes that move to the interface stay there") {
  for (const char* text : {R"(graph {
  in %x: i16[3, 4]
  %f = transpose(%x) {perm = [1, 0]}
  %h = reverse(%x) {axes = [0, 1]}
  out "f" = %f
  out "h" = %h
})",
                           R"(graph {
  in %x: i16[3, 4]
  %f = transpose(%x) {perm = [1, 0]}
  %g = transpose(%x) {perm = [1, 0]}
  %h = pad(%x) {pads = [0, 1, 1, 1]}
  out "f" = %f
  out "g" = %g
  out "h" = %h
})",
                           R"(graph {
  in %x: f32[3, 4]
  %f = transpose(%x) {perm = [1, 0]}
  %r = relu(%f)
  out "f" = %f
  out "r" = %r
})"}) {
    Graph g = Parse(text);
    AxesOptions options;
    options.moves_interface = true;
    REQUIRE(ChangeAxes(g, options).has_value());
    const std::string once = PrintGraph(g);
    CAPTURE(once);
    const auto again = ChangeAxes(g, options);
    REQUIRE(again.has_value());
    CHECK_FALSE(*again);
    CHECK(PrintGraph(g) == once);
  }
}

TEST_CASE("change_axes: operators that cannot follow keep their transposes") {
  const char* text = R"(graph {
    in %x: f32[1, 2, 3, 4]
    %a = transpose(%x) {perm = [0, 2, 3, 1]}
    %b = reshape(%a) {dims = [1, 24]}
    out "b" = %b
  })";
  Graph g = Parse(text);
  REQUIRE(ChangeAxes(g).has_value());
  CHECK(Count(g, "transpose") == 1);
}

TEST_CASE("change_axes: transposes that stay in one large graph are linear work") {
  // Every value of the chain is transposed, and used as it is by an operator that cannot follow. No
  // transpose is worth moving, and each attempt to move one reaches the whole chain.
  constexpr int kLength = 3000;
  Graph g = Parse(R"(graph {
    in %x: f32[2, 3, 4]
    out "x" = %x
  })");
  Value* v = g.inputs()[0].value;
  for (int i = 0; i < kLength; ++i) {
    v = (*g.Append("relu", {v}, {}))->output();
    const auto transposed = g.Append("transpose", {v}, TransposeAttrs{{0, 2, 1}});
    const auto flat = g.Append("reshape", {v}, ReshapeAttrs{{24}});
    REQUIRE((transposed.has_value() && flat.has_value()));
    g.AddOutput(fmt::format("t{}", i), (*transposed)->output());
    g.AddOutput(fmt::format("f{}", i), (*flat)->output());
  }
  const auto changed = ChangeAxes(g);
  REQUIRE(changed.has_value());
  CHECK_FALSE(*changed);
  CHECK(Count(g, "transpose") == kLength);
}

TEST_CASE("change_axes: per-axis quantization follows its axis") {
  Graph g = Parse(R"(graph {
    in %x: i8[1, 2, 3, 2]{axis=3, scale=[0.5, 0.25]}
    %a = transpose(%x) {perm = [0, 3, 1, 2]}
    out "a" = %a
  })");
  CHECK(g.outputs()[0].value->type().ToString() == "i8[1, 2, 2, 3]{axis=1, scale=[0.5, 0.25]}");
}

constexpr std::string_view kConvAndNorm = R"(graph {
  in %x: f32[1, 3, 6, 6]
  const %w: f32[5, 3, 3, 3] = seeded(1)
  const %b: f32[5] = [0.5, -1, 2, 0.1, 0]
  const %scale: f32[5] = [1.1, 0.7, -0.3, 2, 1]
  const %shift: f32[5] = [0.3, -0.2, 0, 5, 1]
  const %mean: f32[5] = [0.01, 0.9, -0.4, 3, 0]
  const %variance: f32[5] = [0.3, 1.7, 0.02, 4, 1]
  %c = conv(%x, %w, %b) {pads = [1, 1, 1, 1]}
  %n = batch_norm(%c, %scale, %shift, %mean, %variance)
  %y = relu(%n)
  out "y" = %y
})";

TEST_CASE("weights: a batch_norm as product and sum keeps every bit") {
  Graph g = Parse(kConvAndNorm);
  const auto inputs = InputsOf(g, {});
  const auto before = RunEverywhere(g, inputs);
  Node& norm = *std::next(g.nodes().begin());
  REQUIRE(norm.Is("batch_norm"));
  const auto done = DecomposeBatchNorm(g, norm);
  REQUIRE(done.has_value());
  CHECK(*done);
  CHECK(Count(g, "batch_norm") == 0);
  CHECK(Count(g, "mul") == 1);
  CHECK(RunEverywhere(g, inputs)[0].Identical(before[0]));
}

// Filled filters compute the same bits.
TEST_CASE("weights: zeros between the groups and the taps of a filter") {
  struct Row {
    const char* conv;
    std::vector<int64_t> dims;  // of the filled filter
  };
  for (const Row& r : {
           Row{"groups = 2", {4, 4, 2, 3}},
           Row{"dilations = [2, 3]", {4, 2, 3, 7}},
           Row{"groups = 2, dilations = [3, 1], pads = [1, 0, 2, 1]", {4, 4, 4, 3}},
       }) {
    CAPTURE(r.conv);
    const bool grouped = std::string_view(r.conv).starts_with("groups");
    const bool dilated = std::string_view(r.conv).find("dilations") != std::string_view::npos;
    Graph g = Parse(fmt::format(R"(graph {{
      in %x: f32[2, {}, 9, 8]
      const %w: f32[4, 2, 2, 3] = seeded(1)
      %y = conv(%x, %w) {{{}}}
      out "y" = %y
    }})",
                                grouped ? 4 : 2, r.conv));
    const auto inputs = InputsOf(g, {});
    const auto before = RunEverywhere(g, inputs);
    Node& conv = *g.nodes().begin();
    const auto groups = FillGroups(g, conv);
    REQUIRE(groups.has_value());
    CHECK(*groups == grouped);
    const auto dilations = FillDilations(g, conv);
    REQUIRE(dilations.has_value());
    CHECK(*dilations == dilated);
    CHECK(conv.input(1)->constant().dims() == r.dims);
    CHECK_FALSE(*FillGroups(g, conv));
    CHECK_FALSE(*FillDilations(g, conv));
    CHECK(RunEverywhere(g, inputs)[0].Identical(before[0]));
  }
}

TEST_CASE("weights: filters that are not filled") {
  for (const char* text : {R"(graph {
    in %x: f32[1, 4, 3, 3]
    in %w: f32[4, 2, 1, 1]
    %y = conv(%x, %w) {groups = 2, dilations = [2, 2]}
    out "y" = %y
  })",
                           R"(graph {
    in %x: f32[1, 1, 99999, 3]
    const %w: f32[1, 1, 2, 1] = [1, 2]
    %y = conv(%x, %w) {dilations = [67108864, 1], pads = [33554432, 0, 33554432, 0]}
    out "y" = %y
  })"}) {
    Graph g = Parse(text);
    Node& conv = *g.nodes().begin();
    CHECK_FALSE(*FillGroups(g, conv));
    CHECK_FALSE(*FillDilations(g, conv));
  }
}

TEST_CASE("weights: a batch_norm goes into the convolution that it alone follows") {
  Graph g = Parse(kConvAndNorm);
  const auto inputs = InputsOf(g, {});
  const auto before = RunEverywhere(g, inputs)[0].ToDoubles();
  CHECK(FoldBatchNorms(g).value() == 1);
  CHECK(g.nodes().size() == 2);
  const auto after = RunEverywhere(g, inputs)[0].ToDoubles();
  REQUIRE(after.size() == before.size());
  for (size_t i = 0; i < after.size(); ++i) CHECK(after[i] == doctest::Approx(before[i]));

  Graph shared = Parse(R"(graph {
    in %x: f32[1, 2, 4, 4]
    const %w: f32[1, 2, 3, 3] = seeded(1)
    const %one: f32[1] = [2]
    %c = conv(%x, %w)
    %n = batch_norm(%c, %one, %one, %one, %one)
    %y = add(%n, %c)
    out "y" = %y
  })");
  CHECK(FoldBatchNorms(shared).value() == 0);
  CHECK(Count(shared, "batch_norm") == 1);
}

}  // namespace
}  // namespace nn::test::passes_test
