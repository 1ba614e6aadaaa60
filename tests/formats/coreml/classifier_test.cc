// Core ML classifiers have one score for each label; inputs have only the shapes that they
// enumerate.
#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "formats/coreml/file/native.h"
#include "formats/coreml/import/import.h"
#include "formats/coreml/roles.h"
#include "formats/format.h"
#include "passes/core/ports.h"
#include "passes/interface/edits.h"
#include "rewrite/legalize.h"

namespace nn::test::coreml_classifier_test {
namespace {

using coreml::Model;
using coreml::Writer;
using Shape = std::vector<int64_t>;

// A softmax of x with the labels "a" and "b".
Result<ImportedModel> Classifier(const Shape& shape, const std::vector<Shape>& enumerated = {}) {
  Model model;
  Writer root = model.writer();
  root.Int("specificationVersion", 4);
  Writer description = root.Sub("description");
  Writer input = description.Add("input");
  input.Text("name", "x");
  Writer array = input.Sub("type").Sub("multiArrayType");
  array.Ints("shape", shape);
  array.Enum("dataType", "FLOAT32");
  for (const Shape& s : enumerated) array.Sub("enumeratedShapes").Add("shapes").Ints("shape", s);
  Writer scores = description.Add("output");
  scores.Text("name", "scores");
  scores.Sub("type").Sub("dictionaryType").Sub("stringKeyType");
  Writer label = description.Add("output");
  label.Text("name", "label");
  label.Sub("type").Sub("stringType");
  description.Text("predictedFeatureName", "label");
  description.Text("predictedProbabilitiesName", "scores");
  Writer network = root.Sub("neuralNetworkClassifier");
  network.Enum("arrayInputShapeMapping", "EXACT_ARRAY_MAPPING");
  Writer layer = network.Add("layers");
  layer.Text("name", "l");
  layer.AddText("input", "x");
  layer.AddText("output", "p");
  layer.Sub("softmaxND").Int("axis", -1);
  Writer labels = network.Sub("stringClassLabels");
  labels.AddText("vector", "a");
  labels.AddText("vector", "b");
  return coreml::CoremlImporter().Import(model);
}

Graph GraphOf(Result<ImportedModel> imported) {
  REQUIRE_MESSAGE(imported.has_value(), imported.error().message());
  return std::move(imported->graph);
}

// "" if the graph can be written.
std::string RefusalOfExport(Graph graph) {
  const Format* const format = FindFormat("coreml");
  REQUIRE(Legalize(graph, *format->target).has_value());
  const auto image = format->writer.Write(graph, {});
  if (image) return {};
  CHECK(image.error().code() == ErrorCode::kUnsupported);
  return image.error().message();
}

bool Has(const std::string& text, std::string_view part) {
  CAPTURE(text);
  return text.find(part) != std::string::npos;
}

TEST_CASE("coreml: a classifier has one score for each label") {
  CHECK(RefusalOfExport(GraphOf(Classifier({1, 2}))).empty());
  CHECK(RefusalOfExport(GraphOf(Classifier({2}))).empty());
  for (const Shape& shape : {Shape{1, 3}, Shape{4, 2}}) {
    const std::string refusal = RefusalOfExport(GraphOf(Classifier(shape)));
    CHECK(Has(refusal, "the classifier has 2 labels, but "));
  }
}

TEST_CASE("coreml: a classifier of a batch is not written") {
  for (const Dim& batch : {Dim::Symbol("N"), Dim(3)}) {
    Graph graph = GraphOf(Classifier({1, 2}));
    REQUIRE(SetBatch(graph, batch).has_value());
    CHECK(Has(RefusalOfExport(std::move(graph)), "one score for each label"));
  }
  Graph graph = GraphOf(Classifier({1, 2}, {{1, 2}, {4, 2}}));
  CHECK(Has(RefusalOfExport(graph.Clone()), "depends on the shapes of the inputs"));
  REQUIRE(BindBatch(graph, 1).has_value());
  CHECK(RefusalOfExport(std::move(graph)).empty());
}

TEST_CASE("coreml: only shapes that an array enumerates are set") {
  const Graph graph = GraphOf(Classifier({1, 2}, {{1, 2}, {4, 2}}));
  for (const int64_t size : {1, 4}) {
    Graph set = graph.Clone();
    CHECK(BindInputs(set, {{"x", {size, 2}}}).has_value());
    set = graph.Clone();
    CHECK(BindBatch(set, size).has_value());
  }
  Graph shaped = graph.Clone(), batched = graph.Clone(), edited = graph.Clone();
  for (const Status& status : {BindInputs(shaped, {{"x", {3, 2}}}), BindBatch(batched, 3),
                               SetBatch(edited, Dim(3)).map([](const GraphEdit&) {})}) {
    REQUIRE(!status.has_value());
    CHECK(status.error().code() == ErrorCode::kUsage);
    CHECK(status.error().message() ==
          "input \"x\" cannot have the shape [3, 2]: the model allows only [1, 2], [4, 2]");
  }
}

TEST_CASE("coreml: only sizes that an image enumerates are set") {
  Model model;
  Writer root = model.writer();
  root.Int("specificationVersion", 4);
  Writer description = root.Sub("description");
  Writer input = description.Add("input");
  input.Text("name", "x");
  Writer image = input.Sub("type").Sub("imageType");
  image.Enum("colorSpace", "RGB");
  image.Int("width", 8);
  image.Int("height", 4);
  for (const int64_t factor : {1, 2}) {
    Writer size = image.Sub("enumeratedSizes").Add("sizes");
    size.Int("width", 8 * factor);
    size.Int("height", 4 * factor);
  }
  Writer output = description.Add("output");
  output.Text("name", "y");
  output.Sub("type").Sub("multiArrayType").Enum("dataType", "FLOAT32");
  Writer network = root.Sub("neuralNetwork");
  network.Enum("imageInputShapeMapping", "RANK4_IMAGE_MAPPING");
  Writer layer = network.Add("layers");
  layer.Text("name", "l");
  layer.AddText("input", "x");
  layer.AddText("output", "y");
  layer.Sub("softmaxND").Int("axis", -1);
  const Graph graph = GraphOf(coreml::CoremlImporter().Import(model));
  Graph set = graph.Clone();
  CHECK(BindInputs(set, {{"x", {1, 3, 8, 16}}}).has_value());
  set = graph.Clone();
  const Status status = BindInputs(set, {{"x", {1, 3, 8, 8}}});
  REQUIRE(!status.has_value());
  CHECK(Has(status.error().message(), "only [1, 3, 4, 8], [1, 3, 8, 16]"));
}

}  // namespace
}  // namespace nn::test::coreml_classifier_test
