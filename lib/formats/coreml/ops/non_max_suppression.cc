#include "ops/nn/detect/non_max_suppression.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "formats/common/suppression.h"
#include "formats/coreml/family.h"
#include "formats/coreml/import/suppression.h"
#include "ops/support/term_ops.h"

namespace nn::coreml {
namespace {

// Limits are fields, or the inputs that replace them.
Status ImportNonMaximumSuppression(ImportContext& ctx) {
  const Fields& p = ctx.params();
  const auto limit = [&](size_t input, std::string_view field) {
    return ctx.input_count() > input ? Term(ctx.input(input)) : Tensor::Scalar(p.Float(field));
  };
  if (ctx.output_count() > 4)
    return ModelError("there are {} outputs; expected at most 4", ctx.output_count());
  NN_ASSIGN(const int64_t most, p.Size("maxBoxes"));
  const SuppressionLimits limits = {
      .most = ctx.input_count() > 4 ? Reshape(ctx.input(4), {Dim(1)}) : Vector({most}),
      .iou = limit(2, "iouThreshold"),
      .score = limit(3, "scoreThreshold"),
      .by_class = p.Bool("perClassSuppression")};
  NN_ASSIGN(const auto results, Suppress(ctx, ctx.input(0), ctx.input(1), limits));
  for (size_t i = 0; i < ctx.output_count(); ++i) {
    NN_ASSIGN(Value* const y, ctx.Build(results[i]));
    ctx.SetOutput(i, y);
  }
  return {};
}

}  // namespace

// ==== To Core ML =================================================================================

namespace {

enum SuppressionInput : size_t { kBoxes, kScores, kMaxBoxes, kIouThreshold, kScoreThreshold };

float NumberOr(const Node& node, size_t i, float otherwise) {
  const Tensor* t = ConstantOf(node, i);
  return t == nullptr ? otherwise : static_cast<float>(t->GetDouble(0));
}

std::optional<std::string> WhyNotNonMaxSuppression(const Node& node) {
  if (auto reason = WhyNotOneList(node)) return reason;
  for (const size_t i : {size_t{kMaxBoxes}, size_t{kIouThreshold}, size_t{kScoreThreshold}})
    if (node.input(i) != nullptr && !node.input(i)->is_constant())
      return "its limits must be constant";
  if (node.input(kBoxes)->type().dim(1).value() < 1 || !(NumberOr(node, kMaxBoxes, 0) >= 1))
    return "it selects no boxes";
  if (!node.attrs<NonMaxSuppressionAttrs>().center_point_box)
    return "NonMaximumSuppression needs the centers of boxes";
  return std::nullopt;
}

// The layer's list of indices, as rows of batch 0 and class 0: without the entries that fill it up,
// and without a box whose score does not pass, which is in the list if no score passes.
Status WriteNonMaxSuppression(ExportContext& ctx, const Node& node) {
  const int64_t boxes = node.input(kBoxes)->type().dim(1).value();
  const std::string scores = ctx.NewName("scores"), some = ctx.NewName("boxes"),
                    their = ctx.NewName("scores"), list = ctx.NewName("indices"),
                    count = ctx.NewName("count"), valid = ctx.NewName("valid"),
                    places = ctx.NewName("places"), selected = ctx.NewName("selected"),
                    column = ctx.NewName("column");
  const std::string all = ctx.NameOf(node.input(kBoxes)), rows = ctx.NameOf(node.input(kScores));
  ctx.AddHelper("transpose", {rows}, {scores}).Ints("axes", {0, 2, 1});
  Writer p = ctx.AddHelper("NonMaximumSuppression", {all, scores}, {some, their, list, count});
  p.Float("iouThreshold", NumberOr(node, kIouThreshold, 0));
  p.Float("scoreThreshold",
          NumberOr(node, kScoreThreshold, -std::numeric_limits<float>::infinity()));
  p.Int("maxBoxes", std::min(boxes, ConstantOf(node, kMaxBoxes)->GetInt(0)));
  p.Bool("perClassSuppression", false);
  if (const Tensor* threshold = ConstantOf(node, kScoreThreshold)) {
    const std::string column_scores = ctx.NewName("scores"), passes = ctx.NewName("passes"),
                      filled = ctx.NewName("valid");
    ctx.AddHelper("squeeze", {their}, {column_scores}).Ints("axes", {2});
    ctx.AddHelper("greaterThan", {column_scores}, {passes})
        .Float("alpha", static_cast<float>(threshold->GetDouble(0)));
    ctx.AddHelper("greaterEqual", {list}, {filled}).Float("alpha", 0);
    ctx.AddHelper("logicalAnd", {filled, passes}, {valid});
  } else {
    ctx.AddHelper("greaterEqual", {list}, {valid}).Float("alpha", 0);
  }
  ctx.AddHelper("whereNonZero", {valid}, {places});
  ctx.AddHelper("gatherND", {list, places}, {selected});
  ctx.AddHelper("expandDims", {selected}, {column}).Ints("axes", {1});
  Writer pad = ctx.AddLayer(node, "constantPad", {column}, {ctx.NameOf(node.output())});
  pad.Float("value", 0);
  pad.Ints("padAmounts", {0, 0, 2, 0});
  return {};
}

constexpr ImportRow kNonMaxSuppressionImports[] = {
    {.layer = "NonMaximumSuppression", .import = ImportNonMaximumSuppression, .inputs = "ff?ffi"},
};

constexpr ExportRow kNonMaxSuppressionExports[] = {
    {.op = "non_max_suppression",
     .write = WriteNonMaxSuppression,
     .why_not = WhyNotNonMaxSuppression,
     .types = Types::kAny},
};

}  // namespace

Family NonMaxSuppressionFamily() {
  return {.imports = kNonMaxSuppressionImports, .exports = kNonMaxSuppressionExports};
}

}  // namespace nn::coreml
