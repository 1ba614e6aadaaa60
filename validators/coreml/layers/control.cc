// Rules about loops and branches.
#include <algorithm>

#include "base/text/text.h"
#include "validators/coreml/rules.h"

namespace nn::coreml {
namespace {

void BranchesFilled(const RuleContext& s, Findings& f) {
  for (const LayerAt& at : s.layers())
    if (at.layer->has_branch() && at.layer->branch().ifbranch().layers().empty())
      f.Add(Where(at, "branch.ifBranch"), "{} has an empty ifBranch", Title(at));
}

void LoopsEnd(const RuleContext& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    if (!at.layer->has_loop()) continue;
    const auto& loop = at.layer->loop();
    const bool condition = !loop.conditionnetwork().layers().empty();
    if (loop.bodynetwork().layers().empty())
      f.Add(Where(at, "loop.bodyNetwork"), "{} has an empty bodyNetwork", Title(at));
    if (!condition && loop.maxloopiterations() == 0 && at.layer->input().empty())
      f.Add(Where(at, "loop"), "{} has no conditionNetwork, no maxLoopIterations and no input",
            Title(at));
  }
}

void LoopConditions(const RuleContext& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    if (!at.layer->has_loop()) continue;
    const auto& loop = at.layer->loop();
    const bool condition = !loop.conditionnetwork().layers().empty();
    if (condition && loop.conditionvar().empty())
      f.Add(Where(at, "loop.conditionVar"), "{} has a conditionNetwork but no conditionVar",
            Title(at));
    else if (!condition && !loop.conditionvar().empty())
      f.Add(Where(at, "loop.conditionVar"), "{} has the conditionVar {} but no conditionNetwork",
            Title(at), Quote(loop.conditionvar()));
  }
  for (const NetworkAt& n : s.networks())
    for (const size_t layer : n.faults.stale_conditions) {
      const LayerAt& at = s.layers()[layer];
      if (!at.layer->loop().conditionvar().empty())
        f.Add(Where(at, "loop.conditionVar"),
              "{} has the conditionVar {}, which its conditionNetwork does not write", Title(at),
              Quote(at.layer->loop().conditionvar()));
    }
}

void ConditionsScalar(const RuleContext& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    if ((!at.layer->has_loop() && !at.layer->has_branch()) || !at.ListsInputs()) continue;
    const auto& sizes = at.layer->inputtensor(0).dimvalue();
    if (std::any_of(sizes.begin(), sizes.end(), [](int64_t size) { return size > 1; }))
      f.Add(Where(at, "inputTensor[0]"), "{} has an input with more than one element", Title(at));
  }
}

void JumpsInLoops(const RuleContext& s, Findings& f) {
  for (const LayerAt& at : s.layers())
    if ((at.layer->has_loopbreak() || at.layer->has_loopcontinue()) && at.loop_depth == 0)
      f.Add(Where(at), "{} is not inside the body of a loop", Title(at));
}

constexpr Rule kControlRules[] = {
    {.info = {.id = "COREML-CONTROL-001",
              .statement = "The ifBranch of a branch layer has at least one layer.",
              .clause = "NeuralNetwork.proto, BranchLayerParams",
              .vendor = true,
              .hint = "Add layers to ifBranch, or remove the branch layer."},
     .check = BranchesFilled},
    {.info = {.id = "COREML-CONTROL-002",
              .statement = "A loop layer has a bodyNetwork with layers, and a conditionNetwork, a "
                           "maxLoopIterations or an input.",
              .clause = "NeuralNetwork.proto, LoopLayerParams",
              .vendor = true,
              .hint = "Add layers to bodyNetwork, and set maxLoopIterations or conditionNetwork."},
     .check = LoopsEnd},
    {.info = {.id = "COREML-CONTROL-003",
              .statement = "A loop layer has both a conditionNetwork and a conditionVar that this "
                           "network writes, or neither.",
              .clause = "NeuralNetwork.proto, LoopLayerParams.conditionVar",
              .vendor = true,
              .hint =
                  "Set conditionVar to the output of a layer in conditionNetwork, or clear both."},
     .check = LoopConditions},
    {.info =
         {.id = "COREML-CONTROL-005",
          .statement =
              "The tensor that a loop or branch layer declares for its input has a single element.",
          .clause = "NeuralNetwork.proto, BranchLayerParams",
          .vendor = true,
          .hint = "Reduce the condition or trip count to one element, or correct dimValue in "
                  "inputTensor."},
     .check = ConditionsScalar},
    {.info = {.id = "COREML-CONTROL-004",
              .statement =
                  "Every loopBreak and loopContinue layer is inside the bodyNetwork of a loop.",
              .clause = "NeuralNetwork.proto, LoopBreakLayerParams",
              .vendor = true,
              .hint = "Move the layer into the bodyNetwork of a loop, or remove it."},
     .check = JumpsInLoops},
};

}  // namespace

std::span<const Rule> ControlRules() {
  return kControlRules;
}

}  // namespace nn::coreml
