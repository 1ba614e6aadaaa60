#include "formats/coreml/export/layer_fit.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/per_thread.h"
#include "formats/common/node_memo.h"
#include "formats/coreml/export/export.h"
#include "formats/coreml/file/native.h"
#include "formats/coreml/spec/signature_constraints.h"

namespace nn::coreml {
namespace {

// Declares the rank of each blob, if all of them are known. The writer does not: the constraints
// apply to the layer either way.
template <typename Names, typename Tensors>
std::vector<int> DeclareRanks(const ExportContext& ctx, const Names& names, Tensors* tensors) {
  std::vector<int> ranks;
  for (const std::string& name : names) ranks.push_back(ctx.RankOf(name));
  tensors->Clear();
  if (std::any_of(ranks.begin(), ranks.end(), [](int rank) { return rank < 0; })) return ranks;
  for (const int rank : ranks) tensors->Add()->set_rank(static_cast<uint32_t>(rank));
  return ranks;
}

std::optional<LayerMisfit> TryLayers(const Node& node) {
  pb::NeuralNetwork network;
  PayloadTable payloads;
  ExportContext ctx(Writer(&network, &payloads), ExportContext::Mode::kTrial);
  if (const Status s = WriteNode(ctx, node); !s) return LayerMisfit{{}, s.error().message()};
  for (pb::NeuralNetworkLayer& layer : *network.mutable_layers()) {
    LayerView at;
    at.layer = &layer;
    at.signature = FindSignature(layer.layer_case());
    at.exact_ranks = true;
    at.input_ranks = DeclareRanks(ctx, layer.input(), layer.mutable_inputtensor());
    at.output_ranks = DeclareRanks(ctx, layer.output(), layer.mutable_outputtensor());
    at.weights = WeightsOf(layer, [&](const google::protobuf::Message& m, int field) {
      return ElementsOf(payloads, m, field);
    });
    std::optional<std::string> text;
    Misfits misfits([&](std::string_view, std::string first) {
      if (!text) text = std::move(first);
    });
    for (const Constraint& constraint : Constraints()) {
      constraint.check(at, misfits);
      if (text) return LayerMisfit{NameOf(constraint.label), *std::move(text)};
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<LayerMisfit> FindLayerMisfit(const Node& node) {
  static PerThread<NodeMemo<std::optional<LayerMisfit>>> memos;
  NodeMemo<std::optional<LayerMisfit>>& memo = memos.Get();
  const ExportRow* row = FindExport(node.op_name());
  return memo.Find(node, row != nullptr && row->write != nullptr, {}, TryLayers);
}

int64_t VersionOfLayers(const Message& network) {
  const auto* field = network.GetDescriptor()->FindFieldByName("layers");
  const auto* reflection = network.GetReflection();
  int64_t version = 1;
  for (int i = 0; i < reflection->FieldSize(network, field); ++i) {
    const auto& layer = static_cast<const pb::NeuralNetworkLayer&>(
        reflection->GetRepeatedMessage(network, field, i));
    version = std::max<int64_t>(version, VersionOf(layer));
    if (layer.has_branch())
      version = std::max({version, VersionOfLayers(layer.branch().ifbranch()),
                          VersionOfLayers(layer.branch().elsebranch())});
    if (layer.has_loop())
      version = std::max({version, VersionOfLayers(layer.loop().conditionnetwork()),
                          VersionOfLayers(layer.loop().bodynetwork())});
  }
  return version;
}

}  // namespace nn::coreml
