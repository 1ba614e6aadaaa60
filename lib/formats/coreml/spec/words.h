// The words of the specification of Core ML layers (formats/common/spec/row.h).
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "base/enumerators.h"
#include "coreml_neural_network.pb.h"
#include "formats/common/spec/row.h"

namespace nn::coreml {

// The largest number of a layer's field in NeuralNetworkLayer is below this.
inline constexpr size_t kLayerNumbers = 2048;

// "innerProduct", from kInnerProduct, at the number of the field.
inline constexpr auto kLayerTexts = [] {
  std::array<std::array<char, 40>, kLayerNumbers> texts{};
  const auto names = EnumeratorNames<pb::NeuralNetworkLayer::LayerCase, 0, kLayerNumbers>();
  for (size_t number = 0; number < kLayerNumbers; ++number) {
    if (!names[number].starts_with('k')) continue;
    const std::string_view name = names[number].substr(1);
    for (size_t i = 0; i < name.size(); ++i)
      texts[number][i] = i == 0 ? static_cast<char>(name[i] - 'A' + 'a') : name[i];
  }
  return texts;
}();
inline constexpr auto kLayerWords = [] {
  std::array<std::string_view, kLayerNumbers> words;
  for (size_t number = 0; number < kLayerNumbers; ++number)
    words[number] = std::string_view(kLayerTexts[number].data());
  return words;
}();

inline constexpr spec::Vocabulary kWords = {.operators = kLayerWords};

// The files *.spec of this folder, which the build embeds.
std::span<const spec::Text> SpecTexts();

}  // namespace nn::coreml
