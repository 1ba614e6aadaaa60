// Pictures: svg and dot.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include "apps/program.h"
#include "support/files.h"
#include "support/wire.h"

namespace nn::test::nninspect_picture_test {
namespace {

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
  CHECK(Contains(svg.out, ">× 5  b0 – b4</text>"));
  CHECK(Contains(svg.out, ">kernel 3×3, pad 1</text>"));
  CHECK(Contains(svg.out, ">w0: 8×8×3×3</text>"));
  CHECK(Contains(svg.out, ">1×8×8×8</text>"));
  CHECK(Contains(svg.out, ">y&lt;&amp;</text>"));
  const ProgramResult all = RunProgram("nninspect --format svg --expand " + dir / "m.onnx");
  CHECK(Count(all.out, ">Conv</text>") == 5);
  CHECK(Contains(all.out, ">b4</text>"));
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
  const std::string other = node("Neg", "t", "e") + Bytes(2, "other") + value(12, "e", 1);
  const std::string attributes = Bytes(5, Bytes(1, "then_branch") + Bytes(6, branch) + Int(20, 5)) +
                                 Bytes(5, Bytes(1, "else_branch") + Bytes(6, other) + Int(20, 5));
  const std::string graph = node("Relu", "x", "r") + node("Tanh", "x", "t") +
                            node("If", "c", "y", attributes) + node("Abs", "t", "z") +
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

TEST_CASE("pictures: colors of imported operators do not depend on their names") {
  const TempDir dir;
  WriteModel(dir / "m.onnx",
             "graph { in %x: f32[2, 3]  %s = sin(%x)  %y = hardmax(%s) {axis = 1} "
             "out \"y\" = %y }");
  const ProgramResult svg = RunProgram("nninspect --format svg " + dir / "m.onnx");
  CHECK_MESSAGE(svg.code == 0, svg.err);
  // The legend names the kinds.
  CHECK(Contains(svg.out, ">arithmetic</text>"));
  CHECK(Contains(svg.out, ">activation</text>"));
  CHECK(!Contains(svg.out, ">other</text>"));
}

}  // namespace
}  // namespace nn::test::nninspect_picture_test
