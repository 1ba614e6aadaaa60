#include "formats/tflite/export/operator_fit.h"

#include <fmt/core.h>

#include "formats/tflite/constraints/constraint.h"
#include "formats/tflite/export/export.h"
#include "formats/tflite/export/hybrid.h"

namespace nn::tflite {
namespace {

// Whether the interpreter rejects an operator with the violation, cannot run it, or produces
// another type. Others are advice.
bool PreventsUse(Check check) {
  return check != Check::kOptionsType && check != Check::kDeclaredShapes &&
         check != Check::kSpecifiedQuantization;
}

}  // namespace

std::optional<std::string> FindOperatorMisfit(const Node& node) {
  // Regions are written with what is around them, and parts of hybrid kernels with these.
  if (!node.regions().empty() || IsPartOfHybrids(node)) return std::nullopt;
  ExportContext ctx;
  if (const Status s = WriteNode(ctx, node); !s) return s.error().message();
  const fb::Model& root = ctx.FinishTrial();
  const ModelView view = {
      root, [&](const fb::Tensor& t) { return !ctx.buffers()[t.buffer()].empty(); },
      [&](const fb::Tensor& t) { return std::optional(ctx.buffers()[t.buffer()]); }, true};
  std::optional<std::string> reason;
  FindViolations(view, OperatorsOf(root), [&](const Violation& v) {
    if (!reason && PreventsUse(v.check))
      reason =
          fmt::format("in the {} operator of TensorFlow Lite, {}", OperatorName(v.at.code), v.text);
  });
  return reason;
}

}  // namespace nn::tflite
