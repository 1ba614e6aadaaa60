#include "formats/coreml/spec/signature.h"

#include <algorithm>
#include <vector>

#include "coreml_neural_network.pb.h"
#include "formats/common/spec/table.h"
#include "formats/coreml/spec/words.h"

namespace nn::coreml {
namespace {

using L = pb::NeuralNetworkLayer;

// The position of "first" among the inputs of a layer.
constexpr int kFirstInput = 0;

OutputRank OutputRankOf(const spec::RankRule& rule) {
  if (rule.like == spec::RankRule::kLargest) return OutputRank::kLargest;
  if (rule.like == kFirstInput) return rule.more == 1 ? OutputRank::kFirstAnd1 : OutputRank::kFirst;
  if (rule.like > kFirstInput) return OutputRank::kSecond;
  if (rule.range == Range(1)) return OutputRank::kOne;
  return rule.range == Range(2) ? OutputRank::kTwo : OutputRank::kByParameters;
}

Signature SignatureOf(const spec::Row& row) {
  Signature s;
  s.layer = spec::PositionOf(kLayerWords, row.name);
  s.version = row.first_version;
  s.inputs = spec::CountOf(row.inputs);
  s.outputs = spec::CountOf(row.outputs);
  for (size_t i = 0; i < row.inputs.size(); ++i) {
    const spec::Operand& input = row.inputs[i];
    const Range& published = input.published_ranks.range;
    // A list of numbers is the only operand of which the text publishes rank 1.
    const bool is_list = published == Range(1);
    if (is_list) s.list_input = static_cast<int>(i);
    if (i == kFirstInput) {
      s.ranks = input.ranks.range;
      if (!is_list) s.published_ranks = published;
    } else if (input.ranks.like == kFirstInput) {
      s.alike = InputsAlike::kChecked;
    } else if (input.published_ranks.like == kFirstInput) {
      s.alike = InputsAlike::kPublished;
    }
  }
  if (!row.outputs.empty()) {
    s.same_rank = row.outputs[0].ranks.like == kFirstInput;
    s.output_rank = OutputRankOf(row.outputs[0].published_ranks);
  }
  return s;
}

// By layer number.
const std::vector<Signature>& Table() {
  static const std::vector<Signature> table = [] {
    std::vector<Signature> rows;
    for (const spec::Text& text : SpecTexts())
      spec::EachRow(text.text, kWords,
                    [&](const spec::Row& row) { rows.push_back(SignatureOf(row)); });
    std::sort(rows.begin(), rows.end(),
              [](const Signature& a, const Signature& b) { return a.layer < b.layer; });
    return rows;
  }();
  return table;
}

}  // namespace

const Signature* FindSignature(int layer) {
  const std::vector<Signature>& table = Table();
  const auto found =
      std::lower_bound(table.begin(), table.end(), layer,
                       [](const Signature& s, int number) { return s.layer < number; });
  return found != table.end() && found->layer == layer ? &*found : nullptr;
}

RankRule RankRuleOf(const pb::NeuralNetworkLayer& layer, const Signature& signature,
                    bool ranks_listed) {
  RankRule rule{signature.same_rank, signature.ranks};
  switch (layer.layer_case()) {
    case L::kActivation:
      if (layer.activation().has_prelu() || layer.activation().has_parametricsoftplus())
        rule = {true, AtLeast(3)};
      break;
    case L::kConcat:
      if (layer.concat().sequenceconcat()) rule.ranks.low = 5;
      break;
    case L::kReduce:
    case L::kSlice:
      rule.same = ranks_listed;
      break;
    case L::kArgMax:
      rule.same = !layer.argmax().removedim();
      break;
    case L::kArgMin:
      rule.same = !layer.argmin().removedim();
      break;
    default:
      break;
  }
  return rule;
}

bool IsOfFirstVersions(const pb::NeuralNetworkLayer& layer, const Signature* signature) {
  if (signature == nullptr || signature->version > 3) return false;
  switch (layer.layer_case()) {
    case L::kConvolution:
      return layer.input_size() == 1;
    case L::kInnerProduct:
      return !layer.innerproduct().int8dynamicquantize();
    case L::kUpsample:
      return layer.upsample().linearupsamplemode() == pb::UpsampleLayerParams::DEFAULT &&
             layer.upsample().fractionalscalingfactor().empty();
    case L::kReorganizeData:
      return layer.reorganizedata().mode() != pb::ReorganizeDataLayerParams::PIXEL_SHUFFLE;
    default:
      return true;
  }
}

int VersionOf(const pb::NeuralNetworkLayer& layer) {
  if (layer.has_upsample() &&
      layer.upsample().linearupsamplemode() != pb::UpsampleLayerParams::DEFAULT)
    return 5;
  if (layer.has_reorganizedata() &&
      layer.reorganizedata().mode() == pb::ReorganizeDataLayerParams::PIXEL_SHUFFLE)
    return 5;
  const Signature* signature = FindSignature(layer.layer_case());
  return signature == nullptr ? 1 : signature->version;
}

}  // namespace nn::coreml
