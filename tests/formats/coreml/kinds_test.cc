#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "base/json/json.h"
#include "formats/format.h"
#include "support/files.h"
#include "support/wire.h"

// A small file of every kind of Core ML model, written in wire form by hand with the field numbers
// and types of the published schema, independent of ours.
namespace nn::test::coreml_kinds_test {
namespace {

template <typename T>
std::string Raw(T v) {
  return {reinterpret_cast<const char*>(&v), sizeof(v)};
}
std::string Double(int field, double v) {
  return Varint(static_cast<uint64_t>(field) << 3 | 1) + Raw(v);
}
std::string Doubles(int field, const std::vector<double>& values) {
  std::string out;
  for (const double v : values) out += Raw(v);
  return Bytes(field, out);
}
std::string Floats(int field, const std::vector<float>& values) {
  std::string out;
  for (const float v : values) out += Raw(v);
  return Bytes(field, out);
}
std::string Ints(int field, const std::vector<uint64_t>& values) {
  std::string out;
  for (const uint64_t v : values) out += Varint(v);
  return Bytes(field, out);
}
std::string Entry(const std::string& key, const std::string& value) {
  return Bytes(1, Bytes(1, key) + value);
}
std::string Strings(const std::vector<std::string>& values) {
  std::string out;
  for (const std::string& v : values) out += Bytes(1, v);
  return out;
}

struct KindCase {
  const char* kind;
  int field;  // of Model
  std::string parameters;
  const char* json;  // of the parameters
  std::vector<std::pair<std::string, std::string>> facts;
  uint64_t parameter_count = 0;
};

std::vector<KindCase> LearnedKinds() {
  const std::string labels = Bytes(100, Strings({"a", "b"}));
  const std::string dense =
      Bytes(1, Doubles(1, {1, 2, 3})) + Bytes(1, Doubles(1, {4, 5, 6}));  // two vectors
  const std::string node =
      Int(1, 7) + Int(2, 1) + Int(3, 6) + Bytes(20, Int(1, 1) + Double(2, 0.5));
  const std::string trees = Bytes(1, Int(1, 7) + Int(10, 3) + Double(11, 2.5) + Int(12, 1) +
                                         Int(13, 1) + Int(14, 1) + Double(30, 0.25)) +
                            Bytes(1, node) + Int(2, 2) + Doubles(3, {0.5, -0.5});
  return {
      {"glmRegressor",
       300,
       Bytes(1, Doubles(1, {1, 2, 3})) + Doubles(2, {0.5}) + Int(3, 2),
       R"({"weights": [{"value": [1.0, 2.0, 3.0]}], "offset": [0.5],
           "postEvaluationTransform": "Probit"})",
       {{"weights", "1 x 3"}, {"offset", "[0.5]"}, {"postEvaluationTransform", "Probit"}},
       4},
      {"supportVectorRegressor",
       301,
       Bytes(1, Bytes(3, Int(1, 3) + Double(2, 1) + Double(3, 0.5))) + Bytes(3, dense) +
           Bytes(4, Doubles(1, {1, -1})) + Double(5, 0.25),
       R"({"kernel": {"polyKernel": {"degree": 3, "c": 1.0, "gamma": 0.5}},
           "denseSupportVectors": {"vectors": [{"values": [1.0, 2.0, 3.0]},
                                               {"values": [4.0, 5.0, 6.0]}]},
           "coefficients": {"alpha": [1.0, -1.0]}, "rho": 0.25})",
       {{"supportVectors", "2 x 3"}, {"kernel.polyKernel.degree", "3"}, {"rho", "0.25"}},
       8},
      {"treeEnsembleRegressor",
       302,
       Bytes(1, trees) + Int(2, 2),
       R"({"treeEnsemble": {"nodes": [
             {"treeId": 7, "branchFeatureIndex": 3, "branchFeatureValue": 2.5,
              "trueChildNodeId": 1, "falseChildNodeId": 1, "missingValueTracksTrueChild": true,
              "relativeHitRate": 0.25},
             {"treeId": 7, "nodeId": 1, "nodeBehavior": "LeafNode",
              "evaluationInfo": [{"evaluationIndex": 1, "evaluationValue": 0.5}]}],
             "numPredictionDimensions": 2, "basePredictionValue": [0.5, -0.5]},
           "postEvaluationTransform": "Regression_Logistic"})",
       {{"trees", "1"}, {"nodes", "2, 1 of them leaves"}, {"numPredictionDimensions", "2"}}},
      {"bayesianProbitRegressor",
       304,
       Int(1, 2) + Bytes(2, Double(1, 0.5) + Double(2, 2)) +
           Bytes(3, Int(1, 1) + Bytes(2, Int(1, 3) + Bytes(2, Double(1, 1)))) + Bytes(10, "x") +
           Bytes(23, "p"),
       R"({"numberOfFeatures": 2, "bias": {"mean": 0.5, "precision": 2.0},
           "features": [{"featureId": 1,
                         "weights": [{"featureValue": 3, "featureWeight": {"mean": 1.0}}]}],
           "regressionInputFeatureName": "x", "sampledProbabilityOutputFeatureName": "p"})",
       {{"weights", "1 of 1 features"}, {"bias.mean", "0.5"}},
       2},
      {"glmClassifier",
       400,
       Bytes(1, Doubles(1, {1, 2})) + Doubles(2, {0}) + Int(3, 1) + Int(4, 1) + labels,
       R"({"weights": [{"value": [1.0, 2.0]}], "offset": [0.0],
           "postEvaluationTransform": "Probit", "classEncoding": "OneVsRest",
           "stringClassLabels": {"vector": ["a", "b"]}})",
       {{"classEncoding", "OneVsRest"}, {"stringClassLabels.vector", "[\"a\", \"b\"]"}},
       3},
      {"supportVectorClassifier",
       401,
       Bytes(1, Bytes(2, Double(1, 0.5))) + Ints(2, {1, 1}) +
           Bytes(3, Bytes(1, Bytes(1, Int(1, 4) + Double(2, 9)))) + Bytes(5, Doubles(1, {1, 2})) +
           Doubles(6, {1}) + Doubles(7, {2}) + Doubles(8, {3}) + Bytes(101, Ints(1, {5, 300})),
       R"({"kernel": {"rbfKernel": {"gamma": 0.5}}, "numberOfSupportVectorsPerClass": [1, 1],
           "sparseSupportVectors": {"vectors": [{"nodes": [{"index": 4, "value": 9.0}]}]},
           "coefficients": [{"alpha": [1.0, 2.0]}], "rho": [1.0], "probA": [2.0], "probB": [3.0],
           "int64ClassLabels": {"vector": [5, 300]}})",
       {{"supportVectors", "1 x 1, sparse"}, {"coefficients", "1 x 2"}},
       3},
      {"treeEnsembleClassifier",
       402,
       Bytes(1, trees) + Int(2, 1) + labels,
       R"({"treeEnsemble": {"nodes": [
             {"treeId": 7, "branchFeatureIndex": 3, "branchFeatureValue": 2.5,
              "trueChildNodeId": 1, "falseChildNodeId": 1, "missingValueTracksTrueChild": true,
              "relativeHitRate": 0.25},
             {"treeId": 7, "nodeId": 1, "nodeBehavior": "LeafNode",
              "evaluationInfo": [{"evaluationIndex": 1, "evaluationValue": 0.5}]}],
             "numPredictionDimensions": 2, "basePredictionValue": [0.5, -0.5]},
           "postEvaluationTransform": "Classification_SoftMax",
           "stringClassLabels": {"vector": ["a", "b"]}})",
       {{"features", "4 at least"}, {"basePredictionValue", "[0.5, -0.5]"}}},
      {"kNearestNeighborsClassifier",
       404,
       Bytes(1, Int(1, 2) + Bytes(2, Floats(1, {1, 2})) + Bytes(2, Floats(1, {3, 4})) +
                    Bytes(110, Int(1, 30)) + Bytes(200, "")) +
           Bytes(3, Int(1, 1) + Bytes(10, Int(1, 1) + Int(2, 5))) + labels + Bytes(110, "none") +
           Bytes(210, ""),
       R"({"nearestNeighborsIndex": {"numberOfDimensions": 2,
             "floatSamples": [{"vector": [1.0, 2.0]}, {"vector": [3.0, 4.0]}],
             "singleKdTreeIndex": {"leafSize": 30}, "squaredEuclideanDistance": {}},
           "numberOfNeighbors": {"defaultValue": 1, "range": {"minValue": 1, "maxValue": 5}},
           "stringClassLabels": {"vector": ["a", "b"]}, "defaultStringLabel": "none",
           "inverseDistanceWeighting": {}})",
       {{"samples", "2 x 2"},
        {"singleKdTreeIndex.leafSize", "30"},
        {"inverseDistanceWeighting", "set"}},
       4},
      {"itemSimilarityRecommender",
       501,
       Bytes(1, Int(1, 1) + Bytes(2, Int(1, 2) + Double(2, 0.5)) + Double(3, 1)) +
           Bytes(2, Strings({"i", "j"})) + Bytes(10, "items") + Bytes(13, "not") +
           Bytes(20, "list"),
       R"({"itemItemSimilarities": [{"itemId": 1,
             "similarItemList": [{"itemId": 2, "similarityScore": 0.5}],
             "itemScoreAdjustment": 1.0}],
           "itemStringIds": {"vector": ["i", "j"]}, "itemInputFeatureName": "items",
           "itemExclusionInputFeatureName": "not",
           "recommendedItemListOutputFeatureName": "list"})",
       {{"similarities", "1 of 1 items"}, {"itemInputFeatureName", "\"items\""}},
       1},
  };
}

