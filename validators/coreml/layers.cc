// Rules of layers against their signatures, and of declared ranks.
#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/text.h"
#include "validators/coreml/rules.h"

namespace nn::coreml {
namespace {

constexpr int kMaxRank = 5;

void KindPresent(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers())
    if (at.signature == nullptr)
      f.Add(Where(at), "layer {} {} is of no known kind", at.index, Quote(at.layer->name()));
}

void KindInVersion(const Subject& s, Findings& f) {
  constexpr int kVersionWithNewLayers = 4;
  for (const LayerAt& at : s.layers()) {
    const int version = at.network->model->version();
    if (at.signature != nullptr && !at.signature->first_versions && version > 0 &&
        version < kVersionWithNewLayers)
      f.Add(Where(at), "{} exists from specification version {} on, not in {}", Title(at),
            kVersionWithNewLayers, version);
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
    if (at.signature != nullptr)
      CheckCount(f, at, "input", at.layer->input_size(), at.signature->min_inputs,
                 at.signature->max_inputs);
}

void OutputCount(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers())
    if (at.signature != nullptr)
      CheckCount(f, at, "output", at.layer->output_size(), at.signature->min_outputs,
                 at.signature->max_outputs);
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

// Calls visit(at, blob, tensor, path) for blobs with a declared rank.
template <typename Visit>
void EachTensor(const Subject& s, const Visit& visit) {
  for (const LayerAt& at : s.layers()) {
    if (!at.network->exact_ranks()) continue;
    for (int i = 0; i < std::min(at.layer->input_size(), at.layer->inputtensor_size()); ++i)
      visit(at, at.layer->input(i), at.layer->inputtensor(i), fmt::format("inputTensor[{}]", i));
    for (int i = 0; i < std::min(at.layer->output_size(), at.layer->outputtensor_size()); ++i)
      visit(at, at.layer->output(i), at.layer->outputtensor(i), fmt::format("outputTensor[{}]", i));
  }
}

void TensorsValid(const Subject& s, Findings& f) {
  EachTensor(s, [&](const LayerAt& at, const std::string& blob, const pb::Tensor& t,
                    const std::string& path) {
    if (t.rank() > kMaxRank ||
        (t.dimvalue_size() > 0 && static_cast<uint32_t>(t.dimvalue_size()) != t.rank()))
      f.Add(Where(at, path), "{} declares {} of rank {} with {} sizes", Title(at), Quote(blob),
            t.rank(), t.dimvalue_size());
  });
}

// Ranks of a network's inputs and outputs by the model's description.
std::map<std::string, int, std::less<>> InterfaceRanks(const NetworkAt& n) {
  std::map<std::string, int, std::less<>> ranks;
  for (const auto& input : n.model->description().input()) {
    if (input.type().has_multiarraytype() && input.type().multiarraytype().shape_size() > 0)
      ranks[input.name()] = n.exact_arrays ? input.type().multiarraytype().shape_size() : kMaxRank;
    if (input.type().has_imagetype()) ranks[input.name()] = n.exact_images ? 4 : kMaxRank;
  }
  for (const auto& output : n.model->description().output())
    if (output.type().multiarraytype().shape_size() > 0)
      ranks[output.name()] = output.type().multiarraytype().shape_size();
  return ranks;
}

void RanksOfInterface(const Subject& s, Findings& f) {
  std::map<const NetworkAt*, std::map<std::string, int, std::less<>>> ranks;
  for (const auto& n : s.networks()) ranks[n.get()] = InterfaceRanks(*n);
  EachTensor(s, [&](const LayerAt& at, const std::string& blob, const pb::Tensor& t,
                    const std::string& path) {
    const auto& known = ranks[at.network];
    const auto found = known.find(blob);
    if (found != known.end() && static_cast<int>(t.rank()) != found->second)
      f.Add(Where(at, path), "{} declares {} of rank {}, the model of rank {}", Title(at),
            Quote(blob), t.rank(), found->second);
  });
}

void RanksConsistent(const Subject& s, Findings& f) {
  std::map<const NetworkAt*, std::unordered_map<std::string_view, uint32_t>> ranks;
  EachTensor(s, [&](const LayerAt& at, const std::string& blob, const pb::Tensor& t,
                    const std::string& path) {
    const uint32_t first = ranks[at.network].try_emplace(blob, t.rank()).first->second;
    if (first != t.rank())
      f.Add(Where(at, path), "{} declares {} of rank {}, an earlier layer of rank {}", Title(at),
            Quote(blob), t.rank(), first);
  });
}

// Ranks that are not declared here follow from the model's description or from earlier layers.
void RanksFitLayer(const Subject& s, Findings& f) {
  std::map<const NetworkAt*, std::map<std::string, int, std::less<>>> known;
  for (const auto& n : s.networks()) known[n.get()] = InterfaceRanks(*n);
  for (const LayerAt& at : s.layers()) {
    if (at.signature == nullptr || !at.network->exact_ranks()) continue;
    auto& ranks = known[at.network];
    for (int i = 0; i < at.layer->input_size(); ++i)
      if (at.InputRank(i) != 0) ranks.try_emplace(at.layer->input(i), at.InputRank(i));
    for (int i = 0; i < at.layer->output_size(); ++i)
      if (at.OutputRank(i) != 0) ranks.try_emplace(at.layer->output(i), at.OutputRank(i));
    const auto rank_of = [&](const auto& blobs) {
      const auto found = blobs.empty() ? ranks.end() : ranks.find(blobs.Get(0));
      return found != ranks.end() ? found->second : 0;
    };
    const int in = rank_of(at.layer->input());
    if (in == 0) continue;
    if (in < at.signature->min_rank || (at.signature->max_rank >= 0 && in > at.signature->max_rank))
      f.Add(Where(at, "input[0]"), "{} takes rank {} instead of {}", Title(at), in,
            Range(at.signature->min_rank, at.signature->max_rank));
    const int out = rank_of(at.layer->output());
    if (at.signature->same_rank && out != 0 && out != in)
      f.Add(Where(at, "output[0]"), "{} takes rank {} and gives rank {}", Title(at), in, out);
  }
}

constexpr std::string_view kClause = "NeuralNetwork.proto, NeuralNetworkLayer";

constexpr Rule kRules[] = {
    {{"COREML-LAYER-001", Severity::kError, "Layers are of a known kind.", kClause, true, ""},
     KindPresent},
    {{"COREML-LAYER-002", Severity::kError,
      "Layers that version 4 brought stand in models of version 4 or later.", kClause, false,
      "Raise specificationVersion."},
     KindInVersion},
    {{"COREML-LAYER-003", Severity::kError, "A layer has as many inputs as its kind takes.",
      kClause, true, ""},
     InputCount},
    {{"COREML-LAYER-004", Severity::kError, "A layer has as many outputs as its kind gives.",
      kClause, true, ""},
     OutputCount},
    {{"COREML-LAYER-005", Severity::kError,
      "inputTensor and outputTensor have an entry for each blob, or none.", kClause, true, ""},
     TensorsListed},
    {{"COREML-LAYER-006", Severity::kError,
      "Declared tensors have rank 5 at most and a size an axis.", "NeuralNetwork.proto, Tensor",
      true, ""},
     TensorsValid},
    {{"COREML-LAYER-007", Severity::kError,
      "Declared ranks of inputs and outputs are those of the model's description.", kClause, true,
      ""},
     RanksOfInterface},
    {{"COREML-LAYER-008", Severity::kError, "A blob is declared of one rank.", kClause, true, ""},
     RanksConsistent},
    {{"COREML-LAYER-009", Severity::kError, "Ranks of blobs are ones that the layer takes.",
      kClause, true, ""},
     RanksFitLayer},
};

}  // namespace

std::span<const Rule> LayerRules() {
  return kRules;
}

}  // namespace nn::coreml
