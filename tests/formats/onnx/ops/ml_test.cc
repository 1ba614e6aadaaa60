// Features and linear models of ai.onnx.ml.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "formats/onnx/ops/ml.h"
#include "passes/core/passes.h"
#include "support/files.h"
#include "support/run_graph.h"

namespace nn::test::onnx_ml_test {
using namespace onnx_ml;  // NOLINT(google-build-using-namespace)

TEST_CASE("ONNX ml: ArrayFeatureExtractor") {
  const Model model = {"ArrayFeatureExtractor", "", {Rows(kI64, 2, 3), Rows(kI64, 1, 4)}};
  Check(model, {{1, 2, 3, 4, 5, 6}, {2, 0, 0, 1}}, {{3, 1, 1, 2, 6, 4, 4, 5}});
  // A vector is a row.
  const Model vector = {"ArrayFeatureExtractor",
                        "",
                        {onnx_text::TypeOf(kF64, {"3"}), onnx_text::TypeOf(kI64, {"2"})}};
  Check(vector, {{1, 2, 3}, {2, 1}}, {{3, 2}});
  CHECK(ImportText(vector.text())->outputs()[0].value->type().ToString() == "f64[1, 2]");
}

TEST_CASE("ONNX ml: Binarizer") {
  const std::string half = Number("threshold", 1.5);
  for (const int type : {kF32, kF64})
    Check({"Binarizer", half, {Rows(type, 1, 4)}}, {{1, 1.5, 1.75, kNan}}, {{0, 0, 1, 0}});
  for (const int type : {kI32, kI64}) {
    Check({"Binarizer", half, {Rows(type, 1, 4)}}, {{-9, 1, 2, 3}}, {{0, 0, 1, 1}});
    Check({"Binarizer", "", {Rows(type, 1, 3)}}, {{-1, 0, 1}}, {{0, 0, 1}});
  }
  const double most = std::numeric_limits<int32_t>::max(), least = -most - 1;
  Check({"Binarizer", Number("threshold", 1e10), {Rows(kI32, 1, 3)}}, {{least, 0, most}},
        {{0, 0, 0}});
  Check({"Binarizer", Number("threshold", -1e10), {Rows(kI32, 1, 3)}}, {{least, 0, most}},
        {{1, 1, 1}});
}

TEST_CASE("ONNX ml: Imputer") {
  const std::string nan = "attribute { name: \"replaced_value_float\" type: FLOAT f: nan } ";
  Check({"Imputer", nan + Numbers("imputed_value_floats", {7}), {Rows(kF32, 2, 2)}},
        {{kNan, 1, 2, kNan}}, {{7, 1, 2, 7}});
  Check({"Imputer", nan + Numbers("imputed_value_floats", {7, 8}), {Rows(kF64, 2, 2)}},
        {{kNan, kNan, 2, kNan}}, {{7, 8, 2, 8}});
  Check({"Imputer",
         Number("replaced_value_float", -1) + Numbers("imputed_value_floats", {7, 8}),
         {Rows(kF32, 2, 2)}},
        {{-1, 1, 2, -1}}, {{7, 1, 2, 8}});
  const std::string ints =
      Int("replaced_value_int64", -1) + Ints("imputed_value_int64s", {5, 6, 7});
  for (const int type : {kI32, kI64})
    Check({"Imputer", ints, {Rows(type, 2, 3)}}, {{-1, -1, 0, 1, 2, -1}}, {{5, 6, 0, 1, 2, 7}});
  CHECK(Refused({"Imputer", ints, {Rows(kF32, 2, 3)}}, "imputed_value_floats is missing"));
  CHECK(Refused({"Imputer", ints, {Rows(kI64, 3, 2)}}, "has 3 entries; expected 1 or 2"));
  CHECK(Refused({"Imputer", Ints("imputed_value_int64s", {int64_t{1} << 40}), {Rows(kI32, 2, 2)}},
                "out of the range of i32"));
}

TEST_CASE("ONNX ml: Scaler") {
  const std::string each = Numbers("offset", {1, 2, 3}) + Numbers("scale", {0.5, 2, -1});
  for (const int type : {kF32, kF64, kI32, kI64}) {
    Check({"Scaler", each, {Rows(type, 2, 3)}}, {{1, 2, 3, 3, 5, 9}}, {{0, 0, 0, 1, 6, -6}});
    Check({"Scaler", Numbers("offset", {1}) + Numbers("scale", {3}), {Rows(type, 1, 2)}}, {{1, 3}},
          {{0, 6}});
  }
  Check({"Scaler", Numbers("scale", {3}), {onnx_text::TypeOf(kF32, {"2"})}}, {{1, 3}}, {{3, 9}});
  CHECK(Refused({"Scaler", each, {Rows(kF32, 2, 2)}}, "offset has 3 entries; expected 1 or 2"));
  CHECK(Refused({"Scaler", Numbers("offset", {1, 2}) + Numbers("scale", {3}), {Rows(kF32, 2, 2)}},
                "offset has 2 entries, but scale has 1"));
}

TEST_CASE("ONNX ml: Normalizer") {
  const std::vector<double> x = {3, -4, 0, 0};
  for (const int type : {kF32, kF64, kI32}) {
    Check({"Normalizer", "", {Rows(type, 2, 2)}}, {x}, {{0.75, -1, 0, 0}});
    Check({"Normalizer", Text("norm", "L1"), {Rows(type, 2, 2)}}, {x}, {{3 / 7.0, -4 / 7.0, 0, 0}});
    Check({"Normalizer", Text("norm", "L2"), {Rows(type, 2, 2)}}, {x}, {{0.6, -0.8, 0, 0}});
  }
  Check({"Normalizer", Text("norm", "L1"), {onnx_text::TypeOf(kF32, {"2"})}}, {{1, 3}},
        {{0.25, 0.75}});
  CHECK(Refused({"Normalizer", Text("norm", "L3"), {Rows(kF32, 2, 2)}},
                "norm is \"L3\", which is unknown"));
}

TEST_CASE("ONNX ml: FeatureVectorizer") {
  // The second input has fewer columns, the third one more.
  Check({"FeatureVectorizer",
         Ints("inputdimensions", {1, 2, 2}),
         {Rows(kF64, 2, 1), Rows(kF64, 2, 1), Rows(kF64, 2, 3)}},
        {{1, 2}, {3, 4}, {5, 6, 7, 8, 9, 10}}, {{1, 3, 0, 5, 6, 2, 4, 0, 8, 9}});
  Check({"FeatureVectorizer", "", {Rows(kI64, 1, 2), onnx_text::TypeOf(kI64, {"1"})}},
        {{1, 2}, {3}}, {{1, 2, 3}});
  CHECK(Refused(
      {"FeatureVectorizer", Ints("inputdimensions", {1}), {Rows(kF32, 1, 1), Rows(kF32, 1, 1)}},
      "inputdimensions has 1 entries for 2 inputs"));
}

TEST_CASE("ONNX ml: OneHotEncoder") {
  const std::string categories = Ints("cats_int64s", {7, -1, 3});
  for (const int type : {kF32, kF64, kI32, kI64})
    Check({"OneHotEncoder", categories, {Rows(type, 1, 4)}}, {{3, 7, 5, -1}},
          {{0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 1, 0}});
  // Truncated.
  Check({"OneHotEncoder", categories, {onnx_text::TypeOf(kF32, {"2"})}}, {{3.5, -1.5}},
        {{0, 0, 1, 0, 1, 0}});
  CHECK(Refused({"OneHotEncoder", Texts("cats_strings", {"a"}), {Rows(8, 1, 4)}}, "cats_strings"));
  CHECK(Refused({"OneHotEncoder", Ints("cats_int64s", {7, 7}), {Rows(kI64, 1, 4)}},
                "cats_int64s has 7 twice"));
}

// ==== Linear models ==============================================================================

TEST_CASE("ONNX ml: LinearRegressor") {
  const std::string two = Int("targets", 2) + Numbers("coefficients", {1, 2, 0.5, -1});
  for (const int type : {kF32, kF64, kI32, kI64}) {
    Check({"LinearRegressor", two + Numbers("intercepts", {10, 20}), {Rows(type, 2, 2)}},
          {{1, 2, 4, 0}}, {{15, 18.5, 14, 22}});
    Check({"LinearRegressor", two, {Rows(type, 1, 2)}}, {{4, 3}}, {{10, -1}});
  }
  Check({"LinearRegressor",
         Numbers("coefficients", {1, 2}) + Text("post_transform", "LOGISTIC"),
         {onnx_text::TypeOf(kF32, {"2"})}},
        {{1, -1}}, {{Sigmoid(-1)}});
  CHECK(Refused({"LinearRegressor",
                 Numbers("coefficients", {1, 2, 3}) + Int("targets", 2),
                 {Rows(kF32, 1, 2)}},
                "coefficients has 3 entries for 2 results"));
  CHECK(Refused({"LinearRegressor",
                 Numbers("coefficients", {1, 2}) + Text("post_transform", "TANH"),
                 {Rows(kF32, 1, 2)}},
                "post_transform is \"TANH\", which is unknown"));
}

TEST_CASE("ONNX ml: LinearClassifier, and all transforms") {
  // Scores 0, 2 and -1 of the first row; 1, 1 and 0 of the second one.
  const std::string three = Ints("classlabels_ints", {10, 20, 30}) +
                            Numbers("coefficients", {0, 1, 2, 1, -1, 0}) +
                            Numbers("intercepts", {0, 0, 0});
  const auto model = [&](std::string_view transform) {
    return Model{
        "LinearClassifier", three + Text("post_transform", transform), {Rows(kF32, 2, 2)}, 2};
  };
  const std::vector<double> x = {1, 0, 0, 1};
  const double e = std::exp(1.0), sum = e * e + 1 + 1 / e;
  Check(model("NONE"), {x}, {{20, 10}, {0, 2, -1, 1, 1, 0}});
  Check(model("LOGISTIC"), {x},
        {{20, 10}, {0.5, Sigmoid(2), Sigmoid(-1), Sigmoid(1), Sigmoid(1), 0.5}});
  Check(model("SOFTMAX"), {x},
        {{20, 10},
         {1 / sum, e * e / sum, 1 / e / sum, e / (2 * e + 1), e / (2 * e + 1), 1 / (2 * e + 1)}});
  // A score of 0 stays 0, and the others share 1.
  Check(model("SOFTMAX_ZERO"), {x},
        {{20, 10}, {0, e * e / (sum - 1), 1 / e / (sum - 1), 0.5, 0.5, 0}});
  Check(model("SOFTMAX_ZERO"), {{0, 0, 0, 0}}, {{10, 10}, {0.5, 0.5, 0.5, 0.5, 0.5, 0.5}});
  // The quantiles of 0.5, 0.841344746 and 0.022750132 are 0, 1 and -2, approximately.
  const std::string quantiles = Ints("classlabels_ints", {10, 20, 30}) +
                                Numbers("coefficients", {0.5, 0.841344746, 0.022750132});
  Check({"LinearClassifier", quantiles + Text("post_transform", "PROBIT"), {Rows(kF32, 1, 1)}, 2},
        {{1}}, {{20}, {0, 1, -2}}, 4e-3);
}

TEST_CASE("ONNX ml: LinearClassifier with one row of coefficients") {
  const std::string row = Numbers("coefficients", {1, -1}) + Numbers("intercepts", {0.25});
  const std::vector<double> x = {1, 0, 0, 1, -0.25, 0};
  for (const int type : {kF32, kF64})
    Check({"LinearClassifier", row + Ints("classlabels_ints", {5, 6}), {Rows(type, 3, 2)}, 2}, {x},
          {{6, 5, 5}, {-1.25, 1.25, 0.75, -0.75, 0, 0}});
  Check({"LinearClassifier", row + Ints("classlabels_ints", {6}), {Rows(kF32, 3, 2)}, 2}, {x},
        {{6, 0, 6}, {1.25, -0.75, 0}});
  Check({"LinearClassifier",
         row + Ints("classlabels_ints", {6}) + Text("post_transform", "LOGISTIC"),
         {Rows(kF32, 3, 2)},
         2},
        {x}, {{6, 0, 6}, {Sigmoid(1.25), Sigmoid(-0.75), 0.5}});
  CHECK(LabelsOf({"LinearClassifier",
                  row + Texts("classlabels_strings", {"a", "b"}),
                  {Rows(kF32, 3, 2)},
                  2},
                 {x}) == std::vector<std::string>{"b", "a", "a"});
  CHECK(Refused(
      {"LinearClassifier", row + Texts("classlabels_strings", {"a"}), {Rows(kF32, 3, 2)}, 2},
      "a single string label is unsupported"));
  CHECK(Refused(
      {"LinearClassifier", row + Ints("classlabels_ints", {1, 2, 3}), {Rows(kF32, 3, 2)}, 2},
      "there are coefficients of 1 classes, but 3 labels"));
}

// The type of a map.
std::string MapOf(int key, int value) {
  return "type { map_type { key_type: " + std::to_string(key) +
         " value_type { tensor_type { elem_type: " + std::to_string(value) + " } } } }";
}

// The inputs and the result for a map of these entries.
void CheckMap(const Model& model, const Tensor& keys, const Tensor& values, const Tensor& want) {
  CAPTURE(model.attributes);
  auto graph = ImportText(model.text());
  REQUIRE_MESSAGE(graph.has_value(), graph.error().message());
  REQUIRE(graph->inputs().size() == 2);
  CHECK(graph->inputs()[0].name == "x0.keys");
  CHECK(graph->inputs()[1].name == "x0.values");
  REQUIRE(BindSymbols(*graph, {{"x0.size", keys.elements()}}).has_value());
  const std::vector<Tensor> outputs = RunEverywhere(*graph, {keys, values});
  REQUIRE(outputs.size() == 1);
  CHECK(outputs[0].dims() == want.dims());
  CHECK(outputs[0].dtype() == want.dtype());
  if (want.dtype() == DType::kString) {
    CHECK(outputs[0].strings() == want.strings());
  } else {
    CHECK(outputs[0].ToDoubles() == want.ToDoubles());
  }
}

constexpr int kString = 8;

TEST_CASE("ONNX ml: DictVectorizer") {
  const Tensor texts({3}, {"b", "a", "c"});
  const Tensor ints = Tensor::Ints({7, -2, 9});
  const std::string letters = Texts("string_vocabulary", {"a", "x", "b", "a"});
  CheckMap({"DictVectorizer", letters, {MapOf(kString, kF32)}}, texts,
           Tensor::Of<float>({3}, {1, 2, 3}), Tensor::Of<float>({1, 4}, {2, 0, 1, 2}));
  CheckMap({"DictVectorizer", letters, {MapOf(kString, kI64)}}, texts, ints,
           Tensor::Of<int64_t>({1, 4}, {-2, 0, 7, -2}));
  const std::string numbers = Ints("int64_vocabulary", {9, 8, -2});
  CheckMap({"DictVectorizer", numbers, {MapOf(kI64, kString)}}, ints, texts,
           Tensor({1, 3}, {"c", "", "a"}));
  CheckMap({"DictVectorizer", numbers, {MapOf(kI64, kF64)}}, ints,
           Tensor::Of<double>({3}, {1, 2, 0.1}), Tensor::Of<double>({1, 3}, {0.1, 0, 2}));
  CHECK(Refused({"DictVectorizer", letters, {MapOf(kI64, kF32)}},
                "the keys are i64 and the vocabulary is str"));
  CHECK(Refused({"DictVectorizer", "", {MapOf(kI64, kF32)}},
                "exactly one of string_vocabulary and int64_vocabulary is required"));
}

TEST_CASE("ONNX ml: CastMap") {
  const Tensor keys = Tensor::Ints({4, 0, 2});
  const Tensor floats = Tensor::Of<float>({3}, {1.5, -2.75, 3});
  const Model model = {"CastMap", "", {MapOf(kI64, kF32)}};
  CheckMap(model, keys, floats, Tensor::Of<float>({1, 3}, {-2.75, 3, 1.5}));
  CheckMap({"CastMap", Text("cast_to", "TO_INT64"), {MapOf(kI64, kF32)}}, keys, floats,
           Tensor::Of<int64_t>({1, 3}, {-2, 3, 1}));
  const std::string sparse = Text("map_form", "SPARSE") + Int("max_map", 4);
  CheckMap({"CastMap", sparse, {MapOf(kI64, kF32)}}, keys, floats,
           Tensor::Of<float>({1, 4}, {-2.75, 0, 3, 0}));
  const Tensor texts({3}, {"1", "-2", "30"});
  CheckMap({"CastMap", sparse + Text("cast_to", "TO_STRING"), {MapOf(kI64, kString)}}, keys, texts,
           Tensor({1, 4}, {"-2", "0.f", "30", "0.f"}));
  CheckMap({"CastMap", Text("cast_to", "TO_INT64"), {MapOf(kI64, kString)}}, keys, texts,
           Tensor::Of<int64_t>({1, 3}, {-2, 30, 1}));
  CHECK(Refused({"CastMap", Text("map_form", "SPARSE") + Int("max_map", 0), {MapOf(kI64, kF32)}},
                "max_map is 0; must be 1 to 16777216"));
  CHECK(Refused({"CastMap", "", {Rows(kF32, 1, 2)}}, "is not an input of the model"));
}

}  // namespace nn::test::onnx_ml_test
