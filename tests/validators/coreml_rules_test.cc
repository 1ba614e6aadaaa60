// Rules of Core ML models, each broken and nearly broken.
#include <doctest/doctest.h>

#include <filesystem>

#include "support/files.h"
#include "validators/rule_cases.h"

namespace nn::test {
namespace {

// The layer of kNet; cases put another in its place.
constexpr const char* kLayer = "activation { ReLU {} }";

constexpr const char* kNet = R"(
specificationVersion: 5
description {
  input { name: "x" type { multiArrayType { shape: [1, 2, 4, 4] dataType: FLOAT32 } } }
  output { name: "y" type { multiArrayType { dataType: FLOAT32 } } }
}
neuralNetwork {
  arrayInputShapeMapping: EXACT_ARRAY_MAPPING
  layers { name: "l" input: "x" output: "y" inputTensor { rank: 4 } outputTensor { rank: 4 }
    activation { ReLU {} } }
})";

// Ranks are not declared and so not checked.
constexpr const char* kLoose = R"(
specificationVersion: 5
description {
  input { name: "x" type { multiArrayType { shape: [1, 2, 4, 4] dataType: FLOAT32 } } }
  output { name: "y" type { multiArrayType { dataType: FLOAT32 } } }
}
neuralNetwork {
  arrayInputShapeMapping: EXACT_ARRAY_MAPPING
  layers { name: "l" input: "x" output: "y" activation { ReLU {} } }
})";

// Blobs of rank 5, as versions 1 to 3 have them.
constexpr const char* kRank5 = R"(
specificationVersion: 1
description {
  input { name: "x" type { multiArrayType { shape: [2, 4, 4] dataType: FLOAT32 } } }
  output { name: "y" type { multiArrayType { dataType: FLOAT32 } } }
}
neuralNetwork { layers { name: "l" input: "x" output: "y" activation { ReLU {} } } })";

constexpr const char* kChain = R"(
specificationVersion: 5
description {
  input { name: "x" type { multiArrayType { shape: [1, 2, 4, 4] dataType: FLOAT32 } } }
  output { name: "y" type { multiArrayType { dataType: FLOAT32 } } }
}
neuralNetwork {
  arrayInputShapeMapping: EXACT_ARRAY_MAPPING
  layers { name: "a" input: "x" output: "t" activation { ReLU {} } }
  layers { name: "b" input: "t" output: "y" activation { ReLU {} } }
})";

constexpr const char* kImage = R"(
specificationVersion: 5
description {
  input { name: "x" type { imageType { width: 4 height: 4 colorSpace: RGB } } }
  output { name: "y" type { multiArrayType { dataType: FLOAT32 } } }
}
neuralNetwork {
  imageInputShapeMapping: RANK4_IMAGE_MAPPING
  layers { name: "l" input: "x" output: "y" softmax {} }
  preprocessing { featureName: "x" scaler { channelScale: 2 } }
})";

constexpr const char* kClassifier = R"(
specificationVersion: 5
description {
  input { name: "x" type { multiArrayType { shape: [2] dataType: FLOAT32 } } }
  output { name: "label" type { stringType {} } }
  output { name: "scores" type { dictionaryType { stringKeyType {} } } }
  predictedFeatureName: "label"
  predictedProbabilitiesName: "scores"
}
neuralNetworkClassifier {
  arrayInputShapeMapping: EXACT_ARRAY_MAPPING
  layers { name: "l" input: "x" output: "p" softmaxND { axis: 0 } }
  stringClassLabels { vector: ["a", "b"] }
  labelProbabilityLayerName: "p"
})";

// Any features, of a model that has no rules of its own.
constexpr const char* kFeature = R"(
specificationVersion: 10
description {
  input { name: "x" type { int64Type {} } }
  output { name: "y" type { int64Type {} } }
}
serializedModel { identifier: "m" })";

// A model with functions; field 502 is mlProgram.
constexpr const char* kFunctions = R"(
specificationVersion: 9
description {
  functions { name: "main"
    input { name: "x" type { int64Type {} } } output { name: "y" type { int64Type {} } } }
  defaultFunctionName: "main"
}
# field 502
)";

constexpr const char* kState = R"(
specificationVersion: 9
description {
  input { name: "x" type { int64Type {} } }
  output { name: "y" type { int64Type {} } }
  state { name: "s" type { stateType { arrayType { shape: 2 dataType: FLOAT16 } } } }
}
# field 502
)";

// Field 2003 is soundAnalysisPreprocessing, its field 20 vggish.
constexpr const char* kSound = R"(
specificationVersion: 4
description {
  input { name: "x" type { multiArrayType { shape: 15600 dataType: FLOAT32 } } }
  output { name: "y" type { multiArrayType { shape: [1, 96, 64] dataType: FLOAT32 } } }
}
# field 2003 a20100
)";

