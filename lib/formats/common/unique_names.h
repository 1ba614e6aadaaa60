// Different names for different things.
#pragma once

#include <fmt/core.h>

#include <set>
#include <string>
#include <unordered_map>

namespace nn {

class UniqueNames {
 public:
  // The name, with "_1", "_2", ... if it was added before. Takes constant time on average, however
  // often a name occurs.
  std::string Add(const std::string& name) {
    if (names_.insert(name).second) return name;
    for (int& k = last_[name];;)
      if (const auto [it, added] = names_.insert(fmt::format("{}_{}", name, ++k)); added)
        return *it;
  }

 private:
  std::set<std::string> names_;
  std::unordered_map<std::string, int> last_;  // numbers after names
};

}  // namespace nn
