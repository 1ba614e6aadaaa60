#include "ops/reduce/scan.h"
#include "formats/onnx/family.h"

namespace nn::onnx {

// ==== From ONNX ==================================================================================

namespace {

template <const char* kOp>
Status ImportScan(ImportContext& ctx) {
  Value* const x = ctx.input(0);
  Value* const axis = ctx.input(1);
  ScanAttrs a;
  a.exclusive = ctx.Int("exclusive", 0) != 0;
  a.reverse = ctx.Int("reverse", 0) != 0;
  const Tensor* constant = ctx.Constant(1);
  if (constant == nullptr) return ctx.Emit(kOp, {x, axis}, a);
  if (constant->elements() != 1)
    return ModelError("axis must have 1 element; it has {}", constant->elements());
  a.axis = constant->GetInt(0);
  return ctx.Emit(kOp, {x}, a);
}

constexpr char kCumSum[] = "cum_sum", kCumProd[] = "cum_prod";

}  // namespace

// ==== To ONNX ====================================================================================

namespace {

template <const char* kOp>
Status WriteScan(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<ScanAttrs>();
  const std::string axis = node.input(1) != nullptr ? ctx.NameOf(node.input(1))
                                                    : ctx.AddTensor(Tensor::Scalar(a.axis), "axis");
  pb::NodeProto* out =
      ctx.AddNode(node, kOp, {{ctx.NameOf(node.output())}, {ctx.NameOf(node.input(0)), axis}});
  if (a.exclusive) SetInt(out, "exclusive", 1);
  if (a.reverse) SetInt(out, "reverse", 1);
  return {};
}

std::optional<std::string> WhyNotScan(const Node& node) {
  if (node.input(0)->type().quantized())
    return "its operands are quantized; the ONNX operator needs real ones";
  if (node.input(0)->dtype() == DType::kBool) return "its operands are bool; ONNX needs numbers";
  return std::nullopt;
}

constexpr ImportRow kScanImports[] = {
    {.op = "CumSum", .since = 11, .import = ImportScan<kCumSum>, .inputs = 2},
    {.op = "CumProd", .since = 26, .import = ImportScan<kCumProd>, .inputs = 2},
};

constexpr char kCumSumOp[] = "CumSum", kCumProdOp[] = "CumProd";

constexpr ExportRow kScanExports[] = {
    {.op = "cum_sum", .write = WriteScan<kCumSumOp>, .why_not = WhyNotScan, .min_opset = Since<11>},
    {.op = "cum_prod",
     .write = WriteScan<kCumProdOp>,
     .why_not = WhyNotScan,
     .min_opset = Since<26>},
};

}  // namespace

Family ScanFamily() {
  return {.imports = kScanImports, .exports = kScanExports};
}

}  // namespace nn::onnx
