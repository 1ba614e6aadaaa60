// The base models of the examples of Core ML rules, and edits that several examples share.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "validators/example.h"

namespace nn::coreml {

// The layer of kNet; examples replace it.
inline constexpr const char* kLayer = "activation { ReLU {} }";

inline constexpr const char* kNet = R"(
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

// Declares no ranks, so that none are checked.
inline constexpr const char* kLoose = R"(
specificationVersion: 5
description {
  input { name: "x" type { multiArrayType { shape: [1, 2, 4, 4] dataType: FLOAT32 } } }
  output { name: "y" type { multiArrayType { dataType: FLOAT32 } } }
}
neuralNetwork {
  arrayInputShapeMapping: EXACT_ARRAY_MAPPING
  layers { name: "l" input: "x" output: "y" activation { ReLU {} } }
})";

// Blobs of rank 5, as in versions 1 to 3.
inline constexpr const char* kRank5 = R"(
specificationVersion: 1
description {
  input { name: "x" type { multiArrayType { shape: [2, 4, 4] dataType: FLOAT32 } } }
  output { name: "y" type { multiArrayType { dataType: FLOAT32 } } }
}
neuralNetwork { layers { name: "l" input: "x" output: "y" activation { ReLU {} } } })";

inline constexpr const char* kChain = R"(
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

inline constexpr const char* kImage = R"(
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

inline constexpr const char* kClassifier = R"(
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

inline constexpr const char* kRegressor = R"(
specificationVersion: 5
description {
  input { name: "x" type { multiArrayType { shape: [2] dataType: FLOAT32 } } }
  output { name: "y" type { multiArrayType { dataType: FLOAT32 } } }
  predictedFeatureName: "y"
}
neuralNetworkRegressor {
  arrayInputShapeMapping: EXACT_ARRAY_MAPPING
  layers { name: "l" input: "x" output: "y" activation { ReLU {} } }
})";

// For rules about features: a model type without rules of its own.
inline constexpr const char* kFeature = R"(
specificationVersion: 10
description {
  input { name: "x" type { int64Type {} } }
  output { name: "y" type { int64Type {} } }
}
serializedModel { identifier: "m" })";

// A model with functions; field 502 is mlProgram.
inline constexpr const char* kFunctions = R"(
specificationVersion: 9
description {
  functions { name: "main"
    input { name: "x" type { int64Type {} } } output { name: "y" type { int64Type {} } } }
  defaultFunctionName: "main"
}
# field 502
)";

inline constexpr const char* kState = R"(
specificationVersion: 9
description {
  input { name: "x" type { int64Type {} } }
  output { name: "y" type { int64Type {} } }
  state { name: "s" type { stateType { arrayType { shape: 2 dataType: FLOAT16 } } } }
}
# field 502
)";

// Field 2003 is soundAnalysisPreprocessing, its field 20 vggish.
inline constexpr const char* kSound = R"(
specificationVersion: 4
description {
  input { name: "x" type { multiArrayType { shape: 15600 dataType: FLOAT32 } } }
  output { name: "y" type { multiArrayType { shape: [1, 96, 64] dataType: FLOAT32 } } }
}
# field 2003 a20100
)";

inline constexpr const char* kPipeline = R"(
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

inline constexpr const char* kUpdatable = R"(
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

inline constexpr const char* kNeighbors = R"(
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

// Its weights are in files that WriteWeightFiles() in the tests creates.
inline constexpr const char* kProgram = R"(
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

// A branch and a loop; "c" is a condition.
inline constexpr const char* kControl = R"(
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

// A layer for kUpdatable whose outputs nothing reads.
inline constexpr const char* kLstmLayer =
    "layers { name: \"lstm\" input: \"t\" output: [\"s1\", \"s2\", \"s3\"] "
    "isUpdatable: true uniDirectionalLSTM { inputVectorSize: 1 outputVectorSize: 1 "
    "activations { sigmoid {} } activations { tanh {} } activations { tanh {} } "
    "weightParams { inputGateWeightMatrix { floatValue: 1 } "
    "forgetGateWeightMatrix { floatValue: 1 } blockInputWeightMatrix { floatValue: 1 } "
    "outputGateWeightMatrix { floatValue: 1 } inputGateRecursionMatrix { floatValue: 1 } "
    "forgetGateRecursionMatrix { floatValue: 1 } blockInputRecursionMatrix { floatValue: 1 } "
    "outputGateRecursionMatrix { floatValue: 1 } } } }";

// Replaces kLayer.
inline std::vector<Edit> Layer(std::string layer, std::vector<Edit> more = {}) {
  more.insert(more.begin(), {kLayer, std::move(layer)});
  return more;
}

// Replaces the type of the input in kFeature.
inline std::vector<Edit> Type(std::string type, std::vector<Edit> more = {}) {
  more.insert(more.begin(), {"int64Type {}", std::move(type)});
  return more;
}

// Makes the input in kFeature an array with the given fields.
inline std::vector<Edit> Array(const std::string& fields, std::vector<Edit> more = {}) {
  return Type("multiArrayType { dataType: INT32 " + fields + " }", std::move(more));
}

// Replaces the features and the model type in kFeature.
inline std::vector<Edit> Kind(const std::string& input, const std::string& output,
                              const std::string& model, std::vector<Edit> more = {}) {
  const auto feature = [](const std::string& name, const std::string& type) {
    return name + "\" type { " + type + " } }";
  };
  more.insert(
      more.begin(),
      {{feature("input { name: \"x", "int64Type {}"), feature("input { name: \"x", input)},
       {feature("output { name: \"y", "int64Type {}"), feature("output { name: \"y", output)},
       {"serializedModel { identifier: \"m\" }", model}});
  return more;
}

std::vector<RuleExample> ModelExamples();
std::vector<RuleExample> FeatureExamples();
std::vector<RuleExample> NetworkExamples();
std::vector<RuleExample> LayerExamples();
std::vector<RuleExample> WeightExamples();
std::vector<RuleExample> WindowExamples();
std::vector<RuleExample> ParameterExamples();
std::vector<RuleExample> ControlExamples();
std::vector<RuleExample> TrainingExamples();
std::vector<RuleExample> KindExamples();
std::vector<RuleExample> ProgramExamples();
std::vector<RuleExample> AxisExamples();
std::vector<RuleExample> ListExamples();
std::vector<RuleExample> PipelineExamples();
std::vector<RuleExample> TableExamples();
std::vector<RuleExample> TreeExamples();
std::vector<RuleExample> EngineeringExamples();
std::vector<RuleExample> SuppressionExamples();
std::vector<RuleExample> AppleExamples();
std::vector<RuleExample> LintExamples();

}  // namespace nn::coreml
