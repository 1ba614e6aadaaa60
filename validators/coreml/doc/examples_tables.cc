// Examples of Core ML rules: pipelines, predictions, models whose parameters are tables.
#include "validators/coreml/doc/example_models.h"

namespace nn::coreml {
namespace {

constexpr const char* kPair = "multiArrayType { shape: 2 dataType: DOUBLE }";
const Edit kPredicted{"description {", "description { predictedFeatureName: \"y\""};

std::vector<Edit> Regressor(const std::string& fields) {
  return Kind(kPair, "doubleType {}", "glmRegressor { " + fields + " }", {kPredicted});
}

std::vector<Edit> Classifier(const std::string& fields) {
  return Kind(
      kPair, "stringType {}",
      "glmClassifier { stringClassLabels { vector: [\"a\", \"b\", \"c\"] } " + fields + " }",
      {kPredicted});
}

// Two classes with one support vector each; `more` are further edits.
std::vector<Edit> Machine(const std::vector<Edit>& more = {}) {
  auto edits = Kind(kPair, "stringType {}",
                    "supportVectorClassifier { kernel { rbfKernel { gamma: 1 } } "
                    "numberOfSupportVectorsPerClass: [1, 1] denseSupportVectors { "
                    "vectors { values: [1, 2] } vectors { values: [3, 4] } } "
                    "coefficients { alpha: [1, -1] } rho: 0 "
                    "stringClassLabels { vector: [\"a\", \"b\"] } }",
                    {kPredicted});
  edits.insert(edits.end(), more.begin(), more.end());
  return edits;
}

std::vector<Edit> Items(const std::string& ids, const std::string& features) {
  return Kind("sequenceType { int64Type {} }", "sequenceType { int64Type {} }",
              "itemSimilarityRecommender { itemItemSimilarities { itemId: 0 "
              "similarItemList { itemId: 1 } } " +
                  ids + " " + features + " }");
}

const std::string kGiven = "recommendedItemListOutputFeatureName: \"y\"";

// Two trees, the first with three nodes; `more` are further edits.
std::vector<Edit> TreeEdits(const std::vector<Edit>& more = {}) {
  const std::string leaf = "nodeBehavior: LeafNode evaluationInfo { evaluationValue: 1 } }";
  auto edits = Kind(kPair, "doubleType {}",
                    "treeEnsembleRegressor { treeEnsemble { numPredictionDimensions: 1 "
                    "nodes { nodeId: 0 trueChildNodeId: 1 falseChildNodeId: 2 } "
                    "nodes { nodeId: 1 " +
                        leaf + " nodes { nodeId: 2 " + leaf + " nodes { treeId: 1 " + leaf + " } }",
                    {kPredicted});
  edits.insert(edits.end(), more.begin(), more.end());
  return edits;
}

}  // namespace

std::vector<RuleExample> PipelineExamples() {
  const Edit regressing{"pipeline {", "pipelineRegressor { pipeline {"};
  const Edit end{"names: [\"a\", \"b\"]\n}", "names: [\"a\", \"b\"]\n} }"};
  return {
      {"COREML-MODEL-013",
       kFeature,
       {{"output { name: \"y\"", "output { name: \"x\""},
        {"serializedModel { identifier: \"m\" }", "pipeline {}"}},
       {}},
      {"COREML-PIPELINE-001",
       kPipeline,
       {{"[\"a\", \"b\"]", "\"a\""}},
       {{"names: [\"a\", \"b\"]", ""}}},
      {"COREML-PIPELINE-002",
       kPipeline,
       {{"name: \"y\" type { multiArrayType { dataType: FLOAT32 } } }\n}",
         "name: \"z\" type { multiArrayType { dataType: FLOAT32 } } }\n}"}},
       {{"name: \"y\" type { multiArrayType { dataType: FLOAT32 } } }\n}",
         "name: \"x\" type { multiArrayType { shape: 2 dataType: FLOAT32 } } }\n}"}}},
      {"COREML-PIPELINE-003",
       kPipeline,
       {{"output { name: \"t\" type { multiArrayType { shape: 2",
         "output { name: \"t\" type { multiArrayType { shape: 3"}},
       {{"output { name: \"t\" type { multiArrayType { shape: 2",
         "output { name: \"t\" type { multiArrayType { shape: 3"},
        {"input { name: \"t\" type { multiArrayType { shape: 2",
         "input { name: \"t\" type { multiArrayType { shape: 3"}}},
      {"COREML-MODEL-018",
       kClassifier,
       {{"ProbabilitiesName: \"scores\"", "ProbabilitiesName: \"odds\""},
        {"name: \"scores\"", "name: \"p\""}},
       {{"predictedProbabilitiesName: \"scores\"", ""}, {"name: \"scores\"", "name: \"p\""}}},
      {"COREML-MODEL-019",
       kPipeline,
       {regressing, end},
       {regressing, end, {"description {", "description { predictedFeatureName: \"y\""}}},
      {"COREML-MODEL-020",
       kClassifier,
       {{"vector: [\"a\", \"b\"]", ""}},
       {{"vector: [\"a\", \"b\"]", "vector: \"a\""}, {"shape: [2]", "shape: [1]"}}},
  };
}

std::vector<RuleExample> TableExamples() {
  return {
      {"COREML-GLM-001", kFeature, Regressor("weights { value: [1, 2] }"),
       Regressor("weights { value: [1, 2] } offset: 1")},
      {"COREML-GLM-002", kFeature,
       Regressor("weights { value: [1, 2] } weights { value: 1 } offset: [1, 1]"),
       Regressor("weights { value: [1, 2] } weights { value: [1, 2] } offset: [1, 1]")},
      {"COREML-GLM-003", kFeature, Classifier("weights { value: [1, 2] } offset: 1"),
       Classifier("weights { value: [1, 2] } weights { value: [1, 2] } offset: [1, 1]")},
      {"COREML-GLM-004", kFeature,
       Classifier("weights { value: 1 } weights { value: 2 } offset: [1, 1] "
                  "postEvaluationTransform: Probit"),
       Classifier("weights { value: 1 } weights { value: 2 } offset: [1, 1] "
                  "postEvaluationTransform: Logit")},
      {"COREML-SVM-001", kFeature, Machine({{"gamma: 1", "gamma: -1"}}),
       Machine({{"gamma: 1", "gamma: 0"}})},
      {"COREML-SVM-002 COREML-SVM-003 COREML-SVM-004", kFeature,
       Machine(
           {{"denseSupportVectors { vectors { values: [1, 2] } vectors { values: [3, 4] } }", ""}}),
       Machine()},
      {"COREML-SVM-003", kFeature, Machine({{"alpha: [1, -1]", "alpha: 1"}}),
       Machine({{"alpha: [1, -1]", "alpha: [1, 1]"}})},
      {"COREML-SVM-004", kFeature, Machine({{"PerClass: [1, 1]", "PerClass: [1, 2]"}}),
       Machine({{"PerClass: [1, 1]", "PerClass: [2, 0]"}})},
      {"COREML-SVM-005", kFeature, Machine({{"rho: 0", "rho: [0, 0]"}}),
       Machine({{"rho: 0", "rho: 1"}})},
      {"COREML-SVM-006", kFeature, Machine({{"[3, 4]", "3"}}), Machine({{"[3, 4]", "[3, 0]"}})},
      {"COREML-BAYES-001", kFeature, Kind(kPair, "doubleType {}", "bayesianProbitRegressor {}"),
       Kind("multiArrayType { shape: 2 dataType: INT32 }", "doubleType {}",
            "bayesianProbitRegressor {}")},
      {"COREML-ITEMS-001", kFeature, Items("itemInt64Ids { vector: [7, 7] }", kGiven),
       Items("itemInt64Ids { vector: [7, 8] }", kGiven)},
      {"COREML-ITEMS-002", kFeature, Items("itemStringIds { vector: \"a\" }", kGiven),
       Items("itemStringIds { vector: [\"a\", \"b\"] }", kGiven)},
      {"COREML-ITEMS-003", kFeature, Items("", ""), Items("", kGiven)},
  };
}

std::vector<RuleExample> TreeExamples() {
  return {
      {"COREML-TREE-001", kFeature,
       TreeEdits({{"Dimensions: 1", "Dimensions: 1 basePredictionValue: [0, 0]"}}),
       TreeEdits({{"Dimensions: 1", "Dimensions: 1 basePredictionValue: 0"}})},
      {"COREML-TREE-002", kFeature, TreeEdits({{"evaluationInfo { evaluationValue: 1 }", ""}}),
       TreeEdits({{"evaluationInfo { evaluationValue: 1 }", "evaluationInfo {}"}})},
      {"COREML-TREE-003", kFeature, TreeEdits({{"nodes { treeId: 1", "nodes { nodeId: 1"}}),
       TreeEdits({{"nodes { treeId: 1", "nodes { nodeId: 3 treeId: 3"}})},
      {"COREML-TREE-004 COREML-TREE-005", kFeature,
       TreeEdits({{"falseChildNodeId: 2", "falseChildNodeId: 3"}}), TreeEdits()},
      {"COREML-TREE-005", kFeature, TreeEdits({{"nodes { treeId: 1", "nodes { nodeId: 3"}}),
       TreeEdits({{"nodes { treeId: 1", "nodes { treeId: 2"}})},
  };
}

}  // namespace nn::coreml
