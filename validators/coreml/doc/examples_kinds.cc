// Examples of Core ML rules: models that prepare features, suppression, model types with opaque
// parameters, advice.
#include "validators/coreml/doc/example_models.h"

namespace nn::coreml {
namespace {

constexpr const char* kArray = "multiArrayType { shape: 2 dataType: DOUBLE }";
constexpr const char* kNumber = "doubleType {}";
constexpr const char* kString = "stringType {}";

std::vector<Edit> OfArrays(const std::string& model) {
  return Kind(kArray, kArray, model);
}

// Curves with the given list of precision values.
std::vector<Edit> Curve(const std::string& values) {
  return OfArrays(
      "classConfidenceThresholding { precisionRecallCurves { "
      "precisionValues { vector: " +
      values +
      " } "
      "precisionConfidenceThresholds { vector: [0, 1] } recallValues { vector: 1 } "
      "recallConfidenceThresholds { vector: 0 } } }");
}

// Boxes and their classes; `more` are further edits.
std::vector<Edit> Boxes(const std::vector<Edit>& more = {}) {
  const std::string array = "multiArrayType { shape: [5, 3] dataType: DOUBLE }";
  auto edits = Kind(array + " } } input { name: \"c\" type { " + array,
                    array + " } } output { name: \"d\" type { " + array,
                    "nonMaximumSuppression { iouThreshold: 0.5 confidenceThreshold: 0.5 "
                    "confidenceInputFeatureName: \"x\" coordinatesInputFeatureName: \"c\" "
                    "confidenceOutputFeatureName: \"y\" coordinatesOutputFeatureName: \"d\" "
                    "stringClassLabels { vector: [\"a\", \"b\", \"c\"] } }");
  edits.insert(edits.end(), more.begin(), more.end());
  return edits;
}

std::vector<Edit> Tagger(const std::string& type, const std::string& fields) {
  return Kind(kString, "sequenceType { " + type + " {} }",
              "wordTagger { revision: 1 modelParameterData: \"a\" stringTags { vector: \"t\" } " +
                  fields + " }");
}

}  // namespace

std::vector<RuleExample> EngineeringExamples() {
  const std::string strings = "sequenceType { stringType {} }";
  const std::string integers = "sequenceType { int64Type {} }";
  const std::string mapping = "categoricalMapping { stringToInt64Map {} ";
  return {
      {"COREML-KIND-007", kFeature, Kind("int64Type {}", kArray, "oneHotEncoder {}"),
       Kind("int64Type {}", kArray, "oneHotEncoder { int64Categories { vector: 1 } }")},
      {"COREML-KIND-008", kFeature, OfArrays("normalizer { normType: 3 }"),
       OfArrays("normalizer { normType: L2 }")},
      {"COREML-KIND-009", kFeature,
       Kind(kArray, "multiArrayType { shape: 3 dataType: DOUBLE }", "scaler {}"),
       OfArrays("scaler {}")},
      {"COREML-KIND-010", kFeature, OfArrays("scaler { shiftValue: [1, 2, 3] }"),
       OfArrays("scaler { shiftValue: [1, 2] }")},
      {"COREML-KIND-011", kFeature, OfArrays("imputer { imputedDoubleArray { vector: 1 } }"),
       OfArrays("imputer { imputedDoubleArray { vector: [1, 2] } replaceDoubleValue: 0 }")},
      {"COREML-KIND-012", kFeature,
       Kind(kNumber, kArray, "featureVectorizer { inputList { inputColumn: \"x\" } }"),
       Kind(kNumber, kArray,
            "featureVectorizer { inputList { inputColumn: \"x\" inputDimensions: 1 } }")},
      {"COREML-KIND-013", kFeature,
       Kind(kNumber, kArray,
            "featureVectorizer { inputList { inputColumn: \"z\" inputDimensions: 1 } }"),
       Kind(kNumber, kArray, "featureVectorizer {}")},
      {"COREML-KIND-014", kFeature,
       Kind(kArray, kNumber, "arrayFeatureExtractor { extractIndex: [0, 1] }"),
       Kind(kArray, kNumber, "arrayFeatureExtractor { extractIndex: 1 }")},
      {"COREML-KIND-015", kFeature, OfArrays("arrayFeatureExtractor { extractIndex: 2 }"),
       OfArrays("arrayFeatureExtractor { extractIndex: 1 }")},
      {"COREML-KIND-016", kFeature, Kind(kString, "int64Type {}", mapping + "strValue: \"a\" }"),
       Kind(kString, "int64Type {}", mapping + "int64Value: 1 }")},
      {"COREML-KIND-017", kFeature, Kind(strings, strings, mapping + "}"),
       Kind(strings, integers, mapping + "}")},
      {"COREML-KIND-018", kFeature, Curve("[1, -1]"), Curve("[1, 0]")},
  };
}

std::vector<RuleExample> SuppressionExamples() {
  const Edit integer{"dataType: DOUBLE", "dataType: FLOAT32"};
  return {
      {"COREML-NMS-001", kFeature,
       Boxes({Before("output {", "input { name: \"z\" type { doubleType {} } }")}),
       Boxes({Before("output {", "input { name: \"z\" type { doubleType {} } }"),
              {"iouThreshold:", "iouThresholdInputFeatureName: \"z\" iouThreshold:"}})},
      {"COREML-NMS-002", kFeature,
       Boxes({Before("output {", "input { name: \"z\" type { int64Type {} } }"),
              {"iouThreshold:", "iouThresholdInputFeatureName: \"z\" iouThreshold:"}}),
       Boxes()},
      {"COREML-NMS-003", kFeature, Boxes({{"iouThreshold: 0.5", "iouThreshold: 1.5"}}),
       Boxes({{"confidenceThreshold: 0.5", "confidenceThreshold: 1.5"}})},
      {"COREML-NMS-004", kFeature, Boxes({integer}), Boxes({integer, integer, integer, integer})},
      {"COREML-NMS-005", kFeature, Boxes({{"[\"a\", \"b\", \"c\"]", "[\"a\", \"b\"]"}}),
       Boxes({{"stringClassLabels { vector: [\"a\", \"b\", \"c\"] }", ""}})},
  };
}

std::vector<RuleExample> AppleExamples() {
  const std::string image = "imageType { width: 4 height: 4 colorSpace: RGB }";
  const auto print = [&](const std::string& outputs) {
    return Kind(
        image, std::string(kArray) + " } } output { name: \"z\" type { " + kArray,
        "visionFeaturePrint { objects { version: OBJECTS_VERSION_1 output: [" + outputs + "] } }");
  };
  const std::string tags = "tokenTagsOutputFeatureName: \"y\"";
  const std::string custom = "customModel { className: \"C\" parameters { key: \"k\" value { ";
  return {
      {"COREML-KIND-019", kFeature, OfArrays("audioFeaturePrint { sound { version: 2 } }"),
       OfArrays("audioFeaturePrint { sound { version: SOUND_VERSION_1 } }")},
      {"COREML-KIND-020", kFeature, print("\"y\", \"v\""), print("\"z\", \"y\"")},
      {"COREML-KIND-021", kFeature,
       Kind(kString, kString,
            "textClassifier { modelParameterData: \"a\" stringClassLabels { vector: \"a\" } }"),
       Kind(kString, kString,
            "textClassifier { revision: 1 modelParameterData: \"a\" "
            "stringClassLabels { vector: \"a\" } }")},
      {"COREML-KIND-022", kFeature, Tagger("int64Type", tags), Tagger("stringType", tags)},
      {"COREML-KIND-023", kFeature, OfArrays(custom + "} } }"),
       OfArrays(custom + "intValue: 0 } } }")},
      {"COREML-KIND-024", kFeature, OfArrays("linkedModel { linkedModelFile {} }"),
       OfArrays("linkedModel { linkedModelFile { linkedModelFileName { "
                "defaultValue: \"m.mlmodelc\" } } }")},
  };
}

std::vector<RuleExample> LintExamples() {
  const auto table = [](const std::string& scale) {
    return Layer(
        "convolution { outputChannels: 1 kernelChannels: 2 kernelSize: [1, 1] valid {} "
        "weights { rawValue: \"12\" quantization { numberOfBits: 8 "
        "linearQuantization { scale: " +
        scale + " } } } }");
  };
  const std::string described = "description { metadata { shortDescription: \"A model.\" }";
  const std::string product =
      "innerProduct { inputChannels: 1 outputChannels: 1 weights { floatValue: 1 } "
      "bias { floatValue: 1 } ";
  const auto shapes = [](const std::string& list) {
    return Edit{
        "shape: [1, 2, 4, 4]",
        "shape: [1, 2, 4, 4] enumeratedShapes { shapes { shape: [1, 2, 4, 4] } " + list + " }"};
  };
  return {
      {"COREML-LINT-001",
       kLoose,
       {{"description {", described}},
       {{"description {", described},
        {"input {", "input { shortDescription: \"An array.\""},
        {"output {", "output { shortDescription: \"An array.\""}}},
      {"COREML-LINT-002", kLoose, {{"name: \"l\"", ""}}, {{"name: \"l\"", "name: \"l/1\""}}},
      {"COREML-LINT-003", kLoose, table("0"), table("0.5")},
      {"COREML-LINT-004", kLoose, {shapes("")}, {shapes("shapes { shape: [1, 2, 8, 8] }")}},
      {"COREML-LINT-005", kLoose, Layer(product + "}"), Layer(product + "hasBias: true }")},
  };
}

}  // namespace nn::coreml
