// Ranks that the published text specifies and the vendor's checker ignores.
#include <algorithm>
#include <optional>

#include "base/text.h"
#include "validators/coreml/rules.h"

namespace nn::coreml {
namespace {

using L = pb::NeuralNetworkLayer;

// What determines the rank of the outputs of a layer.
enum class From : uint8_t {
  kFirst,      // the first input
  kSecond,     // the second input
  kLargest,    // the input of the largest rank
  kFirstAnd1,  // one more than the first input
  kOne,
  kTwo,
};

struct RankSource {
  int layer;
  From from;
  int least = 1;  // minimum rank of the first input
};

constexpr RankSource kSources[] = {
    {L::kClip, From::kFirst},
    {L::kCeil, From::kFirst},
    {L::kFloor, From::kFirst},
    {L::kSign, From::kFirst},
    {L::kRound, From::kFirst},
    {L::kExp2, From::kFirst},
    {L::kSin, From::kFirst},
    {L::kCos, From::kFirst},
    {L::kTan, From::kFirst},
    {L::kAsin, From::kFirst},
    {L::kAcos, From::kFirst},
    {L::kAtan, From::kFirst},
    {L::kSinh, From::kFirst},
    {L::kCosh, From::kFirst},
    {L::kTanh, From::kFirst},
    {L::kAsinh, From::kFirst},
    {L::kAcosh, From::kFirst},
    {L::kAtanh, From::kFirst},
    {L::kErf, From::kFirst},
    {L::kGelu, From::kFirst},
    {L::kEqual, From::kLargest},
    {L::kNotEqual, From::kLargest},
    {L::kLessThan, From::kLargest},
    {L::kLessEqual, From::kLargest},
    {L::kGreaterThan, From::kLargest},
    {L::kGreaterEqual, From::kLargest},
    {L::kLogicalOr, From::kLargest},
    {L::kLogicalXor, From::kLargest},
    {L::kLogicalNot, From::kFirst},
    {L::kLogicalAnd, From::kLargest},
    {L::kModBroadcastable, From::kLargest},
    {L::kMinBroadcastable, From::kLargest},
    {L::kMaxBroadcastable, From::kLargest},
    {L::kAddBroadcastable, From::kLargest},
    {L::kPowBroadcastable, From::kLargest},
    {L::kDivideBroadcastable, From::kLargest},
    {L::kFloorDivBroadcastable, From::kLargest},
    {L::kMultiplyBroadcastable, From::kLargest},
    {L::kSubtractBroadcastable, From::kLargest},
    {L::kWhereBroadcastable, From::kLargest},
    {L::kTile, From::kFirst},
    {L::kStack, From::kFirstAnd1},
    {L::kScatterND, From::kFirst},
    {L::kSoftmaxND, From::kFirst},
    {L::kGatherAlongAxis, From::kSecond},
    {L::kScatterAlongAxis, From::kFirst},
    {L::kReverse, From::kFirst},
    {L::kReverseSeq, From::kFirst},
    {L::kSplitND, From::kFirst},
    {L::kConcatND, From::kFirst},
    {L::kTranspose, From::kFirst},
    {L::kSlidingWindows, From::kFirstAnd1},
    {L::kGetShape, From::kOne},
    {L::kFillLike, From::kFirst},
    {L::kBroadcastToLike, From::kSecond},
    {L::kFlattenTo2D, From::kTwo},
    {L::kReshapeLike, From::kSecond},
    {L::kRandomNormalLike, From::kFirst},
    {L::kRandomUniformLike, From::kFirst},
    {L::kRandomBernoulliLike, From::kFirst},
    {L::kCategoricalDistribution, From::kFirst},
    {L::kWhereNonZero, From::kTwo},
    {L::kMatrixBandPart, From::kFirst, 2},
    {L::kLowerTriangular, From::kFirst, 2},
    {L::kUpperTriangular, From::kFirst, 2},
    {L::kLayerNormalization, From::kFirst},
    {L::kCumSum, From::kFirst},
    {L::kClampedReLU, From::kFirst},
    {L::kSliceBySize, From::kFirst},
};

const RankSource* SourceOf(const L& layer) {
  const auto* const found = std::find_if(
      std::begin(kSources), std::end(kSources),
      [&](const RankSource& s) { return s.layer == static_cast<int>(layer.layer_case()); });
  return found != std::end(kSources) ? found : nullptr;
}

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
std::optional<int> RankBySource(const RankSource& source, const std::vector<int>& ranks) {
  const size_t needed = source.from == From::kSecond ? 2 : 1;
  if (ranks.size() < needed || std::any_of(ranks.begin(), ranks.end(), [](int r) { return r < 1; }))
    return std::nullopt;
  switch (source.from) {
    case From::kFirst:
      return ranks[0];
    case From::kSecond:
      return ranks[1];
    case From::kLargest:
      return *std::max_element(ranks.begin(), ranks.end());
    case From::kFirstAnd1:
      return ranks[0] + 1;
    case From::kOne:
      return 1;
    case From::kTwo:
      return 2;
  }
  return std::nullopt;
}

std::optional<int> RankByParameters(const LayerAt& at) {
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
void OutputRanks(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    if (!at.ListsOutputs()) continue;
    const RankSource* source = SourceOf(*at.layer);
    const auto want =
        source != nullptr ? RankBySource(*source, at.input_ranks) : RankByParameters(at);
    if (!want || *want < 1) continue;
    for (int i = 0; i < at.layer->outputtensor_size(); ++i)
      if (at.OutputRank(i) >= 1 && at.OutputRank(i) != *want)
        f.Add(Where(at, fmt::format("outputTensor[{}]", i)),
              "{} has an output of rank {}; expected {}", Title(at), at.OutputRank(i), *want);
  }
}

void InputRanks(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    const RankSource* source = SourceOf(*at.layer);
    if (source != nullptr && !at.input_ranks.empty() && at.input_ranks[0] >= 1 &&
        at.input_ranks[0] < source->least)
      f.Add(Where(at, "input[0]"), "{} has an input of rank {}; expected {} or more", Title(at),
            at.input_ranks[0], source->least);
  }
}

// The index of the input that is a list of numbers; -1 if there is none.
int ListInput(const L& l) {
  switch (l.layer_case()) {
    case L::kFillDynamic:
    case L::kRandomNormalDynamic:
    case L::kRandomUniformDynamic:
    case L::kRandomBernoulliDynamic:
      return 0;
    case L::kReshapeDynamic:
    case L::kBroadcastToDynamic:
    case L::kReverseSeq:
    case L::kTopK:
      return 1;
    default:
      return -1;
  }
}

void ListsOfRank1(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    const int i = ListInput(*at.layer);
    if (i < 0 || static_cast<size_t>(i) >= at.input_ranks.size()) continue;
    if (const int rank = at.input_ranks[static_cast<size_t>(i)]; rank > 1)
      f.Add(Where(at, fmt::format("input[{}]", i)), "{} has input {} of rank {}; expected rank 1",
            Title(at), i, rank);
  }
}

