// Declared shapes that depend on contents known only at run time: the run computes the shapes, and
// fails if a declaration is wrong.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <numeric>

#include "ir/op_def.h"
#include "passes/core/passes.h"
#include "support/run_graph.h"

namespace nn::test::declared_shapes_test {
namespace {

// An operator whose result has a shape that depends on the contents of a graph input.
struct Row {
  std::string name;
  std::string inputs;  // in the text form
  std::string results;
  std::string op;
  // Types of the results, and contents of the inputs that lead to them; empty: seeded.
  std::string types;
  std::vector<std::vector<double>> values;
  // The same operator with other declarations: smaller, larger, of another rank.
  std::vector<std::string> wrong;
};

// 1, 2, ..., n.
std::vector<double> Counting(int n) {
  std::vector<double> values(static_cast<size_t>(n));
  std::iota(values.begin(), values.end(), 1);
  return values;
}

const std::vector<Row>& Rows() {
  const std::vector<double> eight = Counting(8);
  static const std::vector<Row> rows = {
      {"reshape",
       "in %x: f32[8]  in %s: i64[2]",
       "%y",
       "reshape(%x, %s)",
       "f32[2, 4]",
       {eight, {2, 4}},
       {"f32[2, 2]", "f32[4, 2]", "f32[2, 4000]", "f32[1, 4]"}},
      {"reshape of an empty tensor",
       "in %x: f32[0]  in %s: i64[2]",
       "%y",
       "reshape(%x, %s)",
       "f32[0, 3]",
       {{}, {0, 3}},
       {"f32[1, 3]", "f32[0, 1]"}},
      {"expand_dims",
       "in %x: f32[3]  in %s: i64[1]",
       "%y",
       "expand_dims(%x, %s)",
       "f32[1, 3]",
       {{1, 2, 3}, {0}},
       {"f32[3, 1]", "f32[1, 9]", "f32[1, 1, 3]"}},
      {"squeeze",
       "in %x: f32[1, 3, 1]  in %s: i64[1]",
       "%y",
       "squeeze(%x, %s)",
       "f32[3, 1]",
       {{1, 2, 3}, {0}},
       {"f32[1, 3]", "f32[3]", "f32[30, 1]"}},
      {"expand",
       "in %x: f32[3]  in %s: i64[2]",
       "%y",
       "expand(%x, %s)",
       "f32[2, 3]",
       {{1, 2, 3}, {2, 1}},
       {"f32[1, 3]", "f32[3, 3]"}},
      {"tile",
       "in %x: f32[2]  in %s: i64[1]",
       "%y",
       "tile(%x, %s)",
       "f32[6]",
       {{1, 2}, {3}},
       {"f32[4]", "f32[600]"}},
      {"tile of nothing",
       "in %x: f32[0]  in %s: i64[1]",
       "%y",
       "tile(%x, %s)",
       "f32[0]",
       {{}, {3}},
       {"f32[256]"}},
      {"slice",
       "in %x: f32[8]  in %s: i64[1]  in %e: i64[1]",
       "%y",
       "slice(%x, %s, %e)",
       "f32[3]",
       {eight, {2}, {5}},
       {"f32[2]", "f32[4]", "f32[8]"}},
      {"split",
       "in %x: f32[8]  in %s: i64[2]",
       "%y, %z",
       "split(%x, %s)",
       "f32[3], f32[5]",
       {eight, {3, 5}},
       {"f32[4], f32[4]", "f32[100000], f32[5]", "f32[3], f32[6]"}},
      {"split with an empty part",
       "in %x: f32[4]  in %s: i64[2]",
       "%y, %z",
       "split(%x, %s)",
       "f32[4], f32[0]",
       {{1, 2, 3, 4}, {4, 0}},
       {"f32[4], f32[1000000]", "f32[2], f32[2]"}},
      {"top_k",
       "in %x: f32[8]  in %k: i64[1]",
       "%y, %z",
       "top_k(%x, %k)",
       "f32[3], i64[3]",
       {eight, {3}},
       {"f32[3], i64[1]", "f32[1], i64[3]", "f32[8], i64[8]"}},
      {"reduce_sum",
       "in %x: f32[3, 4, 5]  in %a: i64[1]",
       "%y",
       "reduce_sum(%x, %a)",
       "f32[1, 4, 5]",
       {Counting(60), {0}},
       {"f32[3, 4, 1]", "f32[3, 1, 5]", "f32[1, 4, 500]"}},
      {"reduce_max without the axis",
       "in %x: f32[3, 4]  in %a: i64[1]",
       "%y",
       "reduce_max(%x, %a) {keep_dims = false}",
       "f32[4]",
       {Counting(12), {0}},
       {"f32[3]", "f32[40]"}},
      {"range",
       "in %s: i64[]  in %l: i64[]  in %d: i64[]",
       "%y",
       "range(%s, %l, %d)",
       "i64[4]",
       {{1}, {9}, {2}},
       {"i64[3]", "i64[5]"}},
      {"one_hot",
       "in %i: i64[3]  in %n: i64[1]  in %v: f32[2]",
       "%y",
       "one_hot(%i, %n, %v)",
       "f32[3, 4]",
       {{0, 1, 3}, {4}, {0, 1}},
       {"f32[3, 2]", "f32[3, 1000]"}},
      {"pad",
       "in %x: f32[3]  in %p: i64[2]",
       "%y",
       "pad(%x, _, %p)",
       "f32[6]",
       {{1, 2, 3}, {1, 2}},
       {"f32[5]", "f32[7]", "f32[3]"}},
      {"resize by scales",
       "in %x: f32[1, 1, 4]  in %s: f32[1]",
       "%y",
       "resize(%x, _, %s) {coordinates = asymmetric}",
       "f32[1, 1, 8]",
       {{1, 2, 3, 4}, {2}},
       {"f32[1, 1, 4]", "f32[1, 1, 9]", "f32[1, 1, 80]"}},
      {"resize to sizes",
       "in %x: f32[1, 1, 4]  in %s: i64[1]",
       "%y",
       "resize(%x, _, _, %s) {mode = linear}",
       "f32[1, 1, 7]",
       {{1, 2, 3, 4}, {7}},
       {"f32[1, 1, 6]", "f32[1, 1, 8]"}},
      {"affine_grid",
       "in %t: f32[1, 2, 3]  in %s: i64[4]",
       "%y",
       "affine_grid(%t, %s)",
       "f32[1, 2, 3, 2]",
       {Counting(6), {1, 1, 2, 3}},
       {"f32[1, 3, 2, 2]", "f32[1, 200, 300, 2]"}},
      {"non_zero",
       "in %x: f32[5]",
       "%y",
       "non_zero(%x)",
       "i64[1, 2]",
       {{0, 1, 0, 2, 0}},
       {"i64[1, 1]", "i64[1, 5]"}},
      {"compress",
       "in %x: f32[3]  in %c: bool[3]",
       "%y",
       "compress(%x, %c) {flatten = false}",
       "f32[2]",
       {{1, 2, 3}, {1, 0, 1}},
       {"f32[1]", "f32[3]"}},
      {"unique",
       "in %x: f32[4]",
       "%y",
       "unique(%x)",
       "f32[2]",
       {{1, 2, 1, 2}},
       {"f32[1]", "f32[4]"}},
  };
  return rows;
}

std::string Text(const Row& row, const std::string& types, bool users) {
  std::string outputs;
  for (const char* name : {"y", "z"})
    if (row.results.find(std::string("%") + name) != std::string::npos)
      outputs += users ? fmt::format("  %u_{0} = add(%{0}, %{0})  out \"{0}\" = %u_{0}", name)
                       : fmt::format("  out \"{0}\" = %{0}", name);
  return fmt::format("graph {{ {}  {} = {} \"node\"{}{} }}", row.inputs, row.results, row.op,
                     types.empty() ? "" : " : " + types, outputs);
}

TEST_CASE("declared shapes: a right declaration changes no bit") {
  for (const Row& row : Rows())
    for (const bool users : {false, true}) {
      CAPTURE(row.name);
      const Graph open = Parse(Text(row, "", users));
      const Graph declared = Parse(Text(row, row.types, users));
      const auto inputs = InputsOf(open, row.values);
      auto program = Program::Compile(declared, {});
      REQUIRE_MESSAGE(program.has_value(), program.error().message());
      CHECK(program->planned());
      CHECK_FALSE(Program::Compile(open, {})->planned());
      const auto want = RunEverywhere(open, inputs);
      const auto got = RunEverywhere(declared, inputs);
      REQUIRE(want.size() == got.size());
      for (size_t i = 0; i < want.size(); ++i) CHECK(want[i].Identical(got[i]));
    }
}

TEST_CASE("declared shapes: a wrong declaration ends the run, on both backends alike") {
  for (const Row& row : Rows())
    for (const std::string& types : row.wrong)
      for (const bool users : {false, true}) {
        CAPTURE(row.name);
        CAPTURE(types);
        const Graph graph = Parse(Text(row, types, users));
        auto program = CheckSameError(graph, InputsOf(graph, row.values));
        const auto failed = program.Run(InputsOf(graph, row.values));
        CHECK(failed.error().code() == ErrorCode::kModel);
        const std::string& message = failed.error().message();
        CAPTURE(message);
        CHECK(message.find("\"node\": output ") != std::string::npos);
        CHECK(message.find("is declared") != std::string::npos);
      }
}

TEST_CASE("declared shapes: the error names the value, what is declared and what it is") {
  const Graph graph = Parse(R"(graph { in %x: f32[8]  in %s: i64[2]
      %logits = reshape(%x, %s) "r" : f32[2, 2]  out "y" = %logits })");
  auto program = CheckSameError(graph, InputsOf(graph, {Counting(8), {2, 4}}));
  CHECK(program.Run(InputsOf(graph, {Counting(8), {2, 4}})).error().message() ==
        "reshape \"r\": output 0 (\"logits\") is declared f32[2, 2] but is f32[2, 4]");
  // The same program can run again with inputs that fit.
  const Graph fits = Parse(R"(graph { in %x: f32[8]  in %s: i64[2]
      %logits = reshape(%x, %s) : f32[4, 2]  out "y" = %logits })");
  auto again = Program::Compile(fits, {});
  REQUIRE(again.has_value());
  CHECK_FALSE(again->Run(InputsOf(fits, {Counting(8), {2, 4}})).has_value());
  CHECK(again->Run(InputsOf(fits, {Counting(8), {4, 2}})).has_value());
}

