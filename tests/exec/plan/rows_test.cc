#include <doctest/doctest.h>
#include <fmt/format.h>

#include <limits>

#include "support/run_graph.h"

namespace nn::test::rows_test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

// Runs everywhere, on kernels only.
void RunPlanned(const std::string& text, const std::vector<std::vector<double>>& inputs = {}) {
  CAPTURE(text);
  const Graph graph = Parse(text);
  CheckHasKernels(graph);
  RunEverywhere(graph, InputsOf(graph, inputs));
}

const std::vector<double> kLeft = {7, -7, 7, -7, 0, 5, 3, -1, 1, 100, -2147483648.0, 12};
const std::vector<double> kRight = {3, 3, -3, -3, 5, 0, 2, -1, 9, 7, -1, 1};

TEST_CASE("row kernels: integer arithmetic and comparisons") {
  for (const char* type : {"i32", "i64"})
    for (const char* op :
         {"add", "sub", "mul", "div", "floor_div", "mod", "fmod", "minimum", "maximum", "pow",
          "equal", "not_equal", "less", "less_equal", "greater", "greater_equal"})
      RunPlanned(fmt::format("graph {{ in %a: {0}[12]  in %b: {0}[12]  %y = {1}(%a, %b)  "
                             "out \"y\" = %y }}",
                             type, op),
                 {kLeft, kRight});
  CheckCase({"remainders have the sign of the divisor",
             R"(graph { in %a: i64[4]  in %b: i64[4]  %y = mod(%a, %b)  out "y" = %y })",
             {{7, -7, 7, -7}, {3, 3, -3, -3}},
             {{1, 2, -2, -1}}});
}

TEST_CASE("row kernels: operands that repeat") {
  for (const auto& [a, b] :
       {std::pair("[3, 4, 50]", "[50]"), std::pair("[4, 1]", "[3, 4, 50]"),
        std::pair("[3, 1, 50]", "[4, 1]"), std::pair("[]", "[7, 9]"), std::pair("[]", "[]"),
        std::pair("[2, 30000]", "[1]"), std::pair("[0, 4]", "[4]")}) {
    RunPlanned(
        fmt::format("graph {{ in %a: i64{}  in %b: i64{}  %y = add(%a, %b)  %l = less(%a, "
                    "%b)  out \"y\" = %y  out \"l\" = %l }}",
                    a, b));
    RunPlanned(
        fmt::format("graph {{ in %a: f32{}  in %b: f32{}  %y = greater(%a, %b)  "
                    "%z = select(%y, %a, %b)  out \"y\" = %y  out \"z\" = %z }}",
                    a, b));
  }
}

TEST_CASE("row kernels: logic") {
  const std::vector<double> a = {0, 0, 1, 1};
  const std::vector<double> b = {0, 1, 0, 1};
  for (const char* op : {"and", "or", "xor", "equal", "not_equal"})
    RunPlanned(fmt::format("graph {{ in %a: bool[4]  in %b: bool[4]  %y = {}(%a, %b)  "
                           "%n = not(%y)  out \"y\" = %y  out \"n\" = %n }}",
                           op),
               {a, b});
}

TEST_CASE("row kernels: comparisons with NaN") {
  RunPlanned(R"(graph { in %a: f32[6]  in %b: f32[6]  %e = equal(%a, %b)  %n = not_equal(%a, %b)
                        %l = less_equal(%a, %b)  out "e" = %e  out "n" = %n  out "l" = %l })",
             {{kNan, kNan, 1, kInf, -kInf, 0}, {kNan, 1, kNan, kInf, kInf, -0.0}});
}

TEST_CASE("row kernels: select of every type and with every operand repeated") {
  for (const char* type : {"f32", "i64", "u8", "f16", "c128"})
    for (const auto& [c, a, b] :
         {std::tuple("[5, 70]", "[5, 70]", "[5, 70]"), std::tuple("[5, 70]", "[]", "[5, 70]"),
          std::tuple("[5, 70]", "[70]", "[5, 1]"), std::tuple("[5, 1]", "[5, 70]", "[]"),
          std::tuple("[70]", "[]", "[5, 1]"), std::tuple("[1]", "[1]", "[1]"),
          std::tuple("[0]", "[1]", "[0]")})
      RunPlanned(
          fmt::format("graph {{ in %c: bool{}  in %a: {}{}  in %b: {}{}  "
                      "%y = select(%c, %a, %b)  out \"y\" = %y }}",
                      c, type, a, type, b));
}

TEST_CASE("row kernels: casts") {
  const std::vector<double> reals = {0,     -0.0, 0.9,    -0.9,  1.5,     -2.5,  127.5,
                                     300,   -300, 3e9,    -3e9,  1e19,    -1e19, kInf,
                                     -kInf, kNan, 255.99, 1e-40, 16777217};
  const std::vector<double> integers = {0, 1, -1, 127, 128, 255, 256, -128, -129, 65537};
  for (const char* to : {"f32", "i32", "i64", "u8", "i8", "bool"}) {
    for (const char* from : {"i32", "i64"})
      RunPlanned(fmt::format("graph {{ in %x: {}[10]  %y = cast(%x) {{to = {}}}  out \"y\" = %y }}",
                             from, to),
                 {integers});
    for (const char* from : {"u8", "i8", "bool"})
      RunPlanned(fmt::format(
          "graph {{ in %x: {}[3, 50]  %y = cast(%x) {{to = {}}}  out \"y\" = %y }}", from, to));
    RunPlanned(
        fmt::format("graph {{ in %x: f32[19]  %y = cast(%x) {{to = {}}}  out \"y\" = %y }}", to),
        {reals});
  }
}

TEST_CASE("order kernels: views of the largest and smallest") {
  for (const char* op : {"arg_max", "arg_min"})
    for (const char* attrs : {"axis = 0", "axis = 1, keep_dims = false", "axis = -1",
                              "axis = 1, select_last_index = true, output_type = i32"}) {
      for (const char* type : {"f32[5, 6, 7]", "i64[5, 6, 7]", "i32[5, 60, 700]", "f32[0, 4, 3]"})
        if (std::string_view(type) != "f32[0, 4, 3]" || std::string_view(attrs) != "axis = 0")
          RunPlanned(OneOp(type, fmt::format("{}(%x) {{{}}}", op, attrs)));
      for (const char* type : {"f32[3, 21, 5, 40]", "f32[7, 300, 1]", "f32[2, 70, 70]"})
        RunPlanned(OneOp(type, fmt::format("{}(%x) {{{}}}", op, attrs)));
      RunPlanned(fmt::format("graph {{ in %x: f32[3, 3, 2]  %y = {}(%x) {{{}}}  out \"y\" = %y }}",
                             op, attrs),
                 {{1, kNan, 3, kNan, 3, 1, -0.0, 0, 0, kInf, -kInf, kInf, 5, 5, 5, 5, 5, kNan}});
    }
  // Equal ones in one vector and in several, and what is no number.
  std::vector<double> row(150, 1);
  for (const double v : {2.0, -2.0, kNan, 1.0}) {
    for (const size_t at : {9, 41, 57, 130, 149}) row[at] = v;
    for (const char* op : {"arg_max", "arg_min"})
      for (const char* last : {"true", "false"})
        RunPlanned(fmt::format("graph {{ in %x: f32[1, 150]  %y = {}(%x) {{axis = 1, "
                               "select_last_index = {}}}  out \"y\" = %y }}",
                               op, last),
                   {row});
  }
}

}  // namespace
}  // namespace nn::test::rows_test
