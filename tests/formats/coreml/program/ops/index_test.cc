// Gathering and scattering.
#include <doctest/doctest.h>

#include "formats/coreml/program/mil_operation.h"
#include "formats/coreml/program/program_roundtrip.h"

namespace nn::test::coreml_program_index_test {
namespace {

MilOperand Axis(double axis) {
  return Const("axis", "i32[]", {axis});
}

TEST_CASE("coreml programs: gather") {
  const MilOperand x = In("x", "f32[2, 3]", {1, 2, 3, 4, 5, 6});
  CheckMil({"gather", {x, Const("indices", "i32[]", {-1})}, {"f32[3]"}, {{4, 5, 6}}});
  CheckMil({"gather",
            {x, Const("indices", "i32[1, 2]", {2, 0}), Axis(-1)},
            {"f32[2, 1, 2]"},
            {{3, 1, 6, 4}}});
  CheckMil(
      {"gather",
       {x, In("indices", "i32[2, 2]", {2, 0, 1, 1}), Axis(1), Const("batch_dims", "i32[]", {1})},
       {"f32[2, 2]"},
       {{3, 1, 5, 5}},
       "CoreML6"});
  CheckMil({"gather",
            {In("x", "i32[3]", {7, 8, 9}), Const("indices", "u16[2]", {2, 1}),
             Const("validate_indices", "bool[]", {1})},
            {"i32[2]"},
            {{9, 8}},
            "CoreML7"});
}

TEST_CASE("coreml programs: gather along an axis, and at coordinates") {
  const MilOperand x = In("x", "f32[2, 2, 2]", {1, 2, 3, 4, 5, 6, 7, 8});
  CheckMil(
      {"gather_along_axis",
       {In("x", "f32[2, 2]", {1, 2, 3, 4}), Const("indices", "i32[2, 2]", {0, 0, 1, 0}), Axis(-1)},
       {"f32[2, 2]"},
       {{1, 1, 4, 3}}});
  CheckMil({"gather_along_axis",
            {In("x", "f32[2, 2]", {1, 2, 3, 4}), Const("indices", "i16[1, 2]", {1, 0})},
            {"f32[1, 2]"},
            {{3, 2}},
            "CoreML6"});
  const MilOperand indices = Const("indices", "i32[2, 1]", {1, 0});
  CheckMil({"gather_nd", {x, indices}, {"f32[2, 2, 2]"}, {{5, 6, 7, 8, 1, 2, 3, 4}}});
  CheckMil({"gather_nd",
            {x, indices, Const("batch_dims", "i32[]", {1})},
            {"f32[2, 2]"},
            {{3, 4, 5, 6}},
            "CoreML6"});
}

// What scatter makes of 12 and 6, of which 6 is combined with 2 and then with 3.
void CheckMode(std::vector<MilOperand> mode, double expected) {
  for (const std::string type : {"f32", "f16", "i32"}) {
    std::vector<MilOperand> operands = {In("data", type + "[2]", {12, 6}),
                                        Const("indices", "i32[2]", {1, 1}),
                                        In("updates", type + "[2]", {2, 3})};
    operands.insert(operands.end(), mode.begin(), mode.end());
    for (const std::string op : {"scatter", "scatter_along_axis"})
      CheckMil({op, operands, {type + "[2]"}, {{12, expected}}});
    operands[1] = Const("indices", "i32[2, 1]", {1, 1});
    CheckMil({"scatter_nd", operands, {type + "[2]"}, {{12, expected}}});
  }
}

TEST_CASE("coreml programs: modes of scatter") {
  CheckMode({}, 11);
  CheckMode({Text("mode", "add")}, 11);
  CheckMode({Text("mode", "update")}, 3);
  CheckMode({Text("mode", "sub")}, 1);
  CheckMode({Text("mode", "mul")}, 36);
  CheckMode({Text("mode", "div")}, 1);
  CheckMode({Text("mode", "min")}, 2);
  CheckMode({Text("mode", "max")}, 6);
  CHECK(WhyNotMil({"scatter_nd",
                   {In("data", "f32[2]", {1, 2}), Const("indices", "i32[1, 1]", {0}),
                    In("updates", "f32[1]", {1}), Text("mode", "or")},
                   {"f32[2]"}})
            .ends_with("mode or is unknown"));
}

TEST_CASE("coreml programs: quotients of scatter are rounded once") {
  CheckMil({"scatter",
            {In("data", "f32[1]", {1}), Const("indices", "i32[1]", {0}),
             In("updates", "f32[1]", {49}), Text("mode", "div")},
            {"f32[1]"},
            {{static_cast<double>(1.0F / 49.0F)}}});
}

TEST_CASE("coreml programs: slices and elements are scattered") {
  const MilOperand data = In("data", "f32[2, 3]", {1, 2, 3, 4, 5, 6});
  CheckMil(
      {"scatter",
       {data, Const("indices", "i32[2]", {1, 0}), In("updates", "f32[2, 3]", {5, 6, 7, 8, 9, 10})},
       {"f32[2, 3]"},
       {{9, 11, 13, 9, 11, 13}}});
  CheckMil({"scatter",
            {data, Const("indices", "i32[2]", {2, 0}), In("updates", "f32[2, 2]", {7, 8, 9, 10}),
             Axis(-1), Text("mode", "update"), Const("validate_indices", "bool[]", {0})},
            {"f32[2, 3]"},
            {{8, 2, 7, 10, 5, 9}},
            "CoreML7"});
  CheckMil(
      {"scatter_along_axis",
       {data, Const("indices", "i32[2, 1]", {2, 0}), In("updates", "f32[2, 1]", {10, 20}), Axis(1)},
       {"f32[2, 3]"},
       {{1, 2, 13, 24, 5, 6}}});
  CheckMil({"scatter_nd",
            {data, Const("indices", "i32[1, 1]", {1}), In("updates", "f32[1, 3]", {7, 8, 9}),
             Text("mode", "update")},
            {"f32[2, 3]"},
            {{1, 2, 3, 7, 8, 9}}});
  CHECK(WhyNotMil({"scatter",
                   {data, Const("indices", "i32[2]", {1, 0}), In("updates", "f32[2]", {5, 6})},
                   {"f32[2, 3]"}})
            .ends_with("the updates are f32[2] for i32[2] indices in f32[2, 3]"));
}

TEST_CASE("coreml programs: export of gathering") {
  const ProgramCase cases[] = {
      {"graph { in %x: f32[2, 5]  const %i: i64[2, 2] = [0, -1, 3, 4]  %y = gather(%x, %i) {axis = "
       "1}"
       "  out \"y\" = %y }",
       "gather",
       {},
       0,
       "CoreML5"},
      {"graph { in %x: f32[2, 5]  const %i: i64[] = [3]  %y = gather(%x, %i) {axis = -1}"
       "  out \"y\" = %y }",
       "gather", "iOS17"},
      {"graph { in %x: f32[2, 3]  const %i: i64[2, 1] = [2, 1]  %y = gather(%x, %i) {axis = 1, "
       "batch_dims = -1}  out \"y\" = %y }",
       "gather",
       {},
       0,
       "CoreML6"},
      {"graph { in %x: f32[2, 3]  const %i: i64[2, 4] = [0, 1, 2, -1, 2, 2, 0, 1]"
       "  %y = gather_elements(%x, %i) {axis = 1}  out \"y\" = %y }",
       "gather_along_axis",
       {},
       0,
       "CoreML5"},
      {"graph { in %x: f32[2, 3, 2]  const %i: i64[2, 2] = [0, 1, 1, -1]  %y = gather_nd(%x, %i)"
       "  out \"y\" = %y }",
       "gather_nd",
       {},
       0,
       "CoreML5"},
      {"graph { in %x: f32[2, 3, 2]  const %i: i64[2, 1] = [2, -3]  %y = gather_nd(%x, %i) "
       "{batch_dims = 1}  out \"y\" = %y }",
       "gather_nd",
       {},
       0,
       "CoreML6"},
      // Booleans as integers.
      {"graph { in %x: f32[4]  const %z: f32[] = [0]  const %i: i64[2] = [3, 1]"
       "  %p = greater(%x, %z)  %q = gather(%p, %i)  %y = cast(%q) {to = f32}  out \"y\" = %y }",
       "greater cast gather cast cast"},
  };
  for (const ProgramCase& c : cases) CheckProgram(c);
}

TEST_CASE("coreml programs: export of scattering") {
  for (const std::string reduction : {"none", "add", "mul", "min", "max"}) {
    CheckProgram(
        {"graph { in %x: f32[2, 4]  in %u: f32[2, 2]  const %i: i64[2, 2] = [0, -1, 2, 2]"
         "  %y = scatter_elements(%x, %i, %u) {axis = 1, reduction = " +
             reduction + "}  out \"y\" = %y }",
         "scatter_along_axis"});
    CheckProgram(
        {"graph { in %x: f32[4, 2]  in %u: f32[2, 2]  const %i: i64[2, 1] = [3, 0]"
         "  %y = scatter_nd(%x, %i, %u) {reduction = " +
             reduction + "}  out \"y\" = %y }",
         "scatter_nd", "iOS17"});
  }
}

}  // namespace
}  // namespace nn::test::coreml_program_index_test