constexpr const char* kPipeline = R"(
specificationVersion: 5
description {
  input { name: "x" type { multiArrayType { shape: 2 dataType: FLOAT32 } } }
  output { name: "y" type { multiArrayType { dataType: FLOAT32 } } }
}
pipeline {
  models {
    specificationVersion: 5
    description {
      input { name: "x" type { multiArrayType { shape: 2 dataType: FLOAT32 } } }
      output { name: "t" type { multiArrayType { shape: 2 dataType: FLOAT32 } } }
    }
    neuralNetwork {
      arrayInputShapeMapping: EXACT_ARRAY_MAPPING
      layers { name: "a" input: "x" output: "t" activation { ReLU {} } }
    }
  }
  models {
    specificationVersion: 5
    description {
      input { name: "t" type { multiArrayType { shape: 2 dataType: FLOAT32 } } }
      output { name: "y" type { multiArrayType { dataType: FLOAT32 } } }
    }
    serializedModel { identifier: "m" }
  }
  names: ["a", "b"]
})";

constexpr const char* kUpdatable = R"(
specificationVersion: 5
isUpdatable: true
description {
  input { name: "x" type { multiArrayType { shape: 2 dataType: FLOAT32 } } }
  output { name: "y" type { multiArrayType { dataType: FLOAT32 } } }
  trainingInput { name: "x" type { multiArrayType { shape: 2 dataType: FLOAT32 } } }
  trainingInput { name: "want" type { multiArrayType { shape: 2 dataType: FLOAT32 } } }
}
neuralNetwork {
  arrayInputShapeMapping: EXACT_ARRAY_MAPPING
  layers { name: "fc" input: "x" output: "t" isUpdatable: true
    innerProduct { inputChannels: 2 outputChannels: 2 hasBias: true
      weights { floatValue: [1, 2, 3, 4] isUpdatable: true }
      bias { floatValue: [1, 2] isUpdatable: true } } }
  layers { name: "act" input: "t" output: "y" activation { sigmoid {} } }
  updateParams {
    lossLayers { name: "loss" meanSquaredErrorLossLayer { input: "y" target: "want" } }
    optimizer { sgdOptimizer { learningRate { defaultValue: 0.1 }
      miniBatchSize { defaultValue: 4 set { values: [2, 4] } } } }
    epochs { defaultValue: 3 range { minValue: 1 maxValue: 3 } }
  }
})";

constexpr const char* kNeighbours = R"(
specificationVersion: 4
description {
  input { name: "x" type { multiArrayType { shape: 2 dataType: FLOAT32 } } }
  output { name: "label" type { stringType {} } }
  predictedFeatureName: "label"
}
kNearestNeighborsClassifier {
  nearestNeighborsIndex { numberOfDimensions: 2
    floatSamples { vector: [1, 2] } floatSamples { vector: [3, 4] }
    singleKdTreeIndex { leafSize: 30 } squaredEuclideanDistance {} }
  numberOfNeighbors { defaultValue: 1 range { minValue: 1 maxValue: 5 } }
  stringClassLabels { vector: ["a", "b"] }
  defaultStringLabel: "none"
  uniformWeighting {}
})";

// Its weights lie in files that WriteWeightFiles() makes.
constexpr const char* kProgram = R"(
specificationVersion: 7
description {
  input { name: "x" type { multiArrayType { shape: 2 dataType: FLOAT32 } } }
  output { name: "w" type { multiArrayType { dataType: FLOAT32 } } }
}
mlProgram {
  version: 1
  functions { key: "main" value {
    opset: "CoreML6"
    block_specializations { key: "CoreML6" value {
      outputs: "w"
      operations { type: "const" outputs { name: "w" } attributes { key: "val" value {
        type { tensorType { dataType: FLOAT32 rank: 1 dimensions { constant { size: 2 } } } }
        blobFileValue { fileName: "@model_path/weights/a.bin" offset: 64 } } } } } } } }
})";

// Loop and branch; "c" is a condition.
constexpr const char* kControl = R"(
specificationVersion: 5
description {
  input { name: "x" type { multiArrayType { shape: [2] dataType: FLOAT32 } } }
  input { name: "c" type { multiArrayType { shape: [1] dataType: FLOAT32 } } }
  output { name: "y" type { multiArrayType { dataType: FLOAT32 } } }
}
neuralNetwork {
  arrayInputShapeMapping: EXACT_ARRAY_MAPPING
  layers { name: "b" input: "c" branch {
    ifBranch { layers { name: "b1" input: "x" output: "t" activation { ReLU {} } } }
    elseBranch { layers { name: "b2" input: "x" output: "t" activation { tanh {} } } } } }
  layers { name: "w" loop { maxLoopIterations: 3
    conditionVar: "go"
    conditionNetwork { layers { name: "w1" input: "t" output: "go" ceil {} } }
    bodyNetwork {
      layers { name: "w2" input: "t" output: "u" activation { ReLU {} } }
      layers { name: "w3" loopBreak {} }
    } } }
  layers { name: "e" input: "t" output: "y" activation { ReLU {} } }
})";

