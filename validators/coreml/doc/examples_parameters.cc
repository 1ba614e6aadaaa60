// Examples of Core ML rules: weights, windows, parameters.
#include "validators/coreml/doc/example_models.h"

namespace nn::coreml {

std::vector<RuleExample> WeightExamples() {
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
  const auto recurrent = [](const std::string& matrix, const std::string& recursion) {
    return Layer(
        "simpleRecurrent { inputVectorSize: 1 outputVectorSize: 1 activation { tanh {} } "
        "weightMatrix { " +
            matrix + " } recursionMatrix { " + recursion +
            " } hasBiasVector: true biasVector { floatValue: 1 } }",
        {{"[2, 4, 4]", "1"},
         {"input: \"x\"", "input: [\"x\", \"x\"]"},
         {"output: \"y\"", "output: [\"y\", \"z\"]"}});
  };
  return {
      {"COREML-WEIGHT-010", kLoose, Layer("bias { shape: 1 }"),
       Layer("bias { shape: 1 bias { floatValue: 1 } }")},
      {"COREML-WEIGHT-001", kLoose, dense("floatValue: [1, 2, 3, 4] float16Value: \"12345678\""),
       dense("floatValue: [1, 2, 3, 4] rawValue: \"\"")},
      {"COREML-WEIGHT-002", kLoose, dense("floatValue: [1, 2, 3]"),
       dense("float16Value: \"12345678\"")},
      {"COREML-WEIGHT-002", kLoose, dense("rawValue: \"12\" " + linear("5", "scale: 1")),
       dense("rawValue: \"12\" " + linear("4", "scale: 1"))},
      {"COREML-WEIGHT-003", kLoose, dense("rawValue: \"1234\" " + linear("8", "scale: [1, 2, 3]")),
       dense("rawValue: \"1234\" " + linear("8", "scale: [1, 2] bias: [1, 2]"))},
      {"COREML-WEIGHT-003", kLoose, dense("rawValue: \"12345\" " + linear("9", "scale: 1")),
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
      {"COREML-WEIGHT-016", kLoose, norm("float16Value: \"12\""), norm("floatValue: 1")},
      {"COREML-WEIGHT-011", kLoose, dense("float16Value: \"123456789\""),
       dense("float16Value: \"12345678\"")},
      {"COREML-WEIGHT-012", kLoose, dense("rawValue: \"1234\""),
       dense("rawValue: \"1234\" " + linear("8", "scale: 1"))},
      {"COREML-WEIGHT-013", kLoose,
       Layer("batchedMatmul { int8DynamicQuantize: true }",
             {{"input: \"x\"", "input: [\"x\", \"x\"]"}}),
       Layer("batchedMatmul {}", {{"input: \"x\"", "input: [\"x\", \"x\"]"}})},
      {"COREML-WEIGHT-014", kLoose,
       Layer("bias { shape: 1 bias { int8RawValue: \"1\" " + linear("8", "scale: 1") + " } }"),
       Layer("bias { shape: 1 bias { rawValue: \"1\" " + linear("8", "scale: 1") + " } }")},
      {"COREML-WEIGHT-015", kRank5,
       recurrent("rawValue: \"1\" " + linear("8", "scale: 1"), "float16Value: \"12\""),
       recurrent("rawValue: \"1\" " + linear("8", "scale: 1"), "floatValue: 1")},
      {"COREML-WEIGHT-017", kLoose,
       Layer("activation { parametricSoftplus { alpha { floatValue: 1 } "
             "beta { float16Value: \"12\" } } }"),
       Layer("activation { parametricSoftplus { alpha { floatValue: 1 } "
             "beta { floatValue: 1 } } }")},
      {"COREML-WEIGHT-007", kLoose, norm("floatValue: 1 quantization {}"), norm("floatValue: 1")},
      {"COREML-WEIGHT-008", kLoose, dense(""), dense("floatValue: [1, 2, 3, 4]")},
      {"COREML-WEIGHT-009", kLoose, dense("floatValue: [1, 2, 3, 4]", "hasBias: true"),
       dense("floatValue: [1, 2, 3, 4]", "hasBias: true bias { floatValue: [1, 2] }")},
  };
}

std::vector<RuleExample> WindowExamples() {
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
  const auto volume = [](const std::string& fields) {
    return Layer(
        "convolution3d { outputChannels: 1 inputChannels: 1 nGroups: 1 kernelDepth: 1 "
        "kernelHeight: 1 kernelWidth: 1 strideDepth: 1 strideHeight: 1 strideWidth: 1 "
        "dilationDepth: 1 dilationHeight: 1 dilationWidth: 1 weights { floatValue: 1 } " +
            fields + " }",
        {{"[1, 2, 4, 4]", "[1, 2, 4, 4, 4]"}});
  };
  const std::string border = "borderAmounts { startEdgeSize: 1 }";
  return {
      {"COREML-WINDOW-001", kLoose, conv("valid {} stride: [1, 0]"),
       conv("valid {} stride: [1, 1]")},
      {"COREML-WINDOW-010", kLoose, Layer("resizeBilinear { targetSize: [2, 0] }"),
       Layer("resizeBilinear { targetSize: [2, 1] }")},
      {"COREML-WINDOW-011", kLoose, cubes("customPaddingTop: 1 paddingType: VALID", "1"),
       cubes("customPaddingTop: 1 paddingType: CUSTOM", "1")},
      {"COREML-WINDOW-012", kLoose, volume("customPaddingTop: 1 paddingType: VALID"),
       volume("customPaddingTop: 1 paddingType: CUSTOM")},
      {"COREML-WINDOW-004", kLoose, volume("outputShape: [1, 1, 1]"),
       volume("outputShape: [1, 1, 1] isDeconvolution: true")},
      {"COREML-WINDOW-014", kLoose, dynamic("hasBias: true"), dynamic("hasBias: false")},
      {"COREML-WINDOW-009", kLoose, Layer("resizeBilinear { targetSize: 2 }"),
       Layer("resizeBilinear {}")},
      {"COREML-WINDOW-002", kLoose, conv(""), conv("same {}")},
      {"COREML-WINDOW-002", kLoose, Layer("padding {}"), Layer("padding { constant {} }")},
      {"COREML-WINDOW-003", kLoose, cubes("", "0"), cubes("", "1")},
      {"COREML-WINDOW-003", kLoose, cubes("customPaddingTop: -1", "1"),
       cubes("customPaddingTop: 0", "1")},
      {"COREML-WINDOW-013", kLoose, conv("valid {} outputShape: [4, 4]"),
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

std::vector<RuleExample> ParameterExamples() {
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
      {"COREML-AXIS-003", kNet, Layer("expandDims { axes: 5 }", {rank5}),
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
      {"COREML-PARAM-008", kLoose, Layer("slice { startIndex: 3 endIndex: 2 stride: 1 }"),
       Layer("slice { startIndex: 2 endIndex: -1 stride: 1 }")},
      {"COREML-PARAM-009", kLoose, Layer("randomUniformLike { minVal: 2 maxVal: 1 }"),
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

}  // namespace nn::coreml
