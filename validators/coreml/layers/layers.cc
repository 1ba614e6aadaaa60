// Rules that compare layers with their signatures, and rules about declared ranks.
#include "base/text/text.h"
#include "validators/coreml/rules.h"

namespace nn::coreml {
namespace {

void CheckOtherRanks(const RuleContext& s, Findings& f, bool of_model) {
  for (const NetworkAt& n : s.networks())
    for (const auto& fault : n.faults.other_rank) {
      if (fault.of_model != of_model) continue;
      const LayerAt& at = s.layers()[fault.layer];
      const auto& blob =
          fault.is_output ? at.layer->output(fault.index) : at.layer->input(fault.index);
      f.Add(Where(at, fmt::format("{}[{}]", fault.is_output ? "outputTensor" : "inputTensor",
                                  fault.index)),
            "{} declares {} with rank {}; expected {} as in {}", Title(at), Quote(blob),
            fault.is_output ? at.OutputRank(fault.index) : at.InputRank(fault.index), fault.known,
            of_model ? "the description of the model" : "an earlier layer");
    }
}

void RanksOfInterface(const RuleContext& s, Findings& f) {
  CheckOtherRanks(s, f, true);
}

void RanksConsistent(const RuleContext& s, Findings& f) {
  CheckOtherRanks(s, f, false);
}

constexpr std::string_view kLayersClause = "NeuralNetwork.proto, NeuralNetworkLayer";

constexpr Rule kLayerRules[] = {
    {.info = {.id = "COREML-LAYER-001",
              .statement = "Each layer of a neural network has a known type.",
              .clause = kLayersClause,
              .vendor = true,
              .hint = "Set one field of the oneof layer, or check the model with a newer version "
                      "of this tool."},
     .check = Holds<Label::kLayerKindPresent>},
    {.info = {.id = "COREML-LAYER-002",
              .statement =
                  "The specificationVersion of a model has all layer types that its networks use.",
              .clause = kLayersClause,
              .hint = "Raise specificationVersion to the version that introduced the layer type."},
     .check = Holds<Label::kKindInVersion>},
    {.info = {.id = "COREML-LAYER-003",
              .statement = "A layer that takes inputs has as many as its type requires.",
              .clause = kLayersClause,
              .vendor = true,
              .hint = "Add the missing inputs, or remove the surplus ones."},
     .check = Holds<Label::kInputCount>},
    {.info =
         {.id = "COREML-LAYER-004",
          .statement = "A layer that produces outputs has as many as its type requires.",
          .clause = kLayersClause,
          .vendor = true,
          .hint =
              "Name an output blob for each result of the layer, and remove the surplus names."},
     .check = Holds<Label::kOutputCount>},
    {.info = {.id = "COREML-LAYER-010",
              .statement = "The layers loadConstant, loadConstantND, rangeStatic, fillStatic, "
                           "randomNormalStatic, randomUniformStatic, randomBernoulliStatic, "
                           "loopBreak and loopContinue have no inputs, and branch, loop, loopBreak "
                           "and loopContinue have no outputs.",
              .clause = kLayersClause,
              .hint = "Clear the input or output list of the layer."},
     .check = Holds<Label::kNothingTaken>},
    {.info = {.id = "COREML-LAYER-005",
              .statement = "The inputTensor and outputTensor lists of a layer are empty or have "
                           "one entry for each input and each output.",
              .clause = kLayersClause,
              .vendor = true,
              .hint = "Add an entry for each blob, or clear the list."},
     .check = Holds<Label::kTensorsListed>},
    {.info = {.id = "COREML-LAYER-006",
              .statement = "The dimValue of a tensor in inputTensor or outputTensor is empty or "
                           "has as many sizes as the rank.",
              .clause = "NeuralNetwork.proto, Tensor",
              .vendor = true,
              .hint = "Give dimValue one size for each axis, or clear it."},
     .check = Holds<Label::kTensorsSized>},
    {.info = {.id = "COREML-LAYER-011",
              .statement = "The rank of a tensor in inputTensor or outputTensor is at most 5.",
              .clause = "NeuralNetwork.proto, Tensor",
              .hint = "Reshape the blob to rank 5 or less."},
     .check = Holds<Label::kTensorsRanked>},
    {.info = {.id = "COREML-LAYER-007",
              .statement = "The ranks in inputTensor and outputTensor agree with the ranks that "
                           "the description of the model gives the inputs and outputs.",
              .clause = kLayersClause,
              .vendor = true,
              .hint = "Set the rank to that of the input or output in the description."},
     .check = RanksOfInterface},
    {.info = {.id = "COREML-LAYER-008",
              .statement = "All layers declare the same rank for a blob.",
              .clause = kLayersClause,
              .vendor = true,
              .hint = "Correct the rank in inputTensor or outputTensor of one of the layers."},
     .check = RanksConsistent},
    {.info =
         {.id = "COREML-LAYER-009",
          .statement =
              "The first input and the first output of a layer have ranks that its type supports.",
          .clause = kLayersClause,
          .vendor = true,
          .hint = "Correct the declared ranks, or reshape the input to a rank that the layer "
                  "supports."},
     .check = Holds<Label::kRanksFitLayer>},
    {.info = {.id = "COREML-LAYER-012",
              .statement = "The inputs of a crop, dot, cropResize or concat layer have the same "
                           "rank, the outputs of a split layer have the same rank, and the second "
                           "output of a topK layer has the rank of its input.",
              .clause = kLayersClause,
              .vendor = true,
              .hint = "Correct the declared ranks, or reshape the blobs to the same rank."},
     .check = Holds<Label::kRanksAlike>},
};

}  // namespace

void CheckConstraint(const Constraint& constraint, const RuleContext& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    Misfits misfits([&](std::string_view field, const std::string& text) {
      f.Add(Where(at, field), "{}", text);
    });
    constraint.check(at, misfits);
  }
}

std::span<const Rule> LayerRules() {
  return kLayerRules;
}

}  // namespace nn::coreml
