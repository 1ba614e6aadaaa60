// Operators of StableHLO in TensorFlow Lite files for which the interpreter has no kernel.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "support/run_graph.h"
#include "validators/tflite/text.h"

namespace nn::test::tflite_stablehlo_test {
namespace {

using Values = std::vector<std::vector<double>>;

TEST_CASE("stablehlo: elements") {
  const auto unary = [](const std::string& op, double x) {
    return OutputsOfTflite("STABLEHLO_" + op + "\nx f32[1]\n> y f32[1]\n", {{x}})[0][0];
  };
  CHECK(unary("ABS", -2) == 2);
  CHECK(unary("NEGATE", 2) == -2);
  CHECK(unary("FLOOR", -1.5) == -2);
  CHECK(unary("RSQRT", 4) == 0.5);
  CHECK(unary("LOGISTIC", 0) == 0.5);
  CHECK(unary("EXPONENTIAL", 0) == 1);
  CHECK(unary("LOG", 1) == 0);
  CHECK(unary("COSINE", 0) == 1);
  CHECK(unary("TANH", 0) == 0);
  CHECK(unary("CBRT", -8) == doctest::Approx(-2).epsilon(1e-6));
  CHECK(unary("CBRT", 0) == 0);
  const auto binary = [](const std::string& op, const std::string& type, double a, double b) {
    return OutputsOfTflite(
        "STABLEHLO_" + op + "\na " + type + "[1]\nb " + type + "[1]\n> y " + type + "[1]\n",
        {{a}, {b}})[0][0];
  };
  CHECK(binary("SUBTRACT", "f32", 1, 3) == -2);
  CHECK(binary("DIVIDE", "f32", 1, 4) == 0.25);
  CHECK(binary("DIVIDE", "i32", -7, 2) == -3);
  CHECK(binary("REMAINDER", "i32", -7, 2) == -1);
  CHECK(binary("REMAINDER", "f32", -7, 2) == -1);
  CHECK(binary("POWER", "f32", 2, 3) == 8);
  CHECK(binary("OR", "i32", 5, 2) == 7);
  CHECK(binary("OR", "bool", 0, 1) == 1);
  CHECK(OutputsOfTflite("STABLEHLO_CLAMP\na f32[]\nx f32[3]\nb f32[]\n> y f32[3]\n",
                        {{-1}, {-5, 0, 5}, {2}}) == Values{{-1, 0, 2}});
  CHECK(OutputsOfTflite("STABLEHLO_SELECT\nc bool[]\na f32[2]\nb f32[2]\n> y f32[2]\n",
                        {{0}, {1, 2}, {3, 4}}) == Values{{3, 4}});
  CHECK(OutputsOfTflite("STABLEHLO_CONVERT\nx f32[2]\n> y i32[2]\n", {{1.5, -1.5}}) ==
        Values{{1, -1}});
  CHECK(OutputsOfTflite("STABLEHLO_COMPARE StablehloCompareOptions {\"comparison_direction\": "
                        "\"STABLEHLO_COMPARISON_DIRECTION_GE\"}\na f32[3]\nb f32[3]\n> y bool[3]\n",
                        {{1, 2, 3}, {2, 2, 2}}) == Values{{0, 1, 1}});
}

TEST_CASE("stablehlo: moved elements") {
  CHECK(OutputsOfTflite("STABLEHLO_RESHAPE\nx f32[2,2]\n> y f32[4]\n", {{1, 2, 3, 4}}) ==
        Values{{1, 2, 3, 4}});
  CHECK(OutputsOfTflite("STABLEHLO_TRANSPOSE StablehloTransposeOptions {\"permutation\": [1, 0]}\n"
                        "x f32[2,2]\n> y f32[2,2]\n",
                        {{1, 2, 3, 4}}) == Values{{1, 3, 2, 4}});
  CHECK(OutputsOfTflite("STABLEHLO_CONCATENATE StablehloConcatenateOptions {\"dimension\": 1}\n"
                        "a f32[2,1]\nb f32[2,1]\n> y f32[2,2]\n",
                        {{1, 2}, {3, 4}}) == Values{{1, 3, 2, 4}});
  const auto broadcast = [](const std::string& axes, const std::string& x, const std::string& y) {
    return "STABLEHLO_BROADCAST_IN_DIM StablehloBroadcastInDimOptions "
           "{\"broadcast_dimensions\": [" +
           axes + "]}\nx " + x + "\n> y " + y + "\n";
  };
  CHECK(OutputsOfTflite(broadcast("0", "f32[2]", "f32[2,2]"), {{1, 2}}) == Values{{1, 1, 2, 2}});
  CHECK(OutputsOfTflite(broadcast("1, 0", "f32[2,2]", "f32[2,2]"), {{1, 2, 3, 4}}) ==
        Values{{1, 3, 2, 4}});
  CHECK(OutputsOfTflite(broadcast("", "f32[]", "f32[2]"), {{7}}) == Values{{7, 7}});
  CHECK(OutputsOfTflite("STABLEHLO_SLICE StablehloSliceOptions {\"start_indices\": [1], "
                        "\"limit_indices\": [4], \"strides\": [2]}\nx f32[5]\n> y f32[2]\n",
                        {{0, 1, 2, 3, 4}}) == Values{{1, 3}});
  const std::string slice =
      "STABLEHLO_DYNAMIC_SLICE StablehloDynamicSliceOptions {\"slice_sizes\": [1, 2]}\n"
      "x f32[2,3]\ni i32[]\nj i32[]\n> y f32[1,2]\n";
  CHECK(OutputsOfTflite(slice, {{1, 2, 3, 4, 5, 6}, {1}, {0}}) == Values{{4, 5}});
  CHECK(OutputsOfTflite(slice, {{1, 2, 3, 4, 5, 6}, {-4}, {9}}) == Values{{2, 3}});
  const std::string update =
      "STABLEHLO_DYNAMIC_UPDATE_SLICE\nx f32[2,3]\nu f32[1,2]\ni i32[]\nj i32[]\n"
      "> y f32[2,3]\n";
  CHECK(OutputsOfTflite(update, {{1, 2, 3, 4, 5, 6}, {8, 9}, {1}, {0}}) ==
        Values{{1, 2, 3, 8, 9, 6}});
  CHECK(OutputsOfTflite(update, {{1, 2, 3, 4, 5, 6}, {8, 9}, {-1}, {7}}) ==
        Values{{1, 8, 9, 4, 5, 6}});
  CHECK(OutputsOfTflite("STABLEHLO_IOTA StablehloIotaOptions {\"iota_dimension\": 1}\n"
                        "> y i32[2,3]\n",
                        {}) == Values{{0, 1, 2, 0, 1, 2}});
}

TEST_CASE("stablehlo: the general product") {
  const auto dot = [](const std::string& options, const std::string& a, const std::string& b,
                      const std::string& y) {
    return "STABLEHLO_DOT_GENERAL StablehloDotGeneralOptions {" + options + "}\na " + a + "\nb " +
           b + "\n> y " + y + "\n";
  };
  // Rows of both.
  CHECK(OutputsOfTflite(dot("\"lhs_contracting_dimensions\": [1], "
                            "\"rhs_contracting_dimensions\": [1]",
                            "f32[2,2]", "f32[1,2]", "f32[2,1]"),
                        {{1, 2, 3, 4}, {10, 100}}) == Values{{210, 430}});
  // A batch in the last axis of a.
  CHECK(OutputsOfTflite(dot("\"lhs_batching_dimensions\": [1], \"rhs_batching_dimensions\": [0], "
                            "\"lhs_contracting_dimensions\": [0], "
                            "\"rhs_contracting_dimensions\": [1]",
                            "f32[2,2]", "f32[2,2]", "f32[2]"),
                        {{1, 2, 3, 4}, {10, 100, 1000, 1}}) == Values{{310, 2004}});
  CHECK(WhyNotImported(dot("\"lhs_contracting_dimensions\": [2], "
                           "\"rhs_contracting_dimensions\": [0]",
                           "f32[2,2]", "f32[2]", "f32[2]"))
            .find("the axes of operand 0 do not fit") != std::string::npos);
}

}  // namespace
}  // namespace nn::test::tflite_stablehlo_test
