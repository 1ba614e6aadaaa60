// Ranks that the published text specifies and the vendor's checker ignores.
#include <algorithm>
#include <optional>

#include "base/text/text.h"
#include "formats/coreml/spec/signature_constraints.h"

namespace nn::coreml {
namespace {

using L = pb::NeuralNetworkLayer;

// The length of the shape parameter of a layer, if it has one.
std::optional<int> ShapeLength(const L& l) {
  switch (l.layer_case()) {
    case L::kFillStatic:
      return l.fillstatic().targetshape_size();
    case L::kReshapeStatic:
      return l.reshapestatic().targetshape_size();
    case L::kBroadcastToStatic:
      return l.broadcasttostatic().targetshape_size();
    case L::kRandomNormalStatic:
      return l.randomnormalstatic().outputshape_size();
    case L::kRandomUniformStatic:
      return l.randomuniformstatic().outputshape_size();
    case L::kRandomBernoulliStatic:
      return l.randombernoullistatic().outputshape_size();
    case L::kLoadConstantND:
      return l.loadconstantnd().shape_size();
    default:
      return std::nullopt;
  }
}

// The rank of the outputs as it follows from the known ranks of the inputs.
std::optional<int> RankByInputs(OutputRank rank, const std::vector<int>& ranks) {
  const size_t needed = rank == OutputRank::kSecond ? 2 : 1;
  if (ranks.size() < needed || std::any_of(ranks.begin(), ranks.end(), [](int r) { return r < 1; }))
    return std::nullopt;
  switch (rank) {
    case OutputRank::kByParameters:
      return std::nullopt;
    case OutputRank::kFirst:
      return ranks[0];
    case OutputRank::kSecond:
      return ranks[1];
    case OutputRank::kLargest:
      return *std::max_element(ranks.begin(), ranks.end());
    case OutputRank::kFirstAnd1:
      return ranks[0] + 1;
    case OutputRank::kOne:
      return 1;
    case OutputRank::kTwo:
      return 2;
  }
  return std::nullopt;
}

std::optional<int> RankByParameters(const LayerView& at) {
  const L& l = *at.layer;
  if (const auto length = ShapeLength(l)) return length;
  if (at.input_ranks.empty() || at.input_ranks[0] < 1) return std::nullopt;
  const int in = at.input_ranks[0];
  if (l.has_argmax() && l.argmax().removedim()) return std::max(in - 1, 1);
  if (l.has_argmin() && l.argmin().removedim()) return std::max(in - 1, 1);
  if (l.has_slicestatic()) {
    const auto& masks = l.slicestatic().squeezemasks();
    const auto gone = static_cast<int>(std::count(masks.begin(), masks.end(), true));
    return std::max(in - gone, 1);
  }
  if (l.has_gather() && at.input_ranks.size() == 2 && at.input_ranks[1] >= 1)
    return in - 1 + at.input_ranks[1];
  return std::nullopt;
}

// Checks only ranks that the layer itself declares: the description of a model often gives its
// outputs other ranks.
void OutputRanksFollow(const LayerView& at, Misfits& f) {
  if (!at.ListsOutputs() || at.signature == nullptr) return;
  const OutputRank rank = at.signature->output_rank;
  const auto want =
      rank == OutputRank::kByParameters ? RankByParameters(at) : RankByInputs(rank, at.input_ranks);
  if (!want || *want < 1) return;
  for (int i = 0; i < at.layer->outputtensor_size(); ++i)
    if (at.OutputRank(i) >= 1 && at.OutputRank(i) != *want)
      f.Add(fmt::format("outputTensor[{}]", i), "{} has an output of rank {}; expected {}",
            Title(at), at.OutputRank(i), *want);
}

void TriangleRanks(const LayerView& at, Misfits& f) {
  if (at.signature != nullptr && !at.input_ranks.empty() && at.input_ranks[0] >= 1 &&
      !at.signature->published_ranks.Has(at.input_ranks[0]))
    f.Add("input[0]", "{} has an input of rank {}; expected {}", Title(at), at.input_ranks[0],
          at.signature->published_ranks.ToString());
}

void ListsOfRank1(const LayerView& at, Misfits& f) {
  const int i = at.signature == nullptr ? -1 : at.signature->list_input;
  if (i < 0 || static_cast<size_t>(i) >= at.input_ranks.size()) return;
  if (const int rank = at.input_ranks[static_cast<size_t>(i)]; rank > 1)
    f.Add(fmt::format("input[{}]", i), "{} has input {} of rank {}; expected rank 1", Title(at), i,
          rank);
}

void InputsOfOneRank(const LayerView& at, Misfits& f) {
  if (at.signature == nullptr || at.signature->alike != InputsAlike::kPublished) return;
  for (size_t i = 1; i < at.input_ranks.size(); ++i)
    if (at.input_ranks[0] >= 1 && at.input_ranks[i] >= 1 &&
        at.input_ranks[i] != at.input_ranks[0]) {
      f.Add(fmt::format("input[{}]", i), "{} has inputs of different ranks: {} and {}", Title(at),
            at.input_ranks[0], at.input_ranks[i]);
      break;
    }
}

void BatchBeforeSequence(const LayerView& at, Misfits& f) {
  if (at.layer->has_reverseseq() &&
      at.layer->reverseseq().batchaxis() >= at.layer->reverseseq().sequenceaxis())
    f.Add("reverseSeq.batchAxis", "{} has batchAxis {}, which is not less than sequenceAxis {}",
          Title(at), at.layer->reverseseq().batchaxis(), at.layer->reverseseq().sequenceaxis());
}

void TileCounts(const LayerView& at, Misfits& f) {
  if (!at.layer->has_tile() || at.layer->input_size() != 1) return;
  const int counts = at.layer->tile().reps_size();
  const int rank = at.input_ranks.empty() ? -1 : at.input_ranks[0];
  if (counts < 1 || (rank >= 1 && counts > rank))
    f.Add("tile.reps", "{} has {} values in reps{}", Title(at), counts,
          rank >= 1 ? fmt::format(" for an input of rank {}", rank) : "");
}

// Recurrent layers support these activations only with fixed parameters.
void RecurrentParameters(const LayerView& at, Misfits& f) {
  const auto check = [&](const pb::ActivationParams& p) {
    const auto near = [](float a, float b) { return a > b - 1e-4F && a < b + 1e-4F; };
    const bool tanh = !p.has_scaledtanh() || (near(p.scaledtanh().alpha(), 1.7159F) &&
                                              near(p.scaledtanh().beta(), 2.0F / 3));
    const bool hard = !p.has_sigmoidhard() ||
                      (near(p.sigmoidhard().alpha(), 0.2F) && near(p.sigmoidhard().beta(), 0.5F));
    if (!tanh || !hard)
      f.Add("", "{} has {} with unsupported parameters", Title(at),
            tanh ? "sigmoidHard" : "scaledTanh");
  };
  const L& l = *at.layer;
  if (l.has_simplerecurrent()) check(l.simplerecurrent().activation());
  for (const auto& p : l.gru().activations()) check(p);
  for (const auto& p : l.unidirectionallstm().activations()) check(p);
  for (const auto& p : l.bidirectionallstm().activationsforwardlstm()) check(p);
  for (const auto& p : l.bidirectionallstm().activationsbackwardlstm()) check(p);
}

constexpr Constraint kRankConstraints[] = {
    {Label::kOutputRanksFollow, OutputRanksFollow},
    {Label::kTriangleRanks, TriangleRanks},
    {Label::kListsOfRank1, ListsOfRank1},
    {Label::kInputsOfOneRank, InputsOfOneRank},
    {Label::kBatchBeforeSequence, BatchBeforeSequence},
    {Label::kTileCounts, TileCounts},
    {Label::kRecurrentParameters, RecurrentParameters},
};

}  // namespace

std::span<const Constraint> RankConstraints() {
  return kRankConstraints;
}

}  // namespace nn::coreml
