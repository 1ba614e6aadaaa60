#include "formats/coreml/spec/signature_constraints.h"

#include "base/enumerators.h"
#include "base/text/text.h"

namespace nn::coreml {

std::string Title(const LayerView& at) {
  const auto* field =
      pb::NeuralNetworkLayer::descriptor()->FindFieldByNumber(at.layer->layer_case());
  const std::string kind(field != nullptr ? field->name() : "?");
  if (at.index < 0) return kind;
  std::string out = fmt::format("layer {} ({}", at.index, kind);
  if (!at.layer->name().empty()) out += " " + Quote(at.layer->name());
  return out + ")";
}

std::string_view NameOf(Label label) {
  return EnumeratorWords<Label, kLabels, '-'>::kWords.at(static_cast<size_t>(label));
}

std::span<const Constraint> Constraints() {
  static const std::vector<Constraint> all = [] {
    std::vector<Constraint> list;
    for (const auto& part : {CountConstraints(), RankConstraints(), AxisConstraints(),
                             ParameterConstraints(), WindowConstraints(), WeightConstraints()})
      list.insert(list.end(), part.begin(), part.end());
    return list;
  }();
  return all;
}

}  // namespace nn::coreml
