// What operations with windows over spatial axes have in common.
#pragma once

#include <vector>

#include "base/status.h"
#include "formats/coreml/program/import/import.h"
#include "ops/support/window.h"

namespace nn::coreml::program {

struct WindowPadding {
  Padding padding = Padding::kValid;
  std::vector<int64_t> pads;  // begins, then ends; empty: none
};

// The inputs pad_type and pad; the latter counts only with the type "custom".
Result<WindowPadding> PaddingOf(const ImportContext& ctx, int spatial_axes);

// Reads the inputs that all such operations have.
template <typename A>
Status ReadWindow(const ImportContext& ctx, int spatial_axes, A& attrs) {
  NN_ASSIGN(attrs.strides, ctx.Ints("strides", spatial_axes));
  NN_ASSIGN(WindowPadding read, PaddingOf(ctx, spatial_axes));
  attrs.padding = read.padding;
  attrs.pads = std::move(read.pads);
  return {};
}

}  // namespace nn::coreml::program