std::string Encode(const std::string& text) {
  return EncodeProto("nn.coreml.pb.Model", text);
}

// kLayer becomes another layer.
std::vector<Edit> Layer(std::string layer, std::vector<Edit> more = {}) {
  more.insert(more.begin(), {kLayer, std::move(layer)});
  return more;
}

// The input's type in kFeature becomes another.
std::vector<Edit> Type(std::string type, std::vector<Edit> more = {}) {
  more.insert(more.begin(), {"int64Type {}", std::move(type)});
  return more;
}

// The array of the input in kFeature.
std::vector<Edit> Array(const std::string& fields, std::vector<Edit> more = {}) {
  return Type("multiArrayType { dataType: INT32 " + fields + " }", std::move(more));
}

std::vector<RuleCase> Models() {
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
       kFeature,
       {{"input { name: \"x\" type { int64Type {} } }", ""}, {"Version: 10", "Version: 8"}},
       {{"input { name: \"x\" type { int64Type {} } }", ""}, {"Version: 10", "Version: 9"}}},
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
       {{"name: \"x\" type {", "name: \"x\" type { isOptional: true"}}},
      {"COREML-MODEL-011",
       kClassifier,
       {{"output { name: \"label\" type { stringType {} } }", ""}},
       {{"predictedProbabilitiesName: \"scores\"", ""}, {"name: \"scores\"", "name: \"p\""}}},
      {"COREML-MODEL-012",
       kFeature,
       {{"description {", "description { input { name: \"x\" type { int64Type {} } }"}},
       {{"description {", "description { input { name: \"y\" type { int64Type {} } }"}}},
      {"COREML-MODEL-013",
       kPipeline,
       {{"[\"a\", \"b\"]", "\"a\""}},
       {{"names: [\"a\", \"b\"]", ""}}},
      {"COREML-MODEL-014", kSound, {{"2003 a20100", "2003"}}, {}},
      {"COREML-MODEL-014",
       kSound,
       {{"2003 a20100", "2002 a20100"}},
       {{"2003 a20100", "2006 a201020801"}}},
      {"COREML-MODEL-015", kSound, {{"15600", "15000"}}, {}},
      {"COREML-MODEL-015",
       kSound,
       {{"[1, 96, 64]", "[96, 64]"}},
       {{"[1, 96, 64]", "[96, 64]"}, {"2003 a20100", "2002 a201020801"}}},
  };
}

std::vector<RuleCase> Features() {
  return {
      {"COREML-FEATURE-001", kFeature, {{"name: \"x\"", ""}}, {{"name: \"x\"", "name: \" \""}}},
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
       Array("enumeratedShapes { shapes { shape: 2 } }", {{"Version: 10", "Version: 2"}}),
       Array("enumeratedShapes { shapes { shape: 2 } }", {{"Version: 10", "Version: 3"}})},
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
  };
}

std::vector<RuleCase> Networks() {
  return {
      {"COREML-NN-001", kRank5, Layer("ceil {}", {{"Version: 1", "Version: 4"}}),
       Layer("ceil {}",
             {{"Version: 1", "Version: 4"},
              {"neuralNetwork {", "neuralNetwork { arrayInputShapeMapping: EXACT_ARRAY_MAPPING"}})},
      {"COREML-NN-002", kRank5, {{"[2, 4, 4]", "[4, 4]"}}, {{"[2, 4, 4]", "[4]"}}},
      {"COREML-NN-003 COREML-NN-007",
       kNet,
       {{"layers {", "#"}, {"activation { ReLU {} } }", ""}},
       {}},
      {"COREML-NN-004",
       kLoose,
       {{"description {", "description { input { name: \"i\" type { int64Type {} } }"}},
       {{"description {",
         "description { input { name: \"i\" type { imageType { width: 1 height: 1 "
         "colorSpace: BGR } } }"}}},
      {"COREML-NN-005",
       kChain,
       {{"input: \"t\"", "input: \"u\""}},
       {{"input: \"t\"", "input: \"x\""}}},
      {"COREML-NN-005",
       kControl,
       {{"output: \"t\" activation { tanh", "output: \"s\" activation { tanh"}},
       {}},
      {"COREML-NN-006",
       kChain,
       {{"output: \"t\"", "output: \"y\""}, {"input: \"t\"", "input: \"x\""}},
       {{"output: \"t\"", "output: \"y\""},
        {"input: \"t\"", "input: \"x\""},
        {"layers { name: \"b\" input: \"x\" output: \"y\" activation { ReLU {} }",
         "layers { name: \"b\" input: \"x\" output: \"y\" copy {}"}}},
      {"COREML-NN-007",
       kChain,
       {{"output: \"y\"", "output: \"z\""}},
       {{"name: \"y\"", "name: \"t\""}}},
      {"COREML-NN-008",
       kClassifier,
       {{"LayerName: \"p\"", "LayerName: \"q\""}},
       {{"labelProbabilityLayerName: \"p\"", ""}}},
      {"COREML-NN-008",
       kClassifier,
       {{"vector: [\"a\", \"b\"]", ""}},
       {{"stringClassLabels { vector: [\"a\", \"b\"]", "int64ClassLabels { vector: [1, 2]"}}},
      {"COREML-NN-009",
       kChain,
       {{"name: \"b\"", "name: \"a\""}},
       {{"name: \"b\"", ""}, {"name: \"a\"", ""}}},
      {"COREML-NN-010",
       kImage,
       {{"featureName: \"x\"", "featureName: \"y\""}},
       {{"featureName: \"x\"", ""}}},
  };
}

