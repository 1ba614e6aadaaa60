#include "ops/nn/norm.h"
#include "formats/nnapi/family.h"
#include "ops/nn/softmax.h"

namespace nn::nnapi {

// ==== From NNAPI =================================================================================

namespace {

Status ImportL2Normalization(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  L2NormalizationAttrs a;
  a.epsilon = 0;
  return ctx.Emit("l2_normalization", {x}, std::move(a));
}

// NNAPI's alpha is not divided by the size of the window.
Status ImportLrn(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  NN_ASSIGN(const int64_t radius, ctx.Int(1));
  if (radius < 0) return ModelError("radius must be 0 or more, not {}", radius);
  LrnAttrs a;
  a.layout = Layout::kNxc;
  a.size = 2 * radius + 1;
  NN_ASSIGN(a.bias, ctx.Float(2));
  NN_ASSIGN(const float alpha, ctx.Float(3));
  a.alpha = alpha * static_cast<float>(a.size);
  NN_ASSIGN(a.beta, ctx.Float(4));
  return ctx.Emit("lrn", {x}, a);
}

Status ImportSoftmax(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  if (x->type().ranked() && x->type().rank() != 2 && x->type().rank() != 4)
    return ModelError("input 0 must have rank 2 or 4; it is {}", x->type().ToString());
  SoftmaxAttrs a;
  NN_ASSIGN(a.beta, ctx.Float(1));
  return ctx.Emit("softmax", {x}, a);
}

}  // namespace

// ==== To NNAPI ===================================================================================

namespace {

bool IsLast(int64_t axis, int rank) {
  return axis == -1 || axis == rank - 1;
}

Status WriteL2Normalization(ExportContext& ctx, const Node& node) {
  NN_ASSIGN(const uint32_t x, ctx.OperandOf(node.input(0)));
  return ctx.AddOperation(node, OperationType::kL2Normalization, {x});
}

std::optional<std::string> WhyNotL2Normalization(const Node& node) {
  const auto& a = node.attrs<L2NormalizationAttrs>();
  const Type& x = node.input(0)->type();
  if (a.axes.size() != 1 || !IsLast(a.axes[0], x.rank()))
    return "L2_NORMALIZATION normalizes the last axis only";
  if (a.epsilon != 0) return fmt::format("epsilon must be 0, not {}", FloatText(a.epsilon));
  return std::nullopt;
}

Status WriteLrn(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<LrnAttrs>();
  NN_ASSIGN(const uint32_t x, ctx.OperandOf(node.input(0), ChannelsLastMap(node)));
  NN_ASSIGN(const uint32_t radius, ctx.Int((a.size - 1) / 2));
  NN_ASSIGN(const uint32_t bias, ctx.Float(a.bias));
  NN_ASSIGN(const uint32_t alpha, ctx.Float(a.alpha / static_cast<float>(a.size)));
  NN_ASSIGN(const uint32_t beta, ctx.Float(a.beta));
  return ctx.AddOperation(node, OperationType::kLocalResponseNormalization,
                          {x, radius, bias, alpha, beta});
}

std::optional<std::string> WhyNotLrn(const Node& node) {
  const auto& a = node.attrs<LrnAttrs>();
  if (a.size % 2 == 0) return fmt::format("the window must be odd, not {} channels", a.size);
  return std::nullopt;
}

Status WriteSoftmax(ExportContext& ctx, const Node& node) {
  NN_ASSIGN(const uint32_t x, ctx.OperandOf(node.input(0)));
  NN_ASSIGN(const uint32_t beta, ctx.Float(node.attrs<SoftmaxAttrs>().beta));
  return ctx.AddOperation(node, OperationType::kSoftmax, {x, beta});
}

std::optional<std::string> WhyNotSoftmax(const Node& node) {
  const auto& a = node.attrs<SoftmaxAttrs>();
  const Type& x = node.input(0)->type();
  if (!IsLast(a.axis, x.rank()))
    return fmt::format("SOFTMAX normalizes the last axis, not axis {}", a.axis);
  return WhyNotArithmetic(node);
}

}  // namespace

namespace {

constexpr ImportRow kNormImports[] = {
    {.operation = OperationType::kL2Normalization, .import = ImportL2Normalization},
    {.operation = OperationType::kLocalResponseNormalization, .import = ImportLrn},
    {.operation = OperationType::kSoftmax, .import = ImportSoftmax},
};

constexpr ExportRow kNormExports[] = {
    {.op = "l2_normalization", .write = WriteL2Normalization, .why_not = WhyNotL2Normalization},
    {.op = "lrn", .write = WriteLrn, .why_not = WhyNotLrn, .why_not_layout = WhyNotLayout},
    {.op = "softmax", .write = WriteSoftmax, .why_not = WhyNotSoftmax},
};

}  // namespace

Family NormFamily() {
  return {.imports = kNormImports, .exports = kNormExports};
}

}  // namespace nn::nnapi
