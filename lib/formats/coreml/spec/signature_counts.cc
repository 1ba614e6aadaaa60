// Rules that compare layers with their signatures, and rules about declared ranks.
#include <algorithm>

#include "base/text/text.h"
#include "formats/coreml/spec/signature_constraints.h"

namespace nn::coreml {
namespace {

void LayerKindPresent(const LayerView& at, Misfits& f) {
  if (at.signature == nullptr)
    f.Add("", "layer {} {} has no known type", at.index, Quote(at.layer->name()));
}

void KindInVersion(const LayerView& at, Misfits& f) {
  if (at.signature != nullptr && at.version >= 1 && at.version < at.signature->version)
    f.Add("", "{} requires specification version {}; the model has version {}", Title(at),
          at.signature->version, at.version);
}

void CheckCount(Misfits& f, const LayerView& at, std::string_view what, int count,
                const Range& range) {
  if (!range.Has(count))
    f.Add(what, "{} has {} {}s; expected {}", Title(at), count, what, range.ToString());
}

// The rule of layers without inputs or outputs is another one.
void InputCount(const LayerView& at, Misfits& f) {
  if (at.signature != nullptr && at.signature->inputs.high != 0)
    CheckCount(f, at, "input", at.layer->input_size(), at.signature->inputs);
}

void OutputCount(const LayerView& at, Misfits& f) {
  if (at.signature != nullptr && at.signature->outputs.high != 0)
    CheckCount(f, at, "output", at.layer->output_size(), at.signature->outputs);
}

void NothingTaken(const LayerView& at, Misfits& f) {
  if (at.signature == nullptr) return;
  if (at.signature->inputs.high == 0) CheckCount(f, at, "input", at.layer->input_size(), 0);
  if (at.signature->outputs.high == 0) CheckCount(f, at, "output", at.layer->output_size(), 0);
}

void TensorsListed(const LayerView& at, Misfits& f) {
  if (!at.exact_ranks) return;
  const auto check = [&](int tensors, int blobs, std::string_view what) {
    if (tensors != 0 && tensors != blobs)
      f.Add(what, "{} has {} entries in {} for {} blobs", Title(at), tensors, what, blobs);
  };
  check(at.layer->inputtensor_size(), at.layer->input_size(), "inputTensor");
  check(at.layer->outputtensor_size(), at.layer->output_size(), "outputTensor");
}

// Calls visit(tensor, list, index) for declared tensors of networks of exact ranks.
template <typename Visit>
void EachTensor(const LayerView& at, const Visit& visit) {
  if (!at.exact_ranks) return;
  for (int i = 0; i < at.layer->inputtensor_size(); ++i)
    visit(at.layer->inputtensor(i), "inputTensor", i);
  for (int i = 0; i < at.layer->outputtensor_size(); ++i)
    visit(at.layer->outputtensor(i), "outputTensor", i);
}

void TensorsSized(const LayerView& at, Misfits& f) {
  EachTensor(at, [&](const pb::Tensor& t, std::string_view list, int i) {
    if (t.dimvalue_size() > 0 && static_cast<uint32_t>(t.dimvalue_size()) != t.rank())
      f.Add(fmt::format("{}[{}]", list, i), "{} declares rank {} with {} sizes in dimValue",
            Title(at), t.rank(), t.dimvalue_size());
  });
}

void TensorsRanked(const LayerView& at, Misfits& f) {
  EachTensor(at, [&](const pb::Tensor& t, std::string_view list, int i) {
    if (t.rank() > kMaxRank)
      f.Add(fmt::format("{}[{}]", list, i), "{} declares rank {}; expected {} or less", Title(at),
            t.rank(), kMaxRank);
  });
}

void RanksFitLayer(const LayerView& at, Misfits& f) {
  if (at.signature == nullptr) return;
  const RankRule rule = RankRuleOf(*at.layer, *at.signature, at.ListsInputs());
  const int in = at.input_ranks.empty() ? -1 : at.input_ranks[0];
  const int out = at.output_ranks.empty() ? -1 : at.output_ranks[0];
  const auto fits = [&](int rank) { return rank < 0 || rule.ranks.Has(rank); };
  if (!fits(in))
    f.Add("input[0]", "{} has an input of rank {}; expected {}", Title(at), in,
          rule.ranks.ToString());
  else if (rule.same && in >= 0 && out >= 0 && in != out)
    f.Add("output[0]", "{} has an input of rank {} but an output of rank {}", Title(at), in, out);
  else if (rule.same && !fits(out))
    f.Add("output[0]", "{} has an output of rank {}; expected {}", Title(at), out,
          rule.ranks.ToString());
}

void RanksAlike(const LayerView& at, Misfits& f) {
  const auto check = [&](const std::vector<int>& ranks, std::string_view list,
                         std::string_view blob) {
    for (size_t i = 1; i < ranks.size(); ++i)
      if (ranks[0] >= 0 && ranks[i] >= 0 && ranks[i] != ranks[0])
        f.Add(fmt::format("{}[{}]", list, i), "{} has {} {} of rank {}; expected {}", Title(at),
              blob, i, ranks[i], ranks[0]);
  };
  if (at.signature != nullptr && at.signature->alike == InputsAlike::kChecked)
    check(at.input_ranks, "input", "input");
  if (at.layer->has_split()) check(at.output_ranks, "output", "output");
  if (at.layer->has_topk() && at.output_ranks.size() == 2 && !at.input_ranks.empty())
    check({at.input_ranks[0], at.output_ranks[1]}, "output", "output");
}

constexpr Constraint kCountConstraints[] = {
    {Label::kLayerKindPresent, LayerKindPresent},
    {Label::kKindInVersion, KindInVersion},
    {Label::kInputCount, InputCount},
    {Label::kOutputCount, OutputCount},
    {Label::kNothingTaken, NothingTaken},
    {Label::kTensorsListed, TensorsListed},
    {Label::kTensorsSized, TensorsSized},
    {Label::kTensorsRanked, TensorsRanked},
    {Label::kRanksFitLayer, RanksFitLayer},
    {Label::kRanksAlike, RanksAlike},
};

}  // namespace

std::span<const Constraint> CountConstraints() {
  return kCountConstraints;
}

}  // namespace nn::coreml
