// TensorFlow Lite's operators on complex numbers, in files of the JSON form.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "formats/format.h"
#include "formats/native_edits.h"
#include "formats/tflite/file.h"
#include "passes/core/passes.h"
#include "rewrite/legalize.h"
#include "support/run_graph.h"

namespace nn::test::tflite_complex_test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// REAL, IMAG and COMPLEX_ABS of one tensor of this type.
std::string PartsModel(const char* type, const char* shape, const char* part = "FLOAT32") {
  return fmt::format(R"({{"nn_dump": 1, "format": "tflite", "model": {{"version": 3,
    "operator_codes": [{{"builtin_code": "REAL", "deprecated_builtin_code": 127}},
                       {{"builtin_code": "IMAG", "deprecated_builtin_code": 127}},
                       {{"builtin_code": "COMPLEX_ABS", "deprecated_builtin_code": 127}}],
    "buffers": [{{}}],
    "subgraphs": [{{"inputs": [0], "outputs": [1, 2, 3], "tensors": [
      {{"name": "x", "type": "{0}", "shape": {1}}}, {{"name": "re", "type": "{2}", "shape": {1}}},
      {{"name": "im", "type": "{2}", "shape": {1}}}, {{"name": "abs", "type": "{2}", "shape": {1}}}],
     "operators": [{{"opcode_index": 0, "inputs": [0], "outputs": [1]}},
                   {{"opcode_index": 1, "inputs": [0], "outputs": [2]}},
                   {{"opcode_index": 2, "inputs": [0], "outputs": [3]}}]}}]}}}})",
                     type, shape, part);
}

// RFFT2D of an input [2, 4] with these constant lengths, or those of a second input; the spectrum,
// and what REAL, IMAG and COMPLEX_ABS make of it.
std::string SpectrumModel(const char* lengths, int rows, int columns) {
  const std::string shape = fmt::format("[{}, {}]", rows, columns);
  return fmt::format(R"({{"nn_dump": 1, "format": "tflite", "model": {{"version": 3,
    "operator_codes": [{{"builtin_code": "RFFT2D", "deprecated_builtin_code": 127}},
                       {{"builtin_code": "REAL", "deprecated_builtin_code": 127}},
                       {{"builtin_code": "IMAG", "deprecated_builtin_code": 127}},
                       {{"builtin_code": "COMPLEX_ABS", "deprecated_builtin_code": 127}}],
    "buffers": [{{}}, {{{1}}}],
    "subgraphs": [{{"inputs": [0{2}], "outputs": [2, 3, 4, 5], "tensors": [
      {{"name": "x", "shape": [2, 4]}}, {{"name": "n", "type": "INT32", "shape": [2], "buffer": {3}}},
      {{"name": "y", "type": "COMPLEX64", "shape": {0}}}, {{"name": "re", "shape": {0}}},
      {{"name": "im", "shape": {0}}}, {{"name": "abs", "shape": {0}}}],
     "operators": [{{"opcode_index": 0, "inputs": [0, 1], "outputs": [2],
                     "builtin_options_type": "Rfft2dOptions", "builtin_options": {{}}}},
                   {{"opcode_index": 1, "inputs": [2], "outputs": [3]}},
                   {{"opcode_index": 2, "inputs": [2], "outputs": [4]}},
                   {{"opcode_index": 3, "inputs": [2], "outputs": [5]}}]}}]}}}})",
                     shape, lengths == nullptr ? "" : fmt::format("\"data\": \"{}\"", lengths),
                     lengths == nullptr ? ", 1" : "", lengths == nullptr ? 0 : 1);
}

Graph GraphOf(const std::string& text) {
  ImportedModel imported = ImportDump(text);
  for (const UnsupportedNode& node : imported.unsupported) CAPTURE(node.reason);
  REQUIRE(imported.unsupported.empty());
  return std::move(imported.graph);
}

Tensor Complexes(std::vector<int64_t> dims, const std::vector<float>& parts) {
  return Tensor(DType::kC64, std::move(dims), Blob::CopyOf(parts));
}

std::vector<double> Rounded(const Tensor& t) {
  std::vector<double> values = t.ToDoubles();
  for (double& v : values) v = std::round(v * 1e4) / 1e4 + 0.0;
  return values;
}