std::vector<RuleCase> Layers() {
  return {
      {"COREML-LAYER-001", kNet, Layer(""), Layer("sign {}")},
      {"COREML-LAYER-002", kNet, Layer("ceil {}", {{"Version: 5", "Version: 3"}}),
       Layer("ceil {}", {{"Version: 5", "Version: 4"}})},
      {"COREML-LAYER-003", kLoose, Layer("dot {}"),
       Layer("dot {}", {{"input: \"x\"", "input: [\"x\", \"x\"]"}})},
      {"COREML-LAYER-004",
       kLoose,
       {{"output: \"y\"", "output: [\"y\", \"z\"]"}},
       Layer("split { nOutputs: 2 }", {{"output: \"y\"", "output: [\"y\", \"z\"]"}})},
      {"COREML-LAYER-005",
       kNet,
       {{"inputTensor {", "inputTensor { rank: 4 } inputTensor {"}},
       {{"inputTensor { rank: 4 }", ""}}},
      {"COREML-LAYER-006",
       kNet,
       {{"outputTensor { rank: 4 }", "outputTensor { rank: 4 dimValue: 1 }"}},
       {{"outputTensor { rank: 4 }", "outputTensor { rank: 2 dimValue: [1, 2] }"}}},
      {"COREML-LAYER-006",
       kNet,
       {{"outputTensor { rank: 4 }", "outputTensor { rank: 6 }"}},
       {{"outputTensor { rank: 4 }", "outputTensor { rank: 5 }"}}},
      {"COREML-LAYER-007", kNet, {{"inputTensor { rank: 4 }", "inputTensor { rank: 3 }"}}, {}},
      {"COREML-LAYER-008",
       kChain,
       {{"output: \"t\"", "output: \"t\" outputTensor { rank: 4 }"},
        {"input: \"t\"", "input: \"t\" inputTensor { rank: 3 }"}},
       {{"output: \"t\"", "output: \"t\" outputTensor { rank: 4 }"},
        {"input: \"t\"", "input: \"t\" inputTensor { rank: 4 }"}}},
      {"COREML-LAYER-009", kNet,
       Layer("softmax {}", {{"[1, 2, 4, 4]", "[4, 4]"},
                            {"inputTensor { rank: 4 }", "inputTensor { rank: 2 }"},
                            {"outputTensor { rank: 4 }", "outputTensor { rank: 2 }"}}),
       Layer("softmax {}", {{"[1, 2, 4, 4]", "[2, 4, 4]"},
                            {"inputTensor { rank: 4 }", "inputTensor { rank: 3 }"},
                            {"outputTensor { rank: 4 }", "outputTensor { rank: 3 }"}})},
      {"COREML-LAYER-009", kNet,
       Layer("softmax {}", {{"outputTensor { rank: 4 }", "outputTensor { rank: 3 }"}}),
       Layer("softmax {}")},
      {"COREML-LAYER-009", kLoose,
       Layer("softmax {}", {{"multiArrayType { dataType", "multiArrayType { shape: 32 dataType"}}),
       Layer("softmax {}",
             {{"multiArrayType { dataType", "multiArrayType { shape: [1, 2, 4, 4] dataType"}})},
  };
}

