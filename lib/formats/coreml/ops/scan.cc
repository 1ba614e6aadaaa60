#include "ops/reduce/scan.h"
#include "formats/coreml/family.h"

namespace nn::coreml {

// ==== From Core ML ===============================================================================

namespace {

Status ImportCumSum(ImportContext& ctx) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 2));
  const Fields& p = ctx.params();
  NN_ASSIGN(Value* const x, ctx.Float(0));
  const ScanAttrs a{p.Int("axis"), p.Bool("excludeFinalSum"), p.Bool("reverse")};
  if (ctx.input_count() == 1) return ctx.Emit("cum_sum", {x}, a);
  NN_ASSIGN(Value* const axis, ctx.Index(1));
  return ctx.Emit("cum_sum", {x, axis}, a);
}

}  // namespace

// ==== To Core ML =================================================================================

namespace {

Status WriteCumSum(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<ScanAttrs>();
  Writer p = ctx.AddLayer(node, "cumSum");
  p.Int("axis", a.axis);
  p.Bool("excludeFinalSum", a.exclusive);
  p.Bool("reverse", a.reverse);
  return {};
}
std::optional<std::string> WhyNotCumSum(const Node& node) {
  if (node.input(1) != nullptr) return "its axis must be constant";
  return std::nullopt;
}

constexpr ImportRow kScanImports[] = {
    {.layer = "cumSum", .import = ImportCumSum},
};

constexpr ExportRow kScanExports[] = {
    {.op = "cum_sum", .write = WriteCumSum, .why_not = WhyNotCumSum},
};

}  // namespace

Family ScanFamily() {
  return {.imports = kScanImports, .exports = kScanExports};
}

}  // namespace nn::coreml
