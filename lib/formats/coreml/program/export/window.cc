#include "formats/coreml/program/export/window.h"

#include <algorithm>

namespace nn::coreml::program {

void WritePadding(OperationWriter& op, Padding padding, const std::vector<int64_t>& pads) {
  if (padding == Padding::kSameUpper || padding == Padding::kSameLower) {
    op.Text("pad_type", padding == Padding::kSameUpper ? "same" : "same_lower");
    return;
  }
  if (padding == Padding::kValid || std::ranges::count(pads, 0) == std::ssize(pads)) {
    op.Text("pad_type", "valid");
    return;
  }
  std::vector<int64_t> pairs;
  for (size_t i = 0; i < pads.size() / 2; ++i) {
    pairs.push_back(pads[i]);
    pairs.push_back(pads[pads.size() / 2 + i]);
  }
  op.Text("pad_type", "custom").Ints("pad", pairs);
}

}  // namespace nn::coreml::program
