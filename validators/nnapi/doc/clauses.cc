#include "validators/nnapi/doc/clauses.h"

#include <vector>

namespace nn::nnapi {

std::span<const Clause> Clauses() {
  static const std::vector<Clause> kAll = [] {
    std::vector<Clause> all;
    for (const auto& part :
         {ModelClauses(), OperationClausesAToH(), OperationClausesLToT(), AndroidClauses()})
      all.insert(all.end(), part.begin(), part.end());
    return all;
  }();
  return kAll;
}

}  // namespace nn::nnapi
