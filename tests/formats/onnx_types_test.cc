// Format::check_types of ONNX: inference through operators, subgraphs and functions, and the
// contradictions that it finds.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <map>
#include <string>
#include <vector>

#include "formats/format.h"

namespace nn::test::onnx_types_test {
namespace {

// "f32[1, n]" as TypeProto in text form; "f32" has no shape, "seq(f32[2])" is a sequence.
std::string TypeText(const std::string& type) {
  static const std::map<std::string, int> kNumbers = {
      {"f32", 1}, {"u8", 2}, {"i8", 3}, {"i32", 6}, {"i64", 7}, {"str", 8}, {"bool", 9}};
  if (type.starts_with("seq(") || type.starts_with("opt("))
    return fmt::format("{} {{ elem_type {{ {} }} }}",
                       type.starts_with("seq(") ? "sequence_type" : "optional_type",
                       TypeText(type.substr(4, type.size() - 5)));
  const size_t bracket = type.find('[');
  std::string shape;
  if (bracket != std::string::npos) {
    std::string dims = type.substr(bracket + 1, type.size() - bracket - 2);
    while (!dims.empty()) {
      const size_t comma = std::min(dims.find(", "), dims.size());
      const std::string dim = dims.substr(0, comma);
      shape += std::isdigit(dim[0]) != 0 ? "dim { dim_value: " + dim + " } "
                                         : "dim { dim_param: '" + dim + "' } ";
      dims = comma == dims.size() ? "" : dims.substr(comma + 2);
    }
    shape = "shape { " + shape + "}";
  }
  return fmt::format("tensor_type {{ elem_type: {} {} }}", kNumbers.at(type.substr(0, bracket)),
                     shape);
}

std::string Info(const std::string& field, const std::string& name, const std::string& type) {
  return fmt::format("{} {{ name: '{}' type {{ {} }} }}\n", field, name, TypeText(type));
}

std::vector<TypeDefect> CheckText(const std::string& graph, int opset,
                                  const std::string& functions = {}) {
  const std::string text = fmt::format(
      "ir_version: 10 opset_import {{ version: {} }} opset_import {{ domain: 'my' version: 1 }}\n"
      "opset_import {{ domain: 'ai.onnx.ml' version: 3 }} {} graph {{ name: 'g' {} }}",
      opset, functions, graph);
  const Format* format = FindFormat("onnx");
  const auto model =
      format->read(Blob::Copy(std::as_bytes(std::span(text))), "model.textproto", {});
  REQUIRE_MESSAGE(model.has_value(), text, "\n", model.error().message());
  return format->check_types(**model);
}

struct Case {
  int opset;
  std::string op;
  std::vector<std::string> inputs;  // types; "" for absent ones
  std::string more;                 // attributes in text form, or initializers i0, i1 ...
  std::string expected;
};

// A node with the inputs i0, i1 ... and the result y.
std::vector<TypeDefect> CheckNode(const Case& c, const std::string& result) {
  std::string node;
  std::string inputs;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    const std::string name = c.inputs[i].empty() ? "" : fmt::format("i{}", i);
    node += fmt::format("input: '{}' ", name);
    if (!name.empty()) inputs += Info("input", name, c.inputs[i]);
  }
  const size_t dot = c.op.rfind('.');
  const std::string domain = dot == std::string::npos ? "" : c.op.substr(0, dot);
  const size_t data = std::min(c.more.find("initializer"), c.more.size());
  return CheckText(fmt::format("node {{ {} output: 'y' op_type: '{}' domain: '{}' {} }} {} {}{}",
                               node, c.op.substr(dot + 1), domain, c.more.substr(0, data),
                               c.more.substr(data), inputs, result),
                   c.opset);
}

std::string IntAttr(const std::string& name, int64_t value) {
  return fmt::format("attribute {{ name: '{}' type: INT i: {} }} ", name, value);
}
std::string IntsAttr(const std::string& name, const std::string& values) {
  return fmt::format("attribute {{ name: '{}' type: INTS ints: [{}] }} ", name, values);
}
std::string StringAttr(const std::string& name, const std::string& value) {
  return fmt::format("attribute {{ name: '{}' type: STRING s: '{}' }} ", name, value);
}
std::string Data(int input, const std::string& dims, const std::string& values) {
  return fmt::format("initializer {{ name: 'i{}' data_type: 7 {} int64_data: [{}] }} ", input, dims,
                     values);
}

}  // namespace

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