TEST_CASE("declared shapes: a shape that was computed from a declaration is not folded away") {
  // Without the check, %v would have no use.
  const Graph graph = Parse(R"(graph { in %x: f32[8]  in %s: i64[2]  in %c: f32[1]
      %v = reshape(%x, %s) : f32[2, 2]  %d = shape_of(%v)  %y = expand(%c, %d)  out "y" = %y })");
  CheckSameError(graph, InputsOf(graph, {Counting(8), {2, 4}, {1}}));
  const Graph right = Parse(R"(graph { in %x: f32[8]  in %s: i64[2]  in %c: f32[1]
      %v = reshape(%x, %s) : f32[2, 4]  %d = shape_of(%v)  %y = expand(%c, %d)  out "y" = %y })");
  CHECK(RunEverywhere(right, InputsOf(right, {Counting(8), {2, 4}, {1}}))[0].dims() ==
        std::vector<int64_t>{2, 4});
}

TEST_CASE("declared shapes: values that no output needs are not checked") {
  const Graph graph = Parse(R"(graph { in %x: f32[8]  in %s: i64[2]
      %v = reshape(%x, %s) : f32[2, 2]  %y = relu(%x)  out "y" = %y })");
  RunEverywhere(graph, InputsOf(graph, {Counting(8), {2, 4}}));
  CHECK(Program::Compile(graph, {})->steps().size() == 1);
}

