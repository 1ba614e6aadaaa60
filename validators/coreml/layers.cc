// Rules that compare layers with their signatures, and rules about declared ranks.
#include <algorithm>

#include "base/text.h"
#include "validators/coreml/rules.h"

namespace nn::coreml {
namespace {

constexpr int kMaxLayerRank = 5;
using L = pb::NeuralNetworkLayer;

void LayerKindPresent(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers())
    if (at.signature == nullptr)
      f.Add(Where(at), "layer {} {} has no known type", at.index, Quote(at.layer->name()));
}

// The first specification version that has the layer type.
int VersionOf(const L& layer, const Signature& signature) {
  switch (layer.layer_case()) {
    case L::kCumSum:
    case L::kOneHot:
    case L::kClampedReLU:
    case L::kArgSort:
    case L::kPooling3D:
    case L::kGlobalPooling3D:
    case L::kSliceBySize:
    case L::kConvolution3D:
      return 5;
    case L::kResizeBilinear:
    case L::kCropResize:
      return 3;
    case L::kCustom:
      return 2;
    default:
      return signature.first_versions ? 1 : 4;
  }
}

void KindInVersion(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    const int version = at.network->model->version();
    if (at.signature == nullptr || version < 1) continue;
    if (const int since = VersionOf(*at.layer, *at.signature); version < since)
      f.Add(Where(at), "{} requires specification version {}; the model has version {}", Title(at),
            since, version);
  }
}

std::string Range(int low, int high) {
  if (high < 0) return fmt::format("{} or more", low);
  return low == high ? fmt::format("{}", low) : fmt::format("{} to {}", low, high);
}

void CheckCount(Findings& f, const LayerAt& at, std::string_view what, int count, int low,
                int high) {
  if (count < low || (high >= 0 && count > high))
    f.Add(Where(at, what), "{} has {} {}s; expected {}", Title(at), count, what, Range(low, high));
}

void InputCount(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers())
    if (at.signature != nullptr && at.signature->max_inputs != 0)
      CheckCount(f, at, "input", at.layer->input_size(), at.signature->min_inputs,
                 at.signature->max_inputs);
}

void OutputCount(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers())
    if (at.signature != nullptr && at.signature->max_outputs != 0)
      CheckCount(f, at, "output", at.layer->output_size(), at.signature->min_outputs,
                 at.signature->max_outputs);
}

void NothingTaken(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    if (at.signature == nullptr) continue;
    if (at.signature->max_inputs == 0) CheckCount(f, at, "input", at.layer->input_size(), 0, 0);
    if (at.signature->max_outputs == 0) CheckCount(f, at, "output", at.layer->output_size(), 0, 0);
  }
}

void TensorsListed(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    if (!at.network->exact_ranks()) continue;
    const auto check = [&](int tensors, int blobs, std::string_view what) {
      if (tensors != 0 && tensors != blobs)
        f.Add(Where(at, what), "{} has {} entries in {} for {} blobs", Title(at), tensors, what,
              blobs);
    };
    check(at.layer->inputtensor_size(), at.layer->input_size(), "inputTensor");
    check(at.layer->outputtensor_size(), at.layer->output_size(), "outputTensor");
  }
}

// Calls visit(at, tensor, path) for declared tensors of networks of exact ranks.
template <typename Visit>
void EachTensor(const Subject& s, const Visit& visit) {
  for (const LayerAt& at : s.layers()) {
    if (!at.network->exact_ranks()) continue;
    for (int i = 0; i < at.layer->inputtensor_size(); ++i)
      visit(at, at.layer->inputtensor(i), "inputTensor", i);
    for (int i = 0; i < at.layer->outputtensor_size(); ++i)
      visit(at, at.layer->outputtensor(i), "outputTensor", i);
  }
}

void TensorsSized(const Subject& s, Findings& f) {
  EachTensor(s, [&](const LayerAt& at, const pb::Tensor& t, std::string_view list, int i) {
    if (t.dimvalue_size() > 0 && static_cast<uint32_t>(t.dimvalue_size()) != t.rank())
      f.Add(Where(at, fmt::format("{}[{}]", list, i)),
            "{} declares rank {} with {} sizes in dimValue", Title(at), t.rank(),
            t.dimvalue_size());
  });
}

void TensorsRanked(const Subject& s, Findings& f) {
  EachTensor(s, [&](const LayerAt& at, const pb::Tensor& t, std::string_view list, int i) {
    if (t.rank() > kMaxLayerRank)
      f.Add(Where(at, fmt::format("{}[{}]", list, i)), "{} declares rank {}; expected {} or less",
            Title(at), t.rank(), kMaxLayerRank);
  });
}

