// The results of TensorFlow Lite operators that no graph is exported to, as models in the notation
// of the rule examples.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "rewrite/legalize.h"
#include "support/run_graph.h"
#include "validators/tflite/doc/example_text.h"
#include "validators/tflite/text.h"

namespace nn::test::tflite_operators_test {
namespace {

struct Row {
  const char* text;
  std::vector<std::vector<double>> inputs;
  std::vector<std::vector<double>> outputs;
};

void CheckRow(const Row& r) {
  CAPTURE(std::string(r.text));
  CHECK(OutputsOfTflite(r.text, r.inputs) == r.outputs);
}

TEST_CASE("tflite operators: segments") {
  constexpr double kNone = std::numeric_limits<int32_t>::max();
  const std::vector<Row> rows = {
      {"UNSORTED_SEGMENT_SUM UnsortedSegmentSumOptions {}\nx f32[4,2]\nids i32[4] =2,-1,0,2\n"
       "segments i32[] =4\n> y f32[4,2]\n",
       {{1, 2, 3, 4, 5, 6, 7, 8}},
       {{5, 6, 0, 0, 8, 10, 0, 0}}},
      {"UNSORTED_SEGMENT_MAX UnsortedSegmentMaxOptions {}\nx f32[4,2]\nids i32[4]\n"
       "segments i32[] =2\n> y f32[2,2]\n",
       {{1, 2, 3, 4, 5, 6, 7, 8}, {1, -1, 1, 0}},
       {{7, 8, 5, 6}}},
      {"UNSORTED_SEGMENT_MIN UnsortedSegmentMinOptions {}\nx i32[4]\nids i32[4] =0,0,2,2\n"
       "segments i32[] =3\n> y i32[3]\n",
       {{4, 3, 2, 1}},
       {{3, kNone, 1}}},
      {"UNSORTED_SEGMENT_PROD UnsortedSegmentProdOptions {}\nx f32[3]\nids i32[3] =1,1,0\n"
       "segments i32[1] =2\n> y f32[2]\n",
       {{2, 3, 4}},
       {{4, 6}}},
      // An id for each element of several axes.
      {"UNSORTED_SEGMENT_SUM UnsortedSegmentSumOptions {}\nx f32[2,2,2]\nids i32[2,2] =2,-1,0,2\n"
       "segments i32[] =3\n> y f32[3,2]\n",
       {{1, 2, 3, 4, 5, 6, 7, 8}},
       {{5, 6, 0, 0, 8, 10}}},
      {"UNSORTED_SEGMENT_MAX UnsortedSegmentMaxOptions {}\nx i32[2,3]\nids i32[2,3]\n"
       "segments i32[] =2\n> y i32[2]\n",
       {{1, 2, 3, 4, 5, 6}, {1, 1, 0, 0, -1, 1}},
       {{4, 6}}},
      {"SEGMENT_SUM SegmentSumOptions {}\nx f32[4]\nids i32[4] =0,0,1,2\n> y f32[3]\n",
       {{1, 2, 3, 4}},
       {{3, 3, 4}}},
  };
  for (const Row& r : rows) CheckRow(r);
  CHECK(WhyNotImported(
            "UNSORTED_SEGMENT_SUM UnsortedSegmentSumOptions {}\nx f32[2]\nids i32[2] =0,3\n"
            "segments i32[] =3\n> y f32[3]\n")
            .find("segment id 3 is out of range") != std::string::npos);
  CHECK(WhyNotImported("SEGMENT_SUM SegmentSumOptions {}\nx f32[2]\nids i32[2] =0,2\n> y f32[3]\n")
            .find("increase by at most 1") != std::string::npos);
  CHECK(WhyNotImported("SEGMENT_SUM SegmentSumOptions {}\nx f32[2]\nids i32[2]\n> y f32[2]\n") ==
        "the segment ids must be constant");
}

TEST_CASE("tflite operators: segment ids of a run that are out of range") {
  auto imported = ImportTfliteText(
      "UNSORTED_SEGMENT_SUM UnsortedSegmentSumOptions {}\nx f32[2]\nids i32[2]\nsegments i32[] "
      "=3\n> y f32[3]\n");
  REQUIRE(imported.has_value());
  CheckSameError(imported->graph, InputsOf(imported->graph, {{1, 2}, {0, 3}}));
}

TEST_CASE("tflite operators: rows of a table of integers") {
  const std::vector<Row> rows = {
      {"EMBEDDING_LOOKUP/2\nids i32[3]\ntable i8[2,2] =1,-2,3,127 {\"quantization\": {\"scale\": "
       "[0.5], \"zero_point\": [0]}}\n> y f32[3,2]\n",
       {{1, 0, 1}},
       {{1.5, 63.5, 0.5, -1, 1.5, 63.5}}},
      {"EMBEDDING_LOOKUP/4\nids i32[3]\ntable i8[2,1,2] =1,-2,3,127 {\"quantization\": "
       "{\"scale\": [0.5, 0.25], \"zero_point\": [0, 0]}}\n> y f32[3,1,2]\n",
       {{1, 0, 1}},
       {{0.75, 31.75, 0.5, -1, 0.75, 31.75}}},
  };
  for (const Row& r : rows) CheckRow(r);
}

// Elements without an update are stored as 0, which is the number 1.5.
TEST_CASE("tflite operators: SCATTER_ND of quantized updates") {
  const std::string quant = " {\"quantization\": {\"scale\": [0.5], \"zero_point\": [-3]}}\n";
  const auto text = [&](const char* indices) {
    return fmt::format(
        "SCATTER_ND ScatterNdOptions {{}}\nindices i32[2,1] ={}\nupdates i8[2]{}"
        "shape i32[1] =4\n> y i8[4]{}",
        indices, quant, quant);
  };
  CHECK(OutputsOfTflite(text("2,0"), {{5, -7}}) == std::vector<std::vector<double>>{{-7, 0, 5, 0}});
  CHECK(OutputsOfTflite(text("2,2"), {{5, -7}}) == std::vector<std::vector<double>>{{0, 0, -2, 0}});
  auto imported = ImportTfliteText(text("2,0"));
  REQUIRE(imported.has_value());
  const auto unsupported = Legalize(imported->graph, *FindFormat("onnx")->target);
  REQUIRE_MESSAGE(unsupported.has_value(), unsupported.error().message());
  CHECK(unsupported->empty());
}

TEST_CASE("tflite operators: elements at positions") {
  const std::vector<Row> rows = {
      {"SPARSE_TO_DENSE SparseToDenseOptions {}\nindices i32[2,2] =0,1,2,0\nshape i32[2] =3,2\n"
       "values f32[2]\nrest f32[] =-1\n> y f32[3,2]\n",
       {{5, 6}},
       {{-1, 5, -1, -1, 6, -1}}},
      {"SPARSE_TO_DENSE SparseToDenseOptions {}\nindices i64[3]\nshape i64[1] =5\n"
       "value f32[] =7\nrest f32[] =0\n> y f32[5]\n",
       {{1, 2, 4}},
       {{0, 7, 7, 0, 7}}},
      {"DYNAMIC_UPDATE_SLICE DynamicUpdateSliceOptions {}\nx f32[3,4]\nupdate f32[1,2]\n"
       "start i32[2]\n> y f32[3,4]\n",
       {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, {100, 101}, {5, -3}},
       {{0, 1, 2, 3, 4, 5, 6, 7, 100, 101, 10, 11}}},
      {"DYNAMIC_UPDATE_SLICE DynamicUpdateSliceOptions {}\nx f32[3,2]\nupdate f32[2,2]\n"
       "start i64[2]\n> y f32[3,2]\n",
       {{1, 2, 3, 4, 5, 6}, {7, 8, 9, 10}, {1, 9}},
       {{1, 2, 7, 8, 9, 10}}},
      {"DYNAMIC_UPDATE_SLICE DynamicUpdateSliceOptions {}\nx f32[2]\nupdate f32[2]\n"
       "start i32[1]\n> y f32[2]\n",
       {{1, 2}, {7, 8}, {1}},
       {{7, 8}}},
      {"MATRIX_DIAG MatrixDiagOptions {}\nx f32[2,2]\n> y f32[2,2,2]\n",
       {{1, 2, 3, 4}},
       {{1, 0, 0, 2, 3, 0, 0, 4}}},
      {"MATRIX_SET_DIAG MatrixSetDiagOptions {}\nx f32[2,3]\nd f32[2]\n> y f32[2,3]\n",
       {{1, 2, 3, 4, 5, 6}, {8, 9}},
       {{8, 2, 3, 4, 9, 6}}},
      {"MATRIX_SET_DIAG MatrixSetDiagOptions {}\nx i32[3,2]\nd i32[2]\n> y i32[3,2]\n",
       {{1, 2, 3, 4, 5, 6}, {8, 9}},
       {{8, 2, 3, 9, 5, 6}}},
      {"EMBEDDING_LOOKUP_SPARSE EmbeddingLookupSparseOptions {\"combiner\": \"SUM\"}\nids i32[3] "
       "=1,0,2\nindices i32[3,2] =0,0,2,0,2,1\nshape i32[2] =3,2\nweights f32[3] =1,2,4\n"
       "table f32[3,2]\n> y f32[3,2]\n",
       {{1, 2, 3, 4, 5, 6}},
       {{3, 4, 0, 0, 22, 28}}},
      {"EMBEDDING_LOOKUP_SPARSE EmbeddingLookupSparseOptions {\"combiner\": \"MEAN\"}\nids i32[3] "
       "=1,0,2\nindices i32[3,2] =0,0,2,0,2,1\nshape i32[2] =3,2\nweights f32[3] =1,1,3\n"
       "table f32[3,1,2]\n> y f32[3,1,2]\n",
       {{1, 2, 3, 4, 5, 6}},
       {{3, 4, 0, 0, 4, 5}}},
      {"EMBEDDING_LOOKUP_SPARSE EmbeddingLookupSparseOptions {\"combiner\": \"SQRTN\"}\nids i32[2] "
       "=1,0\nindices i32[2,2] =1,0,1,1\nshape i32[2] =2,2\nweights f32[2] =3,4\n"
       "table f32[2,1]\n> y f32[2,1]\n",
       {{5, 10}},
       {{0, 10}}},
      // Two rows of x, each a column of the result, from corners that are clamped.
      {"STABLEHLO_GATHER StablehloGatherOptions {\"offset_dims\": [0], \"collapsed_slice_dims\": "
       "[0], \"start_index_map\": [0, 1], \"index_vector_dim\": 1, \"slice_sizes\": [1, 2]}\n"
       "x f32[3,3]\nstarts i32[2,2]\n> y f32[2,2]\n",
       {{1, 2, 3, 4, 5, 6, 7, 8, 9}, {0, 1, 9, -1}},
       {{2, 7, 3, 8}}},
      {"STABLEHLO_GATHER StablehloGatherOptions {\"offset_dims\": [1], \"collapsed_slice_dims\": "
       "[0], \"start_index_map\": [0], \"index_vector_dim\": 1, \"slice_sizes\": [1, 2]}\n"
       "x i32[3,2]\nstarts i64[4]\n> y i32[4,2]\n",
       {{1, 2, 3, 4, 5, 6}, {2, 0, 1, 7}},
       {{5, 6, 1, 2, 3, 4, 5, 6}}},
      {"BROADCAST_ARGS\na i32[2]\nb i32[3]\n> y i32[3]\n", {{1, 5}, {2, 7, 1}}, {{2, 7, 5}}},
      {"HASHTABLE_LOOKUP\nlookup i32[3]\nkeys i32[3] =1,4,6\nvalues f32[3,2] =1,2,3,4,5,6\n"
       "> y f32[3,2]\n> hits u8[3]\n",
       {{4, 2, 1}},
       {{3, 4, 0, 0, 1, 2}, {1, 0, 1}}},
  };
  for (const Row& r : rows) CheckRow(r);
}

TEST_CASE("tflite operators: arithmetic") {
  const double nan = std::nan("");
  const std::vector<Row> rows = {
      {"BUCKETIZE BucketizeOptions {\"boundaries\": [0, 10, 100]}\nx f32[5]\n> y i32[5]\n",
       {{-5, 0, 9.5, 100, nan}},
       {{0, 1, 1, 3, 3}}},
      {"BUCKETIZE BucketizeOptions {\"boundaries\": [0.5, 2]}\nx i64[2,2]\n> y i32[2,2]\n",
       {{0, 1, 2, -3}},
       {{0, 1, 2, 0}}},
      {"FAKE_QUANT FakeQuantOptions {\"min\": 0, \"max\": 15, \"num_bits\": 4}\nx f32[6]\n> y "
       "f32[6]\n",
       {{-3, 0.49999997, 0.5, 7.5, 99, nan}},
       {{0, 0, 1, 8, 15, 0}}},
      {"CONV_3D_TRANSPOSE Conv3DOptions {\"padding\": \"VALID\", \"stride_d\": 1, \"stride_w\": 1, "
       "\"stride_h\": 1}\nshape i32[5] =1,2,1,1,2\nfilter f32[2,1,1,2,1] =1,2,3,4\n"
       "x f32[1,1,1,1,1]\nbias f32[2] =10,20\n> y f32[1,2,1,1,2]\n",
       {{3}},
       {{13, 26, 19, 32}}},
      {"STABLEHLO_ADD\na f32[2]\nb f32[2]\n> y f32[2]\n", {{1, 2}, {3, 4}}, {{4, 6}}},
      {"STABLEHLO_MULTIPLY\na i32[2]\nb i32[2]\n> y i32[2]\n", {{5, 2}, {3, 4}}, {{15, 8}}},
      {"STABLEHLO_MAXIMUM\na f32[2]\nb f32[2]\n> y f32[2]\n", {{1, 5}, {3, 4}}, {{3, 5}}},
      {"STABLEHLO_MINIMUM\na f32[2]\nb f32[2]\n> y f32[2]\n", {{1, 5}, {3, 4}}, {{1, 4}}},
      {"STABLEHLO_AND\na i32[2]\nb i32[2]\n> y i32[2]\n", {{6, 5}, {3, 4}}, {{2, 4}}},
      {"STABLEHLO_SHIFT_LEFT StablehloShiftLeftOptions {}\na i32[2]\nb i32[2]\n> y i32[2]\n",
       {{6, 5}, {3, 4}},
       {{48, 80}}},
      {"STABLEHLO_AND\na bool[2]\nb bool[2]\n> y bool[2]\n", {{1, 1}, {0, 1}}, {{0, 1}}},
  };
  for (const Row& r : rows) CheckRow(r);
}

TEST_CASE("tflite operators: what a file may leave to the kernel") {
  const std::vector<Row> rows = {
      // Options.
      {"FULLY_CONNECTED\nx f32[1,2]\nw f32[2,2] =1,2,3,4\n> y f32[1,2]\n", {{1, 10}}, {{21, 43}}},
      {"ADD\na f32[2]\nb f32[2]\n> y f32[2]\n", {{1, 2}, {3, 4}}, {{4, 6}}},
      {"GELU\nx f32[1]\n> y f32[1]\n", {{0}}, {{0}}},
      // The bias.
      {"CONV_2D Conv2DOptions {\"padding\": \"VALID\", \"stride_w\": 1, \"stride_h\": 1}\n"
       "x f32[1,1,1,2]\nfilter f32[1,1,1,2] =3,4\n> y f32[1,1,1,1]\n",
       {{1, 10}},
       {{43}}},
      // The type of the result.
      {"ADD AddOptions {}\na i32[2]\nb i32[2]\n> y f32[2]\n", {{1, 2}, {3, 4}}, {{4, 6}}},
      {"LESS LessOptions {}\na i32[2]\nb i32[2]\n> y f32[2]\n", {{1, 5}, {3, 4}}, {{1, 0}}},
  };
  for (const Row& r : rows) CheckRow(r);
  CHECK(WhyNotImported("ADD SubOptions {}\na f32[2]\nb f32[2]\n> y f32[2]\n") ==
        "operator 0 (ADD): the options are missing or of a different kind");
  CHECK(WhyNotImported("AVERAGE_POOL_2D\nx f32[1,2,2,1]\n> y f32[1,1,1,1]\n") ==
        "operator 0 (AVERAGE_POOL_2D): the options are missing or of a different kind");
}

TEST_CASE("tflite operators: results with scales that the kernels do not compute") {
  struct Scale {
    const char* op;
    const char* x;
    const char* y;
    const char* wrong;  // what the message says of y; "" if it is right
  };
  const Scale rows[] = {
      {"SOFTMAX SoftmaxOptions {\"beta\": 1}", "u8", "u8 0.00390625 0", ""},
      {"SOFTMAX SoftmaxOptions {\"beta\": 1}", "u8", "u8 0.01 0", "expected scale"},
      {"SOFTMAX SoftmaxOptions {\"beta\": 1}", "u8", "u8 0.00390625 20", "zero point 20"},
      {"SOFTMAX SoftmaxOptions {\"beta\": 1}", "i8", "i8 0.00390625 0", "zero point -128"},
      {"SOFTMAX SoftmaxOptions {\"beta\": 1}", "i8", "i16 0.0000152587890625 -32768", ""},
      {"SOFTMAX SoftmaxOptions {\"beta\": 1}", "i8", "i16 0.000030517578125 0", "-32768"},
      {"SOFTMAX SoftmaxOptions {\"beta\": 1}", "i16", "i16 0.000030517578125 0", ""},
      {"SOFTMAX SoftmaxOptions {\"beta\": 1}", "i16", "i8 0.00390625 -128", "expected INT16"},
      {"LOG_SOFTMAX LogSoftmaxOptions {}", "i8", "i8 0.0625 127", ""},
      {"LOG_SOFTMAX LogSoftmaxOptions {}", "u8", "u8 0.0625 127", "zero point 255"},
      {"LOGISTIC", "i8", "i8 0.00390625 -128", ""},
      {"LOGISTIC", "u8", "u8 0.01 0", "expected scale"},
      {"TANH", "i8", "i8 0.01 3", ""},
      {"TANH", "i16", "i16 0.000030517578125 0", ""},
      {"TANH", "i16", "i16 0.01 0", "expected scale"},
      {"L2_NORMALIZATION L2NormOptions {}", "i8", "i8 0.0078125 0", ""},
      {"L2_NORMALIZATION L2NormOptions {}", "u8", "u8 0.0078125 0", "zero point 128"},
      {"RELU", "i16", "i16 0.01 5", "y is INT16 with zero point 5"},
  };
  for (const Scale& r : rows) {
    const std::string y = r.y;
    const size_t first = y.find(' '), second = y.find(' ', first + 1);
    const std::string text = fmt::format(
        "{}\nx {}[1,4] {{\"quantization\": {{\"scale\": [0.5], \"zero_point\": [0]}}}}\n"
        "> y {}[1,4] {{\"quantization\": {{\"scale\": [{}], \"zero_point\": [{}]}}}}\n",
        r.op, r.x, y.substr(0, first), y.substr(first + 1, second - first - 1),
        y.substr(second + 1));
    CAPTURE(text);
    const std::string why = WhyNotImported(text);
    CHECK(why.empty() == (*r.wrong == '\0'));
    CHECK(why.find(r.wrong) != std::string::npos);
  }
}

// A composite whose decomposition is subgraph 1: x + x, or another composite of itself.
std::string Composite(bool of_itself) {
  return fmt::format(
      R"({{"version": 3,
"operator_codes": [{{"deprecated_builtin_code": 127, "builtin_code": "STABLEHLO_COMPOSITE"}},
{{"deprecated_builtin_code": 0, "builtin_code": "ADD"}}],
"subgraphs": [{{"tensors": [{{"name": "x", "shape": [2]}}, {{"name": "y", "shape": [2]}}],
"inputs": [0], "outputs": [1], "operators": [{0}]}},
{{"tensors": [{{"name": "a", "shape": [2]}}, {{"name": "b", "shape": [2]}}],
"inputs": [0], "outputs": [1], "operators": [{1}]}}],
"buffers": [{{}}]}})",
      R"({"opcode_index": 0, "inputs": [0], "outputs": [1],
"builtin_options_2_type": "StableHLOCompositeOptions",
"builtin_options_2": {"name": "twice", "decomposition_subgraph_index": 1}})",
      of_itself ? R"({"opcode_index": 0, "inputs": [0], "outputs": [1],
