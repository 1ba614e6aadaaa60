// Rules of loops and branches.
#include <algorithm>

#include "base/text.h"
#include "validators/coreml/rules.h"

namespace nn::coreml {
namespace {

void BranchesFilled(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers())
    if (at.layer->has_branch() && at.layer->branch().ifbranch().layers().empty())
      f.Add(Where(at, "branch.ifBranch"), "{} has an empty branch", Title(at));
}

void LoopsEnd(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    if (!at.layer->has_loop()) continue;
    const auto& loop = at.layer->loop();
    const bool condition = !loop.conditionnetwork().layers().empty();
    if (loop.bodynetwork().layers().empty())
      f.Add(Where(at, "loop.bodyNetwork"), "{} has an empty body", Title(at));
    if (!condition && loop.maxloopiterations() == 0 && at.layer->input().empty())
      f.Add(Where(at, "loop"), "{} has neither a condition nor a number of iterations", Title(at));
  }
}

void LoopConditions(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    if (!at.layer->has_loop()) continue;
    const auto& loop = at.layer->loop();
    const bool condition = !loop.conditionnetwork().layers().empty();
    if (condition && loop.conditionvar().empty())
      f.Add(Where(at, "loop.conditionVar"), "{} has a condition network but no variable",
            Title(at));
    else if (!condition && !loop.conditionvar().empty())
      f.Add(Where(at, "loop.conditionVar"), "{} has the variable {} but no condition network",
            Title(at), Quote(loop.conditionvar()));
  }
  for (const NetworkAt& n : s.networks())
    for (const size_t layer : n.faults.stale_conditions) {
      const LayerAt& at = s.layers()[layer];
      if (!at.layer->loop().conditionvar().empty())
        f.Add(Where(at, "loop.conditionVar"),
              "{} has the variable {}, which its condition network does not write", Title(at),
              Quote(at.layer->loop().conditionvar()));
    }
}

void ConditionsScalar(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    if ((!at.layer->has_loop() && !at.layer->has_branch()) || !at.ListsInputs()) continue;
    const auto& sizes = at.layer->inputtensor(0).dimvalue();
    if (std::any_of(sizes.begin(), sizes.end(), [](int64_t size) { return size > 1; }))
      f.Add(Where(at, "inputTensor[0]"), "{} takes more than one value", Title(at));
  }
}

void JumpsInLoops(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers())
    if ((at.layer->has_loopbreak() || at.layer->has_loopcontinue()) && at.loop_depth == 0)
      f.Add(Where(at), "{} stands in no loop", Title(at));
}

constexpr Rule kRules[] = {
    {{"COREML-CONTROL-001", Severity::kError, "The if branch has layers.",
      "NeuralNetwork.proto, BranchLayerParams", true, ""},
     BranchesFilled},
    {{"COREML-CONTROL-002", Severity::kError,
      "A loop has a body, and a condition or a number of iterations.",
      "NeuralNetwork.proto, LoopLayerParams", true, ""},
     LoopsEnd},
    {{"COREML-CONTROL-003", Severity::kError,
      "The condition variable of a loop is written by its condition network.",
      "NeuralNetwork.proto, LoopLayerParams.conditionVar", true, ""},
     LoopConditions},
    {{"COREML-CONTROL-005", Severity::kError,
      "The input of a loop or branch is declared of one element.",
      "NeuralNetwork.proto, BranchLayerParams", true, ""},
     ConditionsScalar},
    {{"COREML-CONTROL-004", Severity::kError,
      "loopBreak and loopContinue stand in the body of a loop.",
      "NeuralNetwork.proto, LoopBreakLayerParams", true, ""},
     JumpsInLoops},
};

}  // namespace

std::span<const Rule> ControlRules() {
  return kRules;
}

}  // namespace nn::coreml