std::vector<RuleCase> Weights() {
  const auto dense = [](const std::string& weights, const std::string& more = "") {
    return Layer("innerProduct { inputChannels: 2 outputChannels: 2 " + more + " weights { " +
                 weights + " } }");
  };
  const auto linear = [](const std::string& bits, const std::string& parameters) {
    return "quantization { numberOfBits: " + bits + " linearQuantization { " + parameters + " } }";
  };
  const auto norm = [](const std::string& gamma) {
    return Layer("layerNormalization { normalizedShape: 1 gamma { " + gamma +
                 " } beta { floatValue: 1 } }");
  };
  return {
      {"COREML-WEIGHT-001", kLoose, Layer("bias { shape: 1 }"),
       Layer("bias { shape: 1 bias { floatValue: 1 } }")},
      {"COREML-WEIGHT-001", kLoose, dense("floatValue: [1, 2, 3, 4] float16Value: \"12345678\""),
       dense("floatValue: [1, 2, 3, 4] rawValue: \"\"")},
      {"COREML-WEIGHT-002", kLoose, dense("floatValue: [1, 2, 3]"),
       dense("float16Value: \"12345678\"")},
      {"COREML-WEIGHT-002", kLoose, dense("rawValue: \"12\" " + linear("5", "scale: 1")),
       dense("rawValue: \"12\" " + linear("4", "scale: 1"))},
      {"COREML-WEIGHT-003", kLoose, dense("rawValue: \"1234\" " + linear("8", "scale: [1, 2, 3]")),
       dense("rawValue: \"1234\" " + linear("8", "scale: [1, 2] bias: 1"))},
      {"COREML-WEIGHT-003", kLoose, dense("rawValue: \"1234\" " + linear("9", "scale: 1")),
       dense("rawValue: \"1\" " + linear("1", "scale: 1"))},
      {"COREML-WEIGHT-003", kLoose,
       dense("rawValue: \"1\" quantization { numberOfBits: 2 "
             "lookupTableQuantization { floatValue: [1, 2] } }"),
       dense("rawValue: \"1\" quantization { numberOfBits: 2 "
             "lookupTableQuantization { floatValue: [1, 2, 3, 4] } }")},
      {"COREML-WEIGHT-004", kLoose,
       dense("int8RawValue: \"1234\" " + linear("8", "scale: 1 bias: 1"),
             "int8DynamicQuantize: true"),
       dense("int8RawValue: \"1234\" " + linear("8", "scale: 1"), "int8DynamicQuantize: true")},
      {"COREML-WEIGHT-005", kLoose, dense("int8RawValue: \"1234\" " + linear("8", "scale: 1")),
       dense("rawValue: \"1234\" " + linear("8", "scale: 1"))},
      {"COREML-WEIGHT-006", kLoose,
       dense("floatValue: [1, 2, 3, 4]", "hasBias: true bias { float16Value: \"1234\" }"),
       dense("float16Value: \"12345678\"", "hasBias: true bias { float16Value: \"1234\" }")},
      {"COREML-WEIGHT-007", kLoose, norm("rawValue: \"1\" " + linear("8", "scale: 1")),
       norm("floatValue: 1")},
      {"COREML-WEIGHT-007", kLoose, norm("floatValue: 1 quantization {}"), norm("floatValue: 1")},
      {"COREML-WEIGHT-008", kLoose, dense(""), dense("floatValue: [1, 2, 3, 4]")},
      {"COREML-WEIGHT-009", kLoose, dense("floatValue: [1, 2, 3, 4]", "hasBias: true"),
       dense("floatValue: [1, 2, 3, 4]", "hasBias: true bias { floatValue: [1, 2] }")},
  };
}

