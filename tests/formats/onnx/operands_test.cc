// Operands that do not fit together, and shapes of loops, which Format::check_types of ONNX
// reports.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "formats/onnx/type_models.h"

namespace nn::test::onnx_operands_test {

using namespace onnx_type_models;

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
      {16,
       "GridSample",
       {"f32[1, 1, 4, 4]", "f32[1, 2, 2, 2]"},
       0,
       "f32[1, 1, 4, 4, 4]",
       "",
       "operator set 16 has GridSample for rank 4 only"},
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

}  // namespace nn::test::onnx_operands_test
