// Advice on Core ML models that no document gives: descriptions, names, scales, unused fields.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include "base/text/text.h"
#include "validators/coreml/rules.h"
#include "validators/scales.h"

namespace nn::coreml {
namespace {

bool Describes(const Features& list) {
  return std::any_of(list.begin(), list.end(),
                     [](const auto& feature) { return !feature.shortdescription().empty(); });
}

// A model that has some descriptions but not all of its features. One finding for each model.
void FeaturesDescribed(const RuleContext& s, Findings& f) {
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
      f.Add(At(m.path + "description"),
            "{} of {} features have no shortDescription; the first is {}", count,
            d.input_size() + d.output_size(), Quote(missing));
  }
}

void LayersNamed(const RuleContext& s, Findings& f) {
  for (const LayerAt& at : s.layers())
    if (at.layer->name().empty()) f.Add(Where(at, "name"), "{} has no name", Title(at));
}

void ScalesUsable(const RuleContext& s, Findings& f) {
  for (const LayerAt& at : s.layers())
    for (const Weights& w : at.weights) {
      const auto& q = w.params->quantization();
      const auto& scales = q.linearquantization().scale();
      const auto bad = std::find_if_not(scales.begin(), scales.end(),
                                        [](float scale) { return IsUsualScale(std::abs(scale)); });
      if (bad != scales.end())
        f.Add(Where(at, w.name()), "{} has the unusual scale {} in {}", Title(at), *bad, w.name());
      const auto& table = q.lookuptablequantization().floatvalue();
      if (std::any_of(table.begin(), table.end(), [](float v) { return !std::isfinite(v); }))
        f.Add(Where(at, w.name()), "{} has a lookup table with a value that is not finite in {}",
              Title(at), w.name());
    }
}

void EnumeratedOnce(const RuleContext& s, Findings& f) {
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
              "{} has {} enumerated shapes, {} of them distinct",
              Quote(m.description().input(i).name()), listed, shapes.size());
    }
}

// The bias that a layer stores but does not use; nullptr if there is none.
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

void BiasesUsed(const RuleContext& s, Findings& f) {
  for (const LayerAt& at : s.layers())
    if (const auto* bias = IdleBias(*at.layer);
        bias != nullptr && s.SizeOf(*bias, pb::WeightParams::kFloatValueFieldNumber) +
                                   s.SizeOf(*bias, pb::WeightParams::kFloat16ValueFieldNumber) >
                               0)
      f.Add(Where(at), "{} has a bias but does not set hasBias", Title(at));
}

constexpr Rule kLintRules[] = {
    {.info = {.id = "COREML-LINT-001",
              .severity = Severity::kNote,
              .statement = "A model that has a shortDescription, or has one for any of its "
                           "features, has one for each input and output.",
              .clause = "Advice",
              .hint = "Set shortDescription of every input and output.",
              .lint = true},
     .check = FeaturesDescribed},
    {.info = {.id = "COREML-LINT-002",
              .severity = Severity::kNote,
              .statement = "Every layer has a name.",
              .clause = "Advice",
              .hint = "Name the layer; tools refer to layers by name.",
              .lint = true},
     .check = LayersNamed},
    {.info = {.id = "COREML-LINT-003",
              .severity = Severity::kWarning,
              .statement = "The scales of quantized weights are normal numbers of a plausible "
                           "size, and lookup tables have finite values.",
              .clause = "Advice",
              .hint = "Quantize the weights again.",
              .lint = true},
     .check = ScalesUsable},
    {.info = {.id = "COREML-LINT-004",
              .severity = Severity::kNote,
              .statement =
                  "An input with enumerated shapes has at least two of them, all different.",
              .clause = "Advice",
              .hint = "Remove duplicate shapes; give a single shape in shape alone.",
              .lint = true},
     .check = EnumeratedOnce},
    {.info = {.id = "COREML-LINT-005",
              .severity = Severity::kWarning,
              .statement = "A layer that stores a bias sets hasBias.",
              .clause = "Advice",
              .hint = "Set hasBias, or remove the bias.",
              .lint = true},
     .check = BiasesUsed},
};

}  // namespace

std::span<const Rule> LintRules() {
  return kLintRules;
}

}  // namespace nn::coreml
