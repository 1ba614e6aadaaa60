// Examples of Core ML rules: axes, lists and numbers of layers.
#include "validators/coreml/doc/example_models.h"

namespace nn::coreml {
namespace {

// Two inputs instead of one.
const Edit kTwo{"input: \"x\"", "input: [\"x\", \"x\"]"};
const Edit kTwoRanks{"inputTensor { rank: 4 }", "inputTensor { rank: 4 } inputTensor { rank: 4 }"};
const Edit kOutput1{"outputTensor { rank: 4 }", "outputTensor { rank: 1 }"};
const Edit kOutput3{"outputTensor { rank: 4 }", "outputTensor { rank: 3 }"};
const Edit kOutput5{"outputTensor { rank: 4 }", "outputTensor { rank: 5 }"};
const Edit kNone{"input: \"x\"", ""};

// Replaces kLayer with a layer of rank 5 that has recurrent states as outputs.
std::vector<Edit> Recurrent(const std::string& layer, const std::string& outputs) {
  return Layer(layer, {{"[2, 4, 4]", "1"}, {"output: \"y\"", "output: [" + outputs + "]"}});
}

std::string Lstm(const std::string& name, const std::string& fields) {
  std::string weights;
  for (const char* gate : {"inputGate", "forgetGate", "blockInput", "outputGate"})
    for (const char* matrix : {"WeightMatrix", "RecursionMatrix"})
      weights += std::string(gate) + matrix + " { floatValue: 1 } ";
  std::string out = name + " { inputVectorSize: 1 outputVectorSize: 1 " + fields;
  const size_t place = out.find("WEIGHTS");
  for (size_t i = place; i != std::string::npos; i = out.find("WEIGHTS", i))
    out.replace(i, 7, "weightParams { " + weights + "}");
  return out + " }";
}

std::vector<Edit> Unidirectional(const std::string& activations) {
  return Recurrent(Lstm("uniDirectionalLSTM", activations + " WEIGHTS"), R"("y", "s", "t")");
}

std::vector<Edit> Bidirectional(const std::string& weights) {
  std::string activations;
  for (const char* list : {"activationsForwardLSTM", "activationsBackwardLSTM"})
    for (const char* kind : {"sigmoid", "tanh", "tanh"})
      activations += std::string(list) + " { " + kind + " {} } ";
  return Recurrent(Lstm("biDirectionalLSTM", activations + weights), R"("y", "s", "t", "u", "v")");
}

std::vector<Edit> Gru(const std::string& activations) {
  std::string weights;
  for (const char* gate : {"updateGate", "resetGate", "outputGate"})
    for (const char* matrix : {"WeightMatrix", "RecursionMatrix"})
      weights += std::string(gate) + matrix + " { floatValue: 1 } ";
  return Recurrent(
      "gru { inputVectorSize: 1 outputVectorSize: 1 " + activations + " " + weights + "}",
      R"("y", "s")");
}

std::vector<Edit> Scatter(const std::string& ranks) {
  return Layer("scatter {}", {{"input: \"x\"", "input: [\"x\", \"z\", \"x\"]"},
                              {"inputTensor { rank: 4 }", ranks},
                              Before("output {",
                                     "input { name: \"z\" type { multiArrayType { shape: 1 "
                                     "dataType: FLOAT32 } } }")});
}

std::vector<Edit> SliceStatic(const std::string& fields) {
  return Layer(
      "sliceStatic { beginIds: 0 endIds: 1 beginMasks: false endMasks: false " + fields + " }",
      {{"[1, 2, 4, 4]", "[4]"}});
}

}  // namespace

std::vector<RuleExample> AxisExamples() {
  return {
      {"COREML-AXIS-001", kNet, Layer("cumSum { axis: 4 }"), Layer("cumSum { axis: -4 }")},
      {"COREML-AXIS-002", kLoose, Layer("squeeze {}"), Layer("squeeze { squeezeAll: true }")},
      {"COREML-AXIS-004", kNet, Layer("rangeDynamic {}", {{"[1, 2, 4, 4]", "[1, 2, 4, 4]"}}),
       Layer("rangeDynamic {}", {kOutput1})},
      {"COREML-AXIS-005", kNet, Layer("batchedMatmul {}", {kTwo, kTwoRanks, kOutput3}),
       Layer("batchedMatmul {}", {kTwo, kTwoRanks})},
      {"COREML-AXIS-006", kNet,
       Scatter("inputTensor { rank: 4 } inputTensor { rank: 1 } inputTensor { rank: 4 } "
               "outputTensor { rank: 3 } #"),
       Scatter("inputTensor { rank: 4 } inputTensor { rank: 1 } inputTensor { rank: 4 }")},
      {"COREML-AXIS-007 COREML-RANK-004", kNet,
       Layer("stack {}", {{"input: \"x\"", "input: [\"x\", \"z\"]"},
                          {"inputTensor { rank: 4 }",
                           "inputTensor { rank: 4 } "
                           "inputTensor { rank: 3 }"},
                          Before("output {",
                                 "input { name: \"z\" type { multiArrayType { "
                                 "shape: [1, 1, 1] dataType: FLOAT32 } } }"),
                          kOutput5}),
       Layer("stack {}", {kTwo, kTwoRanks, kOutput5})},
      {"COREML-AXIS-008", kNet, Layer("reverse { reverseDim: true }"),
       Layer("reverse { reverseDim: [true, false, false, true] }")},
      {"COREML-AXIS-009", kNet, Layer("rankPreservingReshape { targetShape: [1, 32] }"),
       Layer("rankPreservingReshape { targetShape: [1, 4, 2, -1] }")},
      {"COREML-AXIS-010", kNet, Layer("transpose { axes: [0, 1, 2, 2] }"),
       Layer("transpose { axes: [0, 3, 2, 1] }")},
      {"COREML-AXIS-011", kLoose,
       Layer("reverseSeq { batchAxis: 1 }", {{"[1, 2, 4, 4]", "[4]"}, kTwo}),
       Layer("reverseSeq { sequenceAxis: 1 }", {{"[1, 2, 4, 4]", "[4]"}, kTwo})},
      {"COREML-RANK-001", kNet, Layer("ceil {}", {kOutput3}), Layer("ceil {}")},
      {"COREML-RANK-001", kNet, Layer("reshapeStatic { targetShape: [4, 8] }"),
       Layer("reshapeStatic { targetShape: [4, 2, 2, 2] }")},
      {"COREML-RANK-002", kLoose, Layer("matrixBandPart {}", {{"[1, 2, 4, 4]", "[4]"}}),
       Layer("matrixBandPart {}", {{"[1, 2, 4, 4]", "[4, 4]"}})},
      {"COREML-RANK-003", kLoose, Layer("fillDynamic {}", {{"[1, 2, 4, 4]", "[4, 1]"}}),
       Layer("fillDynamic {}", {{"[1, 2, 4, 4]", "[4]"}})},
      {"COREML-RANK-004", kLoose,
       Layer("concatND {}", {{"input: \"x\"", "input: [\"x\", \"z\"]"},
                             Before("output {",
                                    "input { name: \"z\" type { multiArrayType { "
                                    "shape: 1 dataType: FLOAT32 } } }")}),
       Layer("concatND {}", {kTwo})},
  };
}

std::vector<RuleExample> ListExamples() {
  const std::string sigmoid = "activations { sigmoid {} } ";
  const std::string pads = "constantPad { padAmounts: ";
  const Edit parts{"output: \"y\"", "output: [\"y\", \"z\"]"};
  return {
      {"COREML-PARAM-012", kLoose, Layer("fillStatic { targetShape: [1, 0] }", {kNone}),
       Layer("fillStatic { targetShape: [1, 1] }", {kNone})},
      {"COREML-PARAM-013", kLoose, Layer("reshapeStatic { targetShape: [-1, -1] }"),
       Layer("reshapeStatic { targetShape: [-1, 2] }")},
      {"COREML-PARAM-014", kRank5, Layer("permute { axis: [0, 1, 2, 2] }"),
       Layer("permute { axis: [0, 1, 3, 2] }")},
      {"COREML-PARAM-015", kLoose, Layer("slice { startIndex: 2 endIndex: 2 stride: 1 }"),
       Layer("slice { startIndex: 2 endIndex: 3 stride: 1 }")},
      {"COREML-PARAM-016", kLoose, Layer("slice { startIndex: 2 endIndex: 3 }"),
       Layer("slice { startIndex: 2 endIndex: 3 stride: 2 }")},
      {"COREML-PARAM-017", kLoose, SliceStatic(""), SliceStatic("strides: 1")},
      {"COREML-PARAM-018", kLoose, SliceStatic("strides: 0"), SliceStatic("strides: -1")},
      {"COREML-PARAM-019", kLoose, Layer("randomBernoulliLike { prob: 1.5 }"),
       Layer("randomBernoulliLike { prob: 1 }")},
      {"COREML-PARAM-020", kLoose, Layer("splitND { numSplits: 3 }", {parts}),
       Layer("splitND { splitSizes: [1, 1] numSplits: 3 }", {parts})},
      {"COREML-PARAM-021", kLoose, Layer("split { nOutputs: 3 }", {parts}),
       Layer("split { nOutputs: 2 }", {parts})},
      {"COREML-PARAM-022", kLoose, Layer(pads + "1 }"), Layer(pads + "[1, 1] }")},
      {"COREML-PARAM-023", kNet, Layer(pads + "[1, 1] }"),
       Layer(pads + "[1, 1, 1, 1, 1, 1, 1, 1] }")},
      {"COREML-PARAM-024", kLoose, Layer("batchedMatmul { hasBias: true }", {kTwo}),
       Layer("batchedMatmul { hasBias: false }", {kTwo})},
      {"COREML-PARAM-025", kLoose, Layer("activation {}"), Layer("activation { tanh {} }")},
      {"COREML-PARAM-026", kRank5, Gru(sigmoid + "activations { softplus {} }"),
       Gru(sigmoid + "activations { ReLU {} }")},
      {"COREML-PARAM-027", kRank5, Unidirectional(sigmoid + sigmoid),
       Unidirectional(sigmoid + sigmoid + sigmoid)},
      {"COREML-PARAM-028", kRank5, Gru(sigmoid), Gru(sigmoid + sigmoid)},
      {"COREML-PARAM-029", kRank5, Bidirectional("WEIGHTS"), Bidirectional("WEIGHTS WEIGHTS")},
      {"COREML-PARAM-030", kLoose, Layer("tile { reps: [1, 1, 1, 1, 2] }"),
       Layer("tile { reps: [1, 1, 1, 2] }")},
      {"COREML-PARAM-031", kRank5, Gru(sigmoid + "activations { sigmoidHard {} }"),
       Gru(sigmoid + "activations { sigmoidHard { alpha: 0.2 beta: 0.5 } }")},
  };
}

}  // namespace nn::coreml
