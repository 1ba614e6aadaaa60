#include "formats/coreml/program/import/window.h"

#include "base/text/text.h"

namespace nn::coreml::program {
namespace {

// In a file, each axis has its two pads next to each other.
Result<std::vector<int64_t>> CustomPads(const ImportContext& ctx, int spatial_axes) {
  NN_ASSIGN(const std::vector<int64_t> given, ctx.Ints("pad", 2 * spatial_axes));
  if (given.size() != 2 * static_cast<size_t>(spatial_axes))
    return ModelError("input pad has {} elements for {} spatial axes", given.size(), spatial_axes);
  std::vector<int64_t> pads;
  for (const size_t side : {0, 1})
    for (size_t i = side; i < given.size(); i += 2) pads.push_back(given[i]);
  return pads;
}

}  // namespace

Result<WindowPadding> PaddingOf(const ImportContext& ctx, int spatial_axes) {
  NN_ASSIGN(const std::string type, ctx.AnyCase("pad_type"));
  if (type == "valid") return WindowPadding{};
  if (type == "same") return WindowPadding{Padding::kSameUpper, {}};
  if (type == "same_lower") return WindowPadding{Padding::kSameLower, {}};
  if (type != "custom") return ModelError("pad_type {} is unknown", Quote(type));
  NN_ASSIGN(std::vector<int64_t> pads, CustomPads(ctx, spatial_axes));
  return WindowPadding{Padding::kExplicit, std::move(pads)};
}

}  // namespace nn::coreml::program
