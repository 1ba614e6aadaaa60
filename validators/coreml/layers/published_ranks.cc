// Ranks that the published text specifies and the vendor's checker ignores.
#include "validators/coreml/rules.h"

namespace nn::coreml {
namespace {

constexpr std::string_view kPublishedRanksClause = "NeuralNetwork.proto, NeuralNetworkLayer";

constexpr Rule kRankRules[] = {
    {.info = {.id = "COREML-RANK-001",
              .statement = "The rank that a layer declares for an output follows from the ranks of "
                           "its inputs and from its parameters.",
              .clause = kPublishedRanksClause,
              .hint = "Correct the rank in outputTensor, or the declared ranks of the inputs."},
     .check = Holds<Label::kOutputRanksFollow>},
    {.info = {.id = "COREML-RANK-002",
              .statement = "The inputs of matrixBandPart, lowerTriangular and upperTriangular have "
                           "rank 2 or more.",
              .clause = "NeuralNetwork.proto, MatrixBandPartLayerParams",
              .hint = "Reshape the input to rank 2 or more, for example with expandDims."},
     .check = Holds<Label::kTriangleRanks>},
    {.info = {.id = "COREML-RANK-003",
              .statement = "The shape, length or count input of fillDynamic, randomNormalDynamic, "
                           "randomUniformDynamic, randomBernoulliDynamic, reshapeDynamic, "
                           "broadcastToDynamic, reverseSeq and topK has rank 1 or less.",
              .clause = kPublishedRanksClause,
              .hint = "Reshape the input to rank 1."},
     .check = Holds<Label::kListsOfRank1>},
    {.info = {.id = "COREML-RANK-004",
              .statement = "The inputs of a concatND, stack, gatherAlongAxis or scatterAlongAxis "
                           "layer have the same rank.",
              .clause = kPublishedRanksClause,
              .hint = "Reshape the inputs to the same rank, for example with expandDims."},
     .check = Holds<Label::kInputsOfOneRank>},
    {.info =
         {.id = "COREML-AXIS-011",
          .statement = "The batchAxis of reverseSeq is less than its sequenceAxis.",
          .clause = "NeuralNetwork.proto, ReverseSeqLayerParams.batchAxis",
          .hint =
              "Set batchAxis to a value less than sequenceAxis; transpose the input if necessary."},
     .check = Holds<Label::kBatchBeforeSequence>},
    {.info = {.id = "COREML-PARAM-030",
              .statement = "The reps of a tile layer with one input has at least one value and at "
                           "most one for each axis of the input.",
              .clause = "NeuralNetwork.proto, TileLayerParams.reps",
              .hint = "List one to r values in reps, where r is the rank of the input."},
     .check = Holds<Label::kTileCounts>},
    {.info = {.id = "COREML-PARAM-031",
              .severity = Severity::kWarning,
              .statement = "In recurrent layers, scaledTanh has alpha 1.7159 and beta 2/3, and "
                           "sigmoidHard has alpha 0.2 and beta 0.5.",
              .clause = "NeuralNetwork.proto, Recurrent Layers",
              .hint = "Set alpha and beta to 1.7159 and 2/3 for scaledTanh, or to 0.2 and 0.5 for "
                      "sigmoidHard."},
     .check = Holds<Label::kRecurrentParameters>},
};

}  // namespace

std::span<const Rule> RankRules() {
  return kRankRules;
}

}  // namespace nn::coreml
