// Sizes of symbolic dimensions that are known before a model is imported.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "ir/type.h"

namespace nn {

using SymbolSizes = std::map<std::string, int64_t, std::less<>>;

// The type with these sizes in its dimensions.
inline Type WithSizes(const Type& type, const SymbolSizes& sizes) {
  if (sizes.empty() || !type.dims || type.const_dims()) return type;
  Dims dims;
  for (const Dim& d : *type.dims)
    dims.push_back(d.Substitute([&](std::string_view symbol) -> std::optional<Dim> {
      const auto it = sizes.find(symbol);
      return it == sizes.end() ? std::nullopt : std::optional<Dim>(it->second);
    }));
  return type.WithDims(std::move(dims));
}

}  // namespace nn
