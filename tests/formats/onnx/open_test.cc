// ONNX If and Loop that a run decides about.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

#include "exec/program.h"
#include "formats/onnx/text.h"
#include "support/run_graph.h"

namespace nn::test::onnx_open_test {
namespace {

using namespace onnx_text;

std::string X(const std::vector<std::string>& dims) {
  return Input("x", TypeOf(kF32, dims));
}

std::string Body(const std::string& contents, const std::vector<std::string>& carried,
                 const std::vector<std::string>& results) {
  std::string inputs = Input("i") + Input("go");
  for (const auto& name : carried) inputs += Input(name);
  return Subgraph("body", contents + inputs + Outputs(results));
}

TEST_CASE("onnx Loop: trip counts and conditions of a run") {
  const auto graph = [](const std::string& trips, const std::string& condition) {
    return Node("Loop", {trips, condition, "x", "zero"}, {"y", "k", "all"},
                Body(Node("Add", {"v", "v"}, {"w"}) + Node("Add", {"n", "one"}, {"m"}) +
                         Node("ReduceMax", {"w"}, {"top"}, Int("keepdims", 0)) +
                         Node("Less", {"top", "limit"}, {"next"}),
                     {"v", "n"}, {"next", "w", "m", "w"})) +
           Integer("zero", 0) + Integer("one", 1) + Float("limit", 20) + Flag("yes", true) +
           X({"2"}) + Outputs({"y", "k", "all"});
  };
  const std::string m = Input("m", TypeOf(kI64, {"1"}));
  Check(graph("", "yes"), {{1, 2}}, {{16, 32}, {4}, {2, 4, 4, 8, 8, 16, 16, 32}});
  Check(graph("m", "yes") + m, {{1, 2}, {2}}, {{4, 8}, {2}, {2, 4, 4, 8}});
  Check(graph("m", "yes") + m, {{1, 2}, {9}}, {{16, 32}, {4}, {2, 4, 4, 8, 8, 16, 16, 32}});
  Check(graph("m", "") + m, {{1, 2}, {5}}, {{32, 64}, {5}, {2, 4, 4, 8, 8, 16, 16, 32, 32, 64}});
  const std::string c = Input("c", TypeOf(kBool, {}));
  Check(graph("m", "c") + c + m, {{1, 2}, {0}, {9}}, {{1, 2}, {0}, {}});
  Check(graph("m", "c") + c + m, {{1, 2}, {1}, {1}}, {{2, 4}, {1}, {2, 4}});
  Check(graph("m", "c") + c + m, {{1, 2}, {1}, {-3}}, {{1, 2}, {0}, {}});
}

// Each iteration makes the carried value longer.
TEST_CASE("onnx Loop: sizes that change") {
  const std::string grow =
      Node("Loop", {"m", "", "x"}, {"y"},
           Body(Node("Concat", {"v", "x"}, {"w"}, Int("axis", 0)), {"v"}, {"go", "w"})) +
      Node("ReduceSum", {"y"}, {"sum"}, Int("keepdims", 0)) + Input("m", TypeOf(kI64, {})) +
      X({"2"}) + Outputs({"y", "sum"});
  Check(grow, {{3}, {1, 2}}, {{1, 2, 1, 2, 1, 2, 1, 2}, {12}}, 12);
  Check(grow, {{0}, {1, 2}}, {{1, 2}, {3}}, 12);
  const ImportedModel model = Import(grow, 12);
  CHECK_FALSE(model.graph.outputs()[0].value->type().const_dims());
  CHECK(model.graph.outputs()[0].value->type().rank() == 1);
  CHECK(model.graph.outputs()[1].value->type().ToString() == "f32[]");
}

TEST_CASE("onnx Loop: in loops, with values of all of them") {
  const auto graph = [](const std::string& outer, const std::string& inner) {
    const std::string add =
        Body(Node("Add", {"u", "x"}, {"a"}) + Node("Add", {"a", "v"}, {"b"}), {"u"}, {"go", "b"});
    return Node("Loop", {outer, "", "x"}, {"y"},
                Body(Node("Loop", {inner, "", "x"}, {"w"}, add), {"v"}, {"go", "w"})) +
           Integer("two", 2) + Input("m", TypeOf(kI64, {})) + X({}) + Outputs({"y"});
  };
  // v -> x + 2 (x + v), twice.
  for (const auto& [outer, inner] : {std::pair("m", "m"), {"two", "m"}, {"m", "two"}})
    Check(graph(outer, inner), {{2}, {1}}, {{13}});
}

// They are resolved on import, in a region too.
TEST_CASE("onnx Loop: sequences inside of an iteration") {
  const std::string graph = Node("Loop", {"m", "", "x"}, {"y"},
                                 Body(Node("SequenceConstruct", {"v", "x"}, {"s"}) +
                                          Node("ConcatFromSequence", {"s"}, {"c"}, Int("axis", 0)) +
                                          Node("ReduceSum", {"c"}, {"w"}, Int("keepdims", 1)),
                                      {"v"}, {"go", "w"})) +
                            Input("m", TypeOf(kI64, {})) + X({"1"}) + Outputs({"y"});
  Check(graph, {{3}, {2}}, {{8}});
}

TEST_CASE("onnx If: results of different shapes") {
  const std::string graph =
      Node("Neg", {"x"}, {"n"}) +
      Node(
          "If", {"c"}, {"y", "z"},
          Subgraph("then_branch", Node("ReduceSum", {"n"}, {"s"}) + Node("Add", {"n", "w"}, {"t"}) +
                                      Float("w", 10) + Outputs({"s", "t"})) +
              Subgraph("else_branch", Node("Mul", {"x", "x"}, {"p"}) + Outputs({"p", "x"}))) +
      Node("Abs", {"y"}, {"a"}) + Input("c", TypeOf(kBool, {"1"})) + X({"2"}) + Outputs({"a", "z"});
  Check(graph, {{1}, {1, 2}}, {{3}, {9, 8}});
  Check(graph, {{0}, {1, 2}}, {{1, 4}, {1, 2}});
}

// The positions of the elements that are not zero, as a matrix of open size.
TEST_CASE("onnx: shapes of values whose size only the run knows") {
  const std::string found = Node("NonZero", {"x"}, {"at"}) +                           // [1, ?]
                            Node("Transpose", {"at"}, {"rows"}, Ints("perm", {1, 0}))  // [?, 1]
                            + Node("Cast", {"rows"}, {"f"}, Int("to", kF32)) + X({"4"});
  const Values x = {{0, 5, 0, 6}};
  for (const int64_t axis : {0, 1, 2})
    Check(found + Node("Flatten", {"f"}, {"y"}, Int("axis", axis)) + Outputs({"y"}), x, {{1, 3}});
  Check(found + Node("Sub", {"f", "f"}, {"z"}) + Node("Softmax", {"z"}, {"y"}, Int("axis", 0)) +
            Outputs({"y"}),
        x, {{0.5, 0.5}}, 12);
  // A transpose moves through the reshape.
  Check(found + Node("Concat", {"f", "f"}, {"pairs"}, Int("axis", 1)) +
            Node("Reshape", {"pairs", "shape"}, {"cube"}) +
            Node("Transpose", {"cube"}, {"y"}, Ints("perm", {1, 0, 2})) +
            "initializer { name: \"shape\" data_type: 7 dims: 3 int64_data: [-1, 2, 1] }" +
            Outputs({"y"}),
        x, {{1, 3, 1, 3}});
  // A size that another value has, and that both only get in the run.
  Check(found + Node("Unsqueeze", {"f", "axes"}, {"image"}) +
            Node("Concat", {"f", "f"}, {"twice"}, Int("axis", 0)) +
            Node("Unsqueeze", {"twice", "axes"}, {"large"}) + Node("Shape", {"large"}, {"size"}) +
            Node("Resize", {"image", "", "", "size"}, {"y"}) +
            "initializer { name: \"axes\" data_type: 7 dims: 2 int64_data: [0, 1] }" +
            Outputs({"y"}),
        x, {{1, 1, 3, 3}});
}

// Sizes and scales of which the run computes some: batch and channels stay if theirs are known.
TEST_CASE("onnx Resize: sizes and scales that are partly known") {
  const std::string image = Input("x", TypeOf(kF32, {"1", "1", "1", "2"}));
  const std::string factors = Input("k", TypeOf(kF32, {"2"})) + Node("Shape", {"x"}, {"all"}) +
                              Node("Slice", {"all", "from", "to"}, {"leading"}) +
                              "initializer { name: \"from\" data_type: 7 dims: 1 int64_data: 0 }"
                              "initializer { name: \"to\" data_type: 7 dims: 1 int64_data: 2 }";
  const std::string sizes = factors + Node("Cast", {"k"}, {"size"}, Int("to", kI64)) +
                            Node("Concat", {"leading", "size"}, {"sizes"}, Int("axis", 0)) +
                            Node("Resize", {"x", "", "", "sizes"}, {"y"});
  const std::string scales =
      factors + Node("Concat", {"ones", "k"}, {"scales"}, Int("axis", 0)) +
      Node("Resize", {"x", "", "scales"}, {"y"}) +
      "initializer { name: \"ones\" data_type: 1 dims: 2 float_data: [1, 1] }";
  Check(image + sizes + Outputs({"y"}), {{3, 4}, {2, 2}}, {{3, 4, 3, 4}});
  Check(image + scales + Outputs({"y"}), {{3, 4}, {2, 1}}, {{3, 4, 3, 4}});
  const auto rank = [&](const std::string& graph) {
    const ImportedModel model = Import(image + graph + Outputs({"y"}));
    for (const auto& node : model.graph.nodes())
      if (node.Is("resize")) return node.input(0)->type().rank();
    return 0;
  };
  CHECK(rank(sizes) == 4);
  CHECK(rank(scales) == 4);
  // All of them are computed.
  const std::string open =
      Input("s", TypeOf(kI64, {"4"})) + Node("Resize", {"x", "", "", "s"}, {"y"});
  CHECK(rank(open) == 6);
}

// The sums of the rows of f, [?, 1], from the first one to each.
TEST_CASE("onnx Scan: a length that only the run knows") {
  const auto scan = [](const std::string& attributes) {
    return Node("NonZero", {"x"}, {"at"}) + Node("Cast", {"at"}, {"row"}, Int("to", kF32)) +
           Node("Transpose", {"row"}, {"f"}, Ints("perm", {1, 0})) +
           Node("Scan", {"zero", "f", "row"}, {"sum", "sums"},
                attributes + Int("num_scan_inputs", 2) + Ints("scan_input_axes", {0, 1}) +
                    Subgraph("body", Node("Add", {"s", "r"}, {"t"}) +
                                         Node("Mul", {"t", "q"}, {"u"}) + Input("s") + Input("r") +
                                         Input("q") + Outputs({"t", "u"}))) +
           "initializer { name: \"zero\" data_type: 1 dims: 1 float_data: [0] }" + X({"5"}) +
           Outputs({"sum", "sums"});
  };
  const Values x = {{0, 7, 7, 0, 7}};  // at 1, 2, 4
  Check(scan(""), x, {{7}, {1, 6, 28}});
  Check(scan(Ints("scan_output_axes", {1})), x, {{7}, {1, 6, 28}});
  Check(scan(Ints("scan_output_axes", {-1})), x, {{7}, {1, 6, 28}});
  Check(scan(Ints("scan_output_directions", {1})), x, {{7}, {28, 6, 1}});
  Check(scan(Ints("scan_input_directions", {1, 1})), x, {{7}, {16, 12, 7}});
  Check(scan(""), {{0, 0, 0, 0, 0}}, {{0}, {}});
}

TEST_CASE("onnx Loop: limits of a run") {
  const std::string endless = Node("Loop", {"", "c", "x"}, {"y"},
                                   Body(Node("Add", {"v", "v"}, {"w"}), {"v"}, {"go", "w"})) +
                              Input("c", TypeOf(kBool, {})) + X({}) + Outputs({"y"});
  const ImportedModel model = Import(endless);
  REQUIRE(model.unsupported.empty());
  for (const Backend backend : {Backend::kReference, Backend::kSimd}) {
    ProgramOptions options;
    options.backend = backend;
    options.limits.max_steps = 100;
    const auto program = Program::Compile(model.graph, options);
    REQUIRE_MESSAGE(program.has_value(), program.error().message());
    const auto results = program->Run(InputsOf(model.graph, {{1}, {1}}));
    REQUIRE_FALSE(results.has_value());
    CHECK(results.error().code() == ErrorCode::kLimit);
    CHECK(Contains(results.error().message(), "see max-steps"));
    const auto none = program->Run(InputsOf(model.graph, {{0}, {7}}));
    REQUIRE_MESSAGE(none.has_value(), none.error().message());
    CHECK(none->front().ToDoubles() == std::vector<double>{7});
  }
}

TEST_CASE("onnx Loop and If: what regions cannot hold") {
  const std::string m = Input("m", TypeOf(kI64, {}));
  const auto loop = [&](const std::string& contents, const std::string& result) {
    return Node("Loop", {"m", "", "x"}, {"y"}, Body(contents, {"v"}, {"go", result})) + m +
           X({"2"}) + Outputs({"y"});
  };
  CHECK(Contains(WhyNot(loop(Node("Nonsense", {"v"}, {"w"}), "w")), "Nonsense"));
  CHECK(Contains(WhyNot(loop(Node("Cast", {"v"}, {"w"}, Int("to", 7)), "w")),
                 "a value is f32[2] and becomes i64[2]"));
  CHECK(Contains(WhyNot(loop(Node("SequenceConstruct", {"v"}, {"w"}), "w")),
                 "sequences and optionals in such subgraphs are unsupported"));
}

}  // namespace
}  // namespace nn::test::onnx_open_test