std::vector<RuleCase> Windows() {
  const auto conv = [](const std::string& fields, const std::string& weights = "9",
                       std::vector<Edit> more = {}) {
    return Layer("convolution { outputChannels: 2 kernelChannels: 2 " + fields +
                     " weights { quantization { numberOfBits: 8 linearQuantization { scale: 1 } }"
                     " rawValue: \"" +
                     std::string(std::stoul(weights) * 4, 'w') + "\" } }",
                 std::move(more));
  };
  const auto cubes = [](const std::string& fields, const std::string& size) {
    return Layer("pooling3d { kernelDepth: 1 kernelHeight: 1 kernelWidth: " + size +
                     " strideDepth: 1 strideHeight: 1 strideWidth: 1 " + fields + " }",
                 {{"[1, 2, 4, 4]", "[1, 2, 4, 4, 4]"}});
  };
  const auto dynamic = [](const std::string& fields) {
    return Layer("convolution { outputChannels: 2 kernelChannels: 2 valid {} " + fields + " }",
                 {{"input: \"x\"", "input: [\"x\", \"x\"]"}});
  };
  const std::string border = "borderAmounts { startEdgeSize: 1 }";
  return {
      {"COREML-WINDOW-001", kLoose, conv("valid {} stride: [1, 0]"),
       conv("valid {} stride: [1, 1]")},
      {"COREML-WINDOW-001", kLoose, Layer("resizeBilinear { targetSize: 2 }"),
       Layer("resizeBilinear {}")},
      {"COREML-WINDOW-002", kLoose, conv(""), conv("same {}")},
      {"COREML-WINDOW-002", kLoose, Layer("padding {}"), Layer("padding { constant {} }")},
      {"COREML-WINDOW-003", kLoose, cubes("", "0"), cubes("", "1")},
      {"COREML-WINDOW-003", kLoose, cubes("customPaddingTop: -1", "1"),
       cubes("customPaddingTop: 0", "1")},
      {"COREML-WINDOW-004", kLoose, conv("valid {} outputShape: [4, 4]"),
       conv("valid {} outputShape: [4, 4] isDeconvolution: true")},
      {"COREML-WINDOW-005", kLoose,
       Layer("convolution { outputChannels: 3 kernelChannels: 1 kernelSize: [1, 1] nGroups: 2 "
             "valid {} weights { floatValue: [1, 2, 3] } }"),
       Layer("convolution { outputChannels: 4 kernelChannels: 1 kernelSize: [1, 1] nGroups: 2 "
             "valid {} weights { floatValue: [1, 2, 3, 4] } }")},
      {"COREML-WINDOW-006", kLoose, dynamic("dilationFactor: [2, 2]"),
       dynamic("dilationFactor: [1, 1]")},
      {"COREML-WINDOW-007", kLoose,
       Layer("padding { constant {} paddingAmounts { " + border + " } }"),
       Layer("padding { constant {} paddingAmounts { " + border + border + " } }")},
      {"COREML-WINDOW-008", kLoose,
       Layer("upsample { fractionalScalingFactor: [2, 2] mode: BILINEAR }"),
       Layer("upsample { fractionalScalingFactor: [2, 2] mode: BILINEAR "
             "linearUpsampleMode: ALIGN_CORNERS_FALSE }")},
      {"COREML-WINDOW-008", kLoose, Layer("upsample { scalingFactor: 2 }"),
       Layer("upsample { scalingFactor: [2, 2] }")},
  };
}

std::vector<RuleCase> Parameters() {
  const Edit rank5{"outputTensor { rank: 4 }", "outputTensor { rank: 5 }"};
  const Edit rank6{"outputTensor { rank: 4 }", "outputTensor { rank: 3 }"};
  const std::vector<Edit> vectors = {{"[1, 2, 4, 4]", "[4]"},
                                     {"inputTensor { rank: 4 }", "inputTensor { rank: 1 }"},
                                     {"outputTensor { rank: 4 }", "outputTensor { rank: 1 }"}};
  const Edit none{"input: \"x\"", ""};
  return {
      {"COREML-PARAM-001", kNet, Layer("softmaxND { axis: 4 }"), Layer("softmaxND { axis: -4 }")},
      {"COREML-PARAM-001", kNet, Layer("reduceSum { axes: [0, -5] keepDims: true }"),
       Layer("reduceSum { axes: [0, -1] keepDims: true }")},
      {"COREML-PARAM-002 COREML-PARAM-003", kNet, Layer("squeeze { axes: [0, 0] }", {rank6}),
       Layer("squeeze { axes: [0] }", {rank6})},
      {"COREML-PARAM-003", kNet, Layer("expandDims { axes: 0 }"),
       Layer("expandDims { axes: 0 }", {rank5})},
      {"COREML-PARAM-003", kNet, Layer("expandDims { axes: 5 }", {rank5}),
       Layer("expandDims { axes: 4 }", {rank5})},
      {"COREML-PARAM-004", kNet, Layer("argSort { axis: -1 }"), Layer("argSort { axis: 3 }")},
      {"COREML-PARAM-005", kNet, Layer("reduce { axis: HW }", vectors),
       Layer("reduce { axis: W }", vectors)},
      {"COREML-PARAM-006", kLoose, Layer("reshapeStatic {}"),
       Layer("reshapeStatic { targetShape: -1 }")},
      {"COREML-PARAM-006", kLoose, Layer("fillStatic {}", {none}),
       Layer("fillStatic { targetShape: 1 }", {none})},
      {"COREML-PARAM-007", kRank5, Layer("reshape { targetShape: [4, 8] }"),
       Layer("reshape { targetShape: [1, 4, 8] }")},
      {"COREML-PARAM-007", kRank5, Layer("bias { shape: [1, 2] bias { floatValue: [1, 2] } }"),
       Layer("bias { shape: 2 bias { floatValue: [1, 2] } }")},
      {"COREML-PARAM-008", kLoose, Layer("slice { startIndex: 2 endIndex: 2 }"),
       Layer("slice { startIndex: 2 endIndex: -1 }")},
      {"COREML-PARAM-009", kLoose, Layer("randomUniformLike { minVal: 1 maxVal: 1 }"),
       Layer("randomUniformLike { minVal: 1 maxVal: 1.5 }")},
      {"COREML-PARAM-010",
       kChain,
       {{"input: \"x\" output: \"t\"", "input: \"x\" output: \"x\""},
        {kLayer, "copy {}"},
        {"input: \"t\"", "input: \"x\""}},
       {{kLayer, "copy {}"}}},
      {"COREML-PARAM-011", kLoose, Layer("lrn { localSize: 1 k: -1 }"),
       Layer("lrn { localSize: 1 }")},
      {"COREML-PARAM-011", kLoose, Layer("reorganizeData { blockSize: 1 }"),
       Layer("reorganizeData { blockSize: 2 }")},
      {"COREML-PARAM-011", kLoose, Layer("custom {}"), Layer("custom { className: \"C\" }")},
  };
}

