#include "validators/onnx/doc/clauses.h"

#include <vector>

namespace nn::onnx {

std::span<const Clause> Clauses() {
  static const auto* const kAll = [] {
    auto* all = new std::vector<Clause>;
    for (const auto table : {ProtoClauses(), IrClauses(), OperatorClauses(), SonnxClauses()})
      all->insert(all->end(), table.begin(), table.end());
    return all;
  }();
  return *kAll;
}

}  // namespace nn::onnx
