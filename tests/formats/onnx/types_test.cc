// Format::check_types of ONNX: inference through operators, subgraphs and functions, and the
// contradictions that it finds.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <string>
#include <vector>

#include "formats/onnx/type_models.h"

namespace nn::test::onnx_types_test {
using namespace onnx_type_models;

TEST_CASE("onnx types: results of operators") {
  const std::vector<Case> cases = {
      {17, "Add", {"f32[2, 1]", "f32[3]"}, "", "f32[2, 3]"},
      {17, "Identity", {"seq(f32[2])"}, "", "seq(f32[2])"},
      {6, "Add", {"f32[2, 3]", "f32[3]"}, IntAttr("broadcast", 1), "f32[2, 3]"},
      {6, "Less", {"f32[2, 3]", "f32[3]"}, IntAttr("broadcast", 1), "bool[2, 3]"},
      {14,
       "LSTM",
       {"f32[s, 2, 3]", "f32[1, 16, 3]", "f32[1, 16, 4]"},
       IntAttr("hidden_size", 4),
       "f32[s, 1, 2, 4]"},
      {14,
       "GRU",
       {"f32[2, 5, 3]", "f32[1, 12, 3]", "f32[1, 12, 4]"},
       IntAttr("hidden_size", 4) + IntAttr("layout", 1),
       "f32[2, 5, 1, 4]"},
      {17,
       "ConvInteger",
       {"u8[1, 1, 5, 5]", "u8[2, 1, 3, 3]"},
       IntsAttr("strides", "2, 2"),
       "i32[1, 2, 2, 2]"},
      {17, "MatMulInteger", {"u8[4, 3]", "u8[3, n]"}, "", "i32[4, n]"},
      {17,
       "QLinearMatMul",
       {"u8[2, 4, 3]", "f32[]", "u8[]", "i8[3, 5]", "f32[]", "i8[]", "f32[]", "i8[]"},
       "",
       "i8[2, 4, 5]"},
      {17, "QuantizeLinear", {"f32[2, n]", "f32[]", "i8[]"}, "", "i8[2, n]"},
      {17, "DynamicQuantizeLinear", {"f32[7]"}, "", "u8[7]"},
      {17,
       "Einsum",
       {"f32[2, 3, 4]", "f32[2, 4, 5]"},
       StringAttr("equation", "bij, bjk -> bik"),
       "f32[2, 3, 5]"},
      {17,
       "Einsum",
       {"f32[7, 2, 3]", "f32[3, 4]"},
       StringAttr("equation", "...ij,jk"),
       "f32[7, 2, 4]"},
      {17, "Einsum", {"f32[3, 3]"}, StringAttr("equation", "ii"), "f32[]"},
      {17, "Det", {"f32[2, 3, 3]"}, "", "f32[2]"},
      {17, "DFT", {"f32[1, 10, 1]"}, IntAttr("onesided", 1), "f32[1, 6, 2]"},
      {17, "STFT", {"f32[1, 128, 1]", "i64[]", "f32[16]"}, Data(1, "", "8"), "f32[1, 15, 9, 2]"},
      {17, "HannWindow", {"i64[]"}, Data(0, "", "10"), "f32[10]"},
      {17,
       "MelWeightMatrix",
       {"i64[]", "i64[]", "i64[]", "f32[]", "f32[]"},
       Data(0, "", "8") + Data(1, "", "16"),
       "f32[9, 8]"},
      {17, "RandomNormal", {}, IntsAttr("shape", "2, 3"), "f32[2, 3]"},
      {17, "RandomUniformLike", {"i32[2]"}, IntAttr("dtype", 1), "f32[2]"},
      {17, "Multinomial", {"f32[3, 9]"}, IntAttr("sample_size", 4), "i32[3, 4]"},
      {17,
       "RoiAlign",
       {"f32[1, 8, 9, 9]", "f32[r, 4]", "i64[r]"},
       IntAttr("output_height", 3) + IntAttr("output_width", 2),
       "f32[r, 8, 3, 2]"},
      {17,
       "MaxRoiPool",
       {"f32[1, 8, 9, 9]", "f32[6, 5]"},
       IntsAttr("pooled_shape", "3, 2"),
       "f32[6, 8, 3, 2]"},
      {17, "NonMaxSuppression", {"f32[1, 6, 4]", "f32[1, 1, 6]"}, "", "i64[?, 3]"},
      {18,
       "Col2Im",
       {"f32[1, 12, 16]", "i64[2]", "i64[2]"},
       Data(1, "dims: 2", "5, 6") + Data(2, "dims: 2", "2, 3"),
       "f32[1, 2, 5, 6]"},
      {17,
       "NegativeLogLikelihoodLoss",
       {"f32[3, 5, 6]", "i64[3, 6]"},
       StringAttr("reduction", "none"),
       "f32[3, 6]"},
      {17, "SoftmaxCrossEntropyLoss", {"f32[3, 5]", "i64[3]"}, "", "f32[]"},
      {17, "SequenceConstruct", {"f32[2, 3]", "f32[2, 4]"}, "", "seq(f32[2, ?])"},
      {17, "SequenceAt", {"seq(f32[2, 3])", "i64[]"}, "", "f32[2, 3]"},
      {17, "SequenceLength", {"seq(f32)"}, "", "i64[]"},
      {17, "SplitToSequence", {"f32[6, 2]", "i64[]"}, Data(1, "", "3"), "seq(f32[3, 2])"},
      {17,
       "ConcatFromSequence",
       {"seq(f32[2, 3])"},
       IntAttr("axis", 0) + IntAttr("new_axis", 1),
       "f32[?, 2, 3]"},
      {17, "Optional", {"f32[2]"}, "", "opt(f32[2])"},
      {18, "OptionalGetElement", {"opt(f32[2])"}, "", "f32[2]"},
      {17, "OptionalHasElement", {"opt(f32[2])"}, "", "bool[]"},
      {17,
       "TfIdfVectorizer",
       {"i64[4, 9]"},
       StringAttr("mode", "TF") + IntAttr("min_gram_length", 1) + IntAttr("max_gram_length", 1) +
           IntAttr("max_skip_count", 0) + IntsAttr("ngram_counts", "0") +
           IntsAttr("ngram_indexes", "0, 6, 2") + IntsAttr("pool_int64s", "7, 8, 9"),
       "f32[4, 7]"},
      {17, "StringNormalizer", {"str[1, 5]"}, "", "str[1, 5]"},
      {20, "StringConcat", {"str[2, 1]", "str[n]"}, "", "str[2, n]"},
      {20, "RegexFullMatch", {"str[2, n]"}, StringAttr("pattern", "a*"), "bool[2, n]"},
      {17,
       "ai.onnx.ml.LabelEncoder",
       {"f32[2, n]"},
       "attribute { name: 'keys_floats' type: FLOATS floats: 1 } " + IntsAttr("values_int64s", "5"),
       "i64[2, n]"},
      {20, "StringSplit", {"str[3]"}, "", "str[3, ?]"},
      {23,
       "Attention",
       {"f32[2, 3, 4, 8]", "f32[2, 3, 6, 8]", "f32[2, 3, 6, 10]"},
       "",
       "f32[2, 3, 4, 10]"},
      {23,
       "Attention",
       {"f32[2, 4, 24]", "f32[2, 6, 24]", "f32[2, 6, 30]"},
       IntAttr("q_num_heads", 3) + IntAttr("kv_num_heads", 3),
       "f32[2, 4, 30]"},
      {24, "TensorScatter", {"f32[2, 9, 4]", "f32[2, 1, 4]"}, "", "f32[2, 9, 4]"},
      {17,
       "ai.onnx.ml.OneHotEncoder",
       {"i64[3]"},
       IntsAttr("cats_int64s", "1, 2, 3, 4"),
       "f32[3, 4]"},
      {17, "ai.onnx.ml.ArrayFeatureExtractor", {"f32[3, 9]", "i64[1, 2]"}, "", "f32[3, 2]"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.op);
    // No operator returns an opaque value, so the message names the type that it returns.
    const auto defects = CheckNode(c, "output { name: 'y' type { opaque_type {} } }");
    REQUIRE(defects.size() == 1);
    CHECK(defects[0].kind == TypeDefect::Kind::kElementType);
    CHECK(defects[0].element == "graph.node[0].output[0]");
    CHECK(defects[0].index == 0);
    CHECK(defects[0].message.ends_with(" returns " + c.expected));
    CAPTURE(defects[0].message);
  }
}

TEST_CASE("onnx types: operands that do not fit") {
  const std::vector<Case> cases = {
      {17, "Add", {"f32[2, 4]", "f32[3]"}, "", "do not broadcast"},
      {17, "MatMul", {"f32[2, 4]", "f32[3, 2]"}, "", "4 columns do not match 3 rows"},
      {17, "MatMulInteger", {"u8[4, 2]", "u8[3, 5]"}, "", "columns and rows: 2 and 3 differ"},
      {17,
       "MaxPool",
       {"f32[1, 1, 4, 4]"},
       IntsAttr("kernel_shape", "2, 2") + IntsAttr("pads", "0, 0, 0, -1"),
       "the negative entry -1"},
      {17, "Flatten", {"f32[2, 3]"}, IntAttr("axis", 3), "axis 3 is out of range for rank 2"},
      {10, "Flatten", {"f32[2, 3]"}, IntAttr("axis", -1), "axis -1 is out of range for rank 2"},
      {17, "Clip", {"f32[3]", "f32[2]"}, "", "min and max must be scalars; one is f32[2]"},
      {17,
       "BatchNormalization",
       {"f32[1, 3, 4]", "f32[3]", "f32[3]", "f32[2]", "f32[3]"},
       "",
       "channels: 3 and 2 differ"},
      {17, "LSTM", {"f32[2, 3]", "f32[1, 16, 3]", "f32[1, 16, 4]"}, "", "[S, N, I]"},
      {17,
       "RoiAlign",
       {"f32[1, 8, 9, 9]", "f32[3, 4]", "i64[2]"},
       "",
       "there are 3 rois and 2 entries of batch"},
      {17, "Einsum", {"f32[2, 3]"}, StringAttr("equation", "ijk->i"), "its term has 3 labels"},
      {17, "NegativeLogLikelihoodLoss", {"f32[3, 5, 6]", "i64[3, 5]"}, "", "6"},
      {17, "SplitToSequence", {"f32[6, 2]", "i64[2]"}, Data(1, "dims: 2", "3, 2"), "add up to 5"},
      {17, "StringNormalizer", {"str[2, 5]"}, "", "must be [C] or [1, C]"},
      {17, "HannWindow", {"i64[]"}, Data(0, "", "0"), "the size must be positive, not 0"},
      {9, "OneHot", {"i64[1]", "i64[]", "f32[2]"}, Data(0, "dims: 1", "-1"), "negative index -1"},
      {17, "Optional", {}, "", "an input or the attribute type is required"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.op);
    const auto defects = CheckNode(c, "output { name: 'y' }");
    REQUIRE(defects.size() == 1);
    CHECK(defects[0].kind == TypeDefect::Kind::kInference);
    CHECK(defects[0].element == "graph.node[0]");
    CAPTURE(defects[0].message);
    CHECK(defects[0].message.find(c.expected) != std::string::npos);
  }
}

TEST_CASE("onnx types: unknown types are not defects") {
  const std::vector<Case> cases = {
      {17, "Add", {"f32", "f32[3]"}, "", "f32[5, 5, 3]"},
      {17, "Add", {"f32[a]", "f32[b]"}, "", "f32[7]"},
      {17, "Conv", {"f32", "f32[1, 1, 3, 3]"}, "", "f32[5, 5]"},
      {17, "Reshape", {"f32[6]", "i64[2]"}, "", "f32[7, 5]"},
      {17, "my.Unknown", {"f32[6]", "i64[2]"}, "", "f32[7, 5]"},
      {17, "LSTM", {"f32", "f32[1, 16, 3]", "f32[1, 16, 4]"}, "", "f32[9, 1, 9, 9]"},
      {17, "If", {"bool[]"}, "", "seq(f32)"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.op);
    CHECK(CheckNode(c, Info("output", "y", c.expected)).empty());
  }
}

TEST_CASE("onnx types: branches, loops and scans") {
  const auto branch = [](const std::string& name, const std::string& op) {
    return fmt::format(
        "attribute {{ name: '{}' type: GRAPH g {{ name: 'b' node {{ input: 'x' output: 'r' "
        "op_type: '{}' }} output {{ name: 'r' }} }} }} ",
        name, op);
  };
  const auto check_if = [&](const std::string& a, const std::string& b, const std::string& y) {
    return CheckText("node { input: 'c' output: 'y' op_type: 'If' " + branch("then_branch", a) +
                         branch("else_branch", b) + "}" + Info("input", "c", "bool[]") +
                         Info("input", "x", "f32[2, 3]") + Info("output", "y", y),
                     17);
  };
  CHECK(check_if("Relu", "Neg", "f32[2, 3]").empty());
  CHECK(check_if("Relu", "Transpose", "f32[3, 3]").empty());
  CHECK(check_if("Relu", "Neg", "f32[3, 3]").at(0).kind == TypeDefect::Kind::kShape);
  CHECK(check_if("Relu", "Shape", "f32[2, 3]").at(0).message.find("i64[2]") != std::string::npos);

  const auto loop = [&](const std::string& op, const std::string& y) {
    return CheckText(
        "node { input: ['n', '', 'x'] output: ['s', 'y'] op_type: 'Loop' attribute { name: 'body' "
        "type: GRAPH g { name: 'b' node { input: 'p' output: 'q' op_type: '" +
            op +
            "' } node { input: 'x' output: 'o' op_type: 'Relu' } input { name: 'i' } "
            "input { name: 'k' } input { name: 'p' } output { name: 'k' } output { name: 'q' } "
            "output { name: 'o' } } } }" +
            Info("input", "n", "i64[]") + Info("input", "x", "f32[2, 3]") + Info("output", "y", y),
        17);
  };
  CHECK(loop("Neg", "f32[9, 2, 3]").empty());
  CHECK(loop("Neg", "f32[9, 2, 4]").at(0).kind == TypeDefect::Kind::kShape);
  CHECK(loop("Shape", "f32[9, 2, 3]").at(0).kind == TypeDefect::Kind::kInference);

  const auto scan = [&](const std::string& more, const std::string& y) {
    return CheckText(
        "node { input: 'x' output: 'y' op_type: 'Scan' attribute { name: 'num_scan_inputs' type: "
        "INT i: 1 } " +
            more +
            " attribute { name: 'body' type: GRAPH g { name: 'b' node { input: 'e' output: 'r' "
            "op_type: 'Relu' } input { name: 'e' } output { name: 'r' } } } }" +
            Info("input", "x", "f32[7, 3]") + Info("output", "y", y),
        17);
  };
  CHECK(scan("", "f32[7, 3]").empty());
  CHECK(scan(IntsAttr("scan_output_axes", "1"), "f32[3, 7]").empty());
  CHECK(scan(IntsAttr("scan_output_axes", "1"), "f32[7, 3]").at(0).kind ==
        TypeDefect::Kind::kShape);
  CHECK(scan(IntsAttr("scan_input_axes", "2"), "f32[7, 3]").at(0).message.find("axis 2") !=
        std::string::npos);
}

TEST_CASE("onnx types: a contradiction within a function is reported at its call") {
  const std::string function =
      "functions { name: 'f' domain: 'my' input: 'a' output: 'b' opset_import { version: 17 } "
      "node { input: ['a', 'a'] output: 'b' op_type: 'MatMul' } }";
  const auto call = [&](const std::string& type) {
    return CheckText("node { input: 'x' output: 'y' op_type: 'f' domain: 'my' }" +
                         Info("input", "x", type) + Info("output", "y", "f32[2, 2]"),
                     17, function);
  };
  CHECK(call("f32[2, 2]").empty());
  CHECK(call("f32[3, 3]").at(0).element == "graph.node[0].output[0]");
  const auto defects = call("f32[2, 3]");
  REQUIRE(defects.size() == 1);
  CHECK(defects[0].kind == TypeDefect::Kind::kInference);
  CHECK(defects[0].element == "graph.node[0]");
  CHECK(defects[0].message.find("in function \"f\": ") == 0);
}

TEST_CASE("onnx types: a function that calls itself, and nodes without results") {
  const std::string function =
      "functions { name: 'f' domain: 'my' input: 'a' output: 'b' opset_import { domain: 'my' "
      "version: 1 } node { input: 'a' output: 'b' op_type: 'f' domain: 'my' } }";
  const auto defects = CheckText(
      "node { input: 'x' output: 'y' op_type: 'f' domain: 'my' } "
      "node { input: 'x' op_type: 'Clip' } node { input: 'x' op_type: 'Max' } "
      "node { input: 'x' op_type: 'LSTM' }" +
          Info("input", "x", "f32[2, 2, 2]"),
      17, function);
  REQUIRE(defects.size() == 1);
  CHECK(defects[0].message == "LSTM: input 1 is missing");
}

}  // namespace nn::test::onnx_types_test
