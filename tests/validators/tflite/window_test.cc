// Operators of TensorFlow Lite that follow StableHLO: padding, windows, random bits.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "support/run_graph.h"
#include "validators/tflite/text.h"

namespace nn::test::tflite_window_test {
namespace {

using Values = std::vector<std::vector<double>>;

TEST_CASE("tflite: DENSIFY and DILATE") {
  CHECK(OutputsOfTflite("DENSIFY DensifyOptions {}\nx f32[2]\n> y f32[2]\n", {{1, 2}}) ==
        Values{{1, 2}});
  CHECK(OutputsOfTflite("DILATE DilateOptions {}\nx f32[2,2]\nd i32[2] =2,3\nv f32[] =-1\n"
                        "> y f32[3,4]\n",
                        {{1, 2, 3, 4}}) == Values{{1, -1, -1, 2, -1, -1, -1, -1, 3, -1, -1, 4}});
  CHECK(WhyNotImported("DILATE DilateOptions {}\nx f32[2]\nd i32[1]\nv f32[] =-1\n> y f32[3]\n") ==
        "the dilations must be constant");
}

TEST_CASE("tflite: STABLEHLO_PAD adds before it removes") {
  const auto pad = [](const std::string& x, const std::string& low, const std::string& high,
                      const std::string& interior, const std::string& y) {
    return "STABLEHLO_PAD StablehloPadOptions {\"edge_padding_low\": [" + low +
           "], \"edge_padding_high\": [" + high + "], \"interior_padding\": [" + interior +
           "]}\nx " + x + "\nv f32[] =9\n> y " + y + "\n";
  };
  CHECK(OutputsOfTflite(pad("f32[3]", "-1", "2", "1", "f32[6]"), {{1, 2, 3}}) ==
        Values{{9, 2, 9, 3, 9, 9}});
  CHECK(OutputsOfTflite(pad("f32[1]", "-2", "3", "0", "f32[2]"), {{5}}) == Values{{9, 9}});
  CHECK(OutputsOfTflite(pad("f32[2,2]", "0, 1", "1, -1", "0, 0", "f32[3,2]"), {{1, 2, 3, 4}}) ==
        Values{{9, 1, 9, 3, 9, 9}});
}

TEST_CASE("tflite: REDUCE_WINDOW") {
  const auto reduce = [](const std::string& function, const std::string& type,
                         const std::string& start, const std::string& window,
                         const std::string& strides, const std::string& dilations) {
    return "REDUCE_WINDOW ReduceWindowOptions {\"reduce_function\": \"" + function + "\"}\nx " +
           type + "\ni " + type.substr(0, type.find('[')) + "[] =" + start +
           "\nw i64[1] =" + window + "\ns i64[1] =" + strides + "\nd i64[1] =" + dilations +
           "\n> y " + type.substr(0, type.find('[')) + "[2]\n";
  };
  CHECK(OutputsOfTflite(reduce("ADD", "f32[4]", "10", "2", "1", "2"), {{1, 2, 3, 4}}) ==
        Values{{14, 16}});
  CHECK(OutputsOfTflite(reduce("MUL", "f32[5]", "2", "2", "3", "1"), {{1, 2, 3, 4, 5}}) ==
        Values{{4, 40}});
  CHECK(OutputsOfTflite(reduce("MINIMUM", "i32[3]", "2", "2", "1", "1"), {{1, 5, 3}}) ==
        Values{{1, 2}});
  CHECK(OutputsOfTflite(reduce("MAXIMUM", "i32[3]", "4", "2", "1", "1"), {{1, 5, 3}}) ==
        Values{{5, 5}});
  CHECK(OutputsOfTflite(reduce("ALL", "bool[3]", "1", "2", "1", "1"), {{1, 1, 0}}) ==
        Values{{1, 0}});
  CHECK(OutputsOfTflite(reduce("ANY", "bool[3]", "0", "2", "1", "1"), {{0, 0, 1}}) ==
        Values{{0, 1}});
  CHECK(WhyNotImported(reduce("ADD", "f32[4000]", "0", "2000", "2000", "1"))
            .find("windows of more than 1024 elements") != std::string::npos);
}

TEST_CASE("tflite: STABLEHLO_REDUCE_WINDOW reduces by the operator of its body") {
  const auto model = [](const std::string& body, const std::string& options) {
    return R"({"version": 3, "operator_codes": [
        {"deprecated_builtin_code": 127, "builtin_code": "STABLEHLO_REDUCE_WINDOW"},
        {"deprecated_builtin_code": 127, "builtin_code": ")" +
           body + R"("}],
      "subgraphs": [
        {"tensors": [{"name": "x", "shape": [3]}, {"name": "i", "shape": [], "has_rank": true},
                     {"name": "y", "shape": [4]}],
         "inputs": [0, 1], "outputs": [2],
         "operators": [{"opcode_index": 0, "inputs": [0, 1], "outputs": [2],
           "builtin_options_2_type": "StablehloReduceWindowOptions",
           "builtin_options_2": {"body_subgraph_index": 1, )" +
           options + R"(}}]},
        {"tensors": [{"name": "a", "shape": [], "has_rank": true},
                     {"name": "b", "shape": [], "has_rank": true},
                     {"name": "c", "shape": [], "has_rank": true}],
         "inputs": [0, 1], "outputs": [2],
         "operators": [{"opcode_index": 1, "inputs": [0, 1], "outputs": [2]}]}],
      "buffers": [{}]})";
  };
  // 0 1 0 2 0 3 0 in windows of 4.
  CHECK(OutputsOfTflite(model("STABLEHLO_ADD", R"("window_dimensions": [4], "base_dilations": [2],
                                                  "padding": [1, 1])"),
                        {{1, 2, 3}, {0}}) == Values{{3, 3, 5, 5}});
  CHECK(OutputsOfTflite(model("STABLEHLO_MAXIMUM", R"("window_dimensions": [2],
                              "window_strides": [1], "window_dilations": [2], "padding": [2, 1])"),
                        {{1, 2, 3}, {-5}}) == Values{{1, 2, 3, 2}});
  CHECK(
      WhyNotImported(model("STABLEHLO_SUBTRACT", R"("window_dimensions": [1], "padding": [1, 0])"))
          .find("a reduction by STABLEHLO_SUBTRACT is unsupported") != std::string::npos);
}

TEST_CASE("tflite: slices with computed bounds and masks") {
  const std::string slice = "SLICE SliceOptions {}\nx f32[3,4]\nb i32[2]\ns i32[2]\n> y f32[1,2]\n";
  const std::vector<double> x = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  CHECK(OutputsOfTflite(slice, {x, {1, 2}, {1, 2}}) == Values{{6, 7}});
  CHECK(OutputsOfTflite(slice, {x, {2, 2}, {-1, -1}}) == Values{{10, 11}});
  CHECK(
      OutputsOfTflite("SLICE SliceOptions {}\nx f32[3,4]\nb i64[2]\ns i64[2] =1,-1\n> y f32[1,2]\n",
                      {x, {1, 2}}) == Values{{6, 7}});
  const auto strided = [](const std::string& options, const std::string& y) {
    return "STRIDED_SLICE StridedSliceOptions {" + options +
           "}\nx f32[3,4]\nb i32[2]\ne i32[2]\ns i32[2] =1,2\n> y " + y + "\n";
  };
  CHECK(OutputsOfTflite(strided("", "f32[1,2]"), {x, {1, 0}, {2, 4}}) == Values{{4, 6}});
  CHECK(OutputsOfTflite(strided("\"begin_mask\": 2, \"end_mask\": 2", "f32[1,2]"),
                        {x, {-1, 3}, {3, 0}}) == Values{{8, 10}});
  CHECK(OutputsOfTflite(strided("\"shrink_axis_mask\": 1", "f32[2]"), {x, {-1, 0}, {0, 3}}) ==
        Values{{8, 10}});
  CHECK(OutputsOfTflite(strided("\"shrink_axis_mask\": 2", "f32[2]"), {x, {1, 3}, {3, 0}}) ==
        Values{{7, 11}});
  CHECK(OutputsOfTflite(strided("\"ellipsis_mask\": 1", "f32[3,1]"), {x, {9, 2}, {9, 3}}) ==
        Values{{2, 6, 10}});
  CHECK(OutputsOfTflite(strided("\"new_axis_mask\": 1", "f32[1,2,4]"), {x, {9, 0}, {9, 3}}) ==
        Values{{0, 1, 2, 3, 8, 9, 10, 11}});
  CHECK(OutputsOfTflite(strided("\"offset\": true", "f32[1,1]"), {x, {1, 1}, {1, 2}}) ==
        Values{{5}});
}

// The known answers of J. K. Salmon et al. for both generators.
TEST_CASE("tflite: STABLEHLO_RNG_BIT_GENERATOR") {
  struct Row {
    const char* algorithm;
    std::vector<uint64_t> state;
    std::string type;
    std::vector<uint64_t> words;
  };
  const uint64_t ones = UINT64_MAX;
  const Row rows[] = {
      {"THREEFRY", {0, 0}, "u32[2]", {0x6b200159, 0x99ba4efe}},
      {"THREEFRY", {ones, ones}, "u32[2]", {0x1cb996fc, 0xbb002be7}},
      {"THREEFRY", {0x0370734413198a2e, 0x85a308d3243f6a88}, "u32[2]", {0xc4923a9c, 0x483df7a0}},
      {"PHILOX", {0, 0, 0}, "u32[4]", {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {"DEFAULT", {0, 0}, "u32[2,2]", {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {"PHILOX", {ones, ones, ones}, "u32[3]", {0x408f276d, 0x41c83b0e, 0xa20bc7c6}},
      {"PHILOX",
       {0x299f31d0a4093822, 0x85a308d3243f6a88, 0x0370734413198a2e},
       "u64[2]",
       {0x94fdccebd16cfe09, 0x24126ea15001e420}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.algorithm);
    const std::string size = std::to_string(row.state.size());
    const auto m = ImportTfliteText(
        std::string("STABLEHLO_RNG_BIT_GENERATOR StablehloRngBitGeneratorOptions "
                    "{\"algorithm\": \"") +
        row.algorithm + "\"}\ns u64[" + size + "]\n> t u64[" + size + "]\n> y " + row.type + "\n");
    REQUIRE_MESSAGE(m.has_value(), m.error().message());
    for (const UnsupportedNode& u : m->unsupported) FAIL(u.reason);
    const auto dim = static_cast<int64_t>(row.state.size());
    const std::vector<Tensor> out =
        RunEverywhere(m->graph, {Tensor::Of<uint64_t>({dim}, row.state)});
    std::vector<uint64_t> words;
    for (int64_t i = 0; i < out[1].elements(); ++i)
      words.push_back(static_cast<uint64_t>(out[1].GetInt(i)));
    CHECK(words == row.words);
    // The state counts the blocks.
    CHECK(static_cast<uint64_t>(out[0].GetInt(0)) == row.state[0]);
    CHECK(static_cast<uint64_t>(out[0].GetInt(1)) == row.state[1] + 1);
  }
}

}  // namespace
}  // namespace nn::test::tflite_window_test
