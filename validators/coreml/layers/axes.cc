// Rules about axes and about ranks that follow from the parameters of a layer.
#include "validators/coreml/rules.h"

namespace nn::coreml {
namespace {

constexpr std::string_view kAxesClause = "NeuralNetwork.proto, NeuralNetworkLayer";

constexpr Rule kAxisRules[] = {
    {.info = {.id = "COREML-PARAM-001",
              .statement = "The axes of concatND, softmaxND, flattenTo2D, splitND, slidingWindows, "
                           "topK, argMax, argMin and the reduction layers are axes of the input, "
                           "and the axis of stack is an axis of the output.",
              .clause = kAxesClause,
              .vendor = true,
              .hint = "Set the axis to a value from -r to r - 1, where r is the rank of the input "
                      "(of the output for stack)."},
     .check = Holds<Label::kAxesInRange>},
    {.info =
         {.id = "COREML-AXIS-001",
          .statement = "The axes of gather, scatter, gatherAlongAxis, scatterAlongAxis, cumSum and "
                       "reverseSeq are axes of the first input.",
          .clause = kAxesClause,
          .hint =
              "Set the axis to a value from -r to r - 1, where r is the rank of the first input."},
     .check = Holds<Label::kOtherAxesInRange>},
    {.info =
         {.id = "COREML-AXIS-002",
          .statement =
              "A squeeze layer without squeezeAll and an expandDims layer have at least one axis.",
          .clause = "NeuralNetwork.proto, ExpandDimsLayerParams.axes",
          .vendor = true,
          .hint = "List the axes, or set squeezeAll."},
     .check = Holds<Label::kAxesPresent>},
    {.info = {.id = "COREML-PARAM-002",
              .statement = "A squeeze or expandDims layer names each axis at most once.",
              .clause = "NeuralNetwork.proto, SqueezeLayerParams.axes",
              .vendor = true,
              .hint = "Remove the repeated axis; a negative axis counts from the back and can name "
                      "the same axis as a positive one."},
     .check = Holds<Label::kAxesUnique>},
    {.info = {.id = "COREML-AXIS-003",
              .statement = "The axes of squeeze are axes of its input, and the axes of expandDims "
                           "are axes of its output.",
              .clause = "NeuralNetwork.proto, ExpandDimsLayerParams.axes",
              .vendor = true,
              .hint = "Set the axis to a value from -r to r - 1, where r is the rank of the input "
                      "of squeeze or of the output of expandDims."},
     .check = Holds<Label::kAxesWithin>},
    {.info = {.id = "COREML-PARAM-003",
              .statement = "The ranks of the input and output of squeeze and expandDims differ by "
                           "the number of axes, unless squeeze has an input of rank 1.",
              .clause = "NeuralNetwork.proto, ExpandDimsLayerParams",
              .vendor = true,
              .hint = "Correct the declared ranks, or the list of axes."},
     .check = Holds<Label::kSqueezedRanks>},
    {.info = {.id = "COREML-PARAM-004",
              .statement =
                  "The axis of argSort is not negative and is less than the rank of the input.",
              .clause = "NeuralNetwork.proto, ArgSortLayerParams",
              .vendor = true,
              .hint = "Set axis to a value from 0 to r - 1, where r is the rank of the input."},
     .check = Holds<Label::kArgSortAxis>},
    {.info = {.id = "COREML-PARAM-005",
              .statement = "The input of a reduce or slice layer has a rank that includes the axes "
                           "that the layer names.",
              .clause = "NeuralNetwork.proto, ReduceLayerParams",
              .vendor = true,
              .hint = "Choose an axis that the input has, or reshape the input to rank 3."},
     .check = Holds<Label::kNamedAxes>},
    {.info = {.id = "COREML-AXIS-004",
              .statement = "The output of loadConstant has rank 5, and the output of rangeStatic "
                           "and rangeDynamic has rank 1.",
              .clause = "NeuralNetwork.proto, LoadConstantLayerParams",
              .vendor = true,
              .hint = "Correct the declared rank of the output, and use loadConstantND for a "
                      "constant of another rank."},
     .check = Holds<Label::kGivenRanks>},
    {.info = {.id = "COREML-AXIS-005",
              .statement = "The output of batchedMatmul has the rank of its input, or with two "
                           "inputs the larger of their ranks and at least 2.",
              .clause = "NeuralNetwork.proto, BatchedMatMulLayerParams",
              .vendor = true,
              .hint = "Set the rank in outputTensor to the expected value."},
     .check = Holds<Label::kMatrixRanks>},
    {.info = {.id = "COREML-AXIS-006",
              .statement = "The indices of scatter have rank 1, and its updates and its output "
                           "have the rank of its container.",
              .clause = "NeuralNetwork.proto, ScatterLayerParams",
              .vendor = true,
              .hint =
                  "Reshape the indices to rank 1 and the updates to the rank of the container."},
     .check = Holds<Label::kScatterRanks>},
    {.info = {.id = "COREML-AXIS-007",
              .statement = "The first two inputs of stack have the same rank.",
              .clause = "NeuralNetwork.proto, StackLayerParams",
              .vendor = true,
              .hint = "Reshape the inputs to the same rank, or correct the declared ranks."},
     .check = Holds<Label::kStackedRanks>},
    {.info = {.id = "COREML-AXIS-008",
              .statement = "The reverseDim of reverse has one flag for each axis of the input.",
              .clause = "NeuralNetwork.proto, ReverseLayerParams.reverseDim",
              .vendor = true,
              .hint = "List one value in reverseDim for each axis of the input."},
     .check = Holds<Label::kAxisPerFlag>},
    {.info = {.id = "COREML-AXIS-009",
              .statement = "A rankPreservingReshape layer declares the same rank for its input and "
                           "output, which is the number of sizes in targetShape.",
              .clause = "NeuralNetwork.proto, RankPreservingReshapeLayerParams",
              .vendor = true,
              .hint = "Declare both ranks in inputTensor and outputTensor, and give targetShape "
                      "one size for each axis."},
     .check = Holds<Label::kPreservedRanks>},
    {.info = {.id = "COREML-AXIS-010",
              .statement = "The axes of transpose are a permutation of the axes of its input.",
              .clause = "NeuralNetwork.proto, TransposeLayerParams.axes",
              .hint = "List each axis of the input exactly once."},
     .check = Holds<Label::kTransposePermutation>},
};

}  // namespace

std::span<const Rule> AxisRules() {
  return kAxisRules;
}

}  // namespace nn::coreml
