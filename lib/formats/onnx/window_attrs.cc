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

}  // namespace nn::onnx
