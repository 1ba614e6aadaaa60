#include "validators/coreml/doc/clauses.h"

#include <vector>

namespace nn::coreml {

std::span<const Clause> Clauses() {
  static const std::vector<Clause> all = [] {
    std::vector<Clause> out;
    for (const auto list :
         {ModelClauses(), NetworkClauses(), LayerClauses(), ElementwiseClauses(), TensorClauses()})
      out.insert(out.end(), list.begin(), list.end());
    return out;
  }();
  return all;
}

}  // namespace nn::coreml
