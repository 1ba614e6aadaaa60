// ONNX If, Loop and Scan, which the import resolves.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

#include "formats/format.h"
#include "formats/given_inputs.h"
#include "formats/onnx/text.h"
#include "support/run_graph.h"

namespace nn::test::onnx_control_test {
namespace {

using namespace onnx_text;

// As PyTorch exports x.squeeze(1): the axis is removed if its size is 1.
std::string SqueezeIfOne(const std::string& size) {
  return Node("Shape", {"x"}, {"shape"}) + Node("Gather", {"shape", "one"}, {"size"}) +
         Node("Equal", {"size", "one"}, {"is_one"}) +
         Node("If", {"is_one"}, {"y"},
              Subgraph("then_branch", Node("Squeeze", {"x", "axes"}, {"s"}) + Outputs({"s"})) +
                  Subgraph("else_branch", Node("Identity", {"x"}, {"i"}) + Outputs({"i"}))) +
         Integer("one", 1) + Integer("axes", 1, "dims: 1") + Input("x", TypeOf(kF32, {"2", size})) +
         Outputs({"y"});
}

TEST_CASE("onnx If: only the branch of a known condition is imported") {
  ImportedModel one = Import(SqueezeIfOne("1"));
  CHECK(one.graph.outputs()[0].value->type().ToString() == "f32[2]");
  CHECK(Import(SqueezeIfOne("3")).graph.outputs()[0].value->type().ToString() == "f32[2, 3]");
  CHECK(WhyNot(SqueezeIfOne("n")) ==
        "If: the condition depends on the dynamic dimension \"n\"; set it with --input-shape or "
        "--batch: branches with results of different types, f32[2] and f32[2, n], are "
        "unsupported\n");
  // The other branch has an operator that nothing supports.
  Check(Node("Not", {"no"}, {"yes"}) +
            Node("If", {"yes"}, {"y"},
                 Subgraph("then_branch", Node("Neg", {"x"}, {"n"}) + Outputs({"n"})) +
                     Subgraph("else_branch", Node("Nonsense", {"x"}, {"n"}) + Outputs({"n"}))) +
            Flag("no", false) + Input("x", TypeOf(kF32, {"2"})) + Outputs({"y"}),
        {{1, 2}}, {{-1, -2}});
}

TEST_CASE("onnx If: results of both branches are selected if the condition is unknown") {
  // The branches see the names around them, and hide them by their own; one result is a value of
  // the graph, one a constant, one the same in both.
  const std::string graph =
      Node("Neg", {"x"}, {"n"}) +
      Node(
          "If", {"c"}, {"y", "z", "same"},
          Subgraph("then_branch",
                   Node("Add", {"n", "k"}, {"t"}) + Float("k", 10) + Outputs({"t", "x", "x"})) +
              Subgraph("else_branch",
                       Node("Mul", {"x", "k"}, {"n"}) + Node("Sub", {"n", "x"}, {"u"}) +
                           "initializer { name: \"w\" data_type: 1 dims: 2 float_data: [7, 8] }\n" +
                           Outputs({"u", "w", "x"}))) +
      Float("k", 3) + Input("c", TypeOf(kBool, {"1"})) + Input("x", TypeOf(kF32, {"2"})) +
      Outputs({"y", "z", "same"});
  Check(graph, {{1}, {1, 2}}, {{9, 8}, {1, 2}, {1, 2}});
  Check(graph, {{0}, {1, 2}}, {{2, 4}, {7, 8}, {1, 2}});
  // Nested, the inner condition known or not.
  for (const bool known : {false, true}) {
    const std::string inner =
        Node("If", {known ? "yes" : "d"}, {"t"},
             Subgraph("then_branch", Node("Neg", {"x"}, {"v"}) + Outputs({"v"})) +
                 Subgraph("else_branch", Node("Abs", {"x"}, {"v"}) + Outputs({"v"})));
    const std::string nested =
        Node("If", {"c"}, {"y"},
             Subgraph("then_branch", inner + Outputs({"t"})) +
                 Subgraph("else_branch", Node("Add", {"x", "x"}, {"u"}) + Outputs({"u"}))) +
        Flag("yes", true) + Input("c", TypeOf(kBool, {})) + Input("d", TypeOf(kBool, {})) +
        Input("x", TypeOf(kF32, {"2"})) + Outputs({"y"});
    CHECK(Check(nested, {{1}, {1}, {1, -2}}, {{-1, 2}}) == (known ? 3 : 5));
    Check(nested, {{0}, {1}, {1, -2}}, {{2, -4}});
  }
}

TEST_CASE("onnx If: what is unsupported in a branch is reported") {
  const auto choice = [](const std::string& other) {
    return Node("If", {"c"}, {"y"},
                Subgraph("then_branch", Node("Neg", {"x"}, {"n"}) + Outputs({"n"})) +
                    Subgraph("else_branch", other)) +
           Node("Relu", {"y"}, {"z"}) + Input("c", TypeOf(kBool, {})) +
           Input("x", TypeOf(kF32, {"2"})) + Outputs({"z"});
  };
  CHECK(WhyNot(choice(Node("Nonsense", {"x"}, {"m"}) + Outputs({"m"}))) ==
        "Nonsense: Nonsense (operator set ai.onnx, version 17) is unsupported\n");
  CHECK(WhyNot(choice(Node("ReduceSum", {"x"}, {"m"}) + Outputs({"m"}))) ==
        "If: the condition depends on input \"c\", which nnconvert --fix-input makes a constant: "
        "branches with results of different "
        "types, f32[2] and f32[1], are unsupported\n");
  CHECK(Contains(WhyNot(choice("output { name: \"x\" type { sequence_type { elem_type { "
                               "tensor_type { elem_type: 1 } } } } }")),
                 "output \"x\" of else_branch is declared as a sequence, but is f32[2]"));
  CHECK(Contains(WhyNot(choice(Outputs({"nowhere"}))),
                 "If: the condition depends on input \"c\", which nnconvert --fix-input makes a "
                 "constant: output \"nowhere\" of "
                 "else_branch is not defined"));
  // Not an error of a model that may never take the branch.
  CHECK(Contains(WhyNot(choice(Node("MatMul", {"x", "w"}, {"m"}) +
                               "initializer { name: \"w\" data_type: 1 dims: [3, 2] float_data: "
                               "[1, 2, 3, 4, 5, 6] }\n" +
                               Outputs({"m"}))),
                 "If: the condition depends on input \"c\", which nnconvert --fix-input makes a "
                 "constant: else_branch: operator 0"));
  CHECK(Contains(ErrorOfImport(choice(Input("i") + Outputs({"x"}))),
                 "else_branch has 1 inputs; the operator needs 0"));
}

// y = x * 2^n by n iterations; each also returns its value.
std::string Doubling(const std::string& trips, const std::string& condition,
                     const std::string& next = Node("Identity", {"go"}, {"go2"})) {
  return Node("Loop", {trips, condition, "x"}, {"y", "all"},
              Subgraph("body", next + Node("Add", {"v", "v"}, {"w"}) +
                                   Input("i", TypeOf(kI64, {})) + Input("go", TypeOf(kBool, {})) +
                                   Input("v", TypeOf(kF32, {})) + Outputs({"go2", "w", "w"}))) +
         Integer("three", 3) + Integer("none", 0) + Integer("many", 1 << 20) + Flag("yes", true) +
         Flag("no", false) + Outputs({"y", "all"});
}

TEST_CASE("onnx Loop: unrolled for known trip counts and conditions") {
  const std::string x = Input("x", TypeOf(kF32, {}));
  Check(Doubling("three", "") + x, {{1}}, {{8}, {2, 4, 8}});
  Check(Doubling("three", "yes") + x, {{1}}, {{8}, {2, 4, 8}});
  Check(Doubling("none", "yes") + x, {{1}}, {{1}, {}});
  Check(Doubling("three", "no") + x, {{1}}, {{1}, {}});
  // The condition is computed from the number of the iteration.
  const std::string next = Node("Less", {"i", "three"}, {"go2"});
  Check(Doubling("", "yes", next) + x, {{1}}, {{16}, {2, 4, 8, 16}});
  Check(Doubling("many", "yes", next) + x, {{1}}, {{16}, {2, 4, 8, 16}});
  // The last condition does not matter.
  const std::string read = Node("Less", {"v", "ten"}, {"go2"}) + Float("ten", 10);
  CHECK(WhyNot(Doubling("three", "yes", read) + x) ==
        "Loop: the condition after iteration 0 depends on input \"x\", which nnconvert --fix-input "
        "makes a constant\n");
  Check(Node("Loop", {"one", "yes", "x"}, {"y"},
             Subgraph("body", read + Node("Neg", {"v"}, {"w"}) + Input("i") + Input("go") +
                                  Input("v") + Outputs({"go2", "w"}))) +
            Integer("one", 1) + Flag("yes", true) + x + Outputs({"y"}),
        {{1}}, {{-1}});
}

TEST_CASE("onnx Loop: values of a loop may change their shape, and loops may be nested") {
  // Row i of x is added i times by an inner loop that captures values of the outer one.
  const std::string inner =
      Node("Loop", {"i", "", "sum"}, {"sum2"},
           Subgraph("body", Node("Add", {"s", "row"}, {"t"}) + Input("k") + Input("go1") +
                                Input("s") + Outputs({"go1", "t"})));
  const std::string graph =
      Node("Loop", {"three", "", "zero", "empty"}, {"y", "list"},
           Subgraph("body", Node("Gather", {"x", "i"}, {"row"}) + inner +
                                Node("Unsqueeze", {"i", "axes"}, {"i1"}) +
                                Node("Concat", {"l", "i1"}, {"l2"},
                                     "attribute { name: \"axis\" type: INT i: 0 }") +
                                Input("i") + Input("go") + Input("sum") + Input("l") +
                                Outputs({"go", "sum2", "l2"}))) +
      Integer("three", 3) + Integer("axes", 0, "dims: 1") + Float("zero", 0) +
      "initializer { name: \"empty\" data_type: 7 dims: 0 }\n" + Input("x", TypeOf(kF32, {"3"})) +
      Outputs({"y", "list"});
  Check(graph, {{5, 7, 11}}, {{29}, {0, 1, 2}});
}

TEST_CASE("onnx Loop: reasons") {
  const std::string x = Input("x", TypeOf(kF32, {}));
  CHECK(WhyNot(Doubling("m", "") + x + Input("m", TypeOf(kI64, {}))) ==
        "Loop: the trip count depends on input \"m\", which nnconvert --fix-input makes a "
        "constant\n");
  CHECK(WhyNot(Doubling("three", "m") + x + Input("m", TypeOf(kBool, {}))) ==
        "Loop: the condition depends on input \"m\", which nnconvert --fix-input makes a "
        "constant\n");
  CHECK(WhyNot(Node("ReduceMax", {"m"}, {"k"}, Int("keepdims", 0)) + Node("Size", {"z"}, {"s"}) +
               Node("Add", {"k", "s"}, {"n"}) + Doubling("n", "") + x +
               Input("m", TypeOf(kI64, {"99"})) + Input("z", TypeOf(kF32, {"4"}))) ==
        "Loop: the trip count is computed when the model runs\n");
  CHECK(WhyNot(Node("Size", {"z"}, {"m"}) + Doubling("m", "") + x +
               Input("z", TypeOf(kF32, {"rows", "4"}))) ==
        "Loop: the trip count depends on the dynamic dimension \"rows\"; set it with --input-shape "
        "or --batch\n");
  CHECK(WhyNot(Doubling("", "") + x) ==
        "Loop: the loop has neither a trip count nor a condition\n");
  const std::string limit =
      "Loop: the subgraphs of the model have more than 65536 operators when inlined, and loops "
      "unrolled\n";
  CHECK(WhyNot(Doubling("many", "") + x) == limit);
  CHECK(WhyNot(Doubling("many", "yes") + x) == limit);
  // An operator of the body is reported once.
  CHECK(WhyNot(Doubling("three", "", Node("Nonsense", {"go"}, {"go2"})) + x) ==
        "Nonsense: Nonsense (operator set ai.onnx, version 17) is unsupported\n");
  CHECK(
      Contains(ErrorOfImport(Node("Loop", {"three", "", "x"}, {"y"},
                                  Subgraph("body", Input("i") + Input("go") +
                                                       Input("v",
                                                             "type { sequence_type { elem_type { "
                                                             "tensor_type { elem_type: 1 } } } }") +
                                                       Outputs({"go", "v"}))) +
                             Integer("three", 3) + x + Outputs({"y"})),
               "input \"v\" of body is declared as a sequence, but is f32[]"));
}

// Iterations of loops in loops in loops.
TEST_CASE("onnx Loop: nested loops end at the limit") {
  std::string body = Node("Add", {"v3", "v3"}, {"w3"}) + Input("i3") + Input("g3") + Input("v3") +
                     Outputs({"g3", "w3"});
  for (int k = 2; k >= 0; --k)
    body = Node("Loop", {"many", "", fmt::format("v{}", k)}, {fmt::format("w{}", k)},
                Subgraph("body", body)) +
           Input(fmt::format("i{}", k)) + Input(fmt::format("g{}", k)) +
           Input(fmt::format("v{}", k)) + Outputs({fmt::format("g{}", k), fmt::format("w{}", k)});
  CHECK(Contains(WhyNot(Node("Loop", {"many", "", "x"}, {"y"}, Subgraph("body", body)) +
                        Integer("many", 1000) + Input("x", TypeOf(kF32, {})) + Outputs({"y"})),
                 "more than 65536 operators"));
}

// The sums of the rows of x before each row, on the given axes and directions.
std::string Sums(const std::string& attributes, const std::vector<std::string>& dims) {
  return Node("Scan", {"zero", "x"}, {"sum", "sums"},
              attributes + Int("num_scan_inputs", 1) +
                  Subgraph("body", Node("Add", {"s", "r"}, {"t"}) + Input("s") + Input("r") +
                                       Outputs({"t", "t"}))) +
         "initializer { name: \"zero\" data_type: 1 dims: 2 float_data: [0, 0] }\n" +
         Input("x", TypeOf(kF32, dims)) + Outputs({"sum", "sums"});
}

TEST_CASE("onnx Scan: axes and directions") {
  const Values x = {{1, 2, 3, 4, 5, 6}};
  Check(Sums("", {"3", "2"}), x, {{9, 12}, {1, 2, 4, 6, 9, 12}});
  Check(Sums(Ints("scan_input_axes", {-1}), {"2", "3"}), x, {{6, 15}, {1, 4, 3, 9, 6, 15}});
  Check(Sums(Ints("scan_output_axes", {1}), {"3", "2"}), x, {{9, 12}, {1, 4, 9, 2, 6, 12}});
  Check(Sums(Ints("scan_output_axes", {-1}), {"3", "2"}), x, {{9, 12}, {1, 4, 9, 2, 6, 12}});
  Check(Sums(Ints("scan_input_directions", {1}), {"3", "2"}), x, {{9, 12}, {5, 6, 8, 10, 9, 12}});
  Check(Sums(Ints("scan_output_directions", {1}), {"3", "2"}), x, {{9, 12}, {9, 12, 4, 6, 1, 2}});
  CHECK(WhyNot(Sums("", {"t", "2"})) ==
        "Scan: the length of scan input 0 depends on the dynamic dimension \"t\"; set it with "
        "--input-shape or --batch\n");
  CHECK(WhyNot(Sums("", {"0", "2"})) == "Scan: scans of length 0 are unsupported\n");
  CHECK(Contains(ErrorOfImport(Sums(Ints("scan_input_axes", {2}), {"3", "2"})),
                 "axis 2 of scan input 0 is out of range for rank 2"));
  CHECK(Contains(ErrorOfImport(Sums(Ints("scan_output_axes", {0, 1}), {"3", "2"})),
                 "scan_output_axes has 2 entries; expected 1"));
}

// A size of an input decides about a branch, a trip count or a scan.
TEST_CASE("onnx control flow: sizes of the inputs that are given to the import") {
  const auto types = [](const std::string& graph, const InputSettings& sizes) {
    const ReadModel read = Read(graph);
    const auto imported = ImportWith(read, sizes);
    REQUIRE_MESSAGE(imported.has_value(), imported.error().message());
    const std::string why = WhyOpen(imported->graph);
    if (!why.empty()) return why;
    return imported->unsupported.empty() ? imported->graph.outputs().back().value->type().ToString()
                                         : imported->unsupported[0].reason.substr(0, 30);
  };
  const InputShapes three = {{"x", {2, 3}}};
  CHECK(types(SqueezeIfOne("n"), {.shapes = three}) == "f32[2, 3]");
  CHECK(types(SqueezeIfOne("n"), {.shapes = {{"x", {2, 1}}}}) == "f32[2]");
  CHECK(Contains(types(SqueezeIfOne("n"), {.batch = 3}),
                 "If: the condition depends on the dynamic dimension \"n\""));
  CHECK(types(Sums("", {"t", "2"}), {.batch = 3}) == "f32[3, 2]");
  CHECK(types(Sums("", {"t", "2"}), {.shapes = {{"x", {4, 2}}}}) == "f32[4, 2]");
  // Those that do not fit are ignored.
  CHECK(Contains(types(Sums("", {"t", "2"}), {.shapes = {{"x", {4}}, {"z", {1}}}}),
                 "Scan: the length of scan input 0 depends on the dynamic dimension \"t\""));
  // Nothing else changes.
  CHECK(types(Node("Neg", {"x"}, {"y"}) + Input("x", TypeOf(kF32, {"n"})) + Outputs({"y"}),
              {.shapes = {{"x", {4}}}}) == "f32[n]");
}

// A constant input decides about a trip count, and one with a symbol in its shape about a size.
TEST_CASE("onnx control flow: inputs that are constants of the import") {
  const ReadModel read =
      Read(Doubling("m", "") + Input("x", TypeOf(kF32, {"n"})) + Input("m", TypeOf(kI64, {})));
  InputSettings settings;
  settings.constants = [](const Graph& graph) -> Result<std::map<size_t, Tensor>> {
    REQUIRE(graph.inputs().size() == 2);
    return std::map<size_t, Tensor>{{1, Tensor::Of<int64_t>({}, {3})}};
  };
  const auto imported = ImportWith(read, settings);
  REQUIRE_MESSAGE(imported.has_value(), imported.error().message());
  CHECK(imported->unsupported.empty());
  REQUIRE(imported->graph.inputs().size() == 1);
  CHECK(imported->graph.inputs()[0].name == "x");
  CHECK(imported->graph.outputs()[0].value->type().ToString() == "f32[n]");

  settings.constants = [](const Graph&) -> Result<std::map<size_t, Tensor>> {
    return std::map<size_t, Tensor>{{0, Tensor::Of<float>({2}, {1, 5})},
                                    {1, Tensor::Of<int64_t>({}, {3})}};
  };
  const auto constant = ImportWith(read, settings);
  REQUIRE_MESSAGE(constant.has_value(), constant.error().message());
  CHECK(constant->graph.inputs().empty());
  CHECK(constant->graph.outputs()[0].value->type().ToString() == "f32[2]");

  settings.constants = [](const Graph&) -> Result<std::map<size_t, Tensor>> {
    return std::map<size_t, Tensor>{{1, Tensor::Of<float>({}, {3})}};
  };
  const auto wrong = ImportWith(read, settings);
  REQUIRE_FALSE(wrong.has_value());
  CHECK(wrong.error().code() == ErrorCode::kUsage);
  CHECK(wrong.error().message() == "input \"m\" is i64[]; a constant of f32[] does not fit");
}

TEST_CASE("onnx Scan: version 8 has batches") {
  const auto sums = [](const std::string& lengths, int64_t direction) {
    return Node("Scan", {lengths, "zero", "x"}, {"sum", "sums"},
                Ints("directions", {direction}) + Int("num_scan_inputs", 1) +
                    Subgraph("body", Node("Add", {"s", "r"}, {"t"}) + Input("s") + Input("r") +
                                         Outputs({"t", "t"}))) +
           "initializer { name: \"zero\" data_type: 1 dims: [2, 1] float_data: [0, 10] }\n" +
           "initializer { name: \"full\" data_type: 7 dims: 2 int64_data: [3, 3] }\n" +
           "initializer { name: \"ragged\" data_type: 7 dims: 2 int64_data: [3, 2] }\n" +
           Input("x", TypeOf(kF32, {"2", "3", "1"})) + Outputs({"sum", "sums"});
  };
  const Values x = {{1, 2, 3, 4, 5, 6}};
  Check(sums("", 0), x, {{6, 25}, {1, 3, 6, 14, 19, 25}}, 8);
  Check(sums("full", 1), x, {{6, 25}, {3, 5, 6, 16, 21, 25}}, 8);
  CHECK(WhyNot(sums("ragged", 0), 8) == "Scan: sequences of different lengths are unsupported\n");
}

TEST_CASE("onnx control flow: in functions, with attributes of the call") {
  const std::string function =
      "opset_import { domain: \"my\" version: 1 }\n"
      "functions { name: \"F\" domain: \"my\" input: \"a\" input: \"n\" output: \"b\" "
      "attribute: \"k\"\nopset_import { version: 17 }\n" +
      Node("Loop", {"n", "", "a"}, {"b"},
           Subgraph("body", Node("Constant", {}, {"c"},
                                 "attribute { name: \"value_float\" type: FLOAT ref_attr_name: "
                                 "\"k\" }") +
                                Node("Mul", {"v", "c"}, {"w"}) + Input("i") + Input("go") +
                                Input("v") + Outputs({"go", "w"}))) +
      "}";
  const auto call = [](const std::string& from, const std::string& to, float k) {
    return Node("F", {from, "two"}, {to},
                fmt::format("domain: \"my\" attribute {{ name: \"k\" type: FLOAT f: {} }}", k));
  };
  Check(call("x", "t", 3) + call("t", "y", 5) + Integer("two", 2) + Input("x", TypeOf(kF32, {})) +
            Outputs({"y"}),
        {{1}}, {{225}}, 17, function);
}

// The validator reports it; the import sorts the nodes, with what their subgraphs need.
TEST_CASE("onnx If: values that only a branch needs may be defined later") {
  Check(Node("If", {"yes"}, {"y"},
             Subgraph("then_branch", Node("Neg", {"t"}, {"n"}) + Outputs({"n"})) +
                 Subgraph("else_branch", Outputs({"x"}))) +
            Node("Abs", {"x"}, {"t"}) + Flag("yes", true) + Input("x", TypeOf(kF32, {"2"})) +
            Outputs({"y"}),
        {{1, -2}}, {{-1, -2}});
}

}  // namespace
}  // namespace nn::test::onnx_control_test