"builtin_options_2_type": "StableHLOCompositeOptions",
"builtin_options_2": {"decomposition_subgraph_index": 1}})"
                : R"({"opcode_index": 1, "inputs": [0, 0], "outputs": [1],
"builtin_options_type": "AddOptions", "builtin_options": {}})");
}

TEST_CASE("tflite operators: composites are what their decompositions compute") {
  const std::string text = Composite(false);
  CheckRow({text.c_str(), {{1, 2}}, {{2, 4}}});
  CHECK(WhyNotImported(Composite(true)) == "subgraphs in more than 16 subgraphs are unsupported");
}

// Subgraphs 1 and 2, which negate their input and return it.
constexpr const char* kBranches =
    "graph {\"tensors\": [{\"name\": \"a\", \"shape\": [2]}, {\"name\": \"b\", \"shape\": [2]}], "
    "\"inputs\": [0], \"outputs\": [1], \"operators\": [{\"opcode_index\": 1, \"inputs\": [0], "
    "\"outputs\": [1]}]}\n"
    "graph {\"tensors\": [{\"name\": \"c\", \"shape\": [2]}], \"inputs\": [0], \"outputs\": [0], "
    "\"operators\": []}\n";

// With a second operator code, NEG.
std::string WithBranches(const std::string& text) {
  std::string json = tflite::OperatorModel(text + kBranches);
  const size_t at = json.find("\"operator_codes\": [") + 19;
  const size_t end = json.find(']', at);
  json.insert(end, ", {\"deprecated_builtin_code\": 59, \"builtin_code\": \"NEG\"}");
  return json;
}