std::vector<RuleCase> ControlFlow() {
  const auto branch = [](const std::string& side) {
    const std::string next = "layers { name: \"b\"";
    return Edit{next, "layers { name: \"c\" input: \"t\" branch { " + side +
                          " { layers { name: \"n\" input: \"t\" output: \"u\" sign {} } } } } " +
                          next};
  };
  return {
      {"COREML-CONTROL-001", kChain, {branch("elseBranch")}, {branch("ifBranch")}},
      {"COREML-CONTROL-002",
       kControl,
       {{"layers { name: \"w2\" input: \"t\" output: \"u\" activation { ReLU {} } }", ""},
        {"layers { name: \"w3\" loopBreak {} }", ""}},
       {{"layers { name: \"w2\" input: \"t\" output: \"u\" activation { ReLU {} } }", ""}}},
      {"COREML-CONTROL-002",
       kControl,
       {{"maxLoopIterations: 3", ""},
        {"conditionVar: \"go\"", ""},
        {"conditionNetwork { layers { name: \"w1\" input: \"t\" output: \"go\" ceil {} } }", ""}},
       {{"maxLoopIterations: 3", ""}}},
      {"COREML-CONTROL-003",
       kControl,
       {{"conditionVar: \"go\"", "conditionVar: \"u\""}},
       {{"conditionVar: \"go\"", ""},
        {"conditionNetwork { layers { name: \"w1\" input: \"t\" output: \"go\" ceil {} } }", ""}}},
      {"COREML-CONTROL-004",
       kControl,
       {{"conditionNetwork {", "conditionNetwork { layers { name: \"w0\" loopBreak {} }"}},
       {{"bodyNetwork {", "bodyNetwork { layers { name: \"w0\" loopContinue {} }"}}},
  };
}

std::vector<RuleCase> Training() {
  const Edit still{"isUpdatable: true\ndescription", "description"};
  const std::string softmax = "layers { name: \"act\" input: \"t\" output: \"y\" softmax {} }";
  const std::string sigmoid =
      "layers { name: \"act\" input: \"t\" output: \"y\" activation { sigmoid {} } }";
  const std::string squared = "meanSquaredErrorLossLayer";
  const std::string entropy = "categoricalCrossEntropyLossLayer";
  return {
      {"COREML-UPDATE-001",
       kFeature,
       {{"description {", "isUpdatable: true description {"}},
       {{"description {", "isUpdatable: true description {"},
        {"serializedModel { identifier: \"m\" }",
         "kNearestNeighborsClassifier { nearestNeighborsIndex { linearIndex {} "
         "squaredEuclideanDistance {} } numberOfNeighbors { defaultValue: 1 } "
         "defaultInt64Label: 1 uniformWeighting {} }"}}},
      {"COREML-UPDATE-002", kUpdatable, {{"output: \"t\" isUpdatable: true", "output: \"t\""}}, {}},
      {"COREML-UPDATE-003",
       kUpdatable,
       {{"output: \"y\" activation", "output: \"y\" isUpdatable: true activation"}},
       {{sigmoid, sigmoid}}},
      {"COREML-UPDATE-004",
       kUpdatable,
       {{"4] isUpdatable: true", "4]"}},
       {{"bias { floatValue: [1, 2] isUpdatable: true }", ""}, {"hasBias: true", ""}}},
      {"COREML-UPDATE-005",
       kUpdatable,
       {{"updateParams {",
         "updateParams { lossLayers { name: \"loss2\" "
         "meanSquaredErrorLossLayer { input: \"y\" target: \"want\" } }"}},
       {}},
      {"COREML-UPDATE-006",
       kUpdatable,
       {{squared, entropy}},
       {{squared, entropy}, {sigmoid, softmax}}},
      {"COREML-UPDATE-006",
       kUpdatable,
       {{"{ input: \"y\" target", "{ input: \"z\" target"}},
       {{"{ input: \"y\" target", "{ input: \"t\" target"}}},
      {"COREML-UPDATE-007",
       kUpdatable,
       {{sigmoid, softmax}},
       {{sigmoid, "layers { name: \"act\" input: \"t\" output: \"y\" activation { tanh {} } }"}}},
      {"COREML-UPDATE-008", kUpdatable, {{"name: \"loss\"", "name: \"act\""}}, {}},
      {"COREML-UPDATE-009",
       kUpdatable,
       {{"target: \"want\"", "target: \"other\""}},
       {{"target: \"want\"", "target: \"other\""}, {"name: \"want\"", "name: \"other\""}}},
      {"COREML-UPDATE-010",
       kUpdatable,
       {{"defaultValue: 4", "defaultValue: 3"}},
       {{"defaultValue: 4", "defaultValue: 2"}}},
      {"COREML-UPDATE-010",
       kUpdatable,
       {{"learningRate { defaultValue: 0.1 }", ""}},
       {{"learningRate { defaultValue: 0.1 }",
         "learningRate { defaultValue: 1 range { minValue: 0 maxValue: 1 } }"}}},
      {"COREML-UPDATE-011",
       kUpdatable,
       {{"defaultValue: 3", "defaultValue: 4"}},
       {{"defaultValue: 3", "defaultValue: 1"}}},
      {"COREML-UPDATE-012", kPipeline, {{"description {", "isUpdatable: true description {"}}, {}},
  };
}