std::vector<KindCase> FeatureKinds() {
  return {
      {"classConfidenceThresholding",
       560,
       Bytes(100, Bytes(1, Floats(1, {0.5})) + Bytes(4, "")),
       R"({"precisionRecallCurves": [{"precisionValues": {"vector": [0.5]},
                                      "recallConfidenceThresholds": {}}]})",
       {{"precisionRecallCurves", "1"}}},
      {"oneHotEncoder",
       600,
       Bytes(2, Ints(1, {3, 1})) + Int(10, 1) + Int(11, 1),
       R"({"int64Categories": {"vector": [3, 1]}, "outputSparse": true,
           "handleUnknown": "IgnoreUnknown"})",
       {{"int64Categories.vector", "[3, 1]"}, {"outputSparse", "true"}}},
      {"imputer",
       601,
       Bytes(6, Entry("z", Double(2, 1)) + Entry("a", Double(2, 0))) + Double(11, -1),
       R"({"imputedStringDictionary": {"map": [{"key": "z", "value": 1.0},
                                               {"key": "a", "value": 0.0}]},
           "replaceDoubleValue": -1.0})",
       {{"imputedStringDictionary.map", "{\"z\": 1.0, \"a\": 0.0}"},
        {"replaceDoubleValue", "-1.0"}}},
      {"featureVectorizer",
       602,
       Bytes(1, Bytes(1, "age") + Int(2, 1)) + Bytes(1, Bytes(1, "sex")),
       R"({"inputList": [{"inputColumn": "age", "inputDimensions": 1}, {"inputColumn": "sex"}]})",
       {{"inputList[0].inputColumn", "\"age\""}, {"inputList[1].inputColumn", "\"sex\""}}},
      {"dictVectorizer",
       603,
       Bytes(1, Strings({"k"})),
       R"({"stringToIndex": {"vector": ["k"]}})",
       {{"stringToIndex.vector", "[\"k\"]"}}},
      {"scaler",
       604,
       Doubles(1, {-1, 0}) + Doubles(2, {2, 0.5}),
       R"({"shiftValue": [-1.0, 0.0], "scaleValue": [2.0, 0.5]})",
       {{"shiftValue", "[-1.0, 0.0]"}, {"scaleValue", "[2.0, 0.5]"}}},
      {"categoricalMapping",
       606,
       Bytes(1, Entry("b", Int(2, 2)) + Entry("", Int(2, 0))) + Int(102, ~uint64_t{0}),
       R"({"stringToInt64Map": {"map": [{"key": "b", "value": 2}, {"key": "", "value": 0}]},
           "int64Value": -1})",
       {{"stringToInt64Map.map", "{\"b\": 2, \"\": 0}"}, {"int64Value", "-1"}}},
      {"normalizer", 607, Int(1, 2), R"({"normType": "L2"})", {{"normType", "L2"}}},
      {"arrayFeatureExtractor",
       609,
       Ints(1, {0, 300}),
       R"({"extractIndex": [0, 300]})",
       {{"extractIndex", "[0, 300]"}}},
      {"nonMaximumSuppression",
       610,
       Bytes(1, Int(1, 1)) + Double(110, 0.5) + Double(111, 0.25) + Bytes(200, "raw") +
           Bytes(211, "boxes"),
       R"({"pickTop": {"perClass": true}, "iouThreshold": 0.5, "confidenceThreshold": 0.25,
           "confidenceInputFeatureName": "raw", "coordinatesOutputFeatureName": "boxes"})",
       {{"pickTop.perClass", "true"}, {"iouThreshold", "0.5"}}},
      {"identity", 900, "", "{}", {}},
  };
}