TEST_CASE("tflite: parts and absolute values of complex numbers") {
  const Graph graph = GraphOf(PartsModel("COMPLEX64", "[2, 2]"));
  const auto y =
      RunEverywhere(graph, {Complexes({2, 2}, {3, -4, -0.0f, 0, 3e38f, 1e38f, 1e-40f, 0})});
  REQUIRE(y.size() == 3);
  CHECK(y[0].Identical(Tensor::Of<float>({2, 2}, {3, -0.0f, 3e38f, 1e-40f})));
  CHECK(y[1].Identical(Tensor::Of<float>({2, 2}, {-4, 0, 1e38f, 0})));
  CHECK(y[2].Identical(Tensor::Of<float>({2, 2}, {5, 0, std::hypot(3e38f, 1e38f), 1e-40f})));
  const auto limits = RunEverywhere(
      graph, {Complexes({2, 2}, {-kInfinity, kNan, kNan, kInfinity, kNan, 1, kInfinity, 1})});
  for (const int64_t i : {0, 1, 3}) CHECK(limits[2].GetDouble(i) == kInfinity);
  CHECK(std::isnan(limits[2].GetDouble(2)));
}

TEST_CASE("tflite: spectra") {
  const Tensor x = Tensor::Of<float>({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  // [2, 4]
  const auto whole = RunEverywhere(GraphOf(SpectrumModel("AgAAAAQAAAA=", 2, 3)), {x});
  REQUIRE(whole.size() == 4);
  CHECK(whole[0].dtype() == DType::kC64);
  CHECK(whole[0].dims() == std::vector<int64_t>{2, 3});
  CHECK(Rounded(whole[1]) == std::vector<double>{36, -4, -4, -16, 0, 0});
  CHECK(Rounded(whole[2]) == std::vector<double>{0, 4, 0, 0, 0, 0});
  CHECK(Rounded(whole[3]) == std::vector<double>{36, 5.6569, 4, 16, 0, 0});
  // [4, 2]: two more rows of zeros, and columns that are dropped. The same lengths in a run.
  const Graph constant = GraphOf(SpectrumModel("BAAAAAIAAAA=", 4, 2));
  const Graph given = GraphOf(SpectrumModel(nullptr, 4, 2));
  const auto y = RunEverywhere(constant, {x});
  CHECK(Rounded(y[1]) == std::vector<double>{14, -2, 3, -1, -8, 0, 3, -1});
  CHECK(Rounded(y[2]) == std::vector<double>{0, 0, -11, 1, 0, 0, 11, -1});
  const auto z = RunEverywhere(given, {x, Tensor::Of<int32_t>({2}, {4, 2})});
  for (size_t i = 0; i < y.size(); ++i) CHECK(z[i].Identical(y[i]));
}

// Neither has doubles.
TEST_CASE("tflite: spectra whose parts are used convert to TensorFlow Lite and Core ML") {
  const Tensor x = Tensor::Of<float>({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  std::string text = SpectrumModel("AgAAAAQAAAA=", 2, 3);
  text.replace(text.find("[2, 3, 4, 5]"), 12, "[3, 4, 5]");
  for (const char* format : {"tflite", "coreml"}) {
    CAPTURE(format);
    Graph graph = GraphOf(text);
    const auto want = RunEverywhere(graph, {x});
    const auto refused = Legalize(graph, *FindFormat(format)->target);
    REQUIRE(refused.has_value());
    CHECK(refused->empty());
    const auto y = RunEverywhere(graph, {x});
    for (size_t i = 0; i < want.size(); ++i) CHECK(Rounded(y[i]) == Rounded(want[i]));
  }
}

TEST_CASE("tflite: spectra whose parts are used convert to ONNX") {
  const Tensor x = Tensor::Of<float>({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  std::string text = SpectrumModel("AgAAAAQAAAA=", 2, 3);
  text.replace(text.find("[2, 3, 4, 5]"), 12, "[3, 4, 5]");
  Graph graph = GraphOf(text);
  const auto want = RunEverywhere(graph, {x});
  REQUIRE(want.size() == 3);
  const auto refused = Legalize(graph, *FindFormat("onnx")->target);
  REQUIRE(refused.has_value());
  for (const UnsupportedNode& node : *refused) FAIL_CHECK(node.reason);
  const auto got = RunEverywhere(graph, {x});
  for (size_t i = 0; i < want.size(); ++i) CHECK(got[i].Identical(want[i]));
}

// tf.signal.rfft of rows [?, 4], the first `n` elements of each or zeros after them: RFFT2D of one
// row, whose axis is dropped. CAST to float32, and the spectrum with other axes, and its IMAG.
std::string RowsModel(int n) {
  return fmt::format(R"({{"nn_dump": 1, "format": "tflite", "model": {{"version": 3,
    "operator_codes": [{{"builtin_code": "EXPAND_DIMS", "deprecated_builtin_code": 70}},
                       {{"builtin_code": "RFFT2D", "deprecated_builtin_code": 127}},
                       {{"builtin_code": "SQUEEZE", "deprecated_builtin_code": 43}},
                       {{"builtin_code": "CAST", "deprecated_builtin_code": 53}},
                       {{"builtin_code": "TRANSPOSE", "deprecated_builtin_code": 39}},
                       {{"builtin_code": "RESHAPE", "deprecated_builtin_code": 22}},
                       {{"builtin_code": "IMAG", "deprecated_builtin_code": 127}}],
    "buffers": [{{}}, {{"data": "/v///w=="}}, {{"data": [1, 0, 0, 0, {0}, 0, 0, 0]}},
                {{"data": "AQAAAAAAAAA="}}, {{"data": [{1}, 0, 0, 0, 255, 255, 255, 255]}}],
    "subgraphs": [{{"inputs": [0], "outputs": [6, 10], "tensors": [
      {{"name": "x", "shape": [1, 4], "shape_signature": [-1, 4]}},
      {{"name": "axis", "type": "INT32", "shape": [1], "buffer": 1}},
      {{"name": "rows", "shape": [1, 1, 4], "shape_signature": [-1, 1, 4]}},
      {{"name": "lengths", "type": "INT32", "shape": [2], "buffer": 2}},
      {{"name": "spectra", "type": "COMPLEX64", "shape": [1, 1, {1}],
        "shape_signature": [-1, 1, {1}]}},
      {{"name": "spectrum", "type": "COMPLEX64", "shape": [1, {1}], "shape_signature": [-1, {1}]}},
      {{"name": "re", "shape": [1, {1}], "shape_signature": [-1, {1}]}},
      {{"name": "perm", "type": "INT32", "shape": [2], "buffer": 3}},
      {{"name": "columns", "type": "COMPLEX64", "shape": [{1}, 1], "shape_signature": [{1}, -1]}},
      {{"name": "again", "type": "COMPLEX64", "shape": [{1}, 1], "shape_signature": [{1}, -1]}},
      {{"name": "im", "shape": [{1}, 1], "shape_signature": [{1}, -1]}},
      {{"name": "shape", "type": "INT32", "shape": [2], "buffer": 4}}],
     "operators": [{{"opcode_index": 0, "inputs": [0, 1], "outputs": [2],
                     "builtin_options_type": "ExpandDimsOptions", "builtin_options": {{}}}},
                   {{"opcode_index": 1, "inputs": [2, 3], "outputs": [4],
                     "builtin_options_type": "Rfft2dOptions", "builtin_options": {{}}}},
                   {{"opcode_index": 2, "inputs": [4], "outputs": [5],
                     "builtin_options_type": "SqueezeOptions",
                     "builtin_options": {{"squeeze_dims": [-2]}}}},
                   {{"opcode_index": 3, "inputs": [5], "outputs": [6],
                     "builtin_options_type": "CastOptions",
                     "builtin_options": {{"in_data_type": "COMPLEX64"}}}},
                   {{"opcode_index": 4, "inputs": [5, 7], "outputs": [8],
                     "builtin_options_type": "TransposeOptions", "builtin_options": {{}}}},
                   {{"opcode_index": 5, "inputs": [8, 11], "outputs": [9],
                     "builtin_options_type": "ReshapeOptions", "builtin_options": {{}}}},
                   {{"opcode_index": 6, "inputs": [9], "outputs": [10]}}]}}]}}}})",
                     n, n / 2 + 1);
}

std::vector<double> Thousandths(std::vector<double> values) {
  for (double& v : values) v = std::round(v * 1e3) / 1e3 + 0.0;
  return values;
}

// Runs the graph with three rows.
std::vector<Tensor> RunRows(Graph& graph) {
  REQUIRE(BindInputShapes(graph, {{"x", {3, 4}}}).has_value());
  return RunEverywhere(graph, {Tensor::Of<float>({3, 4}, {1, 2, 3, 4, 4, 3, 2, 1, 0, 0, 0, 5})});
}

struct RowsCase {
  int n;
  std::vector<double> re, im;
  bool is_native;  // RFFT2D takes powers of two
};

const RowsCase kRows[] = {
    {4, {10, -2, -2, 10, 2, 2, 5, 0, -5}, {0, 0, 0, 2, -2, 5, 0, 0, 0}, true},
    {2, {3, -1, 7, 1, 0, 0}, {0, 0, 0, 0, 0, 0}, true},
    {3, {6, -1.5, 9, 1.5, 0, 0}, {0, 0, 0, 0.866, -0.866, 0}, false},
    {8,
     {10, -0.414, -2, 2.414, -2, 10, 5.414, 2, 2.586, 2, 5, -3.536, 0, 3.536, -5},
     {0, 0, 0, -7.243, -4.828, -3.536, 2, -2, 5, -1.243, -0.828, -3.536, 0, 0, 0},
     true},
};

TEST_CASE("tflite: spectra of rows convert to other formats") {
  for (const RowsCase& c : kRows)
    for (const char* const format : {"tflite", "onnx", "coreml"}) {
      CAPTURE(c.n);
      CAPTURE(format);
      Graph graph = GraphOf(RowsModel(c.n));
      for (const Node& node : graph.nodes())
        for (const Value* y : node.outputs()) CHECK(y->dtype() != DType::kF64);
      const auto refused = Legalize(graph, *FindFormat(format)->target);
      REQUIRE(refused.has_value());
      for (const UnsupportedNode& node : *refused) FAIL_CHECK(node.reason);
      const auto y = RunRows(graph);
      REQUIRE(y.size() == 2);
      CHECK(Thousandths(y[0].ToDoubles()) == Thousandths(c.re));
      CHECK(Thousandths(y[1].ToDoubles()) == Thousandths(c.im));
    }
}

TEST_CASE("tflite: transforms whose length is a power of two are written as RFFT2D") {
  for (const RowsCase& c : kRows) {
    CAPTURE(c.n);
    Graph graph = GraphOf(RowsModel(c.n));
    REQUIRE(Legalize(graph, *FindFormat("tflite")->target).has_value());
    const std::string file = FileOf(graph);
    const auto operators = OperatorsOf(file);
    CHECK((std::count(operators.begin(), operators.end(), "RFFT2D v1") == 1) == c.is_native);
    auto read = ImportFile(file);
    REQUIRE(read.has_value());
    const auto y = RunRows(*read);
    CHECK(Thousandths(y[0].ToDoubles()) == Thousandths(c.re));
    CHECK(Thousandths(y[1].ToDoubles()) == Thousandths(c.im));
  }
}

// MUL of a [2, 1] and b [3], and the real parts.
std::string ProductModel(const char* activation) {
  return fmt::format(R"({{"nn_dump": 1, "format": "tflite", "model": {{"version": 3,
    "operator_codes": [{{"builtin_code": "MUL", "deprecated_builtin_code": 18, "version": 6}},
                       {{"builtin_code": "REAL", "deprecated_builtin_code": 127}}],
    "buffers": [{{}}],
    "subgraphs": [{{"inputs": [0, 1], "outputs": [2, 3], "tensors": [
      {{"name": "a", "type": "COMPLEX64", "shape": [2, 1]}},
      {{"name": "b", "type": "COMPLEX64", "shape": [3]}},
      {{"name": "y", "type": "COMPLEX64", "shape": [2, 3]}}, {{"name": "re", "shape": [2, 3]}}],
     "operators": [{{"opcode_index": 0, "inputs": [0, 1], "outputs": [2],
                     "builtin_options_type": "MulOptions",
                     "builtin_options": {{"fused_activation_function": "{}"}}}},
                   {{"opcode_index": 1, "inputs": [2], "outputs": [3]}}]}}]}}}})",
                     activation);
}

