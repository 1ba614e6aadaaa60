// Declared types that the operators of a model contradict.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "ir/types/type.h"

namespace nn {

// Collects values whose declared shapes the import ignored, since the operators have others.
class ContradictedTypes {
 public:
  // Once for each value, named as for messages: `"a"`, `tensor 3 ("a")`.
  void Add(const std::string& value, const Type& declared, const Type& actual);
  // Adds a sentence if there are any (ImportedModel::notes).
  void AddNote(std::vector<std::string>& notes) const;

 private:
  std::set<std::string> values_;
  std::vector<std::string> first_;  // what they are declared as, and are
};

}  // namespace nn
