#include "formats/coreml/import/window.h"

#include <algorithm>

namespace nn::coreml {

Result<std::vector<int64_t>> BorderPads(const Fields& border_amounts) {
  std::vector<int64_t> begins, ends;
  for (const Fields& edge : border_amounts.List("borderAmounts")) {
    NN_ASSIGN(const int64_t begin, edge.Size("startEdgeSize"));
    NN_ASSIGN(const int64_t end, edge.Size("endEdgeSize"));
    begins.push_back(begin);
    ends.push_back(end);
  }
  if (!begins.empty() && begins.size() != 2)
    return ModelError("border amounts have {} entries; expected 2", begins.size());
  begins.insert(begins.end(), ends.begin(), ends.end());
  return begins;
}

void WriteBorderPads(Writer border_amounts, const std::vector<int64_t>& pads) {
  const size_t n = pads.size() / 2;
  for (size_t i = 0; i < n; ++i) {
    Writer edge = border_amounts.Add("borderAmounts");
    edge.Int("startEdgeSize", pads[i]);
    edge.Int("endEdgeSize", pads[n + i]);
  }
}

void WritePadding(Writer params, Padding padding, const std::vector<int64_t>& pads) {
  if (padding == Padding::kSameUpper || padding == Padding::kSameLower) {
    params.Sub("same").Enum(
        "asymmetryMode", padding == Padding::kSameUpper ? "BOTTOM_RIGHT_HEAVY" : "TOP_LEFT_HEAVY");
    return;
  }
  const std::vector<int64_t> none(4, 0);
  const bool explicit_pads = padding == Padding::kExplicit && !pads.empty();
  WriteBorderPads(params.Sub("valid").Sub("paddingAmounts"), explicit_pads ? pads : none);
}

Status CheckLastWindow(const PoolAttrs& attrs, const Dims& x, std::string_view option) {
  const size_t axes = attrs.kernel.size();
  // Inference reports what does not match.
  if (attrs.strides.size() != axes || x.size() != axes + 2) return {};
  if (std::ranges::any_of(attrs.pads, [](int64_t p) { return p > 0; })) return {};
  for (size_t i = 0; i < axes; ++i) {
    if (attrs.strides[i] <= std::max<int64_t>(attrs.kernel[i], 0)) continue;
    const Dim& size = x[2 + i];
    if (size.is_const() && (size.value() < attrs.kernel[i] ||
                            (size.value() - attrs.kernel[i]) % attrs.strides[i] == 0))
      continue;
    return UnsupportedError("{} with strides above the kernel size is unsupported", option);
  }
  return {};
}

std::optional<std::string> WhyNotPads(const std::vector<int64_t>& pads) {
  if (std::any_of(pads.begin(), pads.end(), [](int64_t p) { return p < 0; }))
    return "negative padding is unsupported";
  return std::nullopt;
}

}  // namespace nn::coreml
