// Rules of layers against their signatures, and of declared ranks.
#include <algorithm>

#include "base/text.h"
#include "validators/coreml/rules.h"

namespace nn::coreml {
namespace {

constexpr int kMaxRank = 5;
using L = pb::NeuralNetworkLayer;

void KindPresent(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers())
    if (at.signature == nullptr)
      f.Add(Where(at), "layer {} {} is of no known kind", at.index, Quote(at.layer->name()));
}

// The first specification version that has a layer with the parameters that it has.
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
      f.Add(Where(at), "{} exists from specification version {} on, not in {}", Title(at), since,
            version);
  }
}

std::string Range(int low, int high) {
  if (high < 0) return fmt::format("{} or more", low);
  return low == high ? fmt::format("{}", low) : fmt::format("{} to {}", low, high);
}

void CheckCount(Findings& f, const LayerAt& at, std::string_view what, int count, int low,
                int high) {
  if (count < low || (high >= 0 && count > high))
    f.Add(Where(at, what), "{} has {} {}s instead of {}", Title(at), count, what, Range(low, high));
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
        f.Add(Where(at, what), "{} has {} {}s for {} blobs", Title(at), tensors, what, blobs);
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
      f.Add(Where(at, fmt::format("{}[{}]", list, i)), "{} declares rank {} with {} sizes",
            Title(at), t.rank(), t.dimvalue_size());
  });
}

void TensorsRanked(const Subject& s, Findings& f) {
  EachTensor(s, [&](const LayerAt& at, const pb::Tensor& t, std::string_view list, int i) {
    if (t.rank() > kMaxRank)
      f.Add(Where(at, fmt::format("{}[{}]", list, i)), "{} declares rank {}; {} is the most",
            Title(at), t.rank(), kMaxRank);
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
            "{} declares {} of rank {}, {} of rank {}", Title(at), Quote(blob),
            fault.is_output ? at.OutputRank(fault.index) : at.InputRank(fault.index),
            of_model ? "the model" : "an earlier layer", fault.known);
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
      f.Add(Where(at, "input[0]"), "{} takes rank {} instead of {}", Title(at), in,
            Range(rule.min, rule.max));
    else if (rule.same && in >= 0 && out >= 0 && in != out)
      f.Add(Where(at, "output[0]"), "{} takes rank {} and gives rank {}", Title(at), in, out);
    else if (rule.same && !fits(out))
      f.Add(Where(at, "output[0]"), "{} gives rank {} instead of {}", Title(at), out,
            Range(rule.min, rule.max));
  }
}

// Layers whose inputs, or outputs, are all of one rank.
bool InputsAlike(const LayerAt& at) {
  return at.layer->has_crop() || at.layer->has_dot() || at.layer->has_cropresize() ||
         at.layer->has_concat();
}

void RanksAlike(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    const auto check = [&](const std::vector<int>& ranks, std::string_view list) {
      for (size_t i = 1; i < ranks.size(); ++i)
        if (ranks[0] >= 0 && ranks[i] >= 0 && ranks[i] != ranks[0])
          f.Add(Where(at, fmt::format("{}[{}]", list, i)), "{} has {}s of rank {} and {}",
                Title(at), list, ranks[0], ranks[i]);
    };
    if (InputsAlike(at)) check(at.input_ranks, "input");
    if (at.layer->has_split()) check(at.output_ranks, "output");
    if (at.layer->has_topk() && at.output_ranks.size() == 2 && !at.input_ranks.empty())
      check({at.input_ranks[0], at.output_ranks[1]}, "input or output");
  }
}

constexpr std::string_view kClause = "NeuralNetwork.proto, NeuralNetworkLayer";

constexpr Rule kRules[] = {
    {{"COREML-LAYER-001", Severity::kError, "Layers are of a known kind.", kClause, true, ""},
     KindPresent},
    {{"COREML-LAYER-002", Severity::kError, "The model's specification version has the layer.",
      kClause, false, "Raise specificationVersion."},
     KindInVersion},
    {{"COREML-LAYER-003", Severity::kError, "A layer has as many inputs as its kind takes.",
      kClause, true, ""},
     InputCount},
    {{"COREML-LAYER-004", Severity::kError, "A layer has as many outputs as its kind gives.",
      kClause, true, ""},
     OutputCount},
    {{"COREML-LAYER-010", Severity::kError,
      "Constants and jumps have no inputs; loops, branches and jumps have no outputs.", kClause,
      false, "Take the names away."},
     NothingTaken},
    {{"COREML-LAYER-005", Severity::kError,
      "inputTensor and outputTensor have an entry for each blob, or none.", kClause, true, ""},
     TensorsListed},
    {{"COREML-LAYER-006", Severity::kError, "Declared tensors have a size an axis, or no sizes.",
      "NeuralNetwork.proto, Tensor", true, ""},
     TensorsSized},
    {{"COREML-LAYER-011", Severity::kError, "Declared tensors are of rank 5 at most.",
      "NeuralNetwork.proto, Tensor", false, ""},
     TensorsRanked},
    {{"COREML-LAYER-007", Severity::kError,
      "Declared ranks of inputs and outputs are those of the model's description.", kClause, true,
      ""},
     RanksOfInterface},
    {{"COREML-LAYER-008", Severity::kError, "A blob is declared of one rank.", kClause, true, ""},
     RanksConsistent},
    {{"COREML-LAYER-009", Severity::kError, "Ranks of blobs are ones that the layer takes.",
      kClause, true, ""},
     RanksFitLayer},
    {{"COREML-LAYER-012", Severity::kError,
      "Inputs of crop, dot, cropResize and concat are of one rank; so are outputs of split and "
      "topK.",
      kClause, true, ""},
     RanksAlike},
};

}  // namespace

std::span<const Rule> LayerRules() {
  return kRules;
}

}  // namespace nn::coreml
