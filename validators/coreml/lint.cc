// Advice on Core ML models that no document gives: descriptions, names, scales, idle fields.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include "base/text.h"
#include "validators/coreml/rules.h"
#include "validators/scales.h"

namespace nn::coreml {
namespace {

bool Describes(const Features& list) {
  return std::any_of(list.begin(), list.end(),
                     [](const auto& feature) { return !feature.shortdescription().empty(); });
}

// A model that says what it is, but not what it takes and gives. One finding a model.
void FeaturesDescribed(const Subject& s, Findings& f) {
  for (const ModelAt& m : s.models()) {
    const auto& d = m.description();
    if (d.metadata().shortdescription().empty() && !Describes(d.input()) && !Describes(d.output()))
      continue;
    std::string missing;
    int count = 0;
    for (const Features* list : {&d.input(), &d.output()})
      for (const auto& feature : *list)
        if (feature.shortdescription().empty() && ++count == 1) missing = feature.name();
    if (count > 0)
      f.Add(At(m.path + "description"), "{} of {} features have no shortDescription, {} first",
            count, d.input_size() + d.output_size(), Quote(missing));
  }
}

void LayersNamed(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers())
    if (at.layer->name().empty()) f.Add(Where(at, "name"), "{} has no name", Title(at));
}

void ScalesUsable(const Subject& s, Findings& f) {
  for (const Weights& w : s.weights()) {
    const auto& q = w.params->quantization();
    const auto& scales = q.linearquantization().scale();
    const auto bad = std::find_if_not(scales.begin(), scales.end(),
                                      [](float scale) { return IsUsualScale(std::abs(scale)); });
    if (bad != scales.end())
      f.Add(Where(*w.at, w.name()), "{} has a scale of {} in {}", Title(*w.at), *bad, w.name());
    const auto& table = q.lookuptablequantization().floatvalue();
    if (std::any_of(table.begin(), table.end(), [](float v) { return !std::isfinite(v); }))
      f.Add(Where(*w.at, w.name()), "{} has a table with a value that is no number in {}",
            Title(*w.at), w.name());
  }
}

void EnumeratedOnce(const Subject& s, Findings& f) {
  for (const ModelAt& m : s.models())
    for (int i = 0; i < m.description().input_size(); ++i) {
      const auto& array = m.description().input(i).type().multiarraytype();
      if (!array.has_enumeratedshapes()) continue;
      std::set<std::vector<int64_t>> shapes;
      for (const auto& shape : array.enumeratedshapes().shapes())
        shapes.insert({shape.shape().begin(), shape.shape().end()});
      const int listed = array.enumeratedshapes().shapes_size();
      if (listed > 0 && (listed == 1 || shapes.size() != static_cast<size_t>(listed)))
        f.Add(At(fmt::format("{}description.input[{}].type", m.path, i)),
              "{} enumerates {} shapes, of which {} differ", Quote(m.description().input(i).name()),
              listed, shapes.size());
    }
}

// The bias of a layer that has one but does not use it.
const pb::WeightParams* IdleBias(const pb::NeuralNetworkLayer& l) {
  const auto idle = [](const auto& p) {
    return p.has_bias() && !p.hasbias() ? &p.bias() : nullptr;
  };
  switch (l.layer_case()) {
    case pb::NeuralNetworkLayer::kConvolution:
      return idle(l.convolution());
    case pb::NeuralNetworkLayer::kConvolution3D:
      return idle(l.convolution3d());
    case pb::NeuralNetworkLayer::kInnerProduct:
      return idle(l.innerproduct());
    case pb::NeuralNetworkLayer::kBatchedMatmul:
      return idle(l.batchedmatmul());
    case pb::NeuralNetworkLayer::kEmbedding:
      return idle(l.embedding());
    case pb::NeuralNetworkLayer::kEmbeddingND:
      return idle(l.embeddingnd());
    case pb::NeuralNetworkLayer::kScale:
      return idle(l.scale());
    default:
      return nullptr;
  }
}

void BiasesUsed(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers())
    if (const auto* bias = IdleBias(*at.layer);
        bias != nullptr && s.SizeOf(*bias, pb::WeightParams::kFloatValueFieldNumber) +
                                   s.SizeOf(*bias, pb::WeightParams::kFloat16ValueFieldNumber) >
                               0)
      f.Add(Where(at), "{} has a bias that hasBias leaves out", Title(at));
}

constexpr Rule kRules[] = {
    {{"COREML-LINT-001", Severity::kNote,
      "A model that describes itself describes its inputs and outputs too.", "Advice", false,
      "Fill in shortDescription.", true},
     FeaturesDescribed},
    {{"COREML-LINT-002", Severity::kNote, "Layers have names.", "Advice", false,
      "Name the layer; tools point at layers by name.", true},
     LayersNamed},
    {{"COREML-LINT-003", Severity::kWarning,
      "Scales of quantised weights are ordinary numbers, tables have finite values.", "Advice",
      false, "Quantise the weights again.", true},
     ScalesUsable},
    {{"COREML-LINT-004", Severity::kNote, "Enumerated shapes are several, each of them once.",
      "Advice", false, "Remove what is repeated; for one shape give no flexibility.", true},
     EnumeratedOnce},
    {{"COREML-LINT-005", Severity::kWarning, "Biases that a layer has are used.", "Advice", false,
      "Set hasBias, or remove the bias.", true},
     BiasesUsed},
};

}  // namespace

std::span<const Rule> LintRules() {
  return kRules;
}

}  // namespace nn::coreml