std::vector<KindCase> OutsideKinds() {
  const std::string text = Int(1, 1) + Bytes(10, "en") + Bytes(100, std::string(2000, '\xff'));
  return {
      {"customModel",
       555,
       Bytes(10, "Net") + Bytes(30, Bytes(1, "n") + Bytes(2, Int(30, 3))) +
           Bytes(30, Bytes(1, "b") + Bytes(2, Bytes(60, "\x01"))) + Bytes(40, "about"),
       R"({"className": "Net", "parameters": [{"key": "n", "value": {"intValue": 3}},
             {"key": "b", "value": {"bytesValue": "AQ=="}}], "description": "about"})",
       {{"className", "\"Net\""}, {"parameters", "{\"n\": 3, \"b\": 1 bytes}"}}},
      {"linkedModel",
       556,
       Bytes(1, Bytes(1, Bytes(1, "m.mlmodelc")) + Bytes(2, Bytes(1, "."))),
       R"({"linkedModelFile": {"linkedModelFileName": {"defaultValue": "m.mlmodelc"},
                               "linkedModelSearchPath": {"defaultValue": "."}}})",
       {{"linkedModelFile.linkedModelFileName.defaultValue", "\"m.mlmodelc\""}}},
      {"textClassifier",
       2000,
       text + Bytes(200, Strings({"pos", "neg"})),
       nullptr,
       {{"language", "\"en\""},
        {"modelParameterData", "2000 bytes"},
        {"stringClassLabels.vector", "[\"pos\", \"neg\"]"}}},
      {"wordTagger",
       2001,
       Int(1, 1) + Bytes(10, "en") + Bytes(20, "t") + Bytes(23, "l") +
           Bytes(200, Strings({"noun"})),
       R"({"revision": 1, "language": "en", "tokensOutputFeatureName": "t",
           "tokenLengthsOutputFeatureName": "l", "stringTags": {"vector": ["noun"]}})",
       {{"stringTags.vector", "[\"noun\"]"}}},
      {"visionFeaturePrint",
       2002,
       Bytes(21, Int(1, 1) + Bytes(100, "fine") + Bytes(100, "coarse")),
       R"({"objects": {"version": "OBJECTS_VERSION_1", "output": ["fine", "coarse"]}})",
       {{"objects.version", "OBJECTS_VERSION_1"}}},
      {"soundAnalysisPreprocessing", 2003, Bytes(20, ""), R"({"vggish": {}})", {{"vggish", "set"}}},
      {"gazetteer",
       2004,
       text + Bytes(200, Strings({"city"})),
       nullptr,
       {{"stringClassLabels.vector", "[\"city\"]"}}},
      {"wordEmbedding", 2005, text, nullptr, {{"revision", "1"}}},
      {"audioFeaturePrint",
       2006,
       Bytes(20, Int(1, 1)),
       R"({"sound": {"version": "SOUND_VERSION_1"}})",
       {{"sound.version", "SOUND_VERSION_1"}}},
      {"serializedModel",
       3000,
       Bytes(1, "id") + Bytes(2, "\x02"),
       R"({"identifier": "id", "model": "Ag=="})",
       {{"identifier", "\"id\""}}},
  };
}