void CheckOtherRanks(const Subject& s, Findings& f, bool of_model) {
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

void RanksOfInterface(const Subject& s, Findings& f) {
  CheckOtherRanks(s, f, true);
}

void RanksConsistent(const Subject& s, Findings& f) {
  CheckOtherRanks(s, f, false);
}

void RanksFitLayer(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    if (at.signature == nullptr) continue;
    const RankRule rule = RankRuleOf(*at.layer, *at.signature, at.ListsInputs());
    const int in = at.input_ranks.empty() ? -1 : at.input_ranks[0];
    const int out = at.output_ranks.empty() ? -1 : at.output_ranks[0];
    const auto fits = [&](int rank) {
      return rank < 0 || (rank >= rule.min && (rule.max < 0 || rank <= rule.max));
    };
    if (!fits(in))
      f.Add(Where(at, "input[0]"), "{} has an input of rank {}; expected {}", Title(at), in,
            Range(rule.min, rule.max));
    else if (rule.same && in >= 0 && out >= 0 && in != out)
      f.Add(Where(at, "output[0]"), "{} has an input of rank {} but an output of rank {}",
            Title(at), in, out);
    else if (rule.same && !fits(out))
      f.Add(Where(at, "output[0]"), "{} has an output of rank {}; expected {}", Title(at), out,
            Range(rule.min, rule.max));
  }
}

// Layers whose inputs all have the same rank.
bool InputsAlike(const LayerAt& at) {
  return at.layer->has_crop() || at.layer->has_dot() || at.layer->has_cropresize() ||
         at.layer->has_concat();
}

void RanksAlike(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    const auto check = [&](const std::vector<int>& ranks, std::string_view list,
                           std::string_view blob) {
      for (size_t i = 1; i < ranks.size(); ++i)
        if (ranks[0] >= 0 && ranks[i] >= 0 && ranks[i] != ranks[0])
          f.Add(Where(at, fmt::format("{}[{}]", list, i)), "{} has {} {} of rank {}; expected {}",
                Title(at), blob, i, ranks[i], ranks[0]);
    };
    if (InputsAlike(at)) check(at.input_ranks, "input", "input");
    if (at.layer->has_split()) check(at.output_ranks, "output", "output");
    if (at.layer->has_topk() && at.output_ranks.size() == 2 && !at.input_ranks.empty())
      check({at.input_ranks[0], at.output_ranks[1]}, "output", "output");
  }
}

constexpr std::string_view kLayersClause = "NeuralNetwork.proto, NeuralNetworkLayer";

constexpr Rule kLayerRules[] = {
    {.info = {.id = "COREML-LAYER-001",
              .statement = "Each layer of a neural network has a known type.",
              .clause = kLayersClause,
              .vendor = true,
              .hint = "Set one field of the oneof layer, or check the model with a newer version "
                      "of this tool."},
     .check = LayerKindPresent},
    {.info = {.id = "COREML-LAYER-002",
              .statement =
                  "The specificationVersion of a model has all layer types that its networks use.",
              .clause = kLayersClause,
              .hint = "Raise specificationVersion to the version that introduced the layer type."},
     .check = KindInVersion},
    {.info = {.id = "COREML-LAYER-003",
              .statement = "A layer that takes inputs has as many as its type requires.",
              .clause = kLayersClause,
              .vendor = true,
              .hint = "Add the missing inputs, or remove the surplus ones."},
     .check = InputCount},
    {.info =
         {.id = "COREML-LAYER-004",
          .statement = "A layer that produces outputs has as many as its type requires.",
          .clause = kLayersClause,
          .vendor = true,
          .hint =
              "Name an output blob for each result of the layer, and remove the surplus names."},
     .check = OutputCount},
    {.info = {.id = "COREML-LAYER-010",
              .statement = "The layers loadConstant, loadConstantND, rangeStatic, fillStatic, "
                           "randomNormalStatic, randomUniformStatic, randomBernoulliStatic, "
                           "loopBreak and loopContinue have no inputs, and branch, loop, loopBreak "
                           "and loopContinue have no outputs.",
              .clause = kLayersClause,
              .hint = "Clear the input or output list of the layer."},
     .check = NothingTaken},
    {.info = {.id = "COREML-LAYER-005",
              .statement = "The inputTensor and outputTensor lists of a layer are empty or have "
                           "one entry for each input and each output.",
              .clause = kLayersClause,
              .vendor = true,
              .hint = "Add an entry for each blob, or clear the list."},
     .check = TensorsListed},
    {.info = {.id = "COREML-LAYER-006",
              .statement = "The dimValue of a tensor in inputTensor or outputTensor is empty or "
                           "has as many sizes as the rank.",
              .clause = "NeuralNetwork.proto, Tensor",
              .vendor = true,
              .hint = "Give dimValue one size for each axis, or clear it."},
     .check = TensorsSized},
    {.info = {.id = "COREML-LAYER-011",
              .statement = "The rank of a tensor in inputTensor or outputTensor is at most 5.",
              .clause = "NeuralNetwork.proto, Tensor",
              .hint = "Reshape the blob to rank 5 or less."},
     .check = TensorsRanked},
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
     .check = RanksFitLayer},
    {.info = {.id = "COREML-LAYER-012",
              .statement = "The inputs of a crop, dot, cropResize or concat layer have the same "
                           "rank, the outputs of a split layer have the same rank, and the second "
                           "output of a topK layer has the rank of its input.",
              .clause = kLayersClause,
              .vendor = true,
              .hint = "Correct the declared ranks, or reshape the blobs to the same rank."},
     .check = RanksAlike},
};

}  // namespace

std::span<const Rule> LayerRules() {
  return kLayerRules;
}

}  // namespace nn::coreml
