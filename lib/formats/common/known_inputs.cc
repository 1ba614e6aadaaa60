#include "formats/common/known_inputs.h"

#include <fmt/core.h>

#include <optional>
#include <utility>

#include "base/text/text.h"

namespace nn {

std::string ElementName(std::string_view list, size_t index) {
  return fmt::format("{}[{}]", list, index);
}

Type KnownInputs::WithSizes(const Type& type) const {
  if (sizes.empty() || !type.dims || type.const_dims()) return type;
  Dims dims;
  for (const Dim& d : *type.dims)
    dims.push_back(d.Substitute([&](std::string_view symbol) -> std::optional<Dim> {
      const auto it = sizes.find(symbol);
      return it == sizes.end() ? std::nullopt : std::optional<Dim>(it->second);
    }));
  return type.WithDims(std::move(dims));
}

Result<Value*> KnownInputs::AddInput(Graph& graph, size_t position, std::string name,
                                     const Type& type) const {
  const Type known = WithSizes(type);
  const auto constant = constants.find(position);
  if (constant == constants.end()) return graph.AddInput(std::move(name), known);
  const Tensor& tensor = constant->second;
  const Type given(tensor.dtype(), ToDims(tensor.dims()), known.quant);
  if (given.dtype != known.dtype || !Compatible(known, given))
    return UsageError("input {} is {}; a constant of {} does not fit", Quote(name),
                      known.ToString(), given.ToString());
  return graph.AddConstant(tensor, SharedString(name), known.quant);
}

}  // namespace nn