std::string DescriptionWire() {
  const std::string array = Bytes(3, Bytes(5, Ints(1, {3}) + Int(2, 65568)));
  return Bytes(1, Bytes(1, "x") + array) + Bytes(10, Bytes(1, "y") + array);
}

std::string ModelWire(int field, const std::string& parameters) {
  return Int(1, 10) + Bytes(2, DescriptionWire()) + Bytes(field, parameters);
}

std::string Saved(const ReadModel& read) {
  const auto image = read.format->writer.Save(*read.model, ExportOptions{"m.mlmodel"});
  REQUIRE_MESSAGE(image.has_value(), image.error().message());
  CHECK_FALSE(image->is_folder);
  std::string out;
  for (const Blob& b : image->parts) out.append(reinterpret_cast<const char*>(b.data()), b.size());
  return out;
}

ModelSummary SummaryOf(const ReadModel& read) {
  auto summary = read.format->describer.Summarize(*read.model);
  REQUIRE(summary.has_value());
  return *std::move(summary);
}

std::string FactOf(const ModelSummary& s, const std::string& key) {
  for (const auto& [k, v] : s.metadata)
    if (k == key) return v;
  return "(absent)";
}

// The dump of the file, whose copies are checked.
Json CheckCopies(const std::string& wire) {
  const TempDir dir;
  WriteText(dir / "m.mlmodel", wire);
  const ReadModel read = ReadOrFail(dir / "m.mlmodel");
  CHECK(Saved(read) == wire);
  REQUIRE(WriteDump(read, dir / "m.json").has_value());
  const ReadModel again = ReadOrFail(dir / "m.json");
  CHECK(Saved(again) == wire);
  return Json::parse(ReadText(dir / "m.json"))["model"];
}