void InputsOfOneRank(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    const L& l = *at.layer;
    if (!l.has_concatnd() && !l.has_gatheralongaxis() && !l.has_scatteralongaxis() &&
        !l.has_stack())
      continue;
    for (size_t i = 1; i < at.input_ranks.size(); ++i)
      if (at.input_ranks[0] >= 1 && at.input_ranks[i] >= 1 &&
          at.input_ranks[i] != at.input_ranks[0]) {
        f.Add(Where(at, fmt::format("input[{}]", i)), "{} has inputs of different ranks: {} and {}",
              Title(at), at.input_ranks[0], at.input_ranks[i]);
        break;
      }
  }
}

void BatchBeforeSequence(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers())
    if (at.layer->has_reverseseq() &&
        at.layer->reverseseq().batchaxis() >= at.layer->reverseseq().sequenceaxis())
      f.Add(Where(at, "reverseSeq.batchAxis"),
            "{} has batchAxis {}, which is not less than sequenceAxis {}", Title(at),
            at.layer->reverseseq().batchaxis(), at.layer->reverseseq().sequenceaxis());
}

void TileCounts(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    if (!at.layer->has_tile() || at.layer->input_size() != 1) continue;
    const int counts = at.layer->tile().reps_size();
    const int rank = at.input_ranks.empty() ? -1 : at.input_ranks[0];
    if (counts < 1 || (rank >= 1 && counts > rank))
      f.Add(Where(at, "tile.reps"), "{} has {} values in reps{}", Title(at), counts,
            rank >= 1 ? fmt::format(" for an input of rank {}", rank) : "");
  }
}