TEST_CASE("declared shapes: some sizes declared, others open") {
  const auto text = [](const char* type) {
    return fmt::format(R"(graph {{ in %x: f32[8]  in %s: i64[2]
        %y = reshape(%x, %s) : {}  out "y" = %y }})",
                       type);
  };
  const Graph right = Parse(text("f32[a, 4]"));
  CHECK(RunEverywhere(right, InputsOf(right, {Counting(8), {2, 4}}))[0].dims() ==
        std::vector<int64_t>{2, 4});
  const Graph wrong = Parse(text("f32[a, 2]"));
  CheckSameError(wrong, InputsOf(wrong, {Counting(8), {2, 4}}));
}

TEST_CASE("declared shapes: layouts and fusion around a checked value") {
  const auto text = [](const char* type) {
    return fmt::format(R"(graph {{ in %x: f32[1, 48]  in %s: i64[4]
        const %w: f32[3, 3, 1, 1] = seeded(1)
        %v = reshape(%x, %s) : {}
        %a = conv(%v, %w)  %b = relu(%a)  %c = add(%b, %v)  %d = concat(%c, %v) {{axis = 1}}
        out "y" = %d  out "v" = %v }})",
                       type);
  };
  const std::vector<std::vector<double>> values = {Counting(48), {1, 3, 4, 4}};
  const Graph right = Parse(text("f32[1, 3, 4, 4]"));
  CHECK(Program::Compile(right, {})->planned());
  RunEverywhere(right, InputsOf(right, values));
  const Graph wrong = Parse(text("f32[1, 3, 16, 1]"));
  CheckSameError(wrong, InputsOf(wrong, values));
}

TEST_CASE("declared shapes: forgotten ones are what inference derives") {
  for (const Row& row : Rows()) {
    CAPTURE(row.name);
    Graph graph = Parse(Text(row, row.types, false));
    REQUIRE(ForgetDeclaredShapes(graph).has_value());
    bool open = false;
    for (const Node& node : graph.nodes())
      for (const Value* v : node.outputs()) open = open || !v->type().const_dims();
    CHECK(open);
  }
  Graph derived = Parse(R"(graph { in %x: f32[8]  %y = reshape(%x) {dims = [2, -1]} : f32[2, 4]
                                  out "y" = %y })");
  REQUIRE(ForgetDeclaredShapes(derived).has_value());
  CHECK(derived.outputs()[0].value->type().const_dims() == std::vector<int64_t>{2, 4});
}

}  // namespace
}  // namespace nn::test::declared_shapes_test
