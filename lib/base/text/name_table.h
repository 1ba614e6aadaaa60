// A set of unique names.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/shared.h"
#include "base/text/name_map.h"

namespace nn {

class NameTable {
 public:
  // Makes room for `names` names.
  void Reserve(size_t names) {
    owned_.reserve(names);
    taken_.reserve(names);
  }
  // Adds the name; false if it is taken.
  bool Claim(std::string_view name) {
    SharedString owned(name);
    if (!taken_.try_emplace(owned.view(), 0).second) return false;
    owned_.push_back(std::move(owned));
    return true;
  }
  bool Has(std::string_view name) const { return taken_.contains(name); }

  // Adds and returns `base`, or the first of base_1, base_2, ... that is not taken. Amortized
  // constant time: no number is tried twice.
  std::string New(std::string_view base) {
    if (Claim(base)) return std::string(base);
    while (true) {
      std::string name = fmt::format("{}_{}", base, ++taken_[base]);
      if (Claim(name)) return name;
    }
  }

 private:
  std::vector<SharedString> owned_;
  NameMap<int> taken_;  // the last number tried after each name
};

}  // namespace nn
