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

bool Writes(const Layers& layers, const std::string& blob) {
  return std::any_of(layers.begin(), layers.end(), [&](const auto& layer) {
    return std::find(layer.output().begin(), layer.output().end(), blob) != layer.output().end();
  });
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
    const Layers& condition = loop.conditionnetwork().layers();
    if (!condition.empty() && loop.conditionvar().empty())
      f.Add(Where(at, "loop.conditionVar"), "{} has a condition network but no variable",
            Title(at));
    else if (!condition.empty() && !Writes(condition, loop.conditionvar()))
      f.Add(Where(at, "loop.conditionVar"),
            "{} has the variable {}, which its condition network "
            "does not write",
            Title(at), Quote(loop.conditionvar()));
    else if (condition.empty() && !loop.conditionvar().empty())
      f.Add(Where(at, "loop.conditionVar"), "{} has the variable {} but no condition network",
            Title(at), Quote(loop.conditionvar()));
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