void CheckKind(const KindCase& c) {
  CAPTURE(c.kind);
  const std::string wire = ModelWire(c.field, c.parameters);
  const Json dump = CheckCopies(wire);
  REQUIRE(dump.contains(c.kind));
  CHECK_FALSE(dump.contains("$unknown"));
  if (c.json != nullptr) CHECK(dump[c.kind] == Json::parse(c.json));

  const TempDir dir;
  WriteText(dir / "m.mlmodel", wire);
  const ReadModel read = ReadOrFail(dir / "m.mlmodel");
  const ModelSummary s = SummaryOf(read);
  CHECK(FactOf(s, "kind") == c.kind);
  for (const auto& fact : c.facts) CHECK_MESSAGE(FactOf(s, fact.first) == fact.second, fact.first);
  CHECK(s.parameter_count == c.parameter_count);
  CHECK(s.operators.empty());
  const auto imported = read.format->importer.Import(*read.model);
  REQUIRE_FALSE(imported.has_value());
  CHECK(imported.error().code() == ErrorCode::kUnsupported);
  CHECK(imported.error().message().find(c.kind) == 0);
}

TEST_CASE("Core ML: models that are not networks") {
  for (const auto& list : {LearnedKinds(), FeatureKinds(), OutsideKinds()})
    for (const KindCase& c : list) CheckKind(c);
}

TEST_CASE("Core ML: payloads of tables stay outside of protobuf and are counted") {
  const std::vector<double> row(1000, 0.5);
  const std::string wire =
      ModelWire(300, Bytes(1, Doubles(1, row)) + Bytes(1, Doubles(1, row)) + Doubles(2, row));
  const Json dump = CheckCopies(wire);
  CHECK(dump["glmRegressor"]["offset"].contains("base64"));
  const TempDir dir;
  WriteText(dir / "m.mlmodel", wire);
  const ModelSummary s = SummaryOf(ReadOrFail(dir / "m.mlmodel"));
  CHECK(s.parameter_count == 3000);
  CHECK(s.parameter_bytes == 24000);
  CHECK(FactOf(s, "weights") == "2 x 1000");
  CHECK(FactOf(s, "offset").ends_with("0.5, ... 1000 in all]"));
}

TEST_CASE("Core ML: maps keep the order and the entries of the file") {
  const auto metadata = [](const std::string& entries) {
    return Int(1, 1) + Bytes(2, DescriptionWire() + Bytes(100, entries)) + Bytes(900, "");
  };
  const auto entry = [](const std::string& key, const std::string& value) {
    return Bytes(100, Bytes(1, key) + Bytes(2, value));
  };
  const Json dump = CheckCopies(metadata(entry("z", "1") + entry("a", "") + entry("z", "2")));
  CHECK(dump["description"]["metadata"]["userDefined"] ==
        Json::parse(R"([{"key": "z", "value": "1"}, {"key": "a", "value": ""},
                        {"key": "z", "value": "2"}])"));
}

// ---- Pipelines ----------------------------------------------------------------------------------

std::string Pipeline(const std::vector<std::string>& models,
                     const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& m : models) out += Bytes(1, m);
  for (const std::string& n : names) out += Bytes(2, n);
  return out;
}

