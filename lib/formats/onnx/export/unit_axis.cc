#include "formats/onnx/export/unit_axis.h"

namespace nn::onnx {

void AddUnitAxis(ExportContext& ctx, std::string_view op, const std::string& result,
                 const std::string& value, int64_t axis) {
  if (ctx.opset() < 13)
    SetInts(ctx.AddHelper(op, {{result}, {value}}), "axes", {axis});
  else
    ctx.AddHelper(op, {{result}, {value, ctx.AddInts({axis}, "axes")}});
}

}  // namespace nn::onnx
