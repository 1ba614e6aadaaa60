// What operations with windows over spatial axes have in common.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/coreml/program/export/operation.h"
#include "ops/support/window.h"

namespace nn::coreml::program {

// Numbers for each spatial axis; an empty list means `number` for each.
inline std::vector<int64_t> ForEachAxis(const std::vector<int64_t>& list, int spatial_axes,
                                        int64_t number) {
  return list.empty() ? std::vector<int64_t>(static_cast<size_t>(spatial_axes), number) : list;
}

// The inputs pad_type and pad. `pads`: begins, then ends.
void WritePadding(OperationWriter& op, Padding padding, const std::vector<int64_t>& pads);

// The inputs that all such operations have.
template <typename A>
void WriteWindow(OperationWriter& op, const A& attrs, int spatial_axes) {
  op.Ints("strides", ForEachAxis(attrs.strides, spatial_axes, 1));
  WritePadding(op, attrs.padding, attrs.pads);
}

}  // namespace nn::coreml::program