TEST_CASE("Core ML: a summary lists the stages of pipelines, and what is in them") {
  const std::string scaler = ModelWire(604, Doubles(2, {2}));
  const std::string layer =
      Bytes(1, "relu") + Bytes(2, "x") + Bytes(3, "y") + Bytes(130, Bytes(10, ""));
  const std::string network = ModelWire(500, Bytes(1, layer));
  const std::string inner = ModelWire(201, Bytes(1, Pipeline({network}, {})));
  const std::string wire = ModelWire(202, Pipeline({scaler, inner}, {"scale", "rest"}));
  CheckCopies(wire);
  const TempDir dir;
  WriteText(dir / "m.mlmodel", wire);
  const ReadModel read = ReadOrFail(dir / "m.mlmodel");
  const ModelSummary s = SummaryOf(read);
  REQUIRE(s.operators.size() == 4);
  const std::vector<std::vector<std::string>> want = {{"scaler", "scale", ""},
                                                      {"pipelineRegressor", "rest", ""},
                                                      {"neuralNetwork", "model0", "rest"},
                                                      {"activation.ReLU", "relu", "rest/model0"}};
  for (size_t i = 0; i < want.size(); ++i)
    CHECK(std::vector{s.operators[i].op, s.operators[i].name, s.operators[i].scope} == want[i]);
  CHECK(s.operators[0].inputs == std::vector<std::string>{"x"});
  CHECK(s.operators[0].outputs == std::vector<std::string>{"y"});
  CHECK(s.operators[0].attributes ==
        std::vector<std::pair<std::string, std::string>>{{"scaleValue", "[2.0]"}});
  const auto imported = read.format->importer.Import(*read.model);
  REQUIRE_FALSE(imported.has_value());
  CHECK(imported.error().message() ==
        "pipeline: only neural networks and ML Programs are supported");
}

TEST_CASE("Core ML: pipelines nested too deeply are refused") {
  std::string wire = Int(1, 1) + Bytes(900, "");
  for (int i = 0; i < 60; ++i) wire = Int(1, 1) + Bytes(202, Bytes(1, wire));
  const TempDir dir;
  WriteText(dir / "m.mlmodel", wire);
  const auto read = ReadModelFile(dir / "m.mlmodel");
  REQUIRE_FALSE(read.has_value());
  CHECK(read.error().code() == ErrorCode::kLimit);
}

TEST_CASE("Core ML: a kind that is newer than the schema is kept and named") {
  const std::string wire = ModelWire(777, Int(1, 5));
  CHECK(CheckCopies(wire)["$unknown"][0]["field"] == 777);
  const TempDir dir;
  WriteText(dir / "m.mlmodel", wire);
  const ReadModel read = ReadOrFail(dir / "m.mlmodel");
  CHECK(FactOf(SummaryOf(read), "kind").find("777") != std::string::npos);
  CHECK(read.format->importer.Import(*read.model).error().code() == ErrorCode::kUnsupported);
}

TEST_CASE("Core ML: a layer that names no outputs is imported without harm") {
  const std::string constant = Bytes(1070, Ints(1, {1}) + Bytes(2, Floats(1, {0.5})));
  const std::string array = Bytes(3, Bytes(5, Ints(1, {3}) + Int(2, 65568)));
  const TempDir dir;
  WriteText(dir / "m.mlmodel",
            Int(1, 4) +
                Bytes(2, Bytes(1, Bytes(1, "x") + array) + Bytes(10, Bytes(1, "x") + array)) +
                Bytes(500, Bytes(1, Bytes(1, "constant") + constant) + Int(5, 1)));
  const auto graph = ReadGraph(dir / "m.mlmodel");
  REQUIRE(graph.has_value());
  CHECK(graph->outputs().size() == 1);
}

// ---- Feature types ------------------------------------------------------------------------------

struct FeatureCase {
  std::string type;  // FeatureType
  std::string text;
  std::string shape;  // joined by ","; "*" for none
};

