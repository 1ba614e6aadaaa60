// Shapes and lengths of inputs from the texts of the programs' options.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/options.h"
#include "base/status.h"
#include "formats/given_inputs.h"

namespace nn {

// "NAME:1,3,224,224" each, where names may contain colons. kUsage, with the name of the option, for
// other texts, and for an input with two shapes.
Result<InputShapes> InputShapesOf(std::string_view option, const std::vector<std::string>& texts);

// The texts of such shapes.
std::vector<std::string> TextsOf(const InputShapes& shapes);

// --length: "NAME=3" or "NAME=none" each; std::nullopt for "none".
using InputLengths = std::map<std::string, std::optional<int64_t>>;
Result<InputLengths> InputLengthsOf(const std::vector<std::string>& texts);

std::vector<std::string> TextsOf(const InputLengths& lengths);

// The same as the import takes them.
ListLengths ListLengthsOf(const InputLengths& lengths);

// --length, for the member that has the lengths.
template <auto kMember>
OptionField LengthOption(OptionFacts facts) {
  using Class = typename internal::OptionMember<decltype(kMember)>::Class;
  using Texts = std::vector<std::string>;
  return ComputedOption<Class, Texts>(
      "length", std::move(facts), [](const Class& o) { return std::optional(TextsOf(o.*kMember)); },
      [](Class& o, const Texts& texts) -> Status {
        NN_ASSIGN(o.*kMember, InputLengthsOf(texts));
        return {};
      });
}

}  // namespace nn
