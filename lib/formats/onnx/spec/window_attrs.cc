#include "formats/onnx/spec/window_attrs.h"

#include <algorithm>

#include "base/text/text.h"

namespace nn::onnx {

Result<Padding> ReadAutoPad(const ImportContext& ctx) {
  const std::string text = ctx.String("auto_pad", "NOTSET");
  if (text == "NOTSET" || text.empty()) return Padding::kExplicit;
  if (text == "VALID") return Padding::kValid;
  if (text == "SAME_UPPER") return Padding::kSameUpper;
  if (text == "SAME_LOWER") return Padding::kSameLower;
  return ModelError("unknown auto_pad {}", Quote(text));
}

void SetPadding(pb::NodeProto* node, Padding padding, const std::vector<int64_t>& pads) {
  switch (padding) {
    case Padding::kValid:
      return SetString(node, "auto_pad", "VALID");
    case Padding::kSameUpper:
      return SetString(node, "auto_pad", "SAME_UPPER");
    case Padding::kSameLower:
      return SetString(node, "auto_pad", "SAME_LOWER");
    case Padding::kExplicit:
      break;
  }
  if (!pads.empty()) SetInts(node, "pads", pads);
}

std::optional<std::vector<int64_t>> PadsToState(Padding padding,
                                                const Result<std::vector<Window>>& windows) {
  if ((padding != Padding::kSameUpper && padding != Padding::kSameLower) || !windows)
    return std::nullopt;
  const bool derived = std::ranges::all_of(
      *windows, [](const Window& w) { return w.dilation == 1 && w.stride <= w.kernel; });
  if (derived) return std::nullopt;
  Dims pads;
  for (const Window& w : *windows) pads.push_back(w.pad_begin);
  for (const Window& w : *windows) pads.push_back(w.pad_end);
  return ConstDims(pads);
}

void SetConvWindow(pb::NodeProto* out, const Node& node, const ConvAttrs& a) {
  const Type& x = node.input(0)->type();
  const Type& filter = node.input(1)->type();
  if (!x.ranked() || !filter.ranked()) return SetWindow(out, a);
  SetWindow(out, a, ConvWindows(a, *x.dims, *filter.dims));
}

Status CheckKernelShape(const ImportContext& ctx, const Value* filter, size_t first) {
  const auto kernel = ctx.Ints("kernel_shape");
  const Type& type = filter->type();
  if (kernel.empty() || !type.ranked()) return {};
  if (kernel.size() + 2 != type.dims->size())
    return ModelError("kernel_shape has {} entries, but the filter is {}", kernel.size(),
                      type.ToString());
  for (size_t i = 0; i < kernel.size(); ++i) {
    const Dim& d = (*type.dims)[i + first];
    if (d.is_const() && d.value() != kernel[i])
      return ModelError("kernel_shape[{}] is {}, but the filter is {}", i, kernel[i],
                        type.ToString());
  }
  return {};
}

}  // namespace nn::onnx
