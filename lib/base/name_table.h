// A set of unique names.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace nn {

class NameTable {
 public:
  // Makes room for `names` names.
  void Reserve(size_t names) { taken_.reserve(names); }
  // Adds the name; false if it is taken.
  bool Claim(const std::string& name) { return taken_.insert(name).second; }
  bool Has(const std::string& name) const { return taken_.contains(name); }

  // Adds and returns `base`, or the first of base_1, base_2, ... that is not taken. Amortized
  // constant time: no number is tried twice.
  std::string New(const std::string& base) {
    if (Claim(base)) return base;
    int& number = numbers_[base];
    while (true) {
      std::string name = fmt::format("{}_{}", base, ++number);
      if (Claim(name)) return name;
    }
  }

 private:
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, int> numbers_;  // the last one tried
};

}  // namespace nn
