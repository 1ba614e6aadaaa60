#include "formats/onnx/import/declared_sizes.h"

#include <algorithm>

namespace nn::onnx {

std::set<std::string> InputSymbols(const Graph& graph) {
  std::set<std::string> out;
  for (const Port& p : graph.inputs()) {
    if (!p.value->type().dims) continue;
    for (const Dim& d : *p.value->type().dims) d.CollectSymbols(out);
  }
  return out;
}

Type Complete(const Type& inferred, const Type& declared, const std::set<std::string>& symbols) {
  if (!inferred.dims || !declared.dims || inferred.dims->size() != declared.dims->size())
    return Refine(inferred, declared);
  Type known = declared;
  Dims dims = *known.dims;
  for (size_t i = 0; i < dims.size(); ++i) {
    std::set<std::string> used;
    (*inferred.dims)[i].CollectSymbols(used);
    if (std::ranges::includes(symbols, used)) dims[i] = (*inferred.dims)[i];
  }
  known.dims = std::move(dims);
  return Refine(inferred, known);
}

}  // namespace nn::onnx
