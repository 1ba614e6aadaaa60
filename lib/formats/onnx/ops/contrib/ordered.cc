// The operators of com.microsoft on integers in the layouts of cuBLASLt, which are refused.
#include "formats/onnx/export/quant/linear_quant.h"
#include "formats/onnx/family.h"

namespace nn::onnx {
namespace {

constexpr std::string_view kOrdered =
    "its layouts and its rounding are those of cuBLASLt on a GPU, which no document defines";

constexpr ImportRow kContribOrderedImports[] = {
    {.op = "QuantizeWithOrder", .domain = kMicrosoft, .why_not = kOrdered},
    {.op = "DequantizeWithOrder", .domain = kMicrosoft, .why_not = kOrdered},
    {.op = "QOrderedMatMul", .domain = kMicrosoft, .why_not = kOrdered},
    {.op = "QOrderedAttention", .domain = kMicrosoft, .why_not = kOrdered},
    {.op = "QOrderedLongformerAttention", .domain = kMicrosoft, .why_not = kOrdered},
    {.op = "QOrderedGelu", .domain = kMicrosoft, .why_not = kOrdered},
    {.op = "QOrderedLayerNormalization", .domain = kMicrosoft, .why_not = kOrdered},
};

}  // namespace

Family ContribOrderedFamily() {
  return {.imports = kContribOrderedImports};
}

}  // namespace nn::onnx