TEST_CASE("Core ML: types of features") {
  const auto shape = [](const std::vector<uint64_t>& dims) { return Bytes(1, Ints(1, dims)); };
  const auto range = [](uint64_t low, uint64_t high) { return Int(1, low) + Int(2, high); };
  const std::vector<FeatureCase> cases = {
      {Bytes(1, ""), "Int64", ""},
      {Bytes(2, "") + Int(1000, 1), "Double, optional", ""},
      {Bytes(3, ""), "String", ""},
      {Bytes(4, Int(1, 4) + Int(2, 3) + Int(3, 20)), "Image(RGB)", "3,4"},
      {Bytes(4, Int(3, 10) + Bytes(31, Bytes(1, range(1, 9)) + Bytes(2, range(2, ~uint64_t{0})))),
       "Image(GRAYSCALE)", "2..,1..9"},
      {Bytes(5, Ints(1, {1, 3}) + Int(2, 65552)), "MultiArray(FLOAT16)", "1,3"},
      {Bytes(5, Ints(1, {1, 3}) + Int(2, 65568) + Bytes(21, shape({1, 3}) + shape({1, 5}))),
       "MultiArray(FLOAT32)", "1,?"},
      {Bytes(5, Int(2, 131104) + Bytes(31, Bytes(1, range(1, 8))) + Int(41, 7)) + Int(1000, 1),
       "MultiArray(INT32), default 7, optional", "1..8"},
      {Bytes(6, Bytes(2, "")), "Dictionary(String -> Double)", "*"},
      {Bytes(7, Bytes(1, "") + Bytes(101, range(2, 5))), "Sequence(Int64)", "2..5"},
  };
  for (const FeatureCase& c : cases) {
    CAPTURE(c.text);
    const std::string wire =
        Int(1, 9) + Bytes(2, Bytes(1, Bytes(1, "f") + Bytes(3, c.type))) + Bytes(900, "");
    CheckCopies(wire);
    const TempDir dir;
    WriteText(dir / "m.mlmodel", wire);
    const ModelSummary s = SummaryOf(ReadOrFail(dir / "m.mlmodel"));
    REQUIRE(s.inputs.size() == 1);
    CHECK(s.inputs[0].type == c.text);
    std::string joined = s.inputs[0].shape ? "" : "*";
    if (s.inputs[0].shape)
      for (const std::string& d : *s.inputs[0].shape) joined += (joined.empty() ? "" : ",") + d;
    CHECK(joined == c.shape);
  }
}

TEST_CASE("Core ML: the description besides inputs and outputs") {
  const auto feature = [](const std::string& name, const std::string& type) {
    return Bytes(1, name) + Bytes(3, type);
  };
  const std::string array = Bytes(5, Ints(1, {2}) + Int(2, 65568));
  const std::string state = Bytes(8, Bytes(1, Ints(1, {4}) + Int(2, 65552)));
  const std::string plain =
      Int(1, 9) +
      Bytes(2, Bytes(1, Bytes(1, "x") + Bytes(2, "pixels") + Bytes(3, array)) +
                   Bytes(13, feature("kv", state)) + Bytes(50, feature("truth", array))) +
      Bytes(900, "");
  const std::string functions =
      Int(1, 9) +
      Bytes(2, Bytes(20, Bytes(1, "other") + Bytes(2, feature("a", array)) +
                             Bytes(3, feature("b", array))) +
                   Bytes(20, Bytes(1, "main") + Bytes(2, feature("x", array)) +
                                 Bytes(3, feature("y", array)) + Bytes(4, "y")) +
                   Bytes(21, "main")) +
      Bytes(502, "");
  CheckCopies(plain);
  CheckCopies(functions);
  const TempDir dir;
  WriteText(dir / "m.mlmodel", plain);
  ModelSummary s = SummaryOf(ReadOrFail(dir / "m.mlmodel"));
  CHECK(FactOf(s, "input x") == "pixels");
  CHECK(FactOf(s, "state kv") == "State(MultiArray(FLOAT16))[4]");
  CHECK(FactOf(s, "training input truth") == "MultiArray(FLOAT32)[2]");
  WriteText(dir / "m.mlmodel", functions);
  s = SummaryOf(ReadOrFail(dir / "m.mlmodel"));
  REQUIRE(s.inputs.size() == 1);
  CHECK(s.inputs[0].name == "x");
  CHECK(FactOf(s, "predictedFeatureName") == "y");
  CHECK(FactOf(s, "features of other") == "a MultiArray(FLOAT32)[2] -> b MultiArray(FLOAT32)[2]");
}

}  // namespace
}  // namespace nn::test::coreml_kinds_test
