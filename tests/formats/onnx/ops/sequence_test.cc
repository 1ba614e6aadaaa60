// ONNX sequences and optionals, which the import resolves.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

#include "formats/onnx/text.h"

namespace nn::test::onnx_sequence_test {
namespace {

using namespace onnx_text;

std::string X(const std::vector<std::string>& dims) {
  return Input("x", TypeOf(kF32, dims));
}

TEST_CASE("onnx sequences: elements are found, inserted and erased") {
  const std::string abc = Node("Neg", {"x"}, {"n"}) + Node("Abs", {"x"}, {"a"}) +
                          Node("SequenceConstruct", {"x", "n", "a"}, {"s"}) + X({"2"});
  const auto at = [&](const std::string& changes, int64_t position) {
    return abc + changes + Node("SequenceAt", {"t", "p"}, {"y"}) +
           Node("SequenceLength", {"t"}, {"length"}) + Integer("p", position) + Integer("zero", 0) +
           Integer("last", -1) + Integer("three", 3) + Outputs({"y", "length"});
  };
  const std::vector<double> x = {1, -2}, n = {-1, 2}, a = {1, 2};
  const std::string same = Node("Identity", {"s"}, {"t"});
  // No operator of a sequence is left.
  CHECK(Check(at(same, 1), {x}, {n, {3}}) == 2);
  Check(at(same, -1), {x}, {a, {3}});
  Check(at(Node("SequenceErase", {"s"}, {"t"}), -1), {x}, {n, {2}});
  Check(at(Node("SequenceErase", {"s", "zero"}, {"t"}), 0), {x}, {n, {2}});
  Check(at(Node("SequenceInsert", {"s", "n", "zero"}, {"t"}), 0), {x}, {n, {4}});
  Check(at(Node("SequenceInsert", {"s", "n", "last"}, {"t"}), 2), {x}, {n, {4}});
  Check(at(Node("SequenceInsert", {"s", "n", "three"}, {"t"}), 3), {x}, {n, {4}});
  Check(at(Node("SequenceInsert", {"s", "n"}, {"t"}), -1), {x}, {n, {4}});
  Check(at(Node("SequenceEmpty", {}, {"e"}) + Node("SequenceInsert", {"e", "a"}, {"t"}), 0), {x},
        {a, {1}});
  CHECK(ErrorOfImport(at(same, 3)).ends_with("position 3 is outside a sequence of length 3"));
  CHECK(ErrorOfImport(at(same, -4)).ends_with("position -4 is outside a sequence of length 3"));
  CHECK(ErrorOfImport(at(Node("SequenceEmpty", {}, {"e"}) + Node("SequenceErase", {"e"}, {"t"}), 0))
            .ends_with("an empty sequence has no element to erase"));
}

// Elements of one type become one tensor.
TEST_CASE("onnx sequences: a run decides about a position") {
  const auto graph = [](const std::string& other) {
    return other + Node("SequenceConstruct", {"x", "n"}, {"s"}) +
           Node("SequenceAt", {"s", "p"}, {"y"}) + X({"2"}) + Input("p", TypeOf(kI64, {})) +
           Outputs({"y"});
  };
  const std::string negated = Node("Neg", {"x"}, {"n"});
  Check(graph(negated), {{1, 2}, {0}}, {{1, 2}});
  Check(graph(negated), {{1, 2}, {1}}, {{-1, -2}});
  Check(graph(negated), {{1, 2}, {-1}}, {{-1, -2}});
  CHECK(WhyNot(graph(Node("ReduceSum", {"x"}, {"n"}))) ==
        "SequenceAt: the position depends on input \"p\", which nnconvert --fix-input makes a "
        "constant, and the elements have different types\n");
}

TEST_CASE("onnx SplitToSequence and ConcatFromSequence") {
  const auto split = [](const std::string& attributes, const std::string& sizes,
                        const std::string& concat, const std::string& x = "") {
    return Node("SplitToSequence",
                sizes.empty() ? std::vector<std::string>{"x"} : std::vector<std::string>{"x", "k"},
                {"s"}, attributes) +
           Node("SequenceErase", {"s", "zero"}, {"t"}) +
           Node("ConcatFromSequence", {"t"}, {"y"}, concat) +
           Node("SequenceLength", {"s"}, {"length"}) + sizes + Integer("zero", 0) +
           (x.empty() ? X({"3", "2"}) : x) + Outputs({"y", "length"});
  };
  const Values x = {{1, 2, 3, 4, 5, 6}};
  Check(split("", "", Int("axis", 0)), x, {{3, 4, 5, 6}, {3}});
  Check(split(Int("axis", -1), "", Int("axis", 1)), x, {{2, 4, 6}, {2}});
  // Without the axis, which the parts share again if they are stacked.
  Check(split(Int("keepdims", 0), "", Int("axis", 0)), x, {{3, 4, 5, 6}, {3}});
  Check(split(Int("keepdims", 0), "", Int("axis", 1) + Int("new_axis", 1)), x, {{3, 5, 4, 6}, {3}});
  // Parts of one size, the last may be smaller; and of several.
  Check(split("", Integer("k", 2), Int("axis", 0)), x, {{5, 6}, {2}});
  Check(split("", "initializer { name: \"k\" data_type: 7 dims: 2 int64_data: [1, 2] }\n",
              Int("axis", 0)),
        x, {{3, 4, 5, 6}, {2}});
  CHECK(WhyNot(split("", "", Int("axis", 0), X({"n", "2"})))
            .starts_with(
                "SplitToSequence: the length of the axis depends on the dynamic dimension \"n\""));
  CHECK(WhyNot(split("", Input("k", TypeOf(kI64, {})), Int("axis", 0)))
            .starts_with("SplitToSequence: the size of the parts depends on input \"k\""));
  CHECK(WhyNot(split("", Input("k", TypeOf(kI64, {"2"})), Int("axis", 0)))
            .starts_with("SplitToSequence: one of the sizes of the parts depends on input \"k\""));
  CHECK(ErrorOfImport(split("", Integer("k", 0), Int("axis", 0)))
            .ends_with("parts of size 0 are impossible"));
}

// As TorchScript appends to a list.
TEST_CASE("onnx sequences: carried by loops, and results of branches") {
  const std::string list =
      Node("SequenceEmpty", {}, {"e"}) +
      Node("Loop", {"three", "", "x", "e"}, {"last", "s"},
           Subgraph("body",
                    Node("Add", {"v", "x"}, {"w"}) + Node("SequenceInsert", {"l", "w"}, {"m"}) +
                        Input("i") + Input("c") + Input("v") +
                        Input("l",
                              "type { sequence_type { elem_type { tensor_type { elem_type: 1 "
                              "} } } }") +
                        Outputs({"c", "w", "m"}))) +
      Node("ConcatFromSequence", {"s"}, {"y"}, Int("axis", 0) + Int("new_axis", 1)) +
      Integer("three", 3) + X({"2"}) + Outputs({"y", "last"});
  Check(list, {{1, 5}}, {{2, 10, 3, 15, 4, 20}, {4, 20}});

  const auto choice = [](const std::string& other) {
    return Node("If", {"c"}, {"s"},
                Subgraph("then_branch",
                         Node("SequenceConstruct", {"x", "x"}, {"t"}) + Outputs({"t"})) +
                    Subgraph("else_branch", Node("Neg", {"x"}, {"n"}) + other + Outputs({"u"}))) +
           Node("SequenceAt", {"s", "one"}, {"y"}) + Integer("one", 1) +
           Input("c", TypeOf(kBool, {})) + X({"2"}) + Outputs({"y"});
  };
  const std::string two = Node("SequenceConstruct", {"x", "n"}, {"u"});
  Check(choice(two), {{1}, {1, 2}}, {{1, 2}});
  Check(choice(two), {{0}, {1, 2}}, {{-1, -2}});
  CHECK(Contains(WhyNot(choice(Node("SequenceConstruct", {"n"}, {"u"}))),
                 "branches with sequences of different lengths, 2 and 1, are unsupported"));
  CHECK(Contains(WhyNot(choice(Node("Identity", {"n"}, {"u"}))),
                 "branches with results of different kinds are unsupported"));
}

TEST_CASE("onnx SequenceMap: the body runs for each element") {
  const auto map = [](const std::string& more) {
    return Node("Neg", {"x"}, {"n"}) + Node("SequenceConstruct", {"x", "n"}, {"s"}) +
           Node("SequenceConstruct",
                more.empty() ? std::vector<std::string>{"x", "x"} : std::vector<std::string>{"x"},
                {"r"}) +
           Node("SequenceMap", {"s", "x", "r"}, {"t", "u"},
                Subgraph("body", Node("Add", {"a", "b"}, {"d"}) + Node("Mul", {"a", "c"}, {"e"}) +
                                     Input("a") + Input("b") + Input("c") + Outputs({"d", "e"}))) +
           Node("ConcatFromSequence", {"t"}, {"y"}, Int("axis", 0)) +
           Node("ConcatFromSequence", {"u"}, {"z"}, Int("axis", 0)) + X({"2"}) +
           Outputs({"y", "z"});
  };
  Check(map(""), {{1, 2}}, {{2, 4, 0, 0}, {1, 4, -1, -4}});
  CHECK(Contains(ErrorOfImport(map("shorter")), "the sequences have different lengths, 2 and 1"));
}

TEST_CASE("onnx optionals: known to have an element or not") {
  const auto graph = [](const std::vector<std::string>& element) {
    return Node("Optional", element, {"o"}) + Node("OptionalHasElement", {"o"}, {"has"}) +
           Node("If", {"has"}, {"y"},
                Subgraph("then_branch", Node("OptionalGetElement", {"o"}, {"v"}) + Outputs({"v"})) +
                    Subgraph("else_branch", Node("Neg", {"x"}, {"n"}) + Outputs({"n"}))) +
           X({"2"}) + Outputs({"has", "y"});
  };
  Check(graph({"x"}), {{1, 2}}, {{1}, {1, 2}});
  Check(graph({}), {{1, 2}}, {{0}, {-1, -2}});
  CHECK(ErrorOfImport(Node("Optional", {}, {"o"}) + Node("OptionalGetElement", {"o"}, {"y"}) +
                      Outputs({"y"}))
            .ends_with("the optional has no element"));
}

TEST_CASE("onnx sequences: what the graph cannot hold") {
  const std::string type = "type { sequence_type { elem_type { tensor_type { elem_type: 1 } } } }";
  CHECK(ErrorOfImport(Node("SequenceLength", {"s"}, {"y"}) + Input("s", type) + Outputs({"y"})) ==
        "graph input \"s\" is a sequence: state its number of elements with --length s=N, which "
        "become the inputs s[0], s[1] and so on");
  const std::string map = "type { map_type { key_type: 7 } }";
  CHECK(ErrorOfImport(Node("Identity", {"m"}, {"y"}) + Input("m", map) + Outputs({"y"})) ==
        "graph input \"m\" is a map whose values are not numbers or strings");
  // What an unsupported operator returns has no known length.
  CHECK(WhyNot(Node("Nonsense", {"x"}, {"s"}) + Node("SequenceAt", {"s", "zero"}, {"y"}) +
               Integer("zero", 0) + X({"2"}) + Outputs({"y"})) ==
        "Nonsense: Nonsense (operator set ai.onnx, version 17) is unsupported\n");
}

}  // namespace
}  // namespace nn::test::onnx_sequence_test