TEST_CASE("tflite: products of complex numbers") {
  const auto y = RunEverywhere(GraphOf(ProductModel("NONE")), {Complexes({2, 1}, {1, 2, 0, -1}),
                                                               Complexes({3}, {3, 4, 2, 0, 0, 5})});
  REQUIRE(y.size() == 2);
  CHECK(y[0].Identical(Complexes({2, 3}, {-5, 10, 2, 4, -10, 5, 4, -3, 0, -2, 5, 0})));
  CHECK(y[1].Identical(Tensor::Of<float>({2, 3}, {-5, 2, -10, 4, 0, 5})));
}

TEST_CASE("tflite: complex numbers that are unsupported are named") {
  const ImportedModel wide = ImportDump(PartsModel("COMPLEX128", "[2]", "FLOAT64"));
  REQUIRE(wide.unsupported.size() == 1);
  CHECK(wide.unsupported[0].reason == "absolute values of c128 are unsupported");
  const auto read = [](const std::string& text) {
    const ReadModel model = FromDump(text);
    const auto imported = model.format->importer.Import(*model.model);
    return imported ? std::string() : imported.error().message();
  };
  CHECK(read(PartsModel("FLOAT32", "[2]")).find("the operand is f32[2]; must be c64 or c128") !=
        std::string::npos);
}

}  // namespace
}  // namespace nn::test::tflite_complex_test