std::vector<RuleCase> Kinds() {
  const Edit optional{"type {", "type { isOptional: true"};
  const std::string serialized = "serializedModel { identifier: \"m\" }";
  return {
      {"COREML-KIND-001",
       kFeature,
       {optional, {serialized, "normalizer {}"}},
       {optional, {serialized, "imputer {}"}}},
      {"COREML-KIND-002",
       kNeighbours,
       {{"defaultValue: 1", "defaultValue: 6"}},
       {{"defaultValue: 1", "defaultValue: 5"}}},
      {"COREML-KIND-002",
       kNeighbours,
       {{"range { minValue: 1 maxValue: 5 }", "set { values: [0, 1] }"}},
       {{"range { minValue: 1 maxValue: 5 }", "set { values: [3, 1] }"}}},
      {"COREML-KIND-003",
       kNeighbours,
       {{"leafSize: 30", "leafSize: 0"}},
       {{"leafSize: 30", "leafSize: 1"}}},
      {"COREML-KIND-003",
       kNeighbours,
       {{"uniformWeighting {}", ""}},
       {{"uniformWeighting {}", "inverseDistanceWeighting {}"}}},
      {"COREML-KIND-004",
       kNeighbours,
       {{"defaultStringLabel: \"none\"", "defaultInt64Label: 1"}},
       {{"defaultStringLabel: \"none\"", ""}}},
      {"COREML-KIND-005",
       kNeighbours,
       {{"vector: [3, 4]", "vector: [3]"}},
       {{"vector: [3, 4]", "vector: [5, 6]"}}},
      {"COREML-KIND-005",
       kNeighbours,
       {{"[\"a\", \"b\"]", "\"a\""}},
       {{"[\"a\", \"b\"]", "[\"a\", \"a\"]"}}},
  };
}

std::vector<RuleCase> Programs() {
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
  };
}

// Files with one entry of 8 bytes each: float32 in a.bin and d.bin, int32 in b.bin.
void WriteWeightFiles(const std::string& folder) {
  const auto words = [](std::initializer_list<uint32_t> list) {
    std::string out;
    for (const uint32_t w : list) out.append(reinterpret_cast<const char*>(&w), sizeof(w));
    out.resize(64);
    return out;
  };
  const auto file = [&](uint32_t type) {
    return words({1, 2}) + words({0xDEADBEEF, type, 8, 0, 128, 0}) + std::string(8, 'w');
  };
  std::filesystem::create_directory(folder + "/weights");
  WriteText(folder + "/weights/a.bin", file(2));
  WriteText(folder + "/weights/b.bin", file(14));
  WriteText(folder + "/d.bin", file(2));
}

TEST_CASE("Core ML rules") {
  CheckRuleCases({"COREML-",
                  "m.mlmodel",
                  Encode,
                  {Models(), Features(), Networks(), Layers(), Weights(), Windows(), Parameters(),
                   ControlFlow(), Training(), Kinds(), Programs()},
                  WriteWeightFiles,
                  {"COREML-PACKAGE-001", "COREML-PACKAGE-002"}});
}

}  // namespace
}  // namespace nn::test
