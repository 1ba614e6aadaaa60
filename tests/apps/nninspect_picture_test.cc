// Pictures: layout, repetitions, svg and dot.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "apps/nninspect/layout.h"
#include "apps/nninspect/picture.h"
#include "apps/nninspect/repeats.h"
#include "apps/program.h"
#include "base/random.h"
#include "support/files.h"
#include "support/wire.h"

namespace nn::test {
namespace {

using app::Layout;
using app::LayoutBox;
using app::LayoutEdge;
using app::Repeat;
using app::Repeatable;

// What must hold whatever the graph is.
void CheckLayout(const std::vector<LayoutBox>& boxes, const std::vector<LayoutEdge>& edges,
                 const Layout& l) {
  REQUIRE(l.centers.size() == boxes.size());
  REQUIRE(l.routes.size() == edges.size());
  for (size_t i = 0; i < boxes.size(); ++i) {
    CHECK(l.centers[i].x - boxes[i].width / 2 >= -0.01);
    CHECK(l.centers[i].x + boxes[i].width / 2 <= l.width + 0.01);
    CHECK(l.centers[i].y + boxes[i].height / 2 <= l.height + 0.01);
    for (size_t k = 0; k < i; ++k) {
      const double dx = std::abs(l.centers[i].x - l.centers[k].x);
      const double dy = std::abs(l.centers[i].y - l.centers[k].y);
      CHECK((dx >= (boxes[i].width + boxes[k].width) / 2 + 10 ||
             dy >= (boxes[i].height + boxes[k].height) / 2 + 10));
    }
  }
  for (size_t e = 0; e < edges.size(); ++e) {
    const auto& route = l.routes[e];
    if (route.empty()) continue;
    // Each end lies at its box, or on another line of that box.
    const auto at = [&](const app::Point& p, size_t box) {
      const auto& c = l.centers[box];
      if (std::abs(p.x - c.x) < 0.01 && std::abs(p.y - c.y) <= boxes[box].height / 2 + 0.01)
        return true;
      for (size_t k = 0; k < edges.size(); ++k)
        if (k != e && (edges[k].from == box || edges[k].to == box))
          for (const app::Point& q : l.routes[k])
            if (q.x == p.x && q.y == p.y) return true;
      return false;
    };
    CHECK(at(route.front(), edges[e].from));
    CHECK(at(route.back(), edges[e].to));
    // No line passes through a box: where it is not straight, it is between layers.
    for (size_t p = 1; p < route.size(); ++p) {
      const double top = std::min(route[p - 1].y, route[p].y);
      const double bottom = std::max(route[p - 1].y, route[p].y);
      const double left = std::min(route[p - 1].x, route[p].x) - 5;
      const double right = std::max(route[p - 1].x, route[p].x) + 5;
      for (size_t i = 0; i < boxes.size(); ++i)
        CHECK((l.centers[i].y - boxes[i].height / 2 >= bottom - 0.01 ||
               l.centers[i].y + boxes[i].height / 2 <= top + 0.01 ||
               l.centers[i].x - boxes[i].width / 2 >= right ||
               l.centers[i].x + boxes[i].width / 2 <= left));
    }
  }
}

TEST_CASE("layout: a chain is straight, its skip runs beside it") {
  const std::vector<LayoutBox> boxes(5, LayoutBox{100, 30});
  const std::vector<LayoutEdge> edges = {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {0, 4}};
  const Layout l = app::LayOut(boxes, edges);
  CheckLayout(boxes, edges, l);
  CHECK(l.centers[1].x == doctest::Approx(l.centers[2].x));
  CHECK(l.centers[2].x == doctest::Approx(l.centers[3].x));
  for (size_t i = 1; i < 5; ++i) CHECK(l.centers[i].y > l.centers[i - 1].y);
  CHECK(l.routes[4].size() == 8);
}

TEST_CASE("layout: random graphs, cycles, loops and double edges keep boxes apart") {
  for (uint64_t seed = 0; seed < 30; ++seed) {
    CAPTURE(seed);
    const SeededStream random(seed);
    uint64_t next = 0;
    const auto below = [&](uint64_t n) { return static_cast<size_t>(random.Bits(next++) % n); };
    std::vector<LayoutBox> boxes(1 + below(40));
    for (LayoutBox& b : boxes)
      b = {40.0 + static_cast<double>(below(200)), 20.0 + static_cast<double>(below(60))};
    std::vector<LayoutEdge> edges(below(70));
    for (LayoutEdge& e : edges) e = {below(boxes.size()), below(boxes.size())};
    CheckLayout(boxes, edges, app::LayOut(boxes, edges));
  }
}

TEST_CASE("layout: beyond the limit the longest edges are not routed") {
  const std::vector<LayoutBox> boxes(10, LayoutBox{50, 20});
  std::vector<LayoutEdge> edges = {{0, 9}, {1, 4}};
  for (size_t i = 1; i < 10; ++i) edges.push_back({i - 1, i});
  app::LayoutOptions options;
  options.max_crossed_layers = 5;
  const Layout l = app::LayOut(boxes, edges, options);
  CHECK(l.routes[0].empty());
  CHECK(l.routes[1].size() == 6);
  CHECK(app::LayOut({}, {}).height == 0);
}

// Operators by letter, each taking the result of the one before.
std::vector<Repeatable> Chain(const std::string& letters) {
  std::vector<Repeatable> out;
  for (size_t i = 0; i < letters.size(); ++i) {
    Repeatable r{.token = static_cast<uint64_t>(letters[i]), .inputs = {}, .outside = {}};
    r.inputs.push_back(static_cast<int64_t>(i) - 1);
    if (i == 0) r.outside.push_back(1);
    out.push_back(r);
  }
  return out;
}

std::string RepeatsOf(const std::vector<Repeatable>& operators, size_t result = SIZE_MAX) {
  std::vector<bool> results(operators.size(), false);
  results.back() = true;
  if (result < operators.size()) results[result] = true;
  std::string out;
  for (const Repeat& r : app::FindRepeats(operators, results))
    out += fmt::format("{}:{}x{} ", r.start, r.period, r.times);
  return out;
}

TEST_CASE("repeats: the successions that save most") {
  CHECK(RepeatsOf(Chain("xabcabcabcy")) == "1:3x3 ");
  CHECK(RepeatsOf(Chain("xabcdy")).empty());
  CHECK(RepeatsOf(Chain("ababababxcdecdecde")) == "1:2x3 9:3x3 ");
  // A result in the middle must be seen.
  CHECK(RepeatsOf(Chain("xabcabcabcy"), 3).empty());
}

TEST_CASE("repeats: what is taken from outside must be the same, from inside the counterpart") {
  // Blocks of two; the second operator takes the block's input as well.
  const auto blocks = [](int64_t skip) {
    std::vector<Repeatable> ops = Chain("xabababab");
    for (size_t i = 2; i < ops.size(); i += 2) ops[i].inputs.push_back(static_cast<int64_t>(i) - 2);
    if (skip >= 0) ops[8].inputs[1] = skip;
    return ops;
  };
  CHECK(RepeatsOf(blocks(-1)) == "1:2x4 ");
  CHECK(RepeatsOf(blocks(0)) == "1:2x3 ");
  // The same value for all of them, from before.
  std::vector<Repeatable> ops = Chain("xabababab");
  for (size_t i = 2; i < ops.size(); i += 2) ops[i].inputs.push_back(0);
  CHECK(RepeatsOf(ops) == "1:2x4 ");
  // From within the first block: that one is not like the others, for which it lies before them.
  for (size_t i = 4; i < ops.size(); i += 2) ops[i].inputs.back() = 1;
  CHECK(RepeatsOf(ops) == "3:2x3 ");
}

std::string Stages(int blocks) {
  std::string out = R"(graph "stages" {
    in %x: f32[1, 8, 8, 8]
)";
  for (int i = 0; i < blocks; ++i)
    out += fmt::format("const %w{}: f32[8, 8, 3, 3] = seeded({})\n", i, i);
  std::string last = "x";
  for (int i = 0; i < blocks; ++i) {
    out +=
        fmt::format("%c{0} = conv(%{1}, %w{0}) {{pads = [1, 1, 1, 1]}} \"b{0}/conv\"\n", i, last);
    out += fmt::format("%r{0} = relu(%c{0}) \"b{0}/relu\"\n", i);
    out += fmt::format("%a{0} = add(%r{0}, %{1}) \"b{0}/add\"\n", i, last);
    last = fmt::format("a{}", i);
  }
  return out + "out \"y<&\" = %" + last + "\n}";
}

size_t Count(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST_CASE("nninspect --format svg and dot: folded and not") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", Stages(5));
  const ProgramResult svg = RunProgram("nninspect --format svg " + dir / "m.onnx");
  CHECK_MESSAGE(svg.code == 0, svg.err);
  CHECK(svg.out.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  CHECK(svg.out.ends_with("</svg>\n"));
  CHECK(Count(svg.out, ">Conv</text>") == 1);
  CHECK(Contains(svg.out, ">× 5</text>"));
  CHECK(Contains(svg.out, ">kernel 3×3, pad 1</text>"));
  CHECK(Contains(svg.out, ">w0: 8×8×3×3</text>"));
  CHECK(Contains(svg.out, ">1×8×8×8</text>"));
  CHECK(Contains(svg.out, ">y&lt;&amp;</text>"));
  const ProgramResult all = RunProgram("nninspect --format svg --expand " + dir / "m.onnx");
  CHECK(Count(all.out, ">Conv</text>") == 5);
  CHECK(!Contains(all.out, "× 5</text>"));
  const ProgramResult dot = RunProgram("nninspect --format dot " + dir / "m.onnx");
  CHECK(dot.code == 0);
  CHECK(dot.out.starts_with("digraph model {\n"));
  CHECK(Contains(dot.out, "label=\"Conv\\nkernel 3×3, pad 1\\nw0: 8×8×3×3\""));
  CHECK(Contains(dot.out, "label=\"× 5\""));
  CHECK(Count(dot.out, " -> ") == 5);
}

TEST_CASE("pictures: operators that are not supported are drawn as well") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", ConvModel());
  Patch(dir / "m.onnx", "Relu", "R\x1b<\"");
  const ProgramResult svg = RunProgram("nninspect --format svg " + dir / "m.onnx");
  CHECK(svg.code == 0);
  CHECK(svg.out.find('\x1b') == std::string::npos);
  CHECK(Contains(svg.out, ">R\\x1b&lt;&quot;</text>"));
}

// An If whose branch takes the outer value "r"; fields as in onnx.proto.
std::string BranchModel(const std::string& inner, const std::string& captured = "r") {
  const auto node = [](const std::string& op, const std::string& in, const std::string& out,
                       const std::string& more = {}) {
    return Bytes(1, Bytes(1, in) + Bytes(2, out) + Bytes(3, out + "_node") + Bytes(4, op) + more);
  };
  const auto value = [](int field, const std::string& name, uint64_t type) {
    return Bytes(field, Bytes(1, name) + Bytes(2, Bytes(1, Int(1, type) + Bytes(2, ""))));
  };
  const std::string branch = node(inner, captured, "s") + Bytes(2, "branch") + value(12, "s", 1);
  const std::string attribute = Bytes(5, Bytes(1, "then_branch") + Bytes(6, branch) + Int(20, 5));
  const std::string graph = node("Relu", "x", "r") + node("Tanh", "x", "t") +
                            node("If", "c", "y", attribute) + node("Abs", "t", "z") +
                            value(11, "x", 1) + value(11, "c", 9) + value(12, "y", 1);
  return Int(1, 8) + Bytes(7, graph) + Bytes(8, Bytes(1, "") + Int(2, 17));
}

TEST_CASE("pictures and digests: subgraphs") {
  const TempDir dir;
  const auto run = [&](const std::string& arguments, const std::string& model) {
    WriteText(dir / "m.onnx", model);
    const ProgramResult r = RunProgram("nninspect " + arguments + " " + dir / "m.onnx");
    CHECK_MESSAGE(r.code == 0, r.err);
    return r.out.substr(r.out.find('\n'));
  };
  const std::string svg = run("--format svg", BranchModel("Sin"));
  CHECK(Contains(svg, ">y_node.then_branch</text>"));
  CHECK(Contains(svg, ">Sin</text>"));
  // "r" is an operator's result in one panel, and an input in the other.
  CHECK(Contains(svg, ">Relu</text>"));
  CHECK(Count(svg, ">r</text>") == 1);
  const std::string base = run("--hash", BranchModel("Sin"));
  CHECK(run("--hash", BranchModel("Sin")) == base);
  CHECK(run("--hash", BranchModel("Cos")) != base);
  CHECK(run("--hash", BranchModel("Sin", "t")) != base);
}

TEST_CASE("pictures: kinds and attributes of operators in every format") {
  using app::BoxKind;
  struct Row {
    std::string op;
    BoxKind kind;
  };
  for (const Row& r : {
           Row{"Conv", BoxKind::kConvolution},
           Row{"DEPTHWISE_CONV_2D", BoxKind::kConvolution},
           Row{"convolution", BoxKind::kConvolution},
           Row{"FULLY_CONNECTED", BoxKind::kMatmul},
           Row{"activation.ReLU", BoxKind::kActivation},
           Row{"Softmax", BoxKind::kActivation},
           Row{"LayerNormalization", BoxKind::kNorm},
           Row{"AVERAGE_POOL_2D", BoxKind::kPool},
           Row{"MaxUnpool", BoxKind::kShape},
           Row{"DequantizeLinear", BoxKind::kQuantization},
           Row{"Transpose", BoxKind::kShape},
           Row{"Add", BoxKind::kArithmetic},
           Row{"Nonesuch", BoxKind::kOther},
       }) {
    CAPTURE(r.op);
    CHECK(app::KindOfOperator(r.op) == r.kind);
  }
  OperatorSummary op;
  op.attributes = {{"stride_w", "2"},          {"stride_h", "1"},
                   {"padding", "SAME"},        {"fused_activation_function", "NONE"},
                   {"kernel_shape", "[3, 3]"}, {"group", "1"}};
  CHECK(app::ShownAttributes(op) == std::vector<std::string>{"kernel 3×3", "stride 1×2", "SAME"});
}

}  // namespace
}  // namespace nn::test
