// Padding of Core ML convolutions and pools.
#pragma once

#include <vector>

#include "base/status.h"
#include "formats/coreml/file/fields.h"
#include "ops/nn/pool.h"
#include "ops/support/window.h"

namespace nn::coreml {

// Begins, then ends. Empty if absent.
Result<std::vector<int64_t>> BorderPads(const Fields& border_amounts);
void WriteBorderPads(Writer border_amounts, const std::vector<int64_t>& pads);

// Reads the padding of a layer from a oneof with ValidPadding `valid` and SamePadding `same`. No
// padding if neither is set.
template <typename A>
Status ReadPadding(const Fields& params, std::string_view oneof, A& attrs) {
  const std::string_view kind = params.OneOf(oneof);
  if (kind == "same") {
    const bool top = params.Sub(kind).Enum("asymmetryMode") == "TOP_LEFT_HEAVY";
    attrs.padding = top ? Padding::kSameLower : Padding::kSameUpper;
  } else if (kind == "valid") {
    NN_ASSIGN(attrs.pads, BorderPads(params.Sub(kind).Sub("paddingAmounts")));
  }
  return {};
}

void WritePadding(Writer params, Padding padding, const std::vector<int64_t>& pads);

// kUnsupported for sizes that are rounded up without padding, where Core ML keeps a last window
// that starts past the input and covers no element, which the graph drops. `option` rounds them up.
Status CheckLastWindow(const PoolAttrs& attrs, const Dims& x, std::string_view option);

// Why Core ML does not support the padding; nullopt if it does.
std::optional<std::string> WhyNotPads(const std::vector<int64_t>& pads);

// A list per spatial axis; an empty list is replaced by ones.
inline std::vector<int64_t> OnesIfEmpty(const std::vector<int64_t>& values, size_t count) {
  return values.empty() ? std::vector<int64_t>(count, 1) : values;
}

}  // namespace nn::coreml
