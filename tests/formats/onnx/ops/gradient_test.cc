#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "formats/onnx/text.h"

// Gradient of ai.onnx.preview.training: which tensors are differentiated, and where. The rules of
// the operators are in tests/passes/gradient_test.cc.
namespace nn::test::onnx_gradient_test {
namespace {

using onnx_text::Contains;
using onnx_text::Input;
using onnx_text::kF32;
using onnx_text::Node;
using onnx_text::TypeOf;
using onnx_text::Values;
using Names = std::vector<std::string>;

std::string Strings(std::string_view name, const Names& values) {
  std::string out = fmt::format("attribute {{ name: \"{}\" type: STRINGS", name);
  for (const std::string& v : values) out += fmt::format(" strings: \"{}\"", v);
  return out + " } ";
}

std::string Gradient(const Names& inputs, const Names& outputs, const Names& xs, const Names& zs,
                     std::string_view y) {
  return Node("Gradient", inputs, outputs,
              fmt::format("domain: \"ai.onnx.preview.training\" {} {} attribute {{ name: \"y\" "
                          "type: STRING s: \"{}\" }}",
                          Strings("xs", xs), zs.empty() ? "" : Strings("zs", zs), y));
}

// Inputs of f32[2] or of scalars.
std::string Vectors(const Names& names) {
  std::string out;
  for (const auto& name : names) out += Input(name, TypeOf(kF32, {"2"}));
  return out;
}

constexpr std::string_view kTraining =
    "opset_import { domain: \"ai.onnx.preview.training\" version: 1 }";

size_t Check(const std::string& graph, const Values& inputs, const Values& outputs) {
  return onnx_text::Check(graph, inputs, outputs, 17, std::string(kTraining));
}

std::string Reason(const std::string& graph) {
  const auto imported = onnx_text::Import(graph, 17, std::string(kTraining));
  std::string out;
  for (const auto& node : imported.unsupported) out += node.reason + "\n";
  return out;
}

// h = w * x, y = h * h + z
const std::string kModel = Node("Mul", {"w", "x"}, {"h"}) + Node("Mul", {"h", "h"}, {"s"}) +
                           Node("Add", {"s", "z"}, {"y"});

}  // namespace

TEST_CASE("ONNX Gradient: with respect to inputs and to intermediate tensors") {
  const Values inputs = {{2, 3}, {5, -1}, {1, 1}};  // w, x, z
  const std::string ports = Vectors({"w", "x", "z"});
  // 2 h x and 1
  Check(kModel + Gradient({"w", "z", "x"}, {"dw", "dz"}, {"w", "z"}, {"x"}, "y") + ports +
            onnx_text::Outputs({"dw", "dz"}),
        inputs, {{100, 6}, {1, 1}});
  // 2 h; h is not differentiated further.
  Check(kModel + Gradient({"h", "z"}, {"dh", "dz"}, {"h", "z"}, {}, "y") + ports +
            onnx_text::Outputs({"dh", "dz"}),
        inputs, {{20, -6}, {1, 1}});
  // An output without a name, and a node before those of y.
  Check(Gradient({"w", "z", "x"}, {"", "dz"}, {"w", "z"}, {"x"}, "y") + kModel + ports +
            onnx_text::Outputs({"dz"}),
        inputs, {{1, 1}});
  // y does not depend on u; y is one of the tensors.
  Check(kModel + Gradient({"u"}, {"du"}, {"u"}, {}, "y") +
            Gradient({"u", "w"}, {"duu", "dwu"}, {"u", "w"}, {}, "u") +
            Vectors({"w", "x", "z", "u"}) + onnx_text::Outputs({"du", "duu", "dwu"}),
        {{2, 3}, {5, -1}, {1, 1}, {4, 4}}, {{0, 0}, {1, 1}, {0, 0}});
}

TEST_CASE("ONNX Gradient: at other values than those of the graph") {
  // dY/dH at H_1: 2 H_1; the graph's own w and x do not matter.
  Check(kModel + Gradient({"h1", "z1"}, {"dh", "dz"}, {"h", "z"}, {}, "y") +
            Vectors({"w", "x", "z", "h1", "z1"}) + onnx_text::Outputs({"dh", "dz", "y"}),
        {{2, 3}, {5, -1}, {1, 1}, {7, 8}, {0, 0}}, {{14, 16}, {1, 1}, {101, 10}});
  // zs are replaced, too: 2 w x1^2.
  Check(kModel + Gradient({"w", "x1"}, {"dw"}, {"w"}, {"x"}, "y") + Vectors({"w", "x", "z", "x1"}) +
            onnx_text::Outputs({"dw"}),
        {{2, 3}, {5, -1}, {1, 1}, {1, 10}}, {{4, 600}});
  // One value for two tensors, each with a derivative of its own.
  Check(Node("Mul", {"a", "a"}, {"s"}) + Node("Mul", {"s", "b"}, {"y"}) +
            Gradient({"v", "v"}, {"da", "db"}, {"a", "b"}, {}, "y") + Vectors({"a", "b", "v"}) +
            onnx_text::Outputs({"da", "db"}),
        {{2, 3}, {5, -1}, {1, 2}}, {{2, 8}, {1, 4}});
  // x by another name is not x.
  Check(Node("Identity", {"x"}, {"i"}) + Node("Mul", {"x", "i"}, {"y"}) +
            Gradient({"i"}, {"di"}, {"i"}, {}, "y") + Gradient({"x"}, {"dx"}, {"x"}, {}, "y") +
            Vectors({"x"}) + onnx_text::Outputs({"di", "dx"}),
        {{2, 3}}, {{2, 3}, {4, 6}});
}

TEST_CASE("ONNX Gradient: of initializers") {
  // The bounds are constants that the importer of Clip makes attributes.
  Check(Node("Clip", {"x", "low", "high"}, {"y"}) +
            Gradient({"low", "high"}, {"dl", "dh"}, {"low", "high"}, {}, "y") + Vectors({"x"}) +
            onnx_text::Float("low", 0) + onnx_text::Float("high", 1) +
            onnx_text::Outputs({"dl", "dh"}),
        {{-3, 2}}, {{1}, {1}});
  Check(Node("Mul", {"x", "k"}, {"y"}) + Gradient({"k"}, {"dk"}, {"k"}, {}, "y") + Vectors({"x"}) +
            onnx_text::Float("k", 4) + onnx_text::Outputs({"dk"}),
        {{-3, 2}}, {{-1}});
}

TEST_CASE("ONNX Gradient: of a Gradient") {
  // O = sum (w x - l)^2: dO/dw = 2 x (w x - l), d2O/dw2 = 2 x^2, d2O/dwdx = 4 w x - 2 l.
  const std::string model = Node("Mul", {"w", "x"}, {"y"}) + Node("Sub", {"y", "l"}, {"d"}) +
                            Node("Mul", {"d", "d"}, {"q"}) +
                            Node("ReduceSum", {"q"}, {"o"}, onnx_text::Int("keepdims", 0));
  Check(model + Gradient({"x", "w", "l"}, {"dox", "dow"}, {"x", "w"}, {"l"}, "o") +
            Gradient({"x", "w", "l"}, {"dwx", "dww"}, {"x", "w"}, {"l"}, "dow") +
            Vectors({"w", "x", "l"}) + onnx_text::Outputs({"dow", "dwx", "dww"}),
        {{2, 3}, {5, -1}, {1, 1}}, {{90, 8}, {38, -14}, {50, 2}});
  // The third derivative of x^3.
  std::string cube = Node("Mul", {"x", "x"}, {"s"}) + Node("Mul", {"s", "x"}, {"d0"});
  for (int i = 1; i <= 3; ++i)
    cube += Gradient({"x"}, {fmt::format("d{}", i)}, {"x"}, {}, fmt::format("d{}", i - 1));
  Check(cube + Vectors({"x"}) + onnx_text::Outputs({"d1", "d2", "d3"}), {{2, -1}},
        {{12, 3}, {12, -6}, {6, 6}});
}

TEST_CASE("ONNX Gradient: the loss of a classifier") {
  // softmax(x) - the target's indicator, divided by the batch.
  const std::string target =
      "initializer { name: \"t\" data_type: 7 dims: 2 int64_data: 1 int64_data: 0 }\n";
  Check(Node("SoftmaxCrossEntropyLoss", {"x", "t"}, {"y"}) +
            Gradient({"x", "t"}, {"dx"}, {"x"}, {"t"}, "y") + Input("x", TypeOf(kF32, {"2", "2"})) +
            target + onnx_text::Outputs({"dx"}),
        {{0, 0, 1, 1}}, {{0.25, -0.25, -0.25, 0.25}});
}

TEST_CASE("ONNX Gradient: refusals") {
  const auto of = [](const std::string& nodes, const Names& inputs, const Names& xs,
                     std::string_view y) {
    return nodes + Gradient(inputs, {"g"}, xs, {}, y) + Vectors({"w", "x", "z"}) +
           onnx_text::Outputs({"g"});
  };
  CHECK(Contains(Reason(of(Node("Hardmax", {"x"}, {"y"}), {"x"}, {"x"}, "y")),
                 "Gradient through hardmax"));
  CHECK(Contains(Reason(of(Node("Mystery", {"x"}, {"y"}), {"x"}, {"x"}, "y")),
                 "Gradient of \"y\", which depends on an unsupported operator"));
  const auto error = [&](const std::string& graph) {
    const auto model = onnx_text::Read(graph, 17, std::string(kTraining));
    const auto imported = model.format->importer.Import(*model.model);
    return imported ? std::string() : imported.error().message();
  };
  CHECK(Contains(error(of(kModel, {"x"}, {"x", "w"}, "y")),
                 "there are 1 inputs and 1 outputs for 2 names in xs and 0 in zs"));
  CHECK(Contains(error(of(kModel, {"x", "x"}, {"x", "x"}, "y")), "\"x\" appears twice"));
  CHECK(Contains(error(of(kModel, {"x"}, {"nothing"}, "y")), "\"nothing\" is not defined"));
  CHECK(Contains(error(of(kModel, {"x"}, {"x"}, "nothing")), "y, \"nothing\", is not defined"));
  CHECK(Contains(error(of(kModel, {"x"}, {"x"}, "g")), "the graph has a cycle"));
  CHECK(Contains(error(of(Node("Shape", {"x"}, {"y"}), {"x"}, {"x"}, "y")),
                 "the derivative of i64[1] does not exist"));
  // The body of an If, of tensors around it.
  const std::string branch = Gradient({"x"}, {"g"}, {"x"}, {}, "y") + onnx_text::Outputs({"g"});
  const std::string other = Node("Neg", {"x"}, {"g"}) + onnx_text::Outputs({"g"});
  CHECK(Contains(Reason(kModel + Input("c", TypeOf(onnx_text::kBool, {})) +
                        Node("If", {"c"}, {"r"},
                             onnx_text::Subgraph("then_branch", branch) +
                                 onnx_text::Subgraph("else_branch", other)) +
                        Vectors({"w", "x", "z"}) + onnx_text::Outputs({"r"})),
                 "outside of its subgraph"));
}

}  // namespace nn::test::onnx_gradient_test