// Recurrent layers support these activations only with fixed parameters.
void RecurrentParameters(const Subject& s, Findings& f) {
  const auto check = [&](const LayerAt& at, const pb::ActivationParams& p) {
    const auto near = [](float a, float b) { return a > b - 1e-4F && a < b + 1e-4F; };
    const bool tanh = !p.has_scaledtanh() || (near(p.scaledtanh().alpha(), 1.7159F) &&
                                              near(p.scaledtanh().beta(), 2.0F / 3));
    const bool hard = !p.has_sigmoidhard() ||
                      (near(p.sigmoidhard().alpha(), 0.2F) && near(p.sigmoidhard().beta(), 0.5F));
    if (!tanh || !hard)
      f.Add(Where(at), "{} has {} with unsupported parameters", Title(at),
            tanh ? "sigmoidHard" : "scaledTanh");
  };
  for (const LayerAt& at : s.layers()) {
    const L& l = *at.layer;
    if (l.has_simplerecurrent()) check(at, l.simplerecurrent().activation());
    for (const auto& p : l.gru().activations()) check(at, p);
    for (const auto& p : l.unidirectionallstm().activations()) check(at, p);
    for (const auto& p : l.bidirectionallstm().activationsforwardlstm()) check(at, p);
    for (const auto& p : l.bidirectionallstm().activationsbackwardlstm()) check(at, p);
  }
}

constexpr std::string_view kPublishedRanksClause = "NeuralNetwork.proto, NeuralNetworkLayer";

constexpr Rule kRankRules[] = {
    {.info = {.id = "COREML-RANK-001",
              .statement = "The rank that a layer declares for an output follows from the ranks of "
                           "its inputs and from its parameters.",
              .clause = kPublishedRanksClause,
              .hint = "Correct the rank in outputTensor, or the declared ranks of the inputs."},
     .check = OutputRanks},
    {.info = {.id = "COREML-RANK-002",
              .statement = "The inputs of matrixBandPart, lowerTriangular and upperTriangular have "
                           "rank 2 or more.",
              .clause = "NeuralNetwork.proto, MatrixBandPartLayerParams",
              .hint = "Reshape the input to rank 2 or more, for example with expandDims."},
     .check = InputRanks},
    {.info = {.id = "COREML-RANK-003",
              .statement = "The shape, length or count input of fillDynamic, randomNormalDynamic, "
                           "randomUniformDynamic, randomBernoulliDynamic, reshapeDynamic, "
                           "broadcastToDynamic, reverseSeq and topK has rank 1 or less.",
              .clause = kPublishedRanksClause,
              .hint = "Reshape the input to rank 1."},
     .check = ListsOfRank1},
    {.info = {.id = "COREML-RANK-004",
              .statement = "The inputs of a concatND, stack, gatherAlongAxis or scatterAlongAxis "
                           "layer have the same rank.",
              .clause = kPublishedRanksClause,
              .hint = "Reshape the inputs to the same rank, for example with expandDims."},
     .check = InputsOfOneRank},
    {.info =
         {.id = "COREML-AXIS-011",
          .statement = "The batchAxis of reverseSeq is less than its sequenceAxis.",
          .clause = "NeuralNetwork.proto, ReverseSeqLayerParams.batchAxis",
          .hint =
              "Set batchAxis to a value less than sequenceAxis; transpose the input if necessary."},
     .check = BatchBeforeSequence},
    {.info = {.id = "COREML-PARAM-030",
              .statement = "The reps of a tile layer with one input has at least one value and at "
                           "most one for each axis of the input.",
              .clause = "NeuralNetwork.proto, TileLayerParams.reps",
              .hint = "List one to r values in reps, where r is the rank of the input."},
     .check = TileCounts},
    {.info = {.id = "COREML-PARAM-031",
              .severity = Severity::kWarning,
              .statement = "In recurrent layers, scaledTanh has alpha 1.7159 and beta 2/3, and "
                           "sigmoidHard has alpha 0.2 and beta 0.5.",
              .clause = "NeuralNetwork.proto, Recurrent Layers",
              .hint = "Set alpha and beta to 1.7159 and 2/3 for scaledTanh, or to 0.2 and 0.5 for "
                      "sigmoidHard."},
     .check = RecurrentParameters},
};

}  // namespace

std::span<const Rule> RankRules() {
  return kRankRules;
}

}  // namespace nn::coreml
