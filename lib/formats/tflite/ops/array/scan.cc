#include "ops/reduce/scan.h"
#include "formats/tflite/family.h"

namespace nn::tflite {

// ==== From TensorFlow Lite =======================================================================

namespace {

Status ImportCumsum(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::CumsumOptions>());
  return ctx.Emit("cum_sum", ctx.inputs(), ScanAttrs{0, o->exclusive(), o->reverse()});
}

}  // namespace

// ==== To TensorFlow Lite =========================================================================

namespace {

Status WriteCumSum(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<ScanAttrs>();
  TensorIndex axis = kNoTensor;
  if (node.input(1) != nullptr) {
    axis = ctx.TensorAs(node.input(1), DType::kI32);
  } else {
    NN_ASSIGN(axis, ctx.AddInt(a.axis, "axis"));
  }
  ctx.AddOperator(Op::CUMSUM, {ctx.ResultsOf(node), {ctx.TensorOf(node.input(0)), axis}},
                  fb::CreateCumsumOptions(ctx.builder(), a.exclusive, a.reverse));
  return {};
}

constexpr ImportRow kScanImports[] = {
    {.op = Op::CUMSUM, .import = ImportCumsum},
};

constexpr ExportRow kScanExports[] = {
    {.op = "cum_sum", .write = WriteCumSum},
};

}  // namespace

Family ScanFamily() {
  return {.imports = kScanImports, .exports = kScanExports};
}

}  // namespace nn::tflite
