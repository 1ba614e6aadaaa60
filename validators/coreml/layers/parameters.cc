// Rules about shapes, lists and numbers in layers without weights or windows.
#include "validators/coreml/rules.h"

namespace nn::coreml {
namespace {

constexpr std::string_view kParametersClause = "NeuralNetwork.proto, NeuralNetworkLayer";
constexpr std::string_view kLstm = "NeuralNetwork.proto, UniDirectionalLSTMLayerParams.activations";
constexpr std::string_view kSlice = "NeuralNetwork.proto, SliceLayerParams";

constexpr Rule kParameterRules[] = {
    {.info = {.id = "COREML-PARAM-006",
              .statement =
                  "The layers fillStatic, reshapeStatic, rankPreservingReshape, broadcastToStatic, "
                  "randomNormalStatic, randomUniformStatic, randomBernoulliStatic, "
                  "layerNormalization and loadConstantND have a shape, and transpose has axes.",
              .clause = kParametersClause,
              .vendor = true,
              .hint = "Set targetShape, outputShape, normalizedShape, shape or axes of the layer."},
     .check = Holds<Label::kLayerShapesPresent>},
    {.info = {.id = "COREML-PARAM-007",
              .statement = "The shapes of scale and bias have 1 or 3 sizes, that of loadConstant "
                           "has 3 and that of loadConstantND at most 5, the targetShape of reshape "
                           "has 3 or 4 sizes, and the axis list of permute has 4 values.",
              .clause = "NeuralNetwork.proto, ScaleLayerParams",
              .vendor = true,
              .hint = "Give the field the required number of values; add sizes of 1 to a shape "
                      "that is too short."},
     .check = Holds<Label::kShapeLengths>},
    {.info = {.id = "COREML-PARAM-012",
              .statement =
                  "The targetShape of fillStatic and the outputShape of randomNormalStatic, "
                  "randomUniformStatic and randomBernoulliStatic have no size 0.",
              .clause = "NeuralNetwork.proto, FillStaticLayerParams",
              .hint = "Set every size to 1 or more."},
     .check = Holds<Label::kShapesPositive>},
    {.info = {.id = "COREML-PARAM-013",
              .statement = "The targetShape of reshapeStatic and rankPreservingReshape has at most "
                           "one -1 and no size below -1.",
              .clause = "NeuralNetwork.proto, ReshapeStaticLayerParams",
              .hint = "Replace all but one -1 with the actual sizes."},
     .check = Holds<Label::kInferredSizes>},
    {.info = {.id = "COREML-PARAM-014",
              .statement = "The axis list of permute is a permutation of 0, 1, 2 and 3.",
              .clause = "NeuralNetwork.proto, PermuteLayerParams",
              .hint = "List each of 0, 1, 2 and 3 exactly once."},
     .check = Holds<Label::kPermutePermutation>},
    {.info = {.id = "COREML-PARAM-008",
              .statement = "The endIndex of slice is not less than its startIndex if both are "
                           "positive or both are negative.",
              .clause = kSlice,
              .vendor = true,
              .hint = "Correct startIndex or endIndex, so that the slice ends after its start."},
     .check = Holds<Label::kSliceBounds>},
    {.info = {.id = "COREML-PARAM-015",
              .statement = "The startIndex and the endIndex of slice are different.",
              .clause = kSlice,
              .hint = "Set endIndex so that the slice has at least one element."},
     .check = Holds<Label::kSliceNotEmpty>},
    {.info = {.id = "COREML-PARAM-016",
              .statement = "The stride of slice is positive.",
              .clause = kSlice,
              .vendor = true,
              .hint = "Set stride to 1 or more."},
     .check = Holds<Label::kSliceStrides>},
    {.info = {.id = "COREML-PARAM-017",
              .statement =
                  "A sliceStatic layer has beginIds, endIds, strides, beginMasks and endMasks.",
              .clause = "NeuralNetwork.proto, SliceStaticLayerParams",
              .vendor = true,
              .hint = "Set all five lists, with one value for each axis of the input."},
     .check = Holds<Label::kSliceListsPresent>},
    {.info = {.id = "COREML-PARAM-018",
              .statement = "Each list of a sliceStatic layer has one value for each axis of the "
                           "input, and no stride is 0.",
              .clause = "NeuralNetwork.proto, SliceStaticLayerParams",
              .hint = "Give each list one value for each axis, and use strides other than 0."},
     .check = Holds<Label::kSliceListsFit>},
    {.info = {.id = "COREML-PARAM-009",
              .statement = "In the layers clip, randomUniformLike, randomUniformStatic and "
                           "randomUniformDynamic, minVal is not greater than maxVal.",
              .clause = "NeuralNetwork.proto, ClipLayerParams",
              .vendor = true,
              .hint = "Swap minVal and maxVal, or correct one of them."},
     .check = Holds<Label::kIntervalsOrdered>},
    {.info = {.id = "COREML-PARAM-019",
              .statement = "The prob of randomBernoulliLike, randomBernoulliStatic and "
                           "randomBernoulliDynamic is between 0 and 1.",
              .clause = "NeuralNetwork.proto, RandomBernoulliStaticLayerParams.prob",
              .vendor = true,
              .hint = "Set prob to a value from 0 to 1."},
     .check = Holds<Label::kProbabilitiesInRange>},
    {.info = {.id = "COREML-PARAM-010",
              .statement = "The output of a copy layer has a different name than its input.",
              .clause = "NeuralNetwork.proto, CopyLayerParams",
              .vendor = true,
              .hint = "Rename the output, or remove the layer."},
     .check = Holds<Label::kCopiesMove>},
    {.info = {.id = "COREML-PARAM-011",
              .statement = "The k of lrn is not negative, the blockSize of reorganizeData is at "
                           "least 2, and a custom layer has a className.",
              .clause = kParametersClause,
              .vendor = true,
              .hint = "Set k to 0 or more, blockSize to 2 or more, or className to the class that "
                      "implements the layer."},
     .check = Holds<Label::kNumbersInRange>},
    {.info = {.id = "COREML-PARAM-020",
              .statement = "A splitND layer has as many outputs as splitSizes, or as numSplits "
                           "says if splitSizes is empty.",
              .clause = "NeuralNetwork.proto, SplitNDLayerParams",
              .vendor = true,
              .hint = "Set numSplits, or the length of splitSizes, to the number of outputs."},
     .check = Holds<Label::kSplitCounts>},
    {.info = {.id = "COREML-PARAM-021",
              .statement = "The nOutputs of split is the number of its outputs.",
              .clause = "NeuralNetwork.proto, SplitLayerParams.nOutputs",
              .hint = "Set nOutputs to the number of outputs."},
     .check = Holds<Label::kOldSplitCounts>},
    {.info = {.id = "COREML-PARAM-022",
              .statement = "A constantPad layer with one input has a positive, even number of "
                           "padAmounts, and with padToGivenOutputSizeMode at most one of the two "
                           "amounts of an axis is positive.",
              .clause = "NeuralNetwork.proto, ConstantPaddingLayerParams.padAmounts",
              .vendor = true,
              .hint = "List two padAmounts for each axis; with padToGivenOutputSizeMode set one of "
                      "the two to 0."},
     .check = Holds<Label::kPadAmounts>},
    {.info =
         {.id = "COREML-PARAM-023",
          .statement =
              "A constantPad layer with one input has two padAmounts for each axis of the input.",
          .clause = "NeuralNetwork.proto, ConstantPaddingLayerParams.padAmounts",
          .hint = "List two padAmounts for each axis of the input."},
     .check = Holds<Label::kPadAmountsFit>},
    {.info = {.id = "COREML-PARAM-024",
              .statement = "A batchedMatmul layer with two inputs does not set hasBias.",
              .clause = "NeuralNetwork.proto, BatchedMatMulLayerParams.hasBias",
              .vendor = true,
              .hint = "Clear hasBias, and add the bias with an addBroadcastable layer."},
     .check = Holds<Label::kMatrixBiases>},
    {.info = {.id = "COREML-PARAM-025",
              .statement = "An activation layer has an activation function.",
              .clause = "NeuralNetwork.proto, ActivationParams",
              .vendor = true,
              .hint = "Set one of the functions of ActivationParams, such as ReLU or sigmoid."},
     .check = Holds<Label::kActivationKinds>},
    {.info = {.id = "COREML-PARAM-026",
              .statement = "The activations of recurrent layers are linear, sigmoid, tanh, "
                           "scaledTanh, sigmoidHard or ReLU.",
              .clause = "NeuralNetwork.proto, SimpleRecurrentLayerParams.activation",
              .vendor = true,
              .hint = "Use one of the supported activations, or decompose the recurrent layer."},
     .check = Holds<Label::kRecurrentActivations>},
    {.info = {.id = "COREML-PARAM-027",
              .statement = "A uniDirectionalLSTM layer has three activations, and a "
                           "biDirectionalLSTM layer has three for each direction.",
              .clause = kLstm,
              .vendor = true,
              .hint = "List three activations for each direction; usually they are sigmoid, tanh "
                      "and tanh."},
     .check = Holds<Label::kLstmActivationCounts>},
    {.info = {.id = "COREML-PARAM-028",
              .statement = "A gru layer has two activations.",
              .clause = "NeuralNetwork.proto, GRULayerParams.activations",
              .hint = "List two activations; usually they are sigmoid and tanh."},
     .check = Holds<Label::kGruActivationCounts>},
    {.info = {.id = "COREML-PARAM-029",
              .statement = "A biDirectionalLSTM layer has weightParams for both directions.",
              .clause = "NeuralNetwork.proto, BiDirectionalLSTMLayerParams.weightParams",
              .vendor = true,
              .hint = "List the weights of the forward direction and those of the backward "
                      "direction in weightParams."},
     .check = Holds<Label::kTwoDirections>},
};

}  // namespace

std::span<const Rule> ParameterRules() {
  return kParameterRules;
}

}  // namespace nn::coreml
