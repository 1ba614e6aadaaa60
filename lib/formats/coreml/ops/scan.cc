#include "ops/reduce/scan.h"
#include "formats/coreml/family.h"

namespace nn::coreml {

// ==== From Core ML ===============================================================================

namespace {

Status ImportCumSum(ImportContext& ctx) {
  const Fields& p = ctx.params();
  return ctx.Emit("cum_sum", ctx.inputs(),
                  ScanAttrs{p.Int("axis"), p.Bool("excludeFinalSum"), p.Bool("reverse")});
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
    {.layer = "cumSum", .import = ImportCumSum, .inputs = "f?i"},
};

constexpr ExportRow kScanExports[] = {
    {.op = "cum_sum", .write = WriteCumSum, .why_not = WhyNotCumSum},
};

}  // namespace

Family ScanFamily() {
  return {.imports = kScanImports, .exports = kScanExports};
}

}  // namespace nn::coreml
