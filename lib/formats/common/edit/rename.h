// Other names for the inputs and outputs of a model (ModelEditor::Rename).
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/text/text.h"
#include "formats/format.h"

namespace nn {

// The changed names by what the format has one name for: a value, a tensor, an operand. `inputs`
// and `outputs` are these things in the order of `from`, the present names. kUsage if one of them
// would get two names, because it is both an input and an output.
template <typename Key>
Result<std::map<Key, std::string, std::less<>>> NewNames(const std::vector<Key>& inputs,
                                                         const std::vector<Key>& outputs,
                                                         const PortNames& from,
                                                         const PortNames& to) {
  std::map<Key, std::string, std::less<>> names;
  std::set<Key> changed;
  const auto add = [&](const std::vector<Key>& keys, const std::vector<std::string>& old_names,
                       const std::vector<std::string>& new_names) -> Status {
    for (size_t i = 0; i < keys.size(); ++i) {
      const auto [it, added] = names.try_emplace(keys[i], new_names[i]);
      if (it->second != new_names[i])
        return UsageError(
            "{} is listed twice among the inputs and outputs, but the format has one name for it: "
            "rename it in both places, or in none",
            Quote(old_names[i]));
      if (old_names[i] != new_names[i]) changed.insert(keys[i]);
    }
    return {};
  };
  NN_RETURN_IF_ERROR(add(inputs, from.inputs, to.inputs));
  NN_RETURN_IF_ERROR(add(outputs, from.outputs, to.outputs));
  std::erase_if(names, [&](const auto& entry) { return !changed.contains(entry.first); });
  return names;
}

// The new names.
template <typename Key>
std::set<std::string, std::less<>> TargetsOf(
    const std::map<Key, std::string, std::less<>>& new_names) {
  std::set<std::string, std::less<>> targets;
  for (const auto& [key, name] : new_names) targets.insert(name);
  return targets;
}

// The error for a new name that something else at `place` has.
tl::unexpected<Error> NameIsTaken(std::string_view name, std::string_view place);

}  // namespace nn