// What the import of an operator refuses as contradictory, inference reports, though its result has
// a type: each row, and the operands that fit.
TEST_CASE("onnx types: what the import of operators requires") {
  struct Row {
    int opset;
    std::string op;
    std::vector<std::string> fitting;  // types of the inputs
    size_t changed;                    // the input that does not fit in a row of its own
    std::string unfitting;
    std::string more;
    std::string expected;
  };
  const std::vector<std::string> lstm = {"f32[5, 2, 3]", "f32[1, 16, 3]", "f32[1, 16, 4]",
                                         "f32[1, 32]",   "i32[2]",        "f32[1, 2, 4]",
                                         "f32[1, 2, 4]", "f32[1, 12]"};
  const std::string units = IntAttr("hidden_size", 4);
  const std::vector<std::string> first = {"f32[2, 5, 3]", "f32[1, 4, 3]", "f32[1, 4, 4]",
                                          "f32[1, 8]",    "i32[2]",       "f32[2, 1, 4]"};
  const std::vector<std::string> both = {"f32[5, 2, 3]", "f32[2, 12, 3]", "f32[2, 12, 4]"};
  const std::vector<std::string> heads = {"f32[1, 4, 2, 8]", "f32[1, 2, 6, 8]", "f32[1, 2, 6, 8]",
                                          "f32[2, 6]"};
  const std::vector<std::string> blocks = {"i8[2, 8]", "f32[2, 4]", "i8[2, 4]"};
  const std::string block = IntAttr("axis", 1) + IntAttr("block_size", 2);
  const std::vector<std::string> channels = {"i8[2, 8]", "f32[8]", "i8[8]"};
  const std::vector<std::string> matmul = {"u8[2, 4]", "f32[]", "u8[]",  "u8[4, 3]",
                                           "f32[3]",   "u8[3]", "f32[]", "u8[]"};
  const std::string groups = IntAttr("num_groups", 2);
  const std::vector<Row> rows = {
      {14, "LSTM", lstm, 1, "f32[1, 12, 3]", units, "w is f32[1, 12, 3]"},
      {14, "LSTM", lstm, 1, "f32[2, 16, 3]", units, "w is f32[2, 16, 3]"},
      {14, "LSTM", lstm, 2, "f32[1, 16, 5]", units, "R is f32[1, 16, 5]"},
      {14, "LSTM", lstm, 3, "f32[1, 16]", units, "bias is f32[1, 16]"},
      {14, "LSTM", lstm, 4, "i32[5]", units, "lengths is i32[5]"},
      {14, "LSTM", lstm, 5, "f32[2, 1, 4]", units, "initial_h is f32[2, 1, 4]"},
      {14, "LSTM", lstm, 6, "f32[1, 2, 3]", units, "initial_c is f32[1, 2, 3]"},
      {14, "LSTM", lstm, 7, "f32[1, 16]", units, "f32[1, 16]"},
      {14, "RNN", first, 5, "f32[1, 2, 4]", units + IntAttr("layout", 1), "f32[1, 2, 4]"},
      {14, "GRU", both, 1, "f32[1, 12, 3]", units + StringAttr("direction", "bidirectional"),
       "w is f32[1, 12, 3]"},
      {23, "Attention", heads, 0, "f32[1, 3, 2, 8]", "", "3 is not a multiple of 2"},
      {23, "Attention", heads, 1, "f32[1, 2, 6, 4]", "", "head sizes of 8 and 4"},
      {23, "Attention", heads, 2, "f32[1, 2, 5, 8]", "", "sequences of 6 and 5"},
      {23, "Attention", heads, 3, "f32[3, 6]", "", "do not broadcast"},
      {21, "DequantizeLinear", channels, 1, "f32[5]", "", "must have one shape"},
      {21, "DequantizeLinear", channels, 2, "i8[4]", "", "must have one shape"},
      {21, "DequantizeLinear", {"i8[2, 8]", "f32[8]"}, 1, "f32[5]", "", "5 scales do not match"},
      {21, "DequantizeLinear", {"i8[2, 8]", "f32[]"}, 1, "f32[2, 8]", "", "without block_size"},
      {21, "QuantizeLinear", {"f32[2, 8]", "f32[8]"}, 1, "f32[2]", "", "2 scales do not match"},
      {21, "DequantizeLinear", blocks, 1, "f32[2, 3]", block, "must have one shape"},
      {21, "DequantizeLinear", {"i8[2, 8]", "f32[2, 4]"}, 1, "f32[2, 3]", block, "not 3"},
      {21, "DequantizeLinear", {"i8[2, 8]", "f32[2, 4]"}, 1, "f32[1, 4]", block, "do not match"},
      {21, "DequantizeLinear", {"i8[2, 8]", "f32[2, 4]"}, 1, "f32[4]", block, "do not match"},
      {21, "QuantizeLinear", {"f32[2, 8]", "f32[2, 4]"}, 0, "f32[2, 9]", block, "not 4"},
      {21, "QLinearMatMul", matmul, 4, "f32[2]", "", "must have one shape"},
      {17,
       "Einsum",
       {"f32[2, 3]", "f32[3, 4]"},
       1,
       "f32[5, 4]",
       StringAttr("equation", "ij,jk->ik"),
       "an axis has sizes 3 and 5"},
      {18,
       "GroupNormalization",
       {"f32[1, 4, 2]", "f32[2]", "f32[2]"},
       1,
       "f32[4]",
       groups,
       "2 groups"},
      {21,
       "GroupNormalization",
       {"f32[1, 4, 2]", "f32[4]", "f32[4]"},
       2,
       "f32[2]",
       groups,
       "4 channels"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.op);
    CAPTURE(row.unfitting);
    const auto check = [&](const std::vector<std::string>& inputs) {
      return CheckNode({row.opset, row.op, inputs, row.more, ""}, "output { name: 'y' }");
    };
    const auto none = check(row.fitting);
    CHECK_MESSAGE(none.empty(), none.at(0).message);
    std::vector<std::string> inputs = row.fitting;
    inputs[row.changed] = row.unfitting;
    const auto defects = check(inputs);
    REQUIRE(defects.size() == 1);
    CAPTURE(defects[0].message);
    CHECK(defects[0].kind == TypeDefect::Kind::kInference);
    CHECK(defects[0].message.find(row.expected) != std::string::npos);
  }
}

