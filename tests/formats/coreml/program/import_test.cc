// The import of ML Programs: blocks, control flow, lists and states.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "formats/common/known_inputs.h"
#include "formats/coreml/program/mil_operation.h"
#include "support/run_graph.h"

namespace nn::test::coreml_program_import_test {
namespace {

using Numbers = std::vector<std::vector<double>>;

// y = cond ? 2 x : -x, and z, which both blocks take from the function.
MilBlock Conditional(MilOperand condition, std::vector<MilName> inputs) {
  const MilBlock yes{{},
                     {{"add", {Ref("x", "x"), Ref("y", "x")}, {{"a", "f32[2]"}}},
                      {"relu", {Ref("x", "x")}, {{"b", "f32[2]"}}}},
                     {"a", "b"}};
  const MilBlock no{{},
                    {{"mul", {Ref("x", "x"), Const("y", "f32[]", {-1})}, {{"c", "f32[2]"}}},
                     {"relu", {Ref("x", "x")}, {{"d", "f32[2]"}}}},
                    {"c", "d"}};
  return {std::move(inputs),
          {{"cond", {std::move(condition)}, {{"y", "f32[2]"}, {"z", "f32[2]"}}, {yes, no}}},
          {"y", "z"}};
}

TEST_CASE("coreml programs: a condition that is known selects a block") {
  const MilBlock f = Conditional(Const("pred", "bool[]", {0}), {{"x", "f32[2]"}});
  CHECK(RunMil(f, {{1, 2}}) == Numbers{{-1, -2}, {1, 2}});
}

TEST_CASE("coreml programs: a run decides between blocks") {
  const MilBlock f = Conditional(Ref("pred", "p"), {{"x", "f32[2]"}, {"p", "bool[]"}});
  CHECK(RunMil(f, {{1, 2}, {1}}) == Numbers{{2, 4}, {1, 2}});
  CHECK(RunMil(f, {{1, 2}, {0}}) == Numbers{{-1, -2}, {1, 2}});
}

// i = 0; while (i < limit) { i = i + 1; x = x * 2; }
MilBlock Doubling(MilOperand limit, std::vector<MilName> inputs) {
  const MilBlock condition{{{"i0", "i32[]"}, {"x0", "f32[1]"}},
                           {{"less", {Ref("x", "i0"), std::move(limit)}, {{"go", "bool[]"}}}},
                           {"go"}};
  const MilBlock body{{{"i1", "i32[]"}, {"x1", "f32[1]"}},
                      {{"add", {Ref("x", "i1"), Const("y", "i32[]", {1})}, {{"i2", "i32[]"}}},
                       {"mul", {Ref("x", "x1"), Const("y", "f32[]", {2})}, {{"x2", "f32[1]"}}}},
                      {"i2", "x2"}};
  return {std::move(inputs),
          {{"while_loop",
            {Const("loop_vars", "i32[]", {0}), Ref("loop_vars", "x")},
            {{"i", "i32[]"}, {"y", "f32[1]"}},
            {condition, body}}},
          {"i", "y"}};
}

TEST_CASE("coreml programs: a loop of known length is unrolled") {
  const MilBlock f = Doubling(Const("y", "i32[]", {5}), {{"x", "f32[1]"}});
  CHECK(RunMil(f, {{3}}) == Numbers{{5}, {96}});
  const auto imported = ImportMil(f);
  REQUIRE(imported.has_value());
  CHECK(WhyOpen(imported->graph).empty());
}

TEST_CASE("coreml programs: a run decides about the length of a loop") {
  const MilBlock f = Doubling(Ref("y", "limit"), {{"x", "f32[1]"}, {"limit", "i32[]"}});
  CHECK(RunMil(f, {{3}, {4}}) == Numbers{{4}, {48}});
  CHECK(RunMil(f, {{3}, {0}}) == Numbers{{0}, {3}});
}

TEST_CASE("coreml programs: lists") {
  const MilBlock f{
      {{"a", "f32[2]"}, {"b", "f32[2]"}},
      {{"make_list",
        {Const("init_length", "i32[]", {2}), Const("elem_shape", "i32[]", {2})},
        {{"l0", "list"}}},
       {"list_write",
        {Ref("ls", "l0"), Const("index", "i32[]", {0}), Ref("value", "a")},
        {{"l1", "list"}}},
       // Beyond its end, so that it grows.
       {"list_write",
        {Ref("ls", "l1"), Const("index", "i32[]", {3}), Ref("value", "b")},
        {{"l2", "list"}}},
       {"list_scatter",
        {Ref("ls", "l2"), Const("indices", "i32[2]", {2, 1}),
         Const("value", "f32[2, 2]", {5, 6, 7, 8})},
        {{"l3", "list"}}},
       {"list_read", {Ref("ls", "l3"), Const("index", "i32[]", {3})}, {{"r", "f32[2]"}}},
       {"list_gather",
        {Ref("ls", "l3"), Const("indices", "i32[3]", {0, 1, 2})},
        {{"g", "f32[3, 2]"}}},
       {"list_length", {Ref("ls", "l3")}, {{"n", "i32[]"}}}},
      {"r", "g", "n"}};
  CHECK(RunMil(f, {{1, 2}, {3, 4}}) == Numbers{{3, 4}, {1, 2, 7, 8, 5, 6}, {4}});
}

// s = s + x; y = s
const MilBlock kAccumulator{{{"x", "f32[2]"}, {"s", "state f32[2]"}},
                            {{"read_state", {Ref("input", "s")}, {{"before", "f32[2]"}}},
                             {"add", {Ref("x", "before"), Ref("y", "x")}, {{"sum", "f32[2]"}}},
                             {"write_state", {Ref("input", "s"), Ref("data", "sum")}, {}},
                             {"read_state", {Ref("input", "s")}, {{"after", "f32[2]"}}},
                             {"relu", {Ref("x", "after")}, {{"y", "f32[2]"}}}},
                            {"y"}};

TEST_CASE("coreml programs: a state is zero before a run, unless it is a port") {
  CHECK(RunMil(kAccumulator, {{1, 2}}, "CoreML8") == Numbers{{1, 2}});
  const auto imported = ImportMil(kAccumulator, "CoreML8", StatePorts::kResources);
  REQUIRE(imported.has_value());
  REQUIRE(imported->states.size() == 1);
  CHECK(imported->states[0].name == "s");
  CHECK(imported->states[0].input == "s_in");
  CHECK(imported->states[0].output == "s_out");
  const auto outputs =
      RunEverywhere(imported->graph, InputsOf(imported->graph, {{1, 2}, {10, 20}}));
  REQUIRE(outputs.size() == 2);
  CHECK(outputs[0].ToDoubles() == std::vector<double>{11, 22});
  CHECK(outputs[1].ToDoubles() == std::vector<double>{11, 22});
}

TEST_CASE("coreml programs: a block cannot change a state if a run decides about it") {
  const MilBlock yes{{},
                     {{"write_state", {Ref("input", "s"), Ref("data", "x")}, {}},
                      {"read_state", {Ref("input", "s")}, {{"a", "f32[2]"}}}},
                     {"a"}};
  const MilBlock no{{}, {{"relu", {Ref("x", "x")}, {{"b", "f32[2]"}}}}, {"b"}};
  const MilBlock f{{{"x", "f32[2]"}, {"p", "bool[]"}, {"s", "state f32[2]"}},
                   {{"cond", {Ref("pred", "p")}, {{"y", "f32[2]"}}, {yes, no}}},
                   {"y"}};
  const auto imported = ImportMil(f, "CoreML8");
  REQUIRE_MESSAGE(imported.has_value(), imported.error().message());
  REQUIRE(imported->unsupported.size() == 1);
  CHECK(imported->unsupported[0].reason.find("block 0 uses a state") != std::string::npos);
}

std::string ErrorOfFunction(const MilBlock& f) {
  const auto imported = ImportMil(f);
  return imported ? "" : imported.error().message();
}

TEST_CASE("coreml programs: what is invalid is an error that says where") {
  const MilOperation relu{"relu", {Ref("x", "x")}, {{"y", "f32[2]"}}};
  CHECK(ErrorOfFunction({{{"a", "f32[2]"}}, {relu}, {"y"}}) ==
        "operation 0 (relu \"y\"): input x: \"x\" is not defined");
  CHECK(ErrorOfFunction({{{"x", "f32[2]"}}, {relu}, {"z"}}) == "output \"z\" is not defined");
  CHECK(ErrorOfFunction({{{"x", "f32[2]"}}, {{"relu", {}, {{"y", "f32[2]"}}}}, {"y"}}) ==
        "operation 0 (relu \"y\"): input x is missing");
  const MilBlock none{{}, {}, {}};
  CHECK(ErrorOfFunction({{{"x", "f32[2]"}},
                         {{"cond", {Const("pred", "bool[]", {1})}, {{"y", "f32[2]"}}, {none}}},
                         {"y"}}) == "operation 0 (cond \"y\"): there are 1 blocks, not 2");
  CHECK(ErrorOfFunction(
            {{{"s", "state f32[2]"}}, {{"relu", {Ref("x", "s")}, {{"y", "f32[2]"}}}}, {"y"}}) ==
        "operation 0 (relu \"y\"): \"s\" is a state, not a value");
}

}  // namespace
}  // namespace nn::test::coreml_program_import_test
