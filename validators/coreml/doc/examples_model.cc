// Examples of Core ML rules: models, features, model types, programs.
#include <fmt/core.h>

#include "validators/coreml/doc/example_models.h"

namespace nn::coreml {

std::vector<RuleExample> ModelExamples() {
  return {
      {"COREML-MODEL-001",
       kNet,
       {{"specificationVersion: 5", ""}},
       {{"specificationVersion: 5", "specificationVersion: 1"}}},
      {"COREML-MODEL-002",
       kNet,
       {{"specificationVersion: 5", "specificationVersion: 11"}},
       {{"specificationVersion: 5", "specificationVersion: 10"}}},
      {"COREML-MODEL-003",
       kFeature,
       {{"serializedModel { identifier: \"m\" }", ""}},
       {{"serializedModel { identifier: \"m\" }", "# field 900"}}},
      {"COREML-MODEL-004", kFeature, {{"output { name: \"y\" type { int64Type {} } }", ""}}, {}},
      {"COREML-MODEL-005",
       kLoose,
       {{"input { name: \"x\" type { multiArrayType { shape: [1, 2, 4, 4] dataType: FLOAT32 } } }",
         ""},
        {kLayer, "fillStatic { targetShape: 1 }"},
        {"input: \"x\"", ""}},
       {{"input { name: \"x\" type { multiArrayType { shape: [1, 2, 4, 4] dataType: FLOAT32 } } }",
         ""},
        {kLayer, "fillStatic { targetShape: 1 }"},
        {"input: \"x\"", ""},
        {"Version: 5", "Version: 9"}}},
      {"COREML-MODEL-006", kFunctions, {{"Version: 9", "Version: 8"}}, {}},
      {"COREML-MODEL-006", kFunctions, {{"field 502", "field 900"}}, {{"9", "10"}}},
      {"COREML-MODEL-007",
       kFunctions,
       {{"description {", "description { predictedFeatureName: \"y\""}},
       {{"description {", "description { metadata { author: \"a\" }"}}},
      {"COREML-MODEL-008", kFunctions, {{"FunctionName: \"main\"", "FunctionName: \"other\""}}, {}},
      {"COREML-MODEL-009",
       kLoose,
       {{"type {", "type { isOptional: true"}},
       {{"description {",
         "description { input { name: \"z\" type { isOptional: true "
         "multiArrayType { shape: 2 dataType: FLOAT32 } } }"}}},
      {"COREML-MODEL-010",
       kFeature,
       {{"name: \"y\" type {", "name: \"y\" type { isOptional: true"}},
       {{"description {",
         "description { input { name: \"z\" type { isOptional: true "
         "int64Type {} } }"}}},
      {"COREML-MODEL-011",
       kClassifier,
       {{"output { name: \"label\" type { stringType {} } }", ""}},
       {{"predictedProbabilitiesName: \"scores\"", ""}, {"name: \"scores\"", "name: \"p\""}}},
      {"COREML-MODEL-012",
       kFeature,
       {{"description {", "description { input { name: \"x\" type { int64Type {} } }"}},
       {{"description {", "description { input { name: \"y\" type { int64Type {} } }"}}},
      {"COREML-MODEL-014", kSound, {{"2003 a20100", "2003"}}, {}},
      {"COREML-MODEL-014",
       kSound,
       {{"2003 a20100", "2006 a20100"}},
       {{"2003 a20100", "2006 a201020801"}}},
      {"COREML-MODEL-015",
       kSound,
       {{"15600", "15000"}},
       {{"input {", "input { shortDescription: \"samples\""},
        {"output {", "output { shortDescription: \"spectrum\""}}},
      {"COREML-MODEL-015", kSound, {{"[1, 96, 64]", "[96, 64]"}}, {}},
      {"COREML-MODEL-016",
       kFunctions,
       {Before("defaultFunctionName",
               "functions { name: \"main\" input { name: \"x\" type { int64Type {} } } "
               "output { name: \"y\" type { int64Type {} } } }")},
       {Before("defaultFunctionName",
               "functions { name: \"other\" input { name: \"x\" type { int64Type {} } } "
               "output { name: \"y\" type { int64Type {} } } }")}},
      {"COREML-MODEL-017",
       kUpdatable,
       {{"specificationVersion: 5", "specificationVersion: 3"}},
       {{"specificationVersion: 5", "specificationVersion: 4"}}},
      {"COREML-ENUM-001", kLoose, Layer("unary { type: 9 }"), Layer("unary { type: RSQRT }")},
  };
}

std::vector<RuleExample> FeatureExamples() {
  return {
      {"COREML-FEATURE-001", kFeature, {{"name: \"x\"", ""}}, {{"name: \"x\"", "name: \"x_1\""}}},
      {"COREML-FEATURE-002", kFeature, {{"int64Type {}", ""}}, {{"int64Type {}", "stringType {}"}}},
      {"COREML-FEATURE-003",
       kState,
       {{"stateType { arrayType { shape: 2 dataType: FLOAT16 } }",
         "multiArrayType { shape: 2 dataType: FLOAT16 }"}},
       {}},
      {"COREML-FEATURE-003",
       kState,
       {{"state { name: \"s\"", "output { name: \"s\""}},
       {{"state { name: \"s\"", "input { name: \"s\""}}},
      {"COREML-FEATURE-004", kFeature, Array(""), Array("shape: 1")},
      {"COREML-FEATURE-004", kFeature,
       Array("enumeratedShapes { shapes { shape: 2 } shapes { shape: 3 } }",
             {{"Version: 10", "Version: 2"}}),
       Array("enumeratedShapes { shapes { shape: 2 } shapes { shape: 3 } }",
             {{"Version: 10", "Version: 3"}})},
      {"COREML-FEATURE-005", kFeature, Array("shape: [2, -1]"), Array("shape: [2, 0]")},
      {"COREML-FEATURE-006", kFeature, Type("multiArrayType { shape: 2 }"),
       Type("multiArrayType { shape: 2 dataType: DOUBLE }")},
      {"COREML-FEATURE-006", kFeature,
       Type("multiArrayType { shape: 2 dataType: INT8 }", {{"Version: 10", "Version: 9"}}),
       Type("multiArrayType { shape: 2 dataType: INT8 }")},
      {"COREML-FEATURE-006", kState, {{"FLOAT16", "FLOAT32"}}, {{"FLOAT16", "INT8"}}},
      {"COREML-FEATURE-007", kFeature, Array("shape: 2 floatDefaultValue: 1"),
       Array("shape: 2 intDefaultValue: 128")},
      {"COREML-FEATURE-007", kFeature,
       Type("multiArrayType { shape: 2 dataType: INT8 intDefaultValue: 128 }"),
       Type("multiArrayType { shape: 2 dataType: INT8 intDefaultValue: 127 }")},
      {"COREML-FEATURE-008", kFeature,
       Type("sequenceType { int64Type {} sizeRange { lowerBound: 3 upperBound: 2 } }"),
       Type("sequenceType { int64Type {} sizeRange { lowerBound: 3 upperBound: -1 } }")},
      {"COREML-FEATURE-009", kFeature,
       Array("shape: 4 shapeRange { sizeRanges { lowerBound: 1 upperBound: 3 } }"),
       Array("shape: 3 shapeRange { sizeRanges { lowerBound: 1 upperBound: 3 } }")},
      {"COREML-FEATURE-009", kFeature,
       Array("shape: 4 enumeratedShapes { shapes { shape: 2 } shapes { shape: 3 } }"),
       Array("shape: 3 enumeratedShapes { shapes { shape: 2 } shapes { shape: 3 } }")},
      {"COREML-FEATURE-010", kImage, {{"width: 4", "width: 0"}}, {{"width: 4", "width: 1"}}},
      {"COREML-FEATURE-010",
       kImage,
       {{"RGB",
         "RGB imageSizeRange { widthRange { lowerBound: 1 upperBound: 3 } "
         "heightRange { lowerBound: 1 upperBound: -1 } }"}},
       {{"RGB",
         "RGB imageSizeRange { widthRange { lowerBound: 1 upperBound: 4 } "
         "heightRange { lowerBound: 1 upperBound: -1 } }"}}},
      {"COREML-FEATURE-011", kImage, {{"colorSpace: RGB", ""}}, {{"RGB", "BGR"}}},
      {"COREML-FEATURE-011",
       kImage,
       {{"RGB", "GRAYSCALE_FLOAT16"}, {"Version: 5", "Version: 6"}},
       {{"RGB", "GRAYSCALE_FLOAT16"}, {"Version: 5", "Version: 7"}}},
      {"COREML-FEATURE-012", kFeature, Type("dictionaryType {}"),
       Type("dictionaryType { int64KeyType {} }")},
      {"COREML-FEATURE-012", kFeature, Type("sequenceType { sizeRange { upperBound: -1 } }"),
       Type("sequenceType { sizeRange { upperBound: -1 } stringType {} }")},
      {"COREML-FEATURE-013",
       kState,
       {{"stateType {", "isOptional: true stateType {"}},
       {{"state {", "state { shortDescription: \"memory\""}}},
      {"COREML-FEATURE-013",
       kState,
       {{"Version: 9", "Version: 8"}},
       {{"Version: 9", "Version: 10"}}},
      {"COREML-FEATURE-014",
       kLoose,
       {Before("output {",
               "input { name: \"z\" type { isOptional: true multiArrayType { shape: 1 "
               "dataType: FLOAT32 floatDefaultValue: 1 } } }"),
        {"Version: 5", "Version: 4"}},
       {Before("output {",
               "input { name: \"z\" type { isOptional: true multiArrayType { shape: 1 "
               "dataType: FLOAT32 floatDefaultValue: 1 } } }")}},
  };
}

std::vector<RuleExample> KindExamples() {
  const Edit optional{"type {", "type { isOptional: true"};
  const std::string serialized = "serializedModel { identifier: \"m\" }";
  return {
      {"COREML-KIND-001", kNeighbors, {{"type {", "type { isOptional: true"}}, {}},
      {"COREML-KIND-006",
       kFeature,
       {{"int64Type {}", "multiArrayType { shape: 2 dataType: DOUBLE }"},
        {"serializedModel { identifier: \"m\" }", "normalizer {}"}},
       {{"int64Type {}", "multiArrayType { shape: 2 dataType: DOUBLE }"},
        {"int64Type {}", "multiArrayType { shape: 2 dataType: DOUBLE }"},
        {"serializedModel { identifier: \"m\" }", "normalizer {}"}}},
      {"COREML-KIND-002",
       kNeighbors,
       {{"defaultValue: 1", "defaultValue: 6"}},
       {{"defaultValue: 1", "defaultValue: 5"}}},
      {"COREML-KIND-002",
       kNeighbors,
       {{"range { minValue: 1 maxValue: 5 }", "set { values: [0, 1] }"}},
       {{"range { minValue: 1 maxValue: 5 }", "set { values: [3, 1] }"}}},
      {"COREML-KIND-003",
       kNeighbors,
       {{"leafSize: 30", "leafSize: 0"}},
       {{"leafSize: 30", "leafSize: 1"}}},
      {"COREML-KIND-003",
       kNeighbors,
       {{"uniformWeighting {}", ""}},
       {{"uniformWeighting {}", "inverseDistanceWeighting {}"}}},
      {"COREML-KIND-004",
       kNeighbors,
       {{"defaultStringLabel: \"none\"", "defaultInt64Label: 1"}},
       {{"defaultStringLabel: \"none\"", ""}}},
      {"COREML-KIND-005",
       kNeighbors,
       {{"vector: [3, 4]", "vector: [3]"}},
       {{"vector: [3, 4]", "vector: [5, 6]"}}},
      {"COREML-KIND-005",
       kNeighbors,
       {{"[\"a\", \"b\"]", "\"a\""}},
       {{"[\"a\", \"b\"]", "[\"a\", \"a\"]"}}},
  };
}

std::vector<RuleExample> ProgramExamples() {
  const auto classify = [](std::string_view labels) {
    return fmt::format(
        R"(outputs: "w"
      operations {{ type: "softmax" outputs {{ name: "p" type {{ tensorType {{
        dataType: FLOAT32 rank: 1 dimensions {{ constant {{ size: 2 }} }} }} }} }} }}
      operations {{ type: "const" outputs {{ name: "c" }}
        attributes {{ key: "val" value {{ immediateValue {{ list {{ {} }} }} }} }} }}
      operations {{ type: "classify" outputs {{ name: "l" }}
        inputs {{ key: "probabilities" value {{ arguments {{ name: "p" }} }} }}
        inputs {{ key: "classes" value {{ arguments {{ name: "c" }} }} }} }})",
        labels);
  };
  return {
      {"COREML-MIL-001",
       kProgram,
       {{"offset: 64", "offset: 128"}},
       {{"a.bin", "b.bin"}, {"FLOAT32 rank", "INT32 rank"}}},
      {"COREML-MIL-001", kProgram, {{"a.bin", "c.bin"}}, {{"weights/a.bin", "d.bin"}}},
      {"COREML-MIL-002",
       kProgram,
       {{"size: 2", "size: 3"}},
       {{"dimensions {", "dimensions { constant { size: 1 } } dimensions {"}}},
      {"COREML-MIL-002",
       kProgram,
       {{"FLOAT32 rank", "INT32 rank"}},
       {{"FLOAT32 rank", "INT32 rank"}, {"a.bin", "b.bin"}}},
      {"COREML-MIL-003",
       kProgram,
       {{"opset: \"CoreML6\"", "opset: \"CoreML5\""}},
       {{"opset: \"CoreML6\"", "opset: \"CoreML5\""}, {"key: \"CoreML6\"", "key: \"CoreML5\""}}},
      {"COREML-MIL-004",
       kProgram,
       {{"outputs: \"w\"", classify("values {} values {} values {}")}},
       {{"outputs: \"w\"", classify("values {} values {}")}}},
  };
}

}  // namespace nn::coreml
