// Export of branches and loops that a run decides about.
#include <doctest/doctest.h>

#include <string>

#include "formats/coreml/program/program_roundtrip.h"

namespace nn::test::coreml_program_control_test {
namespace {

// A loop on %x, of which a body is a region with the inputs %i and %x.
std::string Loop(const std::string& operands, const std::string& body, const std::string& results) {
  return "graph { in %x: f32[3]  in %n: i64[]  const %low: f32[] = [5]  %s = reduce_sum(%x) "
         "{keep_dims = false}  %c = less(%s, %low)  " +
         results + " = loop(" + operands +
         ", %x) {carried = 1, why = \"a run decides\"} regions { graph { in %i: i64[]  in %x: "
         "f32[3]  "
         "const %one: f32[] = [1]  const %top: f32[] = [20]  " +
         body + " } }  out \"y\" = %y }";
}

TEST_CASE("coreml programs: export of branches") {
  const std::string head =
      "graph { in %x: f32[3]  const %zero: f32[] = [0]  const %w: f32[3] = [1, 2, 3]  %s = "
      "reduce_sum(%x) "
      "{keep_dims = false}  %c = less(%s, %zero)  ";
  CheckProgram({head + "%y = branch(%c, %x, %w) {why = \"a run decides\"} regions { "
                       "graph { in %x: f32[3]  in %w: f32[3]  %y = add(%x, %w)  out \"y\" = %y } "
                       "graph { in %x: f32[3]  in %w: f32[3]  %y = mul(%x, %w)  out \"y\" = %y } }"
                       "  out \"y\" = %y }",
                "reduce_sum less cond(add)(mul)"});
  // What is around a branch, a constant, and one value twice.
  CheckProgram({head + "%y, %z = branch(%c, %x) {why = \"a run decides\"} regions { "
                       "graph { in %x: f32[3]  const %k: f32[3] = [7, 8, 9]  out \"y\" = %x  "
                       "out \"z\" = %k } "
                       "graph { in %x: f32[3]  %y = neg(%x)  out \"y\" = %y  out \"z\" = %y } }"
                       "  out \"y\" = %y  out \"z\" = %z }",
                "reduce_sum less cond(identity)(mul identity)"});
}

TEST_CASE("coreml programs: export of loops") {
  const std::string doubles =
      "%y = add(%x, %one)  %t = reduce_sum(%y) {keep_dims = false}  "
      "%go = less(%t, %top)  out \"go\" = %go  out \"y\" = %y";
  const std::string counts =
      "const %go: bool[] = [1]  %f = cast(%i) {to = f32}  %y = add(%x, %f)  "
      "out \"go\" = %go  out \"y\" = %y";
  CheckProgram(
      {Loop("_, %c", doubles, "%y"), "reduce_sum less while_loop(identity)(add reduce_sum less)"});
  CheckProgram({Loop("%n, _", counts, "%y"), "squeeze while_loop(less)(cast add add)"});
  CheckProgram({Loop("%n, %c", doubles, "%y"), {}});
}

}  // namespace
}  // namespace nn::test::coreml_program_control_test