// A loop whose body negates the carried value, or appends it to itself, and returns it as scan
// output, too. `more` is the condition that the body returns.
TEST_CASE("onnx types: shapes of loops") {
  const auto loop = [](const std::string& trips, const std::string& condition,
                       const std::string& body, const std::string& more, const std::string& y,
                       const std::string& s) {
    return CheckText(
        "node { input: ['n', '" + condition +
            "', 'x'] output: ['y', 's'] op_type: 'Loop' attribute { name: 'body' type: GRAPH g { "
            "name: 'b' node { " +
            body + " output: 'q' } node { " + more +
            " output: 'm' } input { name: 'i' } input { name: 'k' } input { name: 'p' } "
            "output { name: 'm' } output { name: 'q' } output { name: 'q' } } } }" +
            Info("input", "x", "f32[2, 3]") + Info("output", "y", y) + Info("output", "s", s) +
            "initializer { name: 'c' data_type: 9 int32_data: 1 }" + trips,
        17);
  };
  const std::string three = "initializer { name: 'n' data_type: 7 int64_data: 3 }";
  const std::string any = Info("input", "n", "i64[]");
  const std::string negate = "input: 'p' op_type: 'Neg'";
  const std::string append =
      "input: ['p', 'p'] op_type: 'Concat' attribute { name: 'axis' type: INT i: 0 }";
  const std::string same = "input: 'k' op_type: 'Identity'";
  const std::string no =
      "op_type: 'Constant' attribute { name: 'value' type: TENSOR t { data_type: 9 int32_data: 0 } "
      "}";
  const auto kind = [](const std::vector<TypeDefect>& defects) {
    REQUIRE(defects.size() == 1);
    return defects[0].kind;
  };
  constexpr auto kShape = TypeDefect::Kind::kShape;
  CHECK(loop(three, "", negate, same, "f32[2, 3]", "f32[3, 2, 3]").empty());
  CHECK(kind(loop(three, "", negate, same, "f32[2, 4]", "f32[3, 2, 3]")) == kShape);
  CHECK(kind(loop(three, "", negate, same, "f32[2, 3]", "f32[5, 2, 3]")) == kShape);
  CHECK(kind(loop(three, "", negate, same, "f32[2, 3]", "f32[3, 2, 4]")) == kShape);
  CHECK(kind(loop(any, "", negate, same, "f32[2, 4]", "f32[5, 2, 3]")) == kShape);
  CHECK(loop(any, "", negate, same, "f32[2, 3]", "f32[5, 2, 3]").empty());
  // Without a condition, the one that the body returns is ignored.
  CHECK(loop(three, "", negate, no, "f32[2, 3]", "f32[3, 2, 3]").empty());
  CHECK(loop(three, "c", negate, same, "f32[2, 3]", "f32[3, 2, 3]").empty());
  CHECK(loop(three, "c", negate, no, "f32[2, 3]", "f32[1, 2, 3]").empty());
  CHECK(kind(loop(three, "c", negate, no, "f32[2, 3]", "f32[3, 2, 3]")) == kShape);
  // The shape of the carried value is another one after each iteration.
  CHECK(loop(three, "", append, same, "f32[16, 3]", "f32[3, 9, 3]").empty());
}

}  // namespace nn::test::onnx_types_test