TEST_CASE("tflite operators: branches are selected") {
  const std::string choice = WithBranches(
      "IF IfOptions {\"then_subgraph_index\": 1, \"else_subgraph_index\": 2}\n"
      "condition bool[1]\nx f32[2]\n> y f32[2]\n");
  CheckRow({choice.c_str(), {{1}, {3, 4}}, {{-3, -4}}});
  CheckRow({choice.c_str(), {{0}, {3, 4}}, {{3, 4}}});
  const std::string cases = WithBranches(
      "STABLEHLO_CASE StablehloCaseOptions {\"branch_subgraph_indices\": [2, 1, 2]}\n"
      "index i32[]\nx f32[2]\n> y f32[2]\n");
  CheckRow({cases.c_str(), {{0}, {3, 4}}, {{3, 4}}});
  CheckRow({cases.c_str(), {{1}, {3, 4}}, {{-3, -4}}});
  CheckRow({cases.c_str(), {{-1}, {3, 4}}, {{3, 4}}});
  CHECK(WhyNotImported(
            WithBranches("IF IfOptions {\"then_subgraph_index\": 1, \"else_subgraph_index\": 9}\n"
                         "condition bool[]\nx f32[2]\n> y f32[2]\n"))
            .find("subgraph 9 does not exist") != std::string::npos);
}

}  // namespace
}  // namespace nn::test::tflite_operators_test
