#include "formats/onnx/window_attrs.h"

#include "base/text.h"

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
